#include "bind/join.h"

#include "lang/change.h"
#include "lang/print.h"
#include "out/dialect.h"

/**
 * Tokens of what is joined. The larger a clause, the more likely a version has something against it: with twice as
 * many, 0.17 kept the address of an argument in a register, which the kernel refuses.
 */
enum { MOST_JOINED = 250 };

struct node *join_block(const struct script_clause *c)
{
	return c->node->last_child;
}

struct node *join_make(struct bind *b, enum node_kind kind, const struct token *beside)
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
void join_append(struct bind *b, struct node *block, struct node *statement)
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
	struct node *n = join_make(b, NODE_IF, block->first);
	if (!condition) {
		condition = join_make(b, NODE_NUMBER, block->first);
		change_leaf(b->arena, condition, NODE_NUMBER, STR("1"));
	}
	change_append(n, condition);
	change_append(n, block);
	change(b->arena, n, "if (%n) %n", condition, block);
	return n;
}

void join_unwrap(struct bind *b, const struct script_clause *c)
{
	struct node *condition = script_condition(b->arena, c), *block = join_block(c);
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

struct str join_new_variable(struct bind *b, struct map *taken, struct str name)
{
	struct str ret = name;
	for (unsigned n = 2; !map_add(b->arena, taken, ret); n++)
		ret = str_printf(b->arena, STR_FMT "_%u", STR_ARG(name), n);
	return ret;
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
			*name = join_new_variable(b, taken, t->text);
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

const struct token *join_early_end(const struct script_clause *c)
{
	const struct token *found = NULL;
	node_walk(c->node, find_early_end, &found);
	return found;
}

void join_clause(struct bind *b, struct map *variables, struct script_clause *first,
		 const struct script_clause *next)
{
	join_unwrap(b, first);
	rename_variables(b, variables, next);
	join_append(b, join_block(first),
		    make_if(b, script_condition(b->arena, next), join_block(next)));
	for (size_t i = 0; i < next->maps.n; i++)
		vec_push(b->arena, &first->maps, next->maps.v[i]);
}

struct map join_variables(const struct bind *b)
{
	struct map names = {0};
	for (struct token *t = b->script.program->first; t->kind != TOK_EOF; t = t->next)
		if (is_variable(t))
			map_add(b->arena, &names, t->text);
	return names;
}

// --- clauses on the same probes

/** Is it a number for certain? A text takes room on the stack of old versions. */
static bool is_number(struct node *value)
{
	value = node_ungrouped(value);
	struct str word = value->name ? value->name->text : STR("");
	enum word_gives gives = vocabulary_word(word)->gives;
	switch (value->kind) {
	case NODE_NUMBER:
	case NODE_CAST:
	case NODE_BINARY:
	case NODE_UNARY:
		return true;
	case NODE_NAME:
	case NODE_CALL:
		return gives == GIVES_COUNT || gives == GIVES_NUMBER ||
		       str_has_prefix(word, STR("arg"));
	case NODE_MEMBER: // an argument that is a struct has its address
		return node_is(value->child, NODE_NAME, "args");
	default:
		return false;
	}
}

static bool find_big_variable(void *ctx, struct node *n, struct node *parent)
{
	bool *found = ctx;
	(void)parent;
	*found |=
	    n->kind == NODE_ASSIGN && n->child->kind == NODE_VARIABLE && !is_number(n->last_child);
	return !*found;
}

/** Its variables would have to fit on the stack beside those of another clause. */
static bool has_big_variable(const struct bind *b, const struct script_clause *c)
{
	bool found = false;
	if (!dialect_has_blocks(b->version))
		node_walk(c->node, find_big_variable, &found);
	return found;
}

/** May other attach points than this have some of its probes? */
static bool is_for_many(struct str attach)
{
	static const char signs[] = ",*?[";
	for (const char *sign = signs; *sign; sign++)
		if (str_find(attach, *sign) < attach.n)
			return true;
	return false;
}

/** All attach points, as they are printed. */
static struct str attach_text(struct bind *b, const struct script_clause *c)
{
	struct strbuf text;
	strbuf_init(&text);
	for (size_t i = 0; i < c->attach.n; i++) {
		strbuf_addz(&text, i ? ", " : "");
		strbuf_adds(&text, str_trim(print_text(b->arena, c->attach.v[i].node)));
	}
	return strbuf_take(&text, b->arena);
}

/** A macro's return would be the end of more than its clause. */
static bool has_early_macro(const struct bind *b)
{
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		if (c->node->kind == NODE_MACRO && join_early_end(c))
			return true;
	}
	return b->script.has_import;
}

/** A clause that others with its attach points may be joined to. */
struct joined {
	struct script_clause *clause;
	unsigned n_tokens;
	bool ends_early;
};

static unsigned count_tokens(const struct script_clause *c)
{
	unsigned n = 1;
	for (const struct token *t = c->node->first; t != c->node->last; t = t->next)
		n++;
	return n;
}

void join_same_probes(struct bind *b)
{
	struct map seen = {0}, variables = join_variables(b);
	bool *gone = arena_array(b->arena, bool, b->script.clauses.n), were_many = false;
	bool is_possible = !has_early_macro(b);
	for (size_t i = 0; i < b->script.clauses.n && is_possible; i++) {
		struct script_clause *c = &b->script.clauses.v[i];
		if (!b->clauses[i].has_user)
			continue;
		struct str text = attach_text(b, c);
		struct joined *to = map_get(&seen, text);
		unsigned n_tokens = count_tokens(c);
		if (to && !to->ends_early && to->n_tokens + n_tokens <= MOST_JOINED &&
		    !has_big_variable(b, c)) {
			join_clause(b, &variables, to->clause, c);
			gone[i] = true;
		} else {
			// Those between it and the first one may be on some of the same probes, and
			// all run in the order in which they are written.
			bool are_many = is_for_many(text);
			if (are_many || were_many)
				seen = (struct map){0};
			were_many = are_many;
			to = arena_new(b->arena, struct joined);
			to->clause = c;
			map_put(b->arena, &seen, text, to);
		}
		to->n_tokens += n_tokens;
		to->ends_early = join_early_end(c) != NULL;
	}
	bind_remove_clauses(b, gone);
}
