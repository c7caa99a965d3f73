// Probes with and without names: what is beside their sites, and what their notes say.
#include <btgen/usdt.h>
struct item { char name[8]; int state; item *next; };
static item items[2];
static volatile int total;
USDT_DOC(seed, named, "a sentence");
__attribute__((noinline)) int three(item *it, int rc, const char *text)
{
	USDT_PROBE(seed, named, it->name, it->state, USDT_ARG(-rc, "error", "0 when it went well"), text, total);
	USDT_PROBE_LAZY(seed, lazy, rc + 1, it->next);
	int copy = rc * 2;
	// As systemtap's header has it: no names, places only.
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, 0\n"
			 ".asciz \"seed\"\n.asciz \"plain\"\n.asciz \"-4@%0 8@%1 8@%2\"\n994: .balign 4\n.popsection\n"
			 : : "rm"(copy), "rm"(it), "rm"(text));
	return copy + it->state;
}
int four() { return three(items, 1, "text") + three(items + 1, 2, "more"); }
