// The tree of a script: every construct of the language has its node, and a tree is printed as it was written.
//
// With files as arguments: each NAME.lang is a list of cases (tests/lang/README.md), any other a script. print(parse(x)) is
// x for each, and what of it is opaque is listed.
#include <stdlib.h>

#include "lang/parse.h"
#include "lang/print.h"
#include "tap.h"
#include "text/pp.h"

#include "lexfile.h"

static struct arena arena;
static struct diag diag;

static const char *kind_name(enum node_kind kind)
{
	static const char *const names[] = {
	    [NODE_NUMBER] = "number",
	    [NODE_STRING] = "string",
	    [NODE_NAME] = "name",
	    [NODE_VARIABLE] = "variable",
	    [NODE_PARAMETER] = "parameter",
	    [NODE_MAP] = "map",
	    [NODE_CALL] = "call",
	    [NODE_MEMBER] = "member",
	    [NODE_INDEX] = "index",
	    [NODE_CAST] = "cast",
	    [NODE_UNARY] = "unary",
	    [NODE_POSTFIX] = "postfix",
	    [NODE_BINARY] = "binary",
	    [NODE_TERNARY] = "ternary",
	    [NODE_ASSIGN] = "assign",
	    [NODE_GROUP] = "group",
	    [NODE_TUPLE] = "tuple",
	    [NODE_RECORD] = "record",
	    [NODE_FIELD] = "field",
	    [NODE_COMPTIME] = "comptime",
	    [NODE_TYPE] = "type",
	    [NODE_TYPEOF] = "typeof",
	    [NODE_RANGE] = "range",
	    [NODE_BLOCK] = "block",
	    [NODE_EXPRESSION] = "expression",
	    [NODE_LET] = "let",
	    [NODE_IF] = "if",
	    [NODE_WHILE] = "while",
	    [NODE_FOR] = "for",
	    [NODE_RETURN] = "return",
	    [NODE_JUMP] = "jump",
	    [NODE_PROGRAM] = "program",
	    [NODE_DEFINITION] = "definition",
	    [NODE_CLAUSE] = "clause",
	    [NODE_ATTACH] = "attach",
	    [NODE_PREDICATE] = "predicate",
	    [NODE_FUNCTION] = "function",
	    [NODE_MACRO] = "macro",
	    [NODE_IMPORT] = "import",
	    [NODE_CONFIG] = "config",
	    [NODE_MAP_TYPE] = "map type",
	    [NODE_OPAQUE] = "opaque",
	};
	return names[kind];
}

static struct node *parse(struct str text)
{
	struct token *tokens;
	struct src_file *f = src_from_text(&arena, STR("t.bt"), text);
	return lex_file(&arena, &diag, f, &tokens) ? parse_program(&arena, &diag, tokens) : NULL;
}

static bool is_leaf(const struct node *n)
{
	return n->first == n->last && !n->child;
}

/** (kind name children) for what has a shape, the text of what has none. */
static void dump(const struct node *n, struct strbuf *out)
{
	if (is_leaf(n) && n->kind <= NODE_PARAMETER) {
		strbuf_adds(out, n->first->text);
		return;
	}
	strbuf_addf(out, "(%s", kind_name(n->kind));
	if (n->kind == NODE_TYPE || n->kind == NODE_OPAQUE || n->kind == NODE_ATTACH) {
		strbuf_addc(out, ' ');
		strbuf_adds(out, print_text(&arena, n));
	} else if (n->name) {
		strbuf_addf(out, " " STR_FMT, STR_ARG(n->name->text));
	}
	for (const struct node *c = n->child; c; c = c->next) {
		strbuf_addc(out, ' ');
		dump(c, out);
	}
	strbuf_addc(out, ')');
}

static struct str dumped(const struct node *n)
{
	struct strbuf b = {0};
	if (n)
		dump(n, &b);
	return strbuf_take(&b, &arena);
}

static bool prints_itself(const struct node *program, struct str text)
{
	struct strbuf b = {0};
	if (program && program->first->kind != TOK_EOF) {
		strbuf_adds(&b, program->first->before);
		strbuf_adds(&b, print_text(&arena, program));
	}
	struct str rest = strbuf_str(&b);
	bool same = str_has_prefix(text, rest) && rest.n >= str_trim(text).n;
	strbuf_fini(&b);
	return same;
}

/** The only statement of @text has the tree @want. */
static void statement(const char *text, const char *want)
{
	struct str program = str_printf(&arena, "BEGIN { %s }", text);
	struct node *n = parse(program);
	struct str got = STR("");
	if (n && n->child && n->child->kind == NODE_CLAUSE && n->child->last_child->child)
		got = dumped(n->child->last_child->child);
	ok(str_eqz(got, want) && prints_itself(n, program), "%s", text);
	if (!str_eqz(got, want))
		printf("# got  " STR_FMT "\n# want %s\n", STR_ARG(got), want);
}

static void program(const char *text, const char *want)
{
	struct node *n = parse(str_from(text));
	struct str got = dumped(n);
	ok(str_eqz(got, want) && (!n || prints_itself(n, str_from(text))), STR_FMT,
	   STR_ARG(str_printable(&arena, str_from(text))));
	if (!str_eqz(got, want))
		printf("# got  " STR_FMT "\n# want %s\n", STR_ARG(got), want);
}

static unsigned count_opaque(const struct node *tree)
{
	unsigned n_opaque = 0;
	for (const struct node *n = tree; n; n = node_next(tree, n))
		if (n->kind == NODE_OPAQUE) {
			tap_show("opaque", print_text(&arena, n));
			n_opaque++;
		}
	return n_opaque;
}

/** What the preprocessor makes of it, as it stands. */
static struct str text_of(const struct token *t)
{
	struct strbuf b = {0};
	for (; t->kind != TOK_EOF; t = t->next) {
		strbuf_adds(&b, t->before);
		strbuf_adds(&b, t->text);
	}
	return strbuf_take(&b, &arena);
}

/** The script at @path is preprocessed, parsed and printed. */
static void test_script(const char *path)
{
	struct src_file *f;
	struct pp pp;
	struct node *tree = NULL;
	struct str text = STR("");
	unsigned n_opaque = 0;
	pp_init(&pp, &arena, &diag);
	pp_predefine(&pp, "__BPFTRACE__", "27");
	if (src_load(&arena, &diag, path, str_from(path), &f) && pp_file(&pp, f)) {
		text = text_of(pp.out);
		tree = parse_program(&arena, &diag, pp.out);
	}
	if (tree)
		n_opaque = count_opaque(tree);
	ok(tree && prints_itself(tree, text) && !n_opaque, "%s", path);
}

/** What is behind the line at the start of *@rest, which is returned without its end. */
static struct str take_line(struct str *rest)
{
	size_t n = str_find(*rest, '\n');
	struct str line = {rest->p, n};
	*rest = str_from_offset(*rest, n < rest->n ? n + 1 : n);
	return line;
}

/** The case @text, of which @want is the tree, or nothing: any, but nothing opaque. */
static void test_case(struct str text, struct str want, bool is_program)
{
	struct str whole = text, got = STR("");
	unsigned n_opaque = 0;
	if (!is_program)
		whole = str_printf(&arena, "BEGIN { " STR_FMT " }", STR_ARG(text));
	struct node *tree = parse(whole);
	if (tree && !want.n)
		n_opaque = count_opaque(tree);
	if (is_program || !tree)
		got = dumped(tree);
	else if (tree->child && tree->child->kind == NODE_CLAUSE)
		got = dumped(tree->child->last_child->child);
	bool good = tree && !n_opaque && (!want.n || str_eq(got, want));
	if (ok(good && prints_itself(tree, whole), STR_FMT, STR_ARG(str_printable(&arena, text))))
		return;
	tap_show("got ", got);
	tap_show("want", want);
}

static void test_cases(struct str path)
{
	struct src_file *f;
	if (!ok(src_load(&arena, &diag, path.p, path, &f), "%s", path.p))
		return;
	struct str rest = f->text;
	while (rest.n) {
		struct str text = take_line(&rest), want = STR("");
		if (!text.n || str_has_prefix(text, STR("##")))
			continue;
		if (rest.n && rest.p[0] == '\t')
			want = str_trim(take_line(&rest));
		test_case(text, want, str_contains(path, STR("programs")));
	}
}

int main(int argc, char **argv)
{
	diag_init(&diag, stderr);
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			if (str_has_suffix(str_from(argv[i]), STR(".lang")))
				test_cases(str_from(argv[i]));
			else
				test_script(argv[i]);
		return done();
	}
	// Operators bind as in C.
	statement("$x = 1 + 2 * 3;", "(expression (assign = $x (binary + 1 (binary * 2 3))))");
	statement("$x = 1 - 2 - 3;", "(expression (assign = $x (binary - (binary - 1 2) 3)))");
	statement("$x = 1 == 2 & 3;", "(expression (assign = $x (binary & (binary == 1 2) 3)))");
	statement("$x = -$y.z[1]++;",
		  "(expression (assign = $x (unary - (postfix ++ (index (member z $y) 1)))))");
	statement("@x[1, pid] += 5", "(expression (assign += (map x 1 pid) 5))");
	statement("@ = count();", "(expression (assign = (map) (call count)))");
	statement("$x = $c ? 1 : $d ? 2 : 3;",
		  "(expression (assign = $x (ternary ? $c 1 (ternary ? $d 2 3))))");
	statement("$x = $c ?: 3;", "(expression (assign = $x (ternary ? $c 3)))");
	statement("$x = (uint64)$y->a.b / 2;", "(expression (assign = $x (binary / (cast (type "
					       "uint64) (member b (member a $y))) 2)))");
	statement("print((struct s *)arg0);",
		  "(expression (call print (cast (type struct s *) arg0)))");
	statement("print((pid) - 1);", "(expression (call print (binary - (group pid) 1)))");
	statement("print((size_t) - 1);",
		  "(expression (call print (cast (type size_t) (unary - 1))))");
	statement("print((1, \"a\", $x.1.0));",
		  "(expression (call print (tuple 1 \"a\" (member .0 (member .1 $x)))))");
	statement("print(($x.1).0);",
		  "(expression (call print (member .0 (group (member .1 $x)))))");
	statement("print(sizeof(struct s));",
		  "(expression (call print (call sizeof (type struct s))))");
	statement("print(sizeof($x->y) + 1);",
		  "(expression (call print (binary + (call sizeof (member y $x)) 1)))");
	statement("print(offsetof(struct s, a.b));",
		  "(expression (call print (call offsetof (type struct s) (member b a))))");
	statement("$a = arg1 == ns::st::on ? ::off : b;",
		  "(expression (assign = $a (ternary ? (binary == arg1 (name ns)) (name :) b)))");
	statement("$p = (ns::ring<int, 4> *)arg2;",
		  "(expression (assign = $p (cast (type ns::ring<int, 4> *) arg2)))");
	statement("$x = $a < $b;", "(expression (assign = $x (binary < $a $b)))");
	statement(
	    "print(enum_name(acme::shop::err, args.st));",
	    "(expression (call print (call enum_name (type acme::shop::err) (member st args))))");
	statement("$x = $1 + $#;", "(expression (assign = $x (binary + $1 (parameter $))))");
	statement("$x = (a = 1, b = 2);",
		  "(expression (assign = $x (record (field a 1) (field b 2))))");
	// Statements
	statement("let $p : struct in * = $o->p;", "(let let $p (type struct in *) (member p $o))");
	statement("let $p;", "(let let $p)");
	statement("let $x : typeof(@y) = 1;", "(let let $x (typeof (map y)) 1)");
	statement("if ($x == 1) { f(); } else if $y { g() } else { $z++; }",
		  "(expression (if if (binary == $x 1) (block (expression (call f))) $y (block "
		  "(expression (call g))) (block (expression (postfix ++ $z)))))");
	statement("unroll(3) { print(1); }",
		  "(while unroll 3 (block (expression (call print 1))))");
	statement(
	    "while ($i < 3) { $i++; continue; }",
	    "(while while (binary < $i 3) (block (expression (postfix ++ $i)) (jump continue)))");
	statement("for ($kv : @m) { print($kv.1->bits); }",
		  "(for for $kv (map m) (block (expression (call print (member bits (member .1 "
		  "$kv))))))");
	statement("for ($i : 0..10) { break; }", "(for for $i (range 0 10) (block (jump break)))");
	statement("for $i : 0..$n { }", "(for for $i (range 0 $n) (block))");
	statement("for ($i : $a..ncpus) { }", "(for for $i (range $a ncpus) (block))");
	statement("for ($i : (-3)..3) { }", "(for for $i (range (group (unary - 3)) 3) (block))");
	statement("return;", "(return return)");
	statement("return $x + 1;", "(return return (binary + $x 1))");
	statement("$a = { let $b = 1; $b };",
		  "(expression (assign = $a (block (let let $b 1) (expression $b))))");
	statement("_ = has_key(@a, 1);", "(expression (assign = _ (call has_key (map a) 1)))");
	statement("$x = comptime (1 + 2);",
		  "(expression (assign = $x (call comptime (binary + 1 2))))");
	// What is not understood is opaque, and only that.
	statement("switch $x case 1: print(1);", "(opaque switch $x case 1: print(1);)");
	statement("a b; print(1);", "(opaque a b;)");
	// The program
	program("struct s { int a; } __attribute__((packed)) uprobe:./x:f,\nuprobe:./y:g /pid == 1 "
		"/ 2/ { }",
		"(program (definition s) (clause (attach uprobe:./x:f) (attach uprobe:./y:g) "
		"(predicate (binary == pid (binary / 1 2))) (block)))");
	program("BEGIN /{ $a = 1; $a }/ { f() }",
		"(program (clause (attach BEGIN) (predicate (block (expression (assign = $a 1)) "
		"(expression $a))) (block (expression (call f)))))");
	program("let @m = lruhash(10); fn f($a : struct s *, $b : int64) : int64 { return $a->x; } "
		"macro m($a, @b, c) { c }",
		"(program (map type (map m) (call lruhash 10)) (function f (let $a (type struct s "
		"*)) (let $b (type int64)) (type int64) (block (return return (member x $a)))) "
		"(macro m $a (map b) c (block (expression c))))");
	program("config = { a = b; c = 1 }\nimport \"x\";\nstruct s;\nBEGIN { }",
		"(program (config) (import) (opaque struct s;) (clause (attach BEGIN) (block)))");
	program("k:f", "(program (opaque k:f))");
	program("BEGIN { (; } END { }", "");
	arena_fini(&arena);
	return done();
}
