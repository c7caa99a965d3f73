#include "bind/once.h"

#include "bind/edit.h"
#include "bind/fresh.h"
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

/** The token before the closing brace of @c. */
static struct token *last_statement(const struct script_clause *c)
{
	struct token *t = c->body.first;
	while (t->next != c->body.last)
		t = t->next;
	return t;
}

/** The same, made ready for another statement behind it: the last one of a body may do without its semicolon. */
static struct token *end_statements(struct bind *b, const struct script_clause *c)
{
	struct token *t = last_statement(c);
	if (t == c->body.first || str_has_suffix(t->text, STR(";")) ||
	    str_has_suffix(t->text, STR("}")))
		return t;
	return edit_insert_after(b->arena, t, STR(";"));
}

/** `BEGIN /p/ { s }` is `BEGIN { if (p) { s } }`: then statements of ours can stand beside it. */
static void unwrap_predicate(struct bind *b, struct script_clause *c)
{
	struct arena *a = b->arena;
	if (!c->predicate.first)
		return;
	// The tokens of the predicate move behind the opening brace; its slashes become parentheses.
	struct token *brace = c->body.first;
	struct token *before = c->attach.v[0].range.last;
	before->next = brace;
	c->predicate_open->text = STR("if (");
	c->predicate_open->kind = TOK_OTHER;
	c->predicate_close->text = STR(") {");
	c->predicate_close->kind = TOK_OTHER;
	c->predicate_close->next = brace->next;
	brace->next = c->predicate_open;
	edit_insert_after(a, last_statement(c), STR("}"));
	c->predicate = (struct script_range){0};
}

/** Before 0.22 a variable is the whole clause's, blocks or not: each body's get names of their own. */
static void rename_variables(struct bind *b, struct fresh *fresh, struct script_clause *c)
{
	struct map renamed = {0};
	for (struct token *t = c->body.first; t != c->body.last; t = t->next) {
		if (!fresh_is_variable(t))
			continue;
		struct str *name = map_get(&renamed, t->text);
		if (!name) {
			name = arena_new(b->arena, struct str);
			*name = fresh_variable(fresh, t->text);
			map_put(b->arena, &renamed, t->text, name);
		}
		t->text = *name;
	}
}

/** The first `return` or `exit()` of @c: what follows is not run. */
static const struct token *early_end(const struct script_clause *c)
{
	for (const struct token *t = c->body.first; t != c->body.last; t = t->next)
		if (tok_is(t, "return") || (tok_is(t, "exit") && tok_is(t->next, "(")))
			return t;
	return NULL;
}

bool once_merge(struct bind *b, struct token **list, const char *kind)
{
	struct script_clause *first = find_clause(b, kind, 0);
	if (!first || dialect_has_many_begins(b->version))
		return true;
	struct script_clause *next;
	struct fresh fresh;
	fresh_init(&fresh, b->arena, &b->script);
	while ((next = find_clause(b, kind, (size_t)(first - b->script.clauses.v) + 1))) {
		const struct token *end = early_end(first);
		// After exit() in BEGIN nothing is of interest any more.
		if (end && (tok_is(end, "return") || str_eqz(str_from(kind), "END"))) {
			struct diag_place at = tok_place(end), there = tok_place(next->body.first);
			diag_error(b->diag, &at,
				   "this would keep the next %s from being run: bpftrace 0.%u has "
				   "but one; put what follows under an if",
				   kind, b->version);
			diag_note(b->diag, &there, "the next %s is here", kind);
			return false;
		}
		unwrap_predicate(b, first);
		unwrap_predicate(b, next);
		rename_variables(b, &fresh, next);
		struct script_range whole = {next->attach.v[0].range.first, next->body.last};
		edit_move_after(list, next->body, end_statements(b, first));
		edit_remove(list, (struct script_range){whole.first, next->attach.v[0].range.last});
		// A block by itself is no statement before 0.22; one under an `if` always is.
		next->body.first->text = STR("if (1) {");
		next->body.first->kind = TOK_OTHER;
		next->attach.n = 0; // it is no clause any more
	}
	return true;
}

static struct str make_clause(struct bind *b, const char *kind, struct str statements)
{
	return str_from(
	    arena_printf(b->arena, "%s { " STR_FMT " }", kind, STR_ARG(str_trim(statements))));
}

void once_add_begin(struct bind *b, struct token **list, struct str statements)
{
	struct script_clause *c = find_clause(b, "BEGIN", 0);
	if (!c) {
		edit_append(b->arena, list, make_clause(b, "BEGIN", statements));
		return;
	}
	unwrap_predicate(b, c);
	edit_insert_after(b->arena, c->body.first, str_trim(statements));
}

void once_add_end(struct bind *b, struct token **list, struct str statements)
{
	struct script_clause *c = find_clause(b, "END", 0);
	if (!c) {
		edit_append(b->arena, list, make_clause(b, "END", statements));
		return;
	}
	bool ends_early = early_end(c) != NULL;
	unwrap_predicate(b, c);
	edit_insert_after(b->arena, ends_early ? c->body.first : end_statements(b, c),
			  str_trim(statements));
}
