// Operands of this program's own probes, traced back to variables and members. What was found must be right; what must be
// found is what any compiler leaves where it was.
#include "tap.h"
#include "image/sdt.h"
#include "image/sdtarg.h"
#include "types/dwcode.h"
#include "types/dwinfer.h"

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif
#ifndef STAP_PROBE
int main(void)
{
	printf("1..0 # SKIP no <sys/sdt.h>\n");
	return 0;
}
#else

enum mood { MOOD_NONE, MOOD_GOOD = 3 };
struct inner {
	short s;
	unsigned char flags;
};
struct thing {
	long id;
	enum mood mood;
	struct inner in;
	char *label;
	struct thing *next;
};

struct thing the_thing = {.id = 5, .mood = MOOD_GOOD, .label = (char *)"x"};
struct thing *volatile any_thing = &the_thing; // not a constant for the compiler
volatile int sink;

__attribute__((noinline)) static void by_value(int count, enum mood mood, struct thing *thing,
					       const char *label)
{
	STAP_PROBE4(infer, by_value, count, mood, thing, label);
	sink += count + (int)mood + (thing != NULL) + label[0];
}

__attribute__((noinline)) static void by_member(struct thing *thing)
{
	STAP_PROBE5(infer, by_member, thing->id, thing->mood, thing->in.flags, thing->label,
		    thing->next);
	sink += (int)thing->id;
}

__attribute__((noinline)) static void computed(int a, int b)
{
	STAP_PROBE2(infer, computed, a * 7 + b, 42);
	sink += a - b;
}

static inline __attribute__((always_inline)) void inside(unsigned char level)
{
	STAP_PROBE1(infer, inlined, level);
	sink += level;
}

__attribute__((noinline)) static void outside(unsigned char deep)
{
	inside(deep);
}

static struct arena arena;
static unsigned n_named, n_typed, n_args;

/** What the arguments of each probe are; an empty name: it must not be called anything else than what it is. */
static const struct {
	const char *probe;
	struct {
		const char *name, *type;
	} args[5];
} wanted[] = {
    {"by_value",
     {{"count", "int"},
      {"mood", "enum mood"},
      {"thing", "struct thing *"},
      {"label", "const char *"}}},
    {"by_member",
     {{"id", "long int"},
      {"mood", "enum mood"},
      {"flags", "unsigned char"},
      {"label", "char *"},
      {"next", "struct thing *"}}},
    {"computed", {{NULL, NULL}, {NULL, NULL}}},
    {"inlined", {{"level", "unsigned char"}}},
};

static void test_probe(struct img *img, const struct sdt_probe *p)
{
	size_t k = 0;
	while (k < 4 && !str_eqz(p->name, wanted[k].probe))
		k++;
	struct dwcode code;
	if (!ok(k < 4 && dwcode_at(img, p->sites[0].pc, &code), "%s: its place is known",
		str_dup(&arena, p->name)))
		return;
	ok(str_has_suffix(code.file, STR("dwinfer.c")) && code.line > 20 && code.line < 90,
	   "%s: source line %u", wanted[k].probe, code.line);
	static const char *const functions[] = {"by_value", "by_member", "computed", "inside"};
	is_str(code.function, str_from(functions[k]), "the function it is written in");
	if (k == 3)
		is_str(code.caller, STR("outside"), "the function that it was inlined into");
	struct sdtarg *args;
	size_t n;
	sdtarg_parse(&arena, img->machine, p->sites[0].args, &args, &n);
	for (size_t i = 0; i < n && i < 5; i++) {
		struct dwinfer got;
		const char *name = wanted[k].args[i].name;
		n_args += name != NULL;
		if (!dwinfer_operand(&arena, &code, img->machine, &args[i], &got))
			continue;
		struct str type = ctype_spell(&arena, got.type);
		if (name)
			ok(str_eqz(type, wanted[k].args[i].type) &&
			       (!got.name.n || str_eqz(got.name, name)),
			   "%s: argument %zu, " STR_FMT ", is %s %s", wanted[k].probe, i,
			   STR_ARG(args[i].text), wanted[k].args[i].type, name);
		else
			ok(!got.name.n || args[i].kind != SDTARG_CONST,
			   "a computed argument is no variable");
		n_typed++;
		n_named += got.name.n > 0;
	}
}

static void test_registers(void)
{
	ok(dwinfer_register(EM_X86_64, STR("eax")) == 0 &&
	       dwinfer_register(EM_X86_64, STR("dl")) == 1 &&
	       dwinfer_register(EM_X86_64, STR("rsp")) == 7 &&
	       dwinfer_register(EM_X86_64, STR("r8d")) == 8 &&
	       dwinfer_register(EM_X86_64, STR("r15")) == 15,
	   "x86-64 registers have their ABI's numbers");
	ok(dwinfer_register(EM_X86_64, STR("r16")) < 0 &&
	       dwinfer_register(EM_X86_64, STR("xmm0")) < 0 &&
	       dwinfer_register(EM_X86_64, STR("ah")) < 0 &&
	       dwinfer_register(EM_X86_64, STR("")) < 0 &&
	       dwinfer_register(EM_X86_64, STR("r")) < 0 &&
	       dwinfer_register(EM_X86_64, STR("rd")) < 0,
	   "what is no whole general register has none");
	ok(dwinfer_register(EM_AARCH64, STR("x19")) == 19 &&
	       dwinfer_register(EM_AARCH64, STR("w0")) == 0 &&
	       dwinfer_register(EM_AARCH64, STR("sp")) == 31 &&
	       dwinfer_register(EM_AARCH64, STR("x31")) < 0,
	   "aarch64 registers, too");
}

int main(int argc, char **argv)
{
	by_value(argc, argc > 1 ? MOOD_GOOD : MOOD_NONE, any_thing, argv[0]);
	by_member(any_thing);
	computed(argc, 3);
	outside((unsigned char)argc);

	arena_init(&arena);
	struct diag diag;
	diag_init(&diag, stderr);
	test_registers();
	struct img *img;
	struct sdt_list list;
	struct dwsrc *src;
	if (!img_open(&arena, &diag, "/proc/self/exe", STR("self"), &img) || !sdt_read(img, &list))
		return 1;
	if (!dwsrc_open(img, NULL, &src)) {
		printf("1..0 # SKIP built without -g\n");
		return 0;
	}
	for (size_t i = 0; i < list.n_probes; i++)
		if (str_eqz(list.probes[i].provider, "infer"))
			test_probe(img, &list.probes[i]);
	printf("# %u of %u arguments have a type, %u a name\n", n_typed, n_args, n_named);
#if defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
	// Others copy every operand to the stack first; there nothing can be found, and nothing wrong may be.
	ok(n_typed * 2 >= n_args, "at least half of the arguments are found");
#endif
	img_close(img);
	arena_fini(&arena);
	return done();
}
#endif
