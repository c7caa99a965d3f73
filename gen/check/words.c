/**
 * Words (lang/vocabulary.h) and syntax that no bpftrace accepts, or that a version does not have yet and
 * would report as a syntax error or die of.
 *
 * The versions are from bpftrace's CHANGELOG.md, the grammar of each release (src/parser.yy, up to 0.25)
 * and measurements with 0.17, 0.23 and 0.27. What btgen rewrites for an older version (`begin`, several
 * BEGIN, `.` after a pointer whose type is known) is not here.
 */
#include "check/check_priv.h"

#include "dialect/dialect.h"

struct versions {
	const struct bind *b;
	struct map said; /**< each is reported once */
	bool good;
};

static bool is_over_map(const struct node *n)
{
	return n->child->next && n->child->next->kind != NODE_RANGE;
}

static bool is_statement_let(const struct node *n)
{
	return n->parent->kind != NODE_FUNCTION;
}

static bool is_value(const struct node *n)
{
	return n->parent->kind != NODE_BLOCK && n->parent->kind != NODE_EXPRESSION;
}

static bool is_bare(const struct node *n)
{
	return !tok_is(n->name->next, "(");
}

/** A block that belongs to no other statement, or is a value. */
static bool is_alone(const struct node *n)
{
	static const enum node_kind owners[] = {NODE_CLAUSE, NODE_FUNCTION, NODE_MACRO,
						NODE_IF,     NODE_WHILE,    NODE_FOR};
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (n->parent->kind == owners[i])
			return false;
	return true;
}

/** 5ms; 0x1d and 1e3 are plain numbers. */
static bool is_duration(const struct node *n)
{
	struct str text = node_text(n);
	return text.n > 1 && !str_has_prefix(text, STR("0x")) && !str_has_prefix(text, STR("0X")) &&
	       strchr("smhd", text.p[text.n - 1]);
}

static bool has_two(const struct node *n)
{
	return n->child && n->child->next && !n->child->next->next;
}

static bool is_bool_cast(const struct node *n)
{
	return n->parent->kind == NODE_CAST && n->first == n->last && tok_is(n->first, "bool");
}

/** Not `&x->m`, which no version has and all are given the address of. */
static bool is_of_name(const struct node *n)
{
	const struct node *of = node_ungrouped(n->child);
	return of->kind == NODE_VARIABLE || of->kind == NODE_MAP;
}

static bool is_array_cast(const struct node *n)
{
	return n->parent->kind == NODE_CAST && tok_is(n->last, "]");
}

static bool has_any(const struct node *n)
{
	return n->child;
}

/** pid(), comm(): only these had parentheses before most words without could have some. */
static bool is_called_value(const struct node *n)
{
	static const char *const older[] = {"kstack", "ustack", "nsecs", NULL};
	return vocabulary_word(n->name->text)->is_bare && !tok_is_any(n->name, older);
}

static bool has_mode(const struct node *n, const char *mode)
{
	static const char *const stacks[] = {"kstack", "ustack", NULL};
	return tok_is_any(n->name, stacks) && n->child && str_eqz(node_text(n->child), mode);
}

static bool is_raw_stack(const struct node *n)
{
	return has_mode(n, "raw");
}

static bool is_stack_of_ids(const struct node *n)
{
	return has_mode(n, "build_id");
}

static bool is_of_map_and_key(const struct node *n)
{
	return has_two(n) && n->child->kind == NODE_MAP && !n->child->child;
}

static const struct feature {
	enum node_kind kind;
	const char *word;		  /**< its name; NULL: any */
	bool (*is)(const struct node *n); /**< NULL: all of these are */
	const char *what;
	unsigned since; /**< the version that brought it */
	const char *instead;
} features[] = {
    {NODE_CALL, NULL, is_raw_stack, "stack mode raw", 18, NULL},
    {NODE_TYPE, NULL, is_array_cast, "cast to an array", 19, NULL},
    {NODE_CALL, "nsecs", NULL, "clock in nsecs()", 19, "nsecs alone is the time since boot"},
    {NODE_CONFIG, NULL, NULL, "config block", 20, "set its environment variables instead"},
    {NODE_FOR, NULL, is_over_map, "for loop", 21, NULL},
    {NODE_CALL, "exit", has_any, "exit() with a status", 22, "exit() works in all versions"},
    {NODE_CALL, "delete", is_of_map_and_key, "delete() with the key as second argument", 22,
     "delete(@map[key]) works in all versions"},
    {NODE_LET, NULL, is_statement_let, "let", 22, "an assignment declares a variable, too"},
    {NODE_CALL, NULL, is_called_value, "builtin with parentheses", 24,
     "without them it works in all versions"},
    {NODE_UNARY, "&", is_of_name, "address-of operator", 24, NULL},
    {NODE_BLOCK, NULL, is_alone, "standalone block", 24, NULL},
    {NODE_TYPE, NULL, is_bool_cast, "type bool", 24, "write x != 0"},
    {NODE_CALL, "delete", is_value, "value of delete()", 24, NULL},
    {NODE_NUMBER, NULL, is_duration, "number with a unit of time", 24, "write nanoseconds"},
    {NODE_IMPORT, NULL, NULL, "import", 24, NULL},
    {NODE_MACRO, NULL, NULL, "macro", 24, "use #define, which all versions have"},
    {NODE_MAP_TYPE, NULL, NULL, "declaration of a map's type", 24, NULL},
    {NODE_RANGE, NULL, NULL, "range", 24, "while (...) {} counts in all versions"},
    {NODE_IF, NULL, is_bare, "condition without parentheses", 25, "put it in parentheses"},
    {NODE_WHILE, NULL, is_bare, "condition without parentheses", 25, "put it in parentheses"},
    {NODE_CALL, NULL, is_stack_of_ids, "stack mode build_id", 25, NULL},
    {NODE_COMPTIME, NULL, NULL, "comptime", 25, NULL},
    {NODE_IF, NULL, is_value, "if as a value", 25, "c ? x : y is one in all versions"},
    {NODE_RECORD, NULL, NULL, "record", 25, "tuples are in all versions"},
    {NODE_TYPEOF, NULL, NULL, "typeof", 25, NULL},
    {NODE_TERNARY, NULL, has_two, "?: without a middle operand", 26, "write c ? c : x"},
};

/** False if it was reported before. */
static bool is_new(struct versions *v, const char *what)
{
	return map_add(v->b->arena, &v->said, str_from(what));
}

static void report_since(struct versions *v, const struct token *at, const char *what,
			 unsigned since)
{
	v->good &= diag_finding(v->b->diag, "version", DIAG_ERROR, tok_at(at),
				"bpftrace " DIALECT_FMT " has no %s: it was added in 0.%u",
				DIALECT_ARG(v->b->given->version), what, since);
}

static void check_feature(struct versions *v, const struct feature *f, const struct node *n)
{
	bool is_it =
	    n->kind == f->kind && (!f->word || tok_is(n->name, f->word)) && (!f->is || f->is(n));
	if (v->b->given->version >= f->since || !is_it || !is_new(v, f->what))
		return;
	report_since(v, n->first, f->what, f->since);
	if (f->instead)
		diag_note(v->b->diag, NULL, "%s", f->instead);
}

/** Something of the script's own may have the name of a newer version's. */
static bool is_script_name(const struct versions *v, const struct node *n)
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
	static const char *const truths[] = {"true", "false",
					     NULL}; // enumerators of its BTF, too; see emit_name()
	const struct word *w = vocabulary_word(n->name->text);
	if (w->since > v->b->given->version && (n->kind == NODE_CALL || w->is_bare) &&
	    !tok_is_any(n->name, truths) && !is_script_name(v, n) && is_new(v, w->name))
		report_since(v, n->first, w->name, w->since);
	// Without shapes another bpftrace runs the program, and has an --unsafe of its own.
	if (n->kind == NODE_CALL && w->is_unsafe && v->b->given->shapes &&
	    !v->b->given->is_unsafe && !is_script_name(v, n))
		v->good = diag_error(v->b->diag, tok_at(n->first), "%s() needs --unsafe", w->name);
	// Nothing else was removed.
	if (n->kind != NODE_NAME || dialect_has_stack_args(v->b->given->version) ||
	    !vocabulary_is_stack_arg(n->name->text) || is_script_name(v, n) || !is_new(v, "sarg"))
		return;
	v->good &=
	    diag_finding(v->b->diag, "version", DIAG_ERROR, tok_at(n->first),
			 "bpftrace " DIALECT_FMT " has no " STR_FMT ": it was removed in 0.25",
			 DIALECT_ARG(v->b->given->version), STR_ARG(n->name->text));
	diag_note(v->b->diag, NULL,
		  "of a function on x86-64, sargN is *(uint64 *)(reg(\"sp\") + 8 * (N + 1))");
}

/** Each `name = value` of a block; bpftrace reports one that no version has. */
static void check_config(struct versions *v, const struct node *n)
{
	for (const struct token *t = n->first; t != n->last; t = t->next) {
		unsigned since = tok_is(t->next, "=") ? vocabulary_setting(t->text) : 0;
		const char *name = str_dup(v->b->arena, t->text);
		if (since > v->b->given->version && is_new(v, name))
			report_since(v, t, name, since);
	}
}

/** Could the parser read it? A declaration without a body has nothing to read. */
static bool is_unread(const struct node *n)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	bool is_declaration =
	    n->parent && n->parent->kind == NODE_PROGRAM && tok_is_any(n->first, tags);
	return (n->kind == NODE_OPAQUE && !n->is_changed && !is_declaration) ||
	       (n->kind == NODE_PREDICATE && n->name);
}

/** What C has and bpftrace does not: an error that says what to write. */
static const struct c_word {
	enum node_kind kind;
	const char *names[4];
	const char *instead;
} c_words[] = {
    {NODE_NAME, {"NULL", "nullptr"}, "write 0"},
    {NODE_CALL, {"strcmp"}, "compare with ==: str(p) == \"text\""},
    {NODE_CALL, {"sprintf", "snprintf"}, "give the parts to printf(), or to a map as its key"},
    {NODE_CALL, {"strcpy", "strncpy", "strdup"}, "assign a string: $s = str(p)"},
};

static void check_c_word(struct versions *v, const struct node *n)
{
	array_each(const struct c_word, w, c_words) {
		if (n->kind != w->kind || !str_is_any(n->name->text, w->names) ||
		    is_script_name(v, n) || !is_new(v, w->instead))
			continue;
		v->good &= diag_finding(v->b->diag, "syntax", DIAG_ERROR, tok_at(n->first),
					"bpftrace has no " STR_FMT ": %s", STR_ARG(n->name->text),
					w->instead);
	}
	if (node_is(n, NODE_CALL, "delete") && n->child &&
	    node_ungrouped(n->child)->kind == NODE_VARIABLE)
		v->good &= diag_finding(v->b->diag, "syntax", DIAG_ERROR, tok_at(n->first),
					"delete() removes a key from a map: delete(@map[key])");
}

/** The statement @n that cannot be read is C, or another language: what bpftrace's own is; NULL: not known. */
static const char *instead_of_syntax(struct versions *v, const struct node *n)
{
	static const struct {
		const char *words[4], *instead;
	} statements[] =
	    {
		{{"switch", "case"}, "write if (...) { ... } else if (...) { ... }"},
		{{"elseif", "elif", "elsif"}, "write else if"},
		{{"do"}, "write while (...) { ... }"},
		{{"var", "auto"}, "a variable begins with $ and has no type: $x = 5"},
	    },
	  operators[] = {{{"and"}, "write &&"}, {{"or"}, "write ||"}};
	const struct token *at = n->name, *first = n->first;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (tok_is_any(first, statements[i].words))
			return statements[i].instead;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (tok_is_any(at, operators[i].words))
			return operators[i].instead;
	if (at->kind == TOK_CHAR && at->text.n != 3)
		return "write a number, or a string in double quotes";
	if (at->kind == TOK_CHAR)
		return arena_printf(v->b->arena, "write %d, or \"%c\" for a string", at->text.p[1],
				    at->text.p[1]);
	if (tok_is(first, "for"))
		return "write while (...) { ... }; for ($i : 0..5) { ... } works from 0.24 on";
	if (vocabulary_is_type_word(first->text) && at->kind == TOK_IDENT)
		return "a variable begins with $ and has no type: $x = 5";
	if (at->bol)
		return "is a ';' missing before it?";
	return tok_is(at, "=") ? "did you mean '=='?" : NULL;
}

/**
 * Nothing is adapted in what the parser could not read: no members, arguments or signs. A bpftrace that is newer
 * than the parser may know it.
 */
static void check_syntax(struct versions *v, const struct node *n)
{
	bool is_newer = v->b->given->version > DIALECT_NEWEST && !v->b->given->is_any_version;
	const struct token *at = n->name;
	if (!is_unread(n))
		return;
	if (is_newer && is_new(v, "syntax"))
		v->good &= diag_finding(v->b->diag, "syntax", DIAG_WARNING, tok_at(n->first),
					"unknown syntax (btgen knows bpftrace's language up to "
					"0.%u): passed on unchanged and unchecked",
					DIALECT_NEWEST);
	if (is_newer || !at) // what is outside of clauses bpftrace refuses
		return;
	v->good &= diag_finding(v->b->diag, "syntax", DIAG_ERROR, tok_at(at),
				"unexpected '" STR_FMT "'", STR_ARG(at->text));
	const char *instead = instead_of_syntax(v, n);
	if (instead)
		diag_note(v->b->diag, NULL, "%s", instead);
}

/** Where a word may be a parameter. */
static bool in_macro(const struct node *n)
{
	while (n && n->kind != NODE_MACRO)
		n = n->parent;
	return n;
}

/** `o = 5`, `m[1]++` */
static void check_assignment(struct versions *v, const struct node *n)
{
	const struct node *to = n->child;
	if (n->kind != NODE_ASSIGN && !node_is_step(n))
		return;
	const char *which = to->kind == NODE_INDEX ? "a map begins with @: @"
						   : "a variable begins with $, a map with @: $";
	to = to->kind == NODE_INDEX ? to->child : to;
	if (to->kind != NODE_NAME || tok_is(to->name, "_") || in_macro(n)) // _ = f()
		return;
	const char *name = str_dup(v->b->arena, node_text(to));
	if (!is_new(v, name))
		return;
	v->good &= diag_finding(v->b->diag, "syntax", DIAG_ERROR, tok_at(to->first),
				"cannot assign to %s: %s%s", name, which, name);
}

static void check_node(struct versions *v, const struct node *n)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		check_feature(v, &features[i], n);
	if (n->kind == NODE_NAME || n->kind == NODE_CALL)
		check_word(v, n);
	else if (n->kind == NODE_CONFIG && map_get(&v->said, STR("config block")) == NULL)
		check_config(v, n);
}

static void check_attach(struct versions *v, const struct script_attach *at)
{
	const struct provider *p = at->provider;
	const struct token *first = at->node->first;
	if (p->when == WHEN_TIMER && at->fields.n == 1 &&
	    !dialect_has_durations(v->b->given->version) && is_new(v, "one word")) {
		report_since(v, first, "interval of one word", 24);
		diag_note(v->b->diag, NULL, "write the unit first: " STR_FMT ":s:5",
			  STR_ARG(at->kind));
	}
	// The short name may be older.
	if (v->b->given->version >= p->since || !str_eqz(at->kind, p->name) || !is_new(v, p->name))
		return;
	report_since(v, first, p->name, p->since);
	if (p->before)
		diag_note(v->b->diag, NULL, "%s is the same", p->before);
}

bool check_words(const struct bind *b)
{
	struct versions v = {.b = b, .good = true};
	const struct node *program = b->found.script.program;
	for (const struct node *n = program; n; n = node_next(program, n)) {
		check_syntax(&v, n);
		check_assignment(&v, n);
		check_c_word(&v, n);
	}
	if (b->given->is_any_version)
		return v.good;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.script.clauses.v[i]->attach.n; k++)
			check_attach(&v, &b->found.script.clauses.v[i]->attach.v[k]);
	for (const struct node *n = program; n; n = node_next(program, n))
		check_node(&v, n);
	return v.good;
}
