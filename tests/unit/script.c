// The parts of a program: definitions, clauses, and what the clauses use.
#include "lang/script.h"
#include "lang/uses.h"

#include "lang/print.h"
#include "tap.h"
#include "text/pp.h"

static struct arena arena;
static struct diag diag;
static char *said;
static size_t said_n;
static struct script s;

static bool parse(const char *text)
{
	struct pp pp;
	pp_init(&pp, &arena, &diag);
	fflush(diag.out);
	rewind(diag.out);
	bool good = pp_file(&pp, src_from_text(&arena, STR("t.bt"), str_from(text)));
	return good && script_parse(&arena, &diag, pp.out, &s);
}

static bool complains(const char *text, const char *message)
{
	bool good = parse(text);
	fflush(diag.out);
	return !good && strstr(said, message);
}

/** What stands between the slashes of clause @i. */
static struct str predicate(size_t i)
{
	struct str text = print_text(&arena, script_predicate(s.clauses.v[i]));
	return str_trim(str_slice(text, 1, text.n - 2));
}

/** The attach points of clause @i as kind(field|field), blank between them. */
static struct str attached(size_t i)
{
	struct strbuf b = {0};
	for (size_t k = 0; i < s.clauses.n && k < s.clauses.v[i]->attach.n; k++) {
		struct script_attach *a = &s.clauses.v[i]->attach.v[k];
		strbuf_addf(&b, "%s" STR_FMT "(", k ? " " : "", STR_ARG(a->kind));
		for (size_t j = 0; j < a->fields.n; j++)
			strbuf_addf(&b, "%s" STR_FMT, j ? "|" : "", STR_ARG(a->fields.v[j]));
		strbuf_addc(&b, ')');
	}
	return strbuf_take(&b, &arena);
}

/** Uses of maps and variables of the program, by name: what is done, a letter each. */
static struct str uses(const char *text)
{
	static const char letters[] = "rsadczplg?"; // in the order of enum use_does
	struct strbuf b = {0};
	struct uses all;
	parse(text);
	uses_find(&arena, &s, &all);
	for (size_t i = 0; i <= s.clauses.n; i++) {
		const struct map *names = i ? uses_variables(&all, s.clauses.v[i - 1]) : &all.maps;
		for (struct map_entry *e = NULL; (e = map_next(names, e));) {
			strbuf_addf(&b, "%s%s" STR_FMT, strbuf_str(&b).n ? " " : "", i ? "" : "@",
				    STR_ARG(e->key));
			for (const struct use *u = ((struct used_name *)e->value)->first; u;
			     u = u->next) {
				strbuf_addz(&b, u->node->child ? "[]" : ":");
				for (unsigned k = 0; letters[k]; k++)
					if (u->does & 1u << k)
						strbuf_addc(&b, letters[k]);
				strbuf_addz(&b, u->is_whole ? "*" : "");
			}
		}
	}
	return strbuf_take(&b, &arena);
}

static void attach_points(void)
{
	parse("usdt:__EXE__:spdk:nvmf_tgt_state, uprobe:/a/*:f*+3,BEGIN{ } END { 1 }");
	ok(s.clauses.n == 2, "clauses follow one another");
	is_str(attached(0), STR("usdt(__EXE__|spdk|nvmf_tgt_state) uprobe(/a/*|f*+3) BEGIN()"),
	       "several attach points of one clause");
	is_str(attached(1), STR("END()"), "and of the next");
	is_str(print_text(&arena, s.clauses.v[0]->attach.v[1].node), STR("uprobe:/a/*:f*+3"),
	       "the tokens of one");
	parse("usdt:\"/a b,c/{x}\":p:n,\nuprobe:/l:cpp:\"f(int, char)\" { }");
	is_str(attached(0), STR("usdt(/a b,c/{x}|p|n) uprobe(/l|cpp|f(int, char))"),
	       "quoted fields lose their quotes");
	parse("usdt:/bin/x::n { } interval:s:1 { }");
	is_str(attached(0), STR("usdt(/bin/x||n)"), "a field may be empty");
	parse("#define EXE /opt/x-1.2\n#define P(n) usdt:EXE:spdk:n\nP(a),\n#pragma pack(1)\nP(b) "
	      "{ }");
	is_str(attached(0), STR("usdt(/opt/x-1.2|spdk|a) usdt(/opt/x-1.2|spdk|b)"),
	       "attach points made by macros");
}

static void predicates(void)
{
	parse("k:f\n  /pid == 1/\n{ 1 } k:g /(arg0 / 2) / 3 == 4/ { } k:h { 6 / 3 }");
	is_str(predicate(0), STR("pid == 1"), "a predicate without its slashes");
	is_str(predicate(1), STR("(arg0 / 2) / 3 == 4"), "divisions do not end it");
	ok(!script_predicate(s.clauses.v[2]), "a division in a body begins none");
	is_str(print_text(&arena, s.clauses.v[2]->node->last_child), STR("{ 6 / 3 }"),
	       "a body with its braces");
	ok(parse("BEGIN/pid/{ }") && script_predicate(s.clauses.v[0]),
	   "no blanks are needed after BEGIN");
	ok(parse("k:f // { \n { }") && s.clauses.n == 1, "a comment is none");
	ok(complains("k:f /pid == 1 { }", "t.bt:1:5: error: this \"/\" begins a predicate without"),
	   "a predicate that does not end");
}

static void arguments(void)
{
	parse("k:f /arg1/ { @a[arg0] = args.name + args->other + args.3 + arg11; $arg2 = x.arg3 + "
	      "@arg4 + y->args.z + argx + arg + arg007 + \"arg5\" + sarg0; }");
	struct script_clause *c = s.clauses.v[0];
	ok(c->args.n == 3 && c->args.v[0].n == 1 && c->args.v[1].n == 0 && c->args.v[2].n == 11,
	   "argN in predicate and body; not in members, maps, variables and strings");
	ok(c->named_args.n == 3 && tok_is(c->named_args.v[0]->name, "name") &&
	       tok_is(c->named_args.v[1]->name, "other") &&
	       str_eqz(c->named_args.v[2]->name->text, ".3"),
	   "args.NAME, args->NAME and args.N");
}

static void names(void)
{
	is_str(uses("BEGIN { @a = 1; @b[1] += 2; @c++; --@d; @e[@f[1], 2]++; @ = @c++; }"),
	       STR("@a:s @b[]a @c:a:ra @d:a @e[]a @f[]r @:s"), "maps that are set, and counted up");
	is_str(
	    uses("BEGIN { $x = @b[1] == 2; if (@c <= 1) { @d[@e]; } (@f) } END { $x++; @f == 1; }"),
	    STR("@b[]r @c:r @d[]r @e:r @f:r:s $x:s $x:a"),
	    "that are read; a variable is one clause's");
	is_str(uses("BEGIN { clear(@a); delete(@b[1]); zero(@c); delete(@d, @e[1]); print(@f); "
		    "print(@g[1]); printf(\"%d\", @h); len(@f) }"),
	       STR("@a:c* @b[]d @c:z* @d:d* @e[]r @f:rp*:r* @g[]rp @h:r"), "in calls");
	is_str(uses("BEGIN { for ($kv : @m) { print($kv.0); } let $l : int8; @x[(@y)] = @y }"),
	       STR("@m:rl* @x[]s @y:r:r $kv:l:r $l:s"), "in loops and declarations");
	is_str(uses("macro m(@p, $v) { @p = $v; @q = 1 } BEGIN { m(@a, $x); unknown($x + 1) }"),
	       STR("@q:s @a:rg* $v:r:r $x:rg:rg"), "what a macro gets, not its parameters");
}

static void definitions(void)
{
	parse("#pragma pack(push, 1)\nstruct a { int x[3]; struct { int y; } z; };\n#pragma "
	      "pack(pop)\n"
	      "union b { int x; }\nenum c : int { X, Y };\nenum { Z } k:f { struct d { } }");
	ok(s.definitions.n == 4 && s.clauses.n == 1, "structs, unions and enums at the top level");
	is_str(print_text(&arena, s.definitions.v[0]),
	       STR("struct a { int x[3]; struct { int y; } z; };"), "with the semicolon");
	is_str(print_text(&arena, s.definitions.v[1]), STR("union b { int x; }"), "or without");
	is_str(script_tag(s.definitions.v[2]), STR("c"), "their tags");
	is_str(script_tag(s.definitions.v[3]), STR(""), "or none");
	parse(
	    "struct __attribute__((packed)) x { int a; } __attribute__((aligned(4)));\nBEGIN { }");
	is_str(script_tag(s.definitions.v[0]), STR("x"), "attributes belong to it");
	ok(s.clauses.n == 1 && s.definitions.n == 1, "on both sides");
}

static void others(void)
{
	ok(parse("config = { a = b; c = 1 }\nimport \"x\";\nmacro m($x, @y) { $x + @y }\n"
		 "fn f($a : int64) : void { return; }\nlet @m = lruhash(10);\nstruct s;\nBEGIN { "
		 "}") &&
	       s.definitions.n == 0 && s.clauses.n == 3 && s.clauses.v[0]->attach.n == 0,
	   "macro and fn are looked into, other things that newer versions have left alone");
	ok(parse("") && parse("k:f") && s.clauses.n == 0,
	   "a probe without body is for bpftrace to refuse");
}

static void brackets(void)
{
	ok(complains("BEGIN { (1 }", "t.bt:1:12: error: this \"}\" does not match"),
	   "a bracket of the wrong kind");
	ok(strstr(said, "t.bt:1:9: note: the innermost"), "and what is open");
	ok(complains("BEGIN {\n if (1) {\n }", "t.bt:1:7: error: this \"{\" is not closed"),
	   "a brace without end is shown at its start");
	ok(complains("BEGIN { } }", "t.bt:1:11: error: this \"}\" has no opening bracket"),
	   "one too many");
	ok(complains("struct a { int x; BEGIN { }", "t.bt:1:10: error: this \"{\" is not closed"),
	   "in a definition");
}

int main(void)
{
	diag_init(&diag, open_memstream(&said, &said_n));
	attach_points();
	predicates();
	arguments();
	names();
	definitions();
	others();
	brackets();
	fclose(diag.out);
	free(said);
	arena_fini(&arena);
	return done();
}
