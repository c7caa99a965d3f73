/** codemark: addresses in marks come out as names, laid out as printf lays out a string, however the text is cut. */
#include "marks/codemark.h"

#include "base/arena.h"

#include "tap.h"

/** Stand for those of marks/codename.c, which are of a process that runs. */
struct str codename_find(struct codename *c, uint64_t addr)
{
	(void)c;
	return addr == 0x1234 ? STR("main") : addr == 0x666 ? STR("a\033]0;b\x9b\n") : STR("");
}

struct str codename_find_distinct(struct codename *c, uint64_t addr)
{
	return addr == 0x1234 ? STR("main (a.c:1)") : codename_find(c, addr);
}

/** '<' in @form becomes START, '#' KEY; given in pieces of @step bytes. */
static struct str decode(struct arena *a, struct str form, size_t step)
{
	struct codemark m = {0};
	struct strbuf in, out;
	codemark_init(&m);
	strbuf_init(&in);
	strbuf_init(&out);
	for (size_t i = 0; i < form.n; i++)
		if (form.p[i] == '<')
			strbuf_addz(&in, m.start);
		else if (form.p[i] == '#')
			strbuf_addz(&in, m.key);
		else
			strbuf_addc(&in, form.p[i]);
	for (size_t i = 0; i < in.n; i += step)
		codemark_take(&m, str_slice(strbuf_str(&in), i, step), &out);
	codemark_end(&m, &out);
	struct str s = str_copy(a, strbuf_str(&out));
	strbuf_fini(&in);
	strbuf_fini(&out);
	codemark_fini(&m);
	return s;
}

static void check(struct arena *a, struct str form, struct str want, const char *claim)
{
	static const size_t steps[] = {1, 7, 19, 4096};
	for (size_t i = 0; i < 4; i++)
		is_str(decode(a, form, steps[i]), want,
		       arena_printf(a, "%s, in pieces of %zu", claim, steps[i]));
}

/** What printf makes of "main" is the measure. */
static void check_layout(struct arena *a, const char *how)
{
	char *format = arena_printf(a, "[%%%ss]\n", how);
	char want[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(want, sizeof(want), format, "main");
#pragma GCC diagnostic pop
	check(a, str_printf(a, "[<%s:1234>]\n", how), str_from(want),
	      arena_printf(a, "a name as %%%ss", how));
}

int main(void)
{
	struct arena a;
	arena_init(&a);
	check(&a, STR("a <:1234> b <:1234>\n<:1234>"), STR("a main b main\nmain"),
	      "names in a line");
	check(&a, STR("<:beef> <:0>\n"), STR("0xbeef 0x0\n"), "what has no name is its address");
	check(&a, STR("<:666>|<20:666>|<.4:666>"),
	      STR("a\\x1b]0;b\\x9b\\x0a|   a\\x1b]0;b\\x9b\\x0a|a\\x1"),
	      "control bytes in a name are escaped");
	static const char *const layouts[] = {"-8", "8", "2", ".2", "-6.3", "6.3", "-.0"};
	for (size_t i = 0; i < 7; i++)
		check_layout(&a, layouts[i]);
	for (size_t step = 1; step < 30; step += 14) {
		struct str half = decode(&a, STR("@, @@@, <"), step);
		ok(half.n == 8 + 18 && str_has_prefix(half, STR("@, @@@, @")) && half.p[25] == '<',
		   "half a mark at the end is passed on, in pieces of %zu", step);
	}
	check(&a, STR("@[#, 4660]: 3\n@[#, 48879]: <:1234>\n@m[5, #, 4660, -2]: 1\n@[#, 0]: -5"),
	      STR("@[main (a.c:1)]: 3\n@[0xbeef]: main\n@m[5, main (a.c:1), -2]: 1\n@[0x0]: -5"),
	      "names of keys");
	check(&a, STR("@[#, -1]: 3\n@[#, 1638]\n"),
	      STR("@[0xffffffffffffffff]: 3\n@[a\\x1b]0;b\\x9b\\x0a]\n"),
	      "a key that is printed as negative, and an escaped one");
	struct str odd_key = decode(&a, STR("#; 5] #, x] #, 99999999999999999999] #"), 3);
	ok(odd_key.n == 4 * 20 + 34 && odd_key.p[0] == '-', "what is no key is passed on as it is");
	struct str odd = decode(&a, STR("x <:12G4> <:> <12> <:11112222333344445> y"), 3);
	ok(str_has_prefix(odd, STR("x @")) && str_has_suffix(odd, STR("<:11112222333344445> y")),
	   "what is no address is passed on as it is");
	struct str wide = decode(&a, STR("<99999999999999999999:1234>\n"), 4096);
	ok(wide.n == 1025, "no width makes a line of more than 1024 columns");
	arena_fini(&a);
	return done();
}
