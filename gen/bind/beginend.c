#include "bind/beginend.h"

#include "bind/join.h"
#include "lang/change.h"
#include "out/dialect.h"

static struct script_clause *find_clause(struct bind *b, enum provider_when when, size_t from)
{
	for (size_t i = from; i < b->script.clauses.n; i++) {
		struct script_clause *c = &b->script.clauses.v[i];
		if (c->attach.n == 1 && c->attach.v[0].provider->when == when)
			return c;
	}
	return NULL;
}

static bool say_early_end(struct bind *b, const struct token *end, const struct script_clause *next)
{
	const char *kind = next->attach.v[0].provider->name;
	struct diag_place at = tok_place(end), there = tok_place(join_block(next)->first);
	diag_error(b->diag, &at,
		   "this would skip the next %s too, as bpftrace " DIALECT_FMT
		   " runs only one and they are "
		   "joined: put the rest under an if",
		   kind, DIALECT_ARG(b->version));
	diag_note(b->diag, &there, "the next %s is here", kind);
	return false;
}

bool beginend_merge(struct bind *b, enum provider_when when)
{
	struct script_clause *first = find_clause(b, when, 0), *next = first;
	struct map variables = join_variables(b);
	bool *gone = arena_array(b->arena, bool, b->script.clauses.n);
	if (!first || dialect_has_many_begins(b->version))
		return true;
	const struct token *end = join_early_end(first);
	while ((next = find_clause(b, when, (size_t)(next - b->script.clauses.v) + 1))) {
		// After exit() in BEGIN nothing is of interest any more.
		if (end && (tok_is(end, "return") || when == WHEN_END))
			return say_early_end(b, end, next);
		end = end ? end : join_early_end(next);
		join_clause(b, &variables, first, next);
		gone[next - b->script.clauses.v] = true;
	}
	bind_remove_clauses(b, gone);
	return true;
}

static struct node *make_statements(struct bind *b, const struct script_clause *c, struct str text)
{
	struct node *n = join_make(b, NODE_OPAQUE, join_block(c)->first);
	change(b->arena, n, "%t", str_trim(text));
	return n;
}

/** The first one that is printed where it is in the script. */
static struct node *first_clause(const struct bind *b)
{
	for (size_t i = 0; i < b->script.clauses.n; i++)
		if (b->script.clauses.v[i].node->kind == NODE_CLAUSE)
			return b->script.clauses.v[i].node;
	return NULL;
}

/**
 * The block of a clause BEGIN or END that we have made, as the script has none: what is added goes there. BEGIN is before
 * all others: bpftrace 0.23 wants to know a map's type before it is part of a key.
 */
static struct node *made_block(struct bind *b, bool is_end)
{
	struct node **made = is_end ? &b->made_end : &b->made_begin, *first = first_clause(b);
	if (!*made) {
		struct node *n = join_make(b, NODE_OPAQUE, NULL);
		*made = join_make(b, NODE_OPAQUE, NULL);
		change(b->arena, *made, " ");
		change(b->arena, n, "%s {%n}", is_end ? "END" : "BEGIN", *made);
		if (is_end || !first)
			change_append(b->script.program, n);
		else
			change_insert(b->script.program, n, first);
	}
	return *made;
}

void beginend_add_begin(struct bind *b, struct str statements)
{
	struct script_clause *c = find_clause(b, WHEN_BEGIN, 0);
	if (!c) {
		struct node *block = made_block(b, false);
		change(b->arena, block, " %t%n", str_trim(statements), block);
		return;
	}
	join_unwrap(b, c);
	change_prepend(join_block(c), make_statements(b, c, statements));
}

void beginend_add_end(struct bind *b, struct str statements)
{
	struct script_clause *c = find_clause(b, WHEN_END, 0);
	if (!c) {
		struct node *block = made_block(b, true);
		change(b->arena, block, "%n%t ", block, str_trim(statements));
		return;
	}
	bool ends_early = join_early_end(c) != NULL;
	join_unwrap(b, c);
	if (ends_early)
		change_prepend(join_block(c), make_statements(b, c, statements));
	else
		join_append(b, join_block(c), make_statements(b, c, statements));
}
