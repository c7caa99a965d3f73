// The preprocessor's interface: what ends up in struct pp, and where tokens say they come from.
// What macros expand to is compared with gcc in tests/pp/oracle.t.
#include "text/pp.h"

#include "tap.h"
#include "tokens.h"

static struct arena arena;
static struct diag diag;
static char *said;
static size_t said_n;
static struct pp pp;

static bool run(const char *text)
{
	pp_init(&pp, &arena, &diag);
	pp_predefine(&pp, "__BPFTRACE__", "17");
	fflush(diag.out);
	rewind(diag.out);
	return pp_file(&pp, src_from_text(&arena, STR("t.bt"), str_from(text)));
}

static bool heard(const char *message)
{
	fflush(diag.out);
	return strstr(said, message) != NULL;
}

static struct str printed(const char *text)
{
	struct program p = {0};
	if (!run(text))
		return STR("(failed)");
	emit_tokens(pp.out, pp.files.v[0], &p);
	struct str ret = strbuf_take(&p.text, &arena);
	program_fini(&p);
	return ret;
}

static const struct token *nth(size_t n)
{
	const struct token *t = pp.out;
	while (n--)
		t = t->next;
	return t;
}

static void provenance(void)
{
	run("#define F(x) a x b\n\nq F(\n r) s");
	const struct token *a = nth(1), *r = nth(2), *b = nth(3), *s = nth(4);
	ok(a->from_macro && src_line(a->loc) == 1 && src_line(a->use) == 3 && src_line(b->use) == 3,
	   "a token of a replacement list knows its definition and the call");
	ok(!r->from_macro && src_line(r->loc) == 4 && r->use.off == r->loc.off,
	   "an argument that stands in the text stands where it stands");
	ok(!s->from_macro && src_line(s->use) == 4, "so does what follows");

	run("#define G(x) x x\n#define H G(y)\n\nH G(1)");
	ok(nth(0)->from_macro && src_line(nth(0)->loc) == 2 && src_line(nth(0)->use) == 4 &&
	       src_line(nth(1)->use) == 4,
	   "the place in the program is that of the outermost call");
	ok(!nth(3)->from_macro && nth(2)->loc.off == nth(3)->loc.off,
	   "an argument may come twice from one place");
	run("#define S(x) #x\n#define P(x) x##1\n\nS(a) P(b)");
	ok(nth(0)->from_macro && nth(0)->kind == TOK_STRING && src_line(nth(0)->use) == 4 &&
	       nth(1)->from_macro && src_line(nth(1)->use) == 4,
	   "what # and ## make comes from the macro");
}

static void kept(void)
{
	ok(run("#pragma enum @t T\n#pragma once\n#pragma scope host\n"), "pragmas are no error");
	ok(pp.pragmas.n == 2 && tok_is(pp.pragmas.v[0].tokens, "enum") &&
	       src_line(pp.pragmas.v[1].loc) == 3,
	   "those of the later layers are kept in order");
	ok(run("#pragma nonsense\n") && heard("t.bt:1:9: warning: unknown #pragma nonsense"),
	   "an unknown pragma is a warning");

	run("#define N 4\n#pragma pack(push, N)\nstruct a { int b; };\n  #pragma pack(pop)\nx");
	ok(nth(0)->kind == TOK_DIRECTIVE && src_line(nth(0)->loc) == 2, "pack stays in its place");
	is_str(nth(0)->text, STR("#pragma pack(push, 4)"), "with its macros expanded");
	run("#include <linux/fs.h>\n#include \"no-such.h\"\nBEGIN");
	ok(pp.c_lines.n == 2 && tok_is(pp.out, "BEGIN"), "C headers leave the program");
	is_str(pp.c_lines.v[0].directive->text, STR("#include <linux/fs.h>"),
	       "as they were written");
	is_str(pp.c_lines.v[1].directive->text, STR("#include \"no-such.h\""),
	       "when they are not found by us");
}

static void several_files(void)
{
	run("#define A 1\na");
	ok(pp_file(&pp, src_from_text(&arena, STR("u.bt"), STR("A b"))) && tok_is(nth(0), "a") &&
	       str_eqz(nth(1)->text, "1") && tok_is(nth(2), "b") && nth(3)->kind == TOK_EOF,
	   "a second file continues the first one, macros included");
	ok(pp.files.n == 2, "both are listed");
}

static void definitions(void)
{
	pp_init(&pp, &arena, &diag);
	ok(pp_define(&pp, "A") && pp_define(&pp, "B=x y") && pp_define(&pp, "C(x)=<x>") &&
	       pp_define(&pp, "D="),
	   "-D takes NAME, NAME=TEXT and NAME(ARGS)=TEXT");
	pp_file(&pp, src_from_text(&arena, STR("t"), STR("A B C(1)D")));
	struct program p = {0};
	emit_tokens(pp.out, pp.files.v[0], &p);
	is_str(strbuf_str(&p.text), STR("1 x y <1>\n"), "and they expand");
	program_fini(&p);
	ok(!pp_define(&pp, "1A") && heard("-D 1A: not NAME"), "-D names no number");
	ok(!pp_define(&pp, "C") && heard("<command line>:1:1: error: macro \"C\" is redefined"),
	   "-D does not contradict another one");
	ok(!run("#define __BPFTRACE__ 1\n") && heard("t.bt:1:9: error: \"__BPFTRACE__\" is predef"),
	   "a macro of ours cannot be defined again");
	ok(!run("#undef __LINE__\n"), "nor undefined");
}

static void options(void)
{
	run("#pragma option N -1 \"a number\"\n#pragma option S \"x y\" \"a text\"\n#if N < 0\nN "
	    "S\n#endif");
	ok(nth(0)->from_macro && str_eqz(nth(0)->text, "-") && str_eqz(nth(1)->text, "1") &&
	       str_eqz(nth(2)->text, "\"x y\""),
	   "an option is a macro with its default");
	ok(pp.options.n == 2 && pp.pragmas.n == 0, "options are listed");
	is_str(pp.options.v[0].name, STR("N"), "by name");
	is_str(pp.options.v[0].value, STR("-1"), "with the default");
	is_str(pp.options.v[1].help, STR("a text"), "and the help");

	pp_init(&pp, &arena, &diag);
	pp_define(&pp, "N=7");
	pp_define(&pp, "G(x)=x");
	ok(pp_file(&pp,
		   src_from_text(&arena, STR("t"), STR("#pragma option N -1 \"a number\"\nN"))) &&
	       str_eqz(nth(0)->text, "7") && nth(1)->kind == TOK_EOF,
	   "-D is stronger than the default");
	is_str(pp.options.v[0].value, STR("-1"), "which is still what is listed");
	run("#if 0\n#pragma option N 1 \"x\"\n#endif\nN");
	ok(pp.options.n == 0 && str_eqz(nth(0)->text, "N"), "one in a skipped group is none");
	ok(run("#ifndef N\n#define N 3\n#endif\n#pragma option N 3 \"x\"\n#pragma option N 3 "
	       "\"x\"\nN") &&
	       pp.options.n == 1 && str_eqz(nth(0)->text, "3"),
	   "the same said twice is said once");
}

static void layout(void)
{
	is_str(printed("// one\nBEGIN\n{\n\t/* two */ exit(); // three\n}\n// four\n"),
	       STR("// one\nBEGIN\n{\n\t/* two */ exit(); // three\n}\n// four\n"),
	       "a script without macros is printed as it was");
	is_str(printed("a\r\n  b // c\r\nd"), STR("a\n  b // c\nd\n"), "without carriage returns");
	is_str(printed("BEGIN { 1 /\r/\r2 }"), STR("BEGIN { 1 / / 2 }\n"),
	       "one that stands alone is a blank");
	is_str(printed("// x\n#define A \\\n  1\n\n// y\n  A\n#if 0\nno\n#endif\nb"),
	       STR("// x\n\n\n\n// y\n  1\n\n\n\nb\n"),
	       "directives leave blank lines, comments stay");
	is_str(printed("#define F(x, y) x y\nF(a,\n  b)\nc"), STR("\na\n  b\nc\n"),
	       "arguments stay on their lines");
	is_str(printed("#define T(x) { x; x; }\nT(a\n +\n b)\nc"),
	       STR("\n{ a\n +\n b; a\n +\n b; }\nc\n"),
	       "a second copy of one has lines of its own");
	is_str(printed("#define E\n#define M -\n-M-E-1 M/E/ a"), STR("\n\n- - - -1 -/ / a\n"),
	       "tokens that macros bring together are kept apart");
	is_str(printed("#define Y(a) pid?a:a\nBEGIN { $x = Y(1); }"),
	       STR("\nBEGIN { $x = pid?1: 1; }\n"),
	       "a colon in a body gets the blank that bpftrace needs");
	is_str(
	    printed(
		"#define D /opt/app\n#define P(n) usdt:D/*:spdk:n\nP(x),uprobe:D//l.so:P { D//\n}"),
	    STR("\n\nusdt:/opt/app/*:spdk:x,uprobe:/opt/app//l.so:P { /opt/app//\n}\n"),
	    "nothing is put into an attach point");
}

static void attach_points_follow_the_braces_read(void)
{
	is_str(printed("#if 0\na {\n#else\nb {\n#endif\n}\nuprobe:/a/*:f,k:*/"),
	       STR("\n\n\nb {\n\n}\nuprobe:/a/*:f,k:*/\n"),
	       "braces of a skipped group do not count");
	is_str(printed("#define OPEN b {\nOPEN }\nuprobe:/a/*:f,k:*/"),
	       STR("\nb { }\nuprobe:/a/*:f,k:*/\n"), "those of a macro do");
	is_str(printed("#if 0\nuprobe:/a/*:f\n#endif\nb\n#if 0\nk:*/\n#endif\n"),
	       STR("\n\n\nb\n\n\n\n"), "a path in a skipped group starts no comment");
}

int main(void)
{
	diag_init(&diag, open_memstream(&said, &said_n));
	provenance();
	kept();
	several_files();
	definitions();
	options();
	layout();
	attach_points_follow_the_braces_read();
	fclose(diag.out);
	free(said);
	arena_fini(&arena);
	return done();
}
