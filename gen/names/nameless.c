#include "names/nameless.h"

#include "bind/join.h"
#include "lower/exprtype.h"
#include "lang/format.h"
#include "lang/change.h"
#include "out/dialect.h"

#define MAX_CASES 32 // copies of one call

struct rewriter {
	struct bind *b;
	const struct map *tables;
	struct map variables; // their names, with $
	struct node *clause;  // that is looked at
	bool good;
};

/** One behind the format. */
struct argument {
	struct node *node;
	struct conversion how; // its own; ends where the last one did when there is none
	bool is_choice;	       // names are printed
	// In one of the cases:
	const struct node *is;
	const char *letters; // instead of the s of its %s
};

/** A call that prints names. */
struct printing {
	struct rewriter *r;
	struct arena *arena;
	struct node *call, *format;
	VEC(struct argument) args;
	unsigned n_cases; // 0: no name is printed
	bool is_simple;	  // only names, with keys that may be read again: the call can stay one
	bool splits;	  // a case by itself for names that are missing
};

/** Is @n `@map[key]`, @map a table? Two keys make none: bpftrace is to refuse those. */
static bool is_table_name(const struct map *tables, const struct node *n)
{
	return n->kind == NODE_MAP && n->name && map_get(tables, n->name->text) && n->child &&
	       !n->child->next;
}

/** `condition ? yes : no`, either of them with a name in it. */
static bool is_choice(const struct map *tables, struct node *n)
{
	if (n->kind != NODE_TERNARY || !n->child->next->next)
		return false;
	for (struct node *c = n->child->next; c; c = c->next) {
		struct node *part = node_ungrouped(c);
		if (is_table_name(tables, part) || is_choice(tables, part))
			return true;
	}
	return false;
}

// --- calls ---

/** Into how many cases does one argument make the call? */
static unsigned cases_of(const struct printing *p, struct node *n)
{
	n = node_ungrouped(n);
	if (is_choice(p->r->tables, n))
		return cases_of(p, n->child->next) + cases_of(p, n->child->next->next);
	return is_table_name(p->r->tables, n) && p->splits ? 2 : 1;
}

/** Does the call print names for %s? */
static bool find_names(struct rewriter *r, struct node *call, struct printing *p)
{
	struct conversion how = {0};
	*p = (struct printing){.r = r, .arena = r->b->arena, .call = call};
	p->splits = dialect_has_own_printf(r->b->version);
	p->is_simple = !p->splits;
	p->format = format_find(call);
	for (struct node *n = p->format ? p->format->next : NULL; n; n = n->next) {
		struct node *value = node_ungrouped(n);
		bool is_name = is_table_name(r->tables, value);
		bool is_string = format_next(p->format->name->text, &how) && how.letter == 's';
		struct argument arg = {.node = n, .how = how, .is = n};
		arg.is_choice = is_string && (is_name || is_choice(r->tables, value));
		vec_push(p->arena, &p->args, arg);
		if (!arg.is_choice)
			continue;
		p->is_simple &= is_name && expr_effect(value->child) == EFFECT_NONE;
		p->n_cases = p->n_cases ? p->n_cases : 1;
		if (p->n_cases <= MAX_CASES)
			p->n_cases *= cases_of(p, value);
	}
	return p->n_cases;
}

/** The format in one of the cases. */
static struct str case_format(const struct printing *p)
{
	struct str text = p->format->name->text;
	struct strbuf format;
	size_t done = 0;
	strbuf_init(&format);
	for (size_t i = 0; i < p->args.n; i++) {
		const struct argument *arg = &p->args.v[i];
		if (!arg->letters)
			continue;
		strbuf_adds(&format, str_slice(text, done, arg->how.end - 1 - done));
		strbuf_addz(&format, arg->letters);
		done = arg->how.end;
	}
	strbuf_adds(&format, str_from_offset(text, done));
	return strbuf_take(&format, p->arena);
}

/** For C's printf: the name, and behind it the number if that is missing, else 0. */
static struct node *name_and_number(struct arena *a, const struct node *name,
				    const struct node *key)
{
	return change_text(a, name, "%n, %n == \"\" ? (int64)(%n) : 0", name, name, key);
}

#define NAME_AND_NUMBER "s%.0ld"

/** The call stays one. */
static void add_numbers(struct printing *p)
{
	struct arena *a = p->arena;
	for (size_t i = 0; i < p->args.n; i++) {
		struct argument *arg = &p->args.v[i];
		if (!arg->is_choice)
			continue;
		const struct node *name = change_copy(a, node_ungrouped(arg->node));
		arg->letters = NAME_AND_NUMBER;
		change(a, arg->node, "%n", name_and_number(a, name, name->child));
	}
	change_leaf(a, p->format, NODE_STRING, case_format(p));
}

/** Argument @i and those behind it, in all cases. */
static struct node *make_cases(struct printing *p, size_t i);

/** The cases in which argument @i is @is. */
static struct node *make_with(struct printing *p, size_t i, const struct node *is,
			      const char *letters)
{
	p->args.v[i].is = is;
	p->args.v[i].letters = letters;
	return make_cases(p, i + 1);
}

static struct node *make_name(struct printing *p, size_t i, const struct node *name)
{
	struct arena *a = p->arena;
	const struct node *key = name->child, *keep = change_text(a, name, "");
	if (expr_effect(key) != EFFECT_NONE) {
		struct str variable = join_new_variable(p->r->b, &p->r->variables, STR("$key"));
		keep = change_text(a, key, "%t = (int64)(%n); ", variable, key);
		key = change_text(a, key, "%t", variable);
		name = change_text(a, name, "@%t[%t]", name->name->text, variable);
	}
	if (!p->splits)
		return change_text(a, name, "%n%n", keep,
				   make_with(p, i, name_and_number(a, name, key), NAME_AND_NUMBER));
	struct node *number = make_with(p, i, change_text(a, key, "(int64)(%n)", key), "ld");
	return change_text(a, name, "%nif (%n == \"\") { %n } else { %n }", keep, name, number,
			   make_with(p, i, name, NULL));
}

static struct node *make_choice(struct printing *p, size_t i, struct node *n)
{
	n = node_ungrouped(n);
	if (is_table_name(p->r->tables, n))
		return make_name(p, i, n);
	if (!is_choice(p->r->tables, n))
		return make_with(p, i, n, NULL);
	struct node *condition = n->child, *yes = condition->next;
	struct node *made = make_choice(p, i, yes);
	return change_text(p->arena, n, "if (%n) { %n } else { %n }", condition, made,
			   make_choice(p, i, yes->next));
}

static struct node *make_cases(struct printing *p, size_t i)
{
	struct arena *a = p->arena;
	if (i < p->args.n)
		return p->args.v[i].is_choice ? make_choice(p, i, p->args.v[i].node)
					      : make_cases(p, i + 1);
	struct node *args = change_text(a, p->call, "");
	for (size_t k = 0; k < p->args.n; k++)
		args = change_text(a, p->call, "%n, %n", args, p->args.v[k].is);
	return change_text(a, p->call, "%t(%t%n);", p->call->name->text, case_format(p), args);
}

static void rewrite(struct printing *p, struct node *statement)
{
	struct bind *b = p->r->b;
	struct diag_place at = tok_place(p->call->first);
	if (p->is_simple)
		add_numbers(p);
	else if (statement->kind != NODE_EXPRESSION)
		p->r->good = diag_error(b->diag, &at,
					"a call that prints the name of an enumerator cannot be "
					"part of an expression: make it a statement, under an if");
	else if (p->n_cases > MAX_CASES)
		p->r->good =
		    diag_error(b->diag, &at,
			       "too many enumerator names in one call for bpftrace " DIALECT_FMT
			       ": use several calls",
			       DIALECT_ARG(b->version));
	else
		change(p->arena, statement, "%n", make_cases(p, 0));
}

// --- copies and keys ---

static bool find_map(void *ctx, struct node *n, struct node *parent)
{
	bool *found = ctx;
	(void)parent;
	*found |= n->kind == NODE_MAP;
	return !*found;
}

/**
 * `$name = @state[key];`: nothing can be put in a variable for a name that is missing. A script may
 * look itself.
 */
static void warn_of_copy(struct rewriter *r, struct node *value)
{
	struct diag_place at = tok_place(value->first);
	bool looks = false;
	value = node_ungrouped(value);
	if (is_choice(r->tables, value))
		node_walk(value->child, find_map, &looks);
	else if (!is_table_name(r->tables, value))
		return;
	if (!looks)
		diag_check(r->b->diag, "table", DIAG_WARNING, &at,
			   "values without an enumerator print as \"\" here: look the name up in "
			   "printf() itself to get the number");
}

static bool is_same(const struct node *a, const struct node *b)
{
	const struct token *t = a->first, *u = b->first;
	for (; str_eq(t->text, u->text); t = t->next, u = u->next)
		if (t == a->last || u == b->last)
			return t == a->last && u == b->last;
	return false;
}

struct guard {
	const struct rewriter *r;
	struct str table;
	bool found;
};

static bool find_guard(void *ctx, struct node *n, struct node *parent)
{
	static const char *const names[] = {"==", "!=", NULL};
	struct guard *g = ctx;
	g->found |= parent && parent->kind == NODE_BINARY && tok_is_any(parent->name, names) &&
		    is_table_name(g->r->tables, n) && str_eq(n->name->text, g->table);
	return !g->found;
}

static bool look(void *ctx, struct node *n, struct node *parent);

/** A map's key in which names are looked for. */
struct keys {
	struct rewriter *r;
	const struct node *map;
};

/** `@count[@state[key]]`: values without a name have one key together, which is empty. */
static bool warn_of_key(void *ctx, struct node *n, struct node *parent)
{
	const struct keys *keys = ctx;
	struct guard guard = {.r = keys->r};
	if (n->kind == NODE_CALL && format_find(n)) { // in a block: no part of the key
		look(keys->r, n, parent);
		return false;
	}
	if (!is_table_name(keys->r->tables, n))
		return true;
	for (const struct node *c = keys->map->child; c; c = c->next)
		guard.found |= is_same(c, n->child); // the number is in the key, too
	guard.table = n->name->text;
	if (!guard.found) // nor does the script look itself
		node_walk(keys->r->clause, find_guard, &guard);
	struct diag_place at = tok_place(n->first);
	if (!guard.found)
		diag_check(keys->r->b->diag, "table", DIAG_WARNING, &at,
			   "all values without an enumerator share the key \"\": add the number "
			   "to the key");
	return false;
}

static bool look(void *ctx, struct node *n, struct node *parent)
{
	struct rewriter *r = ctx;
	struct printing p;
	bool is_table = n->kind == NODE_MAP && n->name && map_get(r->tables, n->name->text);
	if (n->kind == NODE_MAP && !is_table) {
		struct keys keys = {r, n};
		node_walk(n, warn_of_key, &keys);
		return false;
	}
	if ((node_is(n, NODE_ASSIGN, "=") || n->kind == NODE_LET) && n->child->next)
		warn_of_copy(r, n->last_child);
	else if (n->kind == NODE_CALL && find_names(r, n, &p))
		rewrite(&p, parent);
	return true;
}

bool nameless_rewrite(struct bind *b, const struct map *tables)
{
	struct rewriter r = {
	    .b = b, .tables = tables, .variables = join_variables(b), .good = true};
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		r.clause = b->script.clauses.v[i].node;
		node_walk(r.clause, look, &r);
	}
	return r.good;
}
