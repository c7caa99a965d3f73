#include "lang/script.h"

#include "lang/parse.h"

/** Whose clause is looked at. */
struct collector {
	struct arena *arena;
	struct script_clause *clause;
};

/**
 * What the tokens from @first to before @end spell, blanks between them as one; quotes may stand
 * around any part of it.
 */
static struct str field_text(struct arena *a, const struct token *first, const struct token *end)
{
	if (first == end)
		return STR("");
	if (first->next == end && first->kind != TOK_STRING)
		return first->text;
	struct strbuf b;
	strbuf_init(&b);
	for (const struct token *t = first; t != end; t = t->next) {
		if (t != first && t->space)
			strbuf_addc(&b, ' ');
		strbuf_adds(&b, t->kind == TOK_STRING ? lex_string_value(a, t) : t->text);
	}
	return strbuf_take(&b, a);
}

static void add_attach(struct arena *a, struct script_clause *c, struct node *n)
{
	struct script_attach at = {.node = n};
	const struct token *start = n->first, *end = n->last->next;
	bool is_kind = true;
	for (const struct token *t = start;; t = t->next) {
		if (t != end && !tok_is(t, ":"))
			continue;
		struct str text = field_text(a, start, t);
		if (is_kind)
			at.kind = text;
		else
			vec_push(a, &at.fields, text);
		is_kind = false;
		if (t == end)
			break;
		start = t->next;
	}
	at.provider = vocabulary_provider(at.kind);
	vec_push(a, &c->attach, at);
}

static void add_arg(struct collector *k, struct token *t)
{
	unsigned n;
	if (vocabulary_arg_number(t->text, &n))
		vec_push(k->arena, &k->clause->args, (struct script_arg){t, n});
}

static void add_map(struct collector *k, struct node *n, const struct node *parent)
{
	struct script_map_use u = {.at = n->first,
				   .name = n->name ? n->name->text : STR(""),
				   .has_key = n->child != NULL,
				   .node = n,
				   .parent = parent};
	if (parent && parent->kind == NODE_ASSIGN && parent->child == n)
		u.value = n->next;
	u.is_set = node_is_step(parent) || u.value;
	u.is_written = u.is_set || node_is(parent, NODE_CALL, "clear") ||
		       node_is(parent, NODE_CALL, "delete") || node_is(parent, NODE_CALL, "zero");
	vec_push(k->arena, &k->clause->maps, u);
}

/** What is not understood may do anything with what it names. */
static void add_opaque(struct collector *k, const struct node *n)
{
	for (struct token *t = n->first, *prev = NULL;; prev = t, t = t->next) {
		bool is_member =
		    prev && (tok_is(prev, ".") || tok_is(prev, "->") || tok_is(prev, "@"));
		if (t->kind == TOK_IDENT && !is_member)
			add_arg(k, t);
		if (tok_is(t, "@"))
			vec_push(k->arena, &k->clause->maps,
				 (struct script_map_use){.at = t,
							 .name = t->next->kind == TOK_IDENT &&
									 !t->next->space
								     ? t->next->text
								     : STR(""),
							 .is_set = true,
							 .is_written = true});
		if (t == n->last)
			break;
	}
}

static bool collect(void *ctx, struct node *n, struct node *parent)
{
	struct collector *k = ctx;
	if (n->kind == NODE_MAP)
		add_map(k, n, parent);
	else if (n->kind == NODE_NAME)
		add_arg(k, n->name);
	else if (n->kind == NODE_OPAQUE)
		add_opaque(k, n);
	else if (n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args"))
		vec_push(k->arena, &k->clause->named_args, n);
	return true;
}

static void add_macro(struct arena *a, struct script *s, struct node *macro)
{
	struct script_macros *same = map_get(&s->macros, node_text(macro));
	if (!same) {
		same = arena_new(a, struct script_macros);
		map_put(a, &s->macros, node_text(macro), same);
	}
	vec_push(a, &same->nodes, macro);
}

/** fn and macro, too: they have no attach points. */
static void add_clause(struct arena *a, struct script *s, struct node *clause)
{
	struct script_clause c = {.node = clause};
	struct collector k = {a, &c};
	for (struct node *n = clause->child; n; n = n->next) {
		if (n->kind == NODE_ATTACH)
			add_attach(a, &c, n);
		else
			node_walk(n, collect, &k);
	}
	vec_push(a, &s->clauses, c);
	if (clause->kind == NODE_MACRO)
		add_macro(a, s, clause);
}

bool script_parse(struct arena *a, struct diag *d, struct token *tokens, struct script *ret)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	*ret = (struct script){0};
	struct node *program = parse_program(a, d, tokens);
	if (!program)
		return false;
	ret->program = program;
	for (struct node *n = program->child; n; n = n->next) {
		if (!ret->behind_c && !tok_is_any(n->first, tags))
			ret->behind_c = n->first;
		if (n->kind == NODE_CLAUSE || n->kind == NODE_FUNCTION || n->kind == NODE_MACRO)
			add_clause(a, ret, n);
		if ((n->kind == NODE_FUNCTION || n->kind == NODE_MACRO) && n->name)
			map_add(a, &ret->functions, n->name->text);
		ret->has_import |= n->kind == NODE_IMPORT;
		if (n->kind == NODE_DEFINITION)
			vec_push(a, &ret->definitions, n);
	}
	return true;
}

struct str script_tag(const struct node *definition)
{
	return definition->name ? node_text(definition) : STR("");
}

/** $a takes a variable, @a a whole map, and a anything. */
static bool takes(const struct node *macro, const struct node *n)
{
	const struct node *p = macro->child, *argument = n->child;
	for (; p->next && argument; p = p->next, argument = argument->next) {
		bool is_whole = argument->kind != NODE_MAP || !argument->child;
		if (p->kind != NODE_NAME && (p->kind != argument->kind || !is_whole))
			return false;
	}
	return !p->next && !argument;
}

struct node *script_macro(const struct script *s, const struct node *n)
{
	bool is_word =
	    n->kind == NODE_NAME && n->first == n->last && !vocabulary_is_builtin(node_text(n));
	const struct script_macros *same =
	    is_word || n->kind == NODE_CALL ? map_get(&s->macros, node_text(n)) : NULL;
	for (size_t i = 0; same && i < same->nodes.n; i++)
		if (takes(same->nodes.v[i], n))
			return same->nodes.v[i];
	return NULL;
}

bool script_has_function(const struct script *s, struct str name)
{
	return s->has_import || map_get(&s->functions, name);
}

bool script_is_parameter(const struct node *macro, const struct node *n)
{
	for (const struct node *p = macro ? macro->child : NULL; p && p->next; p = p->next)
		if (p->kind == NODE_NAME && str_eq(node_text(p), node_text(n)))
			return true;
	return false;
}

struct node *script_predicate(const struct script_clause *c)
{
	struct node *n = c->node->child;
	while (n && n->kind != NODE_PREDICATE)
		n = n->next;
	return n;
}

struct node *script_condition(struct arena *a, const struct script_clause *c)
{
	struct node *n = script_predicate(c);
	if (!n || n->child || n->first->next == n->last)
		return n ? n->child : NULL;
	struct node *opaque = arena_new(a, struct node);
	*opaque = (struct node){.kind = NODE_OPAQUE, .first = n->first->next};
	for (struct token *t = opaque->first; t != n->last; t = t->next)
		opaque->last = t;
	n->child = n->last_child = opaque;
	return opaque;
}

struct str script_long_form(struct arena *a, const struct script_attach *at, struct str text)
{
	text = str_trim(text);
	struct str rest = str_from_offset(text, str_find(text, ':'));
	return at->provider && rest.n
		   ? str_printf(a, "%s" STR_FMT, at->provider->name, STR_ARG(rest))
		   : text;
}
