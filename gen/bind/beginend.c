#include "bind/beginend.h"

#include "lang/change.h"
#include "lang/print.h"
#include "out/dialect.h"

static struct script_clause *find_clause(struct bind *b, const char *kind, size_t from)
{
	for (size_t i = from; i < b->script.clauses.n; i++) {
		struct script_clause *c = &b->script.clauses.v[i];
		if (c->attach.n == 1 && str_eqz(c->attach.v[0].kind, kind))
			return c;
	}
	return NULL;
}

static struct node *block_of(const struct script_clause *c)
{
	return c->node->last_child;
}

/** A node of ours: no line or comment of the template stands before it. */
static struct node *make(struct bind *b, enum node_kind kind, const struct token *beside)
{
	struct token *t = arena_new(b->arena, struct token);
	struct node at = {.first = t, .last = t};
	if (beside)
		t->use = beside->use;
	t->bol = !beside;
	t->space = true;
	t->before = beside ? STR(" ") : STR("");
	struct node *n = change_text(b->arena, &at, "");
	n->kind = kind;
	return n;
}

/**
 * The last statement of a block may do without its semicolon; no other may, nor has one more than
 * it needs.
 */
static void append(struct bind *b, struct node *block, struct node *statement)
{
	struct node *last = block->last_child;
	struct str text = last ? print_text(b->arena, last) : STR("");
	const struct node *value = last && !last->is_changed ? last->last_child : NULL;
	// An assignment, of which 0.27 has some that end in a brace.
	bool is_set = value && (last->kind == NODE_LET || value->kind == NODE_ASSIGN);
	if (text.n && !str_has_suffix(text, STR(";")) &&
	    (is_set || !str_has_suffix(text, STR("}"))))
		change(b->arena, last, "%n;", last);
	change_append(block, statement);
}

/**
 * `if (p) { s }` of /p/ and { s }. Without a predicate the condition is 1: a block by itself is no
 * statement before 0.22.
 */
static struct node *make_if(struct bind *b, struct node *condition, struct node *block)
{
	struct node *n = make(b, NODE_IF, block->first);
	if (!condition) {
		condition = make(b, NODE_NUMBER, block->first);
		change_leaf(b->arena, condition, NODE_NUMBER, STR("1"));
	}
	change_append(n, condition);
	change_append(n, block);
	change(b->arena, n, "if (%n) %n", condition, block);
	return n;
}

/** `BEGIN /p/ { s }` is `BEGIN { if (p) { s } }`: then statements of ours can stand beside it. */
static void unwrap_predicate(struct bind *b, const struct script_clause *c)
{
	struct node *condition = script_condition(b->arena, c), *block = block_of(c);
	if (!condition)
		return;
	struct node *statement = make_if(b, condition, change_copy(b->arena, block));
	block->child = block->last_child = NULL;
	change_append(block, statement);
	change_remove(script_predicate(c));
}

static bool is_variable(const struct token *t)
{
	return t->kind == TOK_IDENT && t->text.p[0] == '$' &&
	       str_is_ident(str_from_offset(t->text, 1));
}

/**
 * Before 0.22 a variable is the whole clause's, blocks or not: the names of each body are made its
 * own.
 */
static void rename_variables(struct bind *b, struct map *taken, const struct script_clause *c)
{
	struct arena *a = b->arena;
	struct map renamed = {0};
	for (struct token *t = c->node->first; t != c->node->last; t = t->next) {
		if (!is_variable(t))
			continue;
		struct str *name = map_get(&renamed, t->text);
		if (!name) {
			name = arena_new(a, struct str);
			*name = t->text;
			for (unsigned n = 2; !map_add(a, taken, *name); n++)
				*name = str_printf(a, STR_FMT "_%u", STR_ARG(t->text), n);
			map_put(a, &renamed, t->text, name);
		}
		t->text = *name;
	}
}

static bool find_early_end(void *ctx, struct node *n, struct node *parent)
{
	const struct token **found = ctx;
	(void)parent;
	if (!*found && (n->kind == NODE_RETURN || node_is(n, NODE_CALL, "exit")))
		*found = n->first;
	return !*found;
}

/** The first `return` or `exit()` of @c: what follows is not run. */
static const struct token *early_end(const struct script_clause *c)
{
	const struct token *found = NULL;
	node_walk(c->node, find_early_end, &found);
	return found;
}

static bool say_early_end(struct bind *b, const char *kind, const struct token *end,
			  const struct script_clause *next)
{
	struct diag_place at = tok_place(end), there = tok_place(block_of(next)->first);
	diag_error(b->diag, &at,
		   "this would skip the next %s too, as bpftrace 0.%u runs only one and they are "
		   "joined: put the rest under an if",
		   kind, b->version);
	diag_note(b->diag, &there, "the next %s is here", kind);
	return false;
}

/** Makes the body of @next the last statement of @first. */
static void join(struct bind *b, struct map *variables, struct script_clause *first,
		 const struct script_clause *next)
{
	unwrap_predicate(b, first);
	rename_variables(b, variables, next);
	append(b, block_of(first), make_if(b, script_condition(b->arena, next), block_of(next)));
	for (size_t i = 0; i < next->maps.n; i++)
		vec_push(b->arena, &first->maps, next->maps.v[i]);
}

bool beginend_merge(struct bind *b, const char *kind)
{
	struct script_clause *first = find_clause(b, kind, 0), *next = first;
	struct map variables = {0};
	bool *gone = arena_array(b->arena, bool, b->script.clauses.n);
	if (!first || dialect_has_many_begins(b->version))
		return true;
	for (struct token *t = b->script.program->first; t->kind != TOK_EOF; t = t->next)
		if (is_variable(t))
			map_add(b->arena, &variables, t->text);
	const struct token *end = early_end(first);
	while ((next = find_clause(b, kind, (size_t)(next - b->script.clauses.v) + 1))) {
		// After exit() in BEGIN nothing is of interest any more.
		if (end && (tok_is(end, "return") || str_eqz(str_from(kind), "END")))
			return say_early_end(b, kind, end, next);
		end = end ? end : early_end(next);
		join(b, &variables, first, next);
		gone[next - b->script.clauses.v] = true;
	}
	bind_remove_clauses(b, gone);
	return true;
}

/** The clause of @kind; when there is none it is made, of @statements, and NULL is returned. */
static struct script_clause *find_or_make(struct bind *b, const char *kind, struct str statements)
{
	struct script_clause *c = find_clause(b, kind, 0);
	if (c)
		return c;
	struct node *n = make(b, NODE_OPAQUE, NULL);
	change(b->arena, n, "%s { %t }", kind, str_trim(statements));
	change_append(b->script.program, n);
	return NULL;
}

static struct node *make_statements(struct bind *b, const struct script_clause *c, struct str text)
{
	struct node *n = make(b, NODE_OPAQUE, block_of(c)->first);
	change(b->arena, n, "%t", str_trim(text));
	return n;
}

void beginend_add_begin(struct bind *b, struct str statements)
{
	struct script_clause *c = find_or_make(b, "BEGIN", statements);
	if (!c)
		return;
	unwrap_predicate(b, c);
	change_prepend(block_of(c), make_statements(b, c, statements));
}

void beginend_add_end(struct bind *b, struct str statements)
{
	struct script_clause *c = find_or_make(b, "END", statements);
	if (!c)
		return;
	bool ends_early = early_end(c) != NULL;
	unwrap_predicate(b, c);
	if (ends_early)
		change_prepend(block_of(c), make_statements(b, c, statements));
	else
		append(b, block_of(c), make_statements(b, c, statements));
}
