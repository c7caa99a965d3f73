/** argname: the rules of docs/usdt-notes.md, "From the text to names", one by one. */
#include "usdt/argname.h"

#include "tap.h"

static struct arena a;

static void named(const char *piece, const char *want)
{
	struct argname_arg arg;
	argname_parse(&a, str_from(piece), &arg);
	is_str(arg.name, str_from(want), piece);
}

static void split(const char *text, size_t want, const char *last)
{
	struct str parts[16];
	size_t n = argname_split(str_from(text), parts, 16);
	ok(n == want && str_eqz(parts[n - 1], last), "%s is %zu pieces, the last is %s", text, want,
	   last);
}

static void numbered(const char *text, const char *want)
{
	struct str names[8];
	size_t n = argname_split(str_from(text), names, 8);
	struct strbuf b = {0};
	argname_number(&a, names, n);
	for (size_t i = 0; i < n; i++) {
		strbuf_addz(&b, i ? "," : "");
		strbuf_adds(&b, names[i]);
	}
	is_str(strbuf_str(&b), str_from(want), text);
	strbuf_fini(&b);
}

static void bits(const char *piece, bool want)
{
	struct argname_arg arg;
	argname_parse(&a, str_from(piece), &arg);
	is_num(arg.is_bits, want, piece);
}

int main(void)
{
	split("item, it->name, f(a, b)", 3, "f(a, b)");
	split("x, \"a,b\", ','", 3, "','");
	split("a[1, 2], b{3, 4}", 4, "4}");
	split("1'000'000, x", 2, "x");
	split("L'x', u8\",\"", 2, "u8\",\"");
	split("\"open, 1", 1, "\"open, 1");
	split("a)b, c", 2, "c");
	split("", 1, "");

	named("state", "state");
	named("ctx->subsystem->subnqn", "subnqn");
	named("(int)s.values[i + 1]", "values");
	named("s.values[ t[1] ].x [2]", "x");
	named("ns::global", "global");
	named("::global", "");
	named("(((x)))", "x");
	named("*&*p", "p");
	named("+x", "x");
	named("-x", "");
	named("!x", "");
	named("a + b", "");
	named("f(x)", "");
	named("(const struct spdk_thing *)ctx->raw", "raw");
	named("(uint64_t)(uintptr_t)&ctx->raw", "raw");
	named("(a)(b)", "b");
	named("(std::vector<int> *)v", "v");
	named("(x) + (y)", "");
	named("(a) -1", "");
	named("NVMF_TGT_RUNNING", "");
	named("s->FLAGS", "");
	named("true", "");
	named("nullptr", "");
	named("this", "this");
	named("42", "");
	named("\"text\"", "");
	named("USDT_BITS(ctx->load)", "load");
	named("USDT_BITS (load)", "load");
	named("USDT_BITS(a) + 1", "");
	bits("USDT_BITS(load)", true);
	bits(" ((USDT_BITS (load)))", true);
	bits("USDT_ARG(USDT_BITS(s->load), \"load\")", true);
	bits("(::usdt_bits(s->load))", true);
	bits("(_Generic((s->load), float: usdt_bits_of_float, double: usdt_bits_of_double, "
	     "default: usdt_bits_takes_a_float_or_a_double)(s->load))",
	     true);
	bits("USDT_BITS(a) + USDT_BITS(b)", false);
	bits("((::usdt_bits(load)) + 1)", false);
	bits("(_Generic((x), float: usdt_bits_of_float, double: usdt_bits_of_double, "
	     "default: usdt_bits_takes_a_float_or_a_double)(x)) + 1",
	     false);
	bits("MY_BITS(load)", false);
	bits("(((((((((((((", false);
	named("x y", "");
	named("a[", "");
	named("", "");

	named("USDT_ARG(-rc, \"error\")", "error");
	named("USDT_ARG ( -rc , \"er\" \"ror\" , \"what went wrong\" )", "error");
	named("USDT_ARG(f(a, b), \"\\x61\\142c\")", "abc");
	named("USDT_ARG(x->y, \"not an identifier\")", "y");
	named("USDT_ARG(x->y, \"1st\")", "y");
	named("((void)sizeof(\"USDT_ARG\"), (void)sizeof(\"error\"), (-rc))", "error");
	named(
	    "( ( void ) sizeof ( \"USDT_ARG\" ) , (void)sizeof(\"e\"), (void)sizeof(\"doc\"), (x))",
	    "e");
	struct argname_arg arg;
	argname_parse(&a, STR("USDT_ARG(f(a, b), \"n\", \"a \\\"doc\\\"\", \"ns\")"), &arg);
	is_str(arg.expr, STR("f(a, b)"), "USDT_ARG's expression");
	is_str(arg.doc, STR("a \"doc\""), "its sentence");
	is_str(arg.unit, STR("ns"), "its unit");
	argname_parse(
	    &a, STR("((void)sizeof(\"USDT_ARG\"), (void)sizeof(\"n\"), (void)sizeof(\"d\"), (-x))"),
	    &arg);
	is_str(arg.expr, STR("-x"), "the expression after expansion");
	is_str(arg.doc, STR("d"), "the sentence after expansion");

	numbered("a,b,c", "a,b,c");
	numbered("a,,c", "a,arg1,c");
	numbered("state,state,state", "state,state2,state3");
	numbered("state,state,state2", "state,state3,state2");
	numbered("state2,state,state", "state2,state,state3");

	// Nothing above may read past its end: the same pieces, cut anywhere.
	const char *all = "USDT_ARG((int)s->v[\"a,\\\"\"[1]], \"n\\x4\" \"\\",
		   *end = all + strlen(all);
	for (const char *p = all; p < end; p++) {
		struct str cut = str_copy(&a, (struct str){p, (size_t)(end - p)}), parts[4];
		argname_parse(&a, cut, &arg);
		argname_split(cut, parts, 4);
		cut = str_copy(&a, (struct str){all, (size_t)(p - all)});
		argname_parse(&a, cut, &arg);
		argname_split(cut, parts, 4);
	}
	ok(true, "text cut anywhere is no trouble");
	arena_fini(&a);
	return done();
}
