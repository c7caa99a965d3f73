/**
 * What a version of bpftrace does not have yet, or no more: words (lang/vocabulary.h), and syntax.
 *
 * Which version has what is in bpftrace's CHANGELOG.md, in the grammar of each release
 * (src/parser.yy, up to 0.25) and measured with 0.17, 0.23 and 0.27. What btgen rewrites for an
 * older version (`begin`, several BEGIN, `.` behind a pointer whose type is known) is not here.
 */
#include "check/check_priv.h"

#include <string.h>

#include "lang/vocabulary.h"
#include "dialect/dialect.h"

struct versions {
	const struct bind *b;
	struct map said; /**< each thing is said once */
	bool has_names;	 /**< a clause in which args.NAME is btgen's */
	bool good;
};

static bool is_statement(const struct node *parent)
{
	return parent && parent->kind == NODE_BLOCK;
}

static bool is_over_map(const struct node *n, const struct node *parent)
{
	(void)parent;
	return n->child->next && n->child->next->kind != NODE_RANGE;
}

static bool is_statement_let(const struct node *n, const struct node *parent)
{
	(void)n;
	return !(parent && parent->kind == NODE_FUNCTION);
}

static bool is_value(const struct node *n, const struct node *parent)
{
	(void)n;
	return parent && !is_statement(parent) && parent->kind != NODE_EXPRESSION;
}

static bool is_bare(const struct node *n, const struct node *parent)
{
	(void)parent;
	return !tok_is(n->name->next, "(");
}

/** A block that belongs to no other statement, or is a value. */
static bool is_alone(const struct node *n, const struct node *parent)
{
	static const enum node_kind owners[] = {NODE_CLAUSE, NODE_FUNCTION, NODE_MACRO,
						NODE_IF,     NODE_WHILE,    NODE_FOR};
	(void)n;
	for (size_t i = 0; parent && i < sizeof(owners) / sizeof(owners[0]); i++)
		if (parent->kind == owners[i])
			return false;
	return true;
}

static bool is_key(const struct node *n, const struct node *parent)
{
	(void)n;
	return parent && parent->kind == NODE_MAP;
}

/** 5ms; 0x1d and 1e3 are plain numbers. */
static bool is_duration(const struct node *n, const struct node *parent)
{
	struct str text = node_text(n);
	(void)parent;
	return text.n > 1 && !str_has_prefix(text, STR("0x")) && !str_has_prefix(text, STR("0X")) &&
	       strchr("smhd", text.p[text.n - 1]);
}

/** 1ULL; small letters are in all versions. */
static bool has_capital(const struct node *n, const struct node *parent)
{
	struct str text = node_text(n);
	(void)parent;
	return text.n > 1 && (text.p[text.n - 1] == 'U' || text.p[text.n - 1] == 'L');
}

static bool has_two(const struct node *n, const struct node *parent)
{
	(void)parent;
	return n->child && n->child->next && !n->child->next->next;
}

static bool is_bool_cast(const struct node *n, const struct node *parent)
{
	return parent && parent->kind == NODE_CAST && n->first == n->last &&
	       tok_is(n->first, "bool");
}

static bool is_of_key(const struct node *n, const struct node *parent)
{
	(void)parent;
	return n->child && n->child->kind == NODE_MAP && n->child->child;
}

static bool is_of_map_and_key(const struct node *n, const struct node *parent)
{
	return has_two(n, parent) && n->child->kind == NODE_MAP && !n->child->child;
}

static bool is_of_keys(const struct node *n, const struct node *parent)
{
	return is_of_key(n, parent) && n->child->next;
}

static bool has_argument(const struct node *n, const struct node *parent)
{
	(void)parent;
	return n->child;
}

static bool has_second(const struct node *n, const struct node *parent)
{
	(void)parent;
	return n->child && n->child->next;
}

static bool is_stack_mode(const struct node *n, const struct node *parent)
{
	(void)n;
	return node_is(parent, NODE_CALL, "kstack") || node_is(parent, NODE_CALL, "ustack");
}

/** pid() for pid */
static bool is_builtin_call(const struct node *n, const struct node *parent)
{
	static const char *const always[] = {"kstack", "ustack", "nsecs", NULL};
	(void)parent;
	return n->kind == NODE_CALL && vocabulary_word(n->name->text)->is_bare &&
	       !tok_is_any(n->name, always);
}

static const struct feature {
	enum node_kind kind;
	const char *word;					     /**< its name; NULL: any */
	bool (*is)(const struct node *n, const struct node *parent); /**< NULL: all of these are */
	const char *what;
	unsigned since; /**< the version that brought it */
	unsigned last;	/**< the last that has it; 0: all since */
	const char *instead;
} features[] = {
    {NODE_NAME, "raw", is_stack_mode, "stack mode raw", 18, 0, NULL},
    {NODE_CALL, "nsecs", NULL, "clock in nsecs()", 19, 0, "nsecs alone is the time since boot"},
    {NODE_CONFIG, NULL, NULL, "config block", 20, 0, "set its environment variables instead"},
    {NODE_CALL, "hist", has_second, "second argument of hist()", 20, 0, NULL},
    {NODE_FOR, NULL, is_over_map, "for loop", 21, 0, NULL},
    {NODE_CALL, "print", is_of_key, "print() of one key", 21, 0,
     "printf() prints it, print(@map) all keys"},
    {NODE_CALL, "exit", has_argument, "argument of exit()", 22, 0, NULL},
    {NODE_CALL, "delete", is_of_keys, "delete() of several keys", 21, 21,
     "write one delete(@map[key]) for each"},
    {NODE_CALL, "delete", is_of_map_and_key, "delete() with the key as second argument", 22, 0,
     "delete(@map[key]) works in all versions"},
    {NODE_LET, NULL, is_statement_let, "let", 22, 0, "an assignment declares a variable, too"},
    {NODE_TUPLE, NULL, is_key, "tuple as a key", 22, 0, "write its values as keys: @map[a, b]"},
    {NODE_UNARY, "&", NULL, "address-of operator", 24, 0, NULL},
    {NODE_BLOCK, NULL, is_alone, "standalone block", 24, 0, NULL},
    {NODE_TYPE, NULL, is_bool_cast, "type bool", 24, 0, "write x != 0"},
    {NODE_NAME, "build_id", is_stack_mode, "stack mode build_id", 25, 0, NULL},
    {NODE_CALL, NULL, is_builtin_call, "builtin with parentheses", 24, 0, "write comm for comm()"},
    {NODE_CALL, "delete", is_value, "value of delete()", 24, 0, NULL},
    {NODE_NUMBER, NULL, is_duration, "number with a unit of time", 24, 0, "write nanoseconds"},
    {NODE_IMPORT, NULL, NULL, "import", 24, 0, NULL},
    {NODE_MACRO, NULL, NULL, "macro", 24, 0, "use #define, which all versions have"},
    {NODE_MAP_TYPE, NULL, NULL, "declaration of a map's type", 24, 0, NULL},
    {NODE_RANGE, NULL, NULL, "range", 24, 0, "while (...) {} counts in all versions"},
    {NODE_IF, NULL, is_bare, "condition without parentheses", 25, 0, "put it in parentheses"},
    {NODE_WHILE, NULL, is_bare, "condition without parentheses", 25, 0, "put it in parentheses"},
    {NODE_COMPTIME, NULL, NULL, "comptime", 25, 0, NULL},
    {NODE_IF, NULL, is_value, "if as a value", 25, 0, "c ? x : y is one in all versions"},
    {NODE_RECORD, NULL, NULL, "record", 25, 0, "tuples are in all versions"},
    {NODE_TYPEOF, NULL, NULL, "typeof", 25, 0, NULL},
    {NODE_TERNARY, NULL, has_two, "?: without a middle operand", 26, 0, "write c ? c : x"},
    {NODE_NUMBER, NULL, has_capital, "capital letters after a number", 1, 23,
     "write 1ull for 1ULL"},
};

/** False when it was said before. */
static bool is_new(struct versions *v, const char *what)
{
	return map_add(v->b->arena, &v->said, str_from(what));
}

static void say(struct versions *v, const struct token *at, const char *what, unsigned since,
		unsigned last)
{
	struct diag_place place = tok_place(at);
	unsigned version = v->b->given->version;
	if (since > version)
		v->good &= diag_finding(v->b->diag, "version", DIAG_ERROR, &place,
					"bpftrace " DIALECT_FMT " has no %s: it was added in 0.%u",
					DIALECT_ARG(version), what, since);
	else
		v->good &= diag_finding(v->b->diag, "version", DIAG_ERROR, &place,
					"bpftrace " DIALECT_FMT
					" no longer supports %s (removed after 0.%u)",
					DIALECT_ARG(version), what, last);
}

static void check_feature(struct versions *v, const struct feature *f, const struct node *n,
			  const struct node *parent)
{
	unsigned version = v->b->given->version;
	bool is_it = n->kind == f->kind && (!f->word || tok_is(n->name, f->word)) &&
		     (!f->is || f->is(n, parent));
	if ((version >= f->since && (!f->last || version <= f->last)) || !is_it ||
	    !is_new(v, f->what))
		return;
	say(v, n->first, f->what, f->since, f->last);
	if (f->instead)
		diag_note(v->b->diag, NULL, "%s", f->instead);
}

/** Something of the script's own may have the name of a newer version's. */
static bool is_own(const struct versions *v, const struct node *n)
{
	const struct script *s = &v->b->found.script;
	if (script_has_function(s, n->name->text))
		return true;
	for (size_t i = 0; i < s->definitions.n; i++)
		for (const struct token *t = s->definitions.v[i]->first;
		     t != s->definitions.v[i]->last; t = t->next)
			if (str_eq(t->text, n->name->text))
				return true;
	return false;
}

static void check_word(struct versions *v, const struct node *n)
{
	static const char *const kernel[] = {"true", "false", NULL}; // enumerators of its BTF, too
	const struct word *w = vocabulary_word(n->name->text);
	if (w->since > v->b->given->version && (n->kind == NODE_CALL || w->is_bare) &&
	    !tok_is_any(n->name, kernel) && !is_own(v, n) && is_new(v, w->name))
		say(v, n->first, w->name, w->since, 0);
}

/** break, continue and return in the block of a `for`: the first, NULL for none. */
static const struct node *find_jump(const struct node *n)
{
	if (n->kind == NODE_JUMP || n->kind == NODE_RETURN)
		return n;
	for (const struct node *c = n->child; c; c = c->next) {
		const struct node *jump = c->kind == NODE_FOR ? NULL : find_jump(c);
		if (jump)
			return jump;
	}
	return NULL;
}

static bool check_node(void *ctx, struct node *n, struct node *parent)
{
	struct versions *v = ctx;
	if (n->kind == NODE_CLAUSE) {
		const struct provider *p = vocabulary_provider(n->first->text);
		v->has_names = p->whose == OF_FILE && p->place != PLACE_RETURN;
	}
	bool is_dot_of_args = n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args") &&
			      tok_is(n->child->last->next, "."); // of a tracepoint
	if (is_dot_of_args && !v->has_names && !dialect_has_dot_of_args(v->b->given->version) &&
	    is_new(v, "dot")) {
		say(v, n->first, "dot after args", 19, 0);
		diag_note(v->b->diag, NULL, "write args->");
	}
	const struct node *jump =
	    n->kind == NODE_FOR && dialect_stays_in_for(v->b->given->version) ? find_jump(n) : NULL;
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		check_feature(v, &features[i], n, parent);
	if (n->kind == NODE_NAME || (n->kind == NODE_CALL && !is_builtin_call(n, parent)))
		check_word(v, n);
	if (jump && is_new(v, "jump"))
		say(v, jump->first, "break, continue or return in a for loop", 24, 0);
	return true;
}

static void check_attach(struct versions *v, const struct script_attach *at)
{
	const struct provider *p = at->provider;
	const struct token *first = at->node->first;
	if (p->when == WHEN_TIMER && at->fields.n == 1 &&
	    !dialect_has_durations(v->b->given->version) && is_new(v, "one word")) {
		say(v, first, "interval of one word", 24, 0);
		diag_note(v->b->diag, NULL, "write the unit first: " STR_FMT ":s:5",
			  STR_ARG(at->kind));
	}
	// The short name may be older.
	if (v->b->given->version >= p->since || !str_eqz(at->kind, p->name) || !is_new(v, p->name))
		return;
	say(v, first, p->name, p->since, 0);
	if (p->before)
		diag_note(v->b->diag, NULL, "%s is the same", p->before);
}

bool check_words(const struct bind *b)
{
	struct versions v = {.b = b, .good = true};
	if (b->given->is_any_version)
		return true;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.script.clauses.v[i]->attach.n; k++)
			check_attach(&v, &b->found.script.clauses.v[i]->attach.v[k]);
	node_walk(b->found.script.program, check_node, &v);
	return v.good;
}
