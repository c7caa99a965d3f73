// A probe as libbpf's usdt.h writes it: a note and nothing else, so that types can only be inferred.
#include <stdint.h>
__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"_.stapsdt.base: .space 1\n.popsection\n");
#define USDT(group, name, a, b, c)                                                                 \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                            \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b, _.stapsdt.base, 0\n"                                                \
			 ".asciz \"" #group "\"\n"                                                 \
			 ".asciz \"" #name "\"\n"                                                  \
			 ".asciz \"8@%0 -4@%1 8@%2\"\n"                                            \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n"                                                           \
			 : : "r"(a), "r"(b), "r"(c))
int main(int argc, char **argv)
{
	const char *name = argv[0];
	int size = argc;
	uint64_t *counter = (uint64_t *)argv;
	USDT(app, plain, name, size, counter);
	return 0;
}
