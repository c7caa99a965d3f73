#define TREE_IS_MADE_HERE
#include "lang/script.h"

#include "lang/parse.h"

/** The parts of an attach point, as they come. */
struct parts {
	struct arena *arena;
	struct script_attach *at;
	char *const *values; /**< of positional parameters, ends in NULL; or NULL */
	struct strbuf text;
	bool has_kind;
};

static void end_part(struct parts *p)
{
	struct str text = str_copy(p->arena, strbuf_str(&p->text));
	if (p->has_kind)
		vec_push(p->arena, &p->at->fields, text);
	else
		p->at->kind = text;
	p->has_kind = true;
	strbuf_clear(&p->text);
}

/** The value of $N, or NULL; N is what it begins with, as 0.27 has it: $1b is $1 and a b. */
static const char *find_value(const struct parts *p, struct str digits)
{
	uint64_t n;
	if (!str_to_u64(digits, &n) || !n || digits.p[0] == '0')
		return NULL;
	for (uint64_t i = 1; p->values && p->values[i - 1]; i++)
		if (i == n)
			return p->values[i - 1];
	return NULL;
}

/** A colon in a value ends a part as one of the script does. */
static void add_value(struct parts *p, const char *value)
{
	for (; *value; value++) {
		if (*value == ':')
			end_part(p);
		else
			strbuf_addc(&p->text, *value);
	}
}

static void add_text(struct parts *p, struct str text)
{
	for (size_t i = 0, n; i < text.n; i += n) {
		const char *value = NULL;
		for (n = 1;
		     text.p[i] == '$' && i + n < text.n && isdigit((unsigned char)text.p[i + n]);)
			n++;
		if (n > 1 && (value = find_value(p, str_slice(text, i + 1, n - 1))) != NULL)
			add_value(p, value);
		else
			strbuf_adds(&p->text, str_slice(text, i, n));
		if (n > 1 && !value) {
			p->at->missing = str_slice(text, i, n);
			p->at->n_missing++;
		}
	}
}

/** uprobe:PATH@FILE:LINE, as bpftrace writes a source line. */
static void split_line(struct arena *a, struct script_attach *at)
{
	if (!provider_is_function(at->provider) || at->fields.n < 2 || !at->fields.v[1].n ||
	    !isdigit((unsigned char)at->fields.v[1].p[0]))
		return;
	struct str path = at->fields.v[0];
	size_t n = str_find(path, '@');
	for (size_t i = n + 1; i < path.n; i++)
		n = path.p[i] == '@' ? i : n;
	if (n == path.n)
		return;
	vec_push(a, &at->fields, STR(""));
	for (size_t i = at->fields.n - 1; i > 1; i--)
		at->fields.v[i] = at->fields.v[i - 1];
	at->fields.v[0] = str_slice(path, 0, n);
	at->fields.v[1] = str_from_offset(path, n + 1);
}

void script_split_attach(struct arena *a, struct script_attach *at, char *const *values)
{
	struct parts p = {.arena = a, .at = at, .values = values};
	at->fields.n = 0;
	at->missing = STR("");
	at->n_missing = 0;
	for (const struct token *t = at->node->first, *end = at->node->last->next; t != end;
	     t = t->next) {
		if (tok_is(t, ":")) {
			end_part(&p);
			continue;
		}
		if (p.text.n && t->space)
			strbuf_addc(&p.text, ' '); // blanks between tokens are one
		if (t->kind == TOK_STRING)
			strbuf_adds(&p.text, lex_string_value(a, t));
		else
			add_text(&p, t->text);
	}
	end_part(&p);
	strbuf_fini(&p.text);
	at->provider = vocabulary_provider(at->kind);
	split_line(a, at);
}

struct str script_attach_name(struct arena *a, const struct script_attach *at)
{
	struct str ret = at->fields.n > 1 ? at->fields.v[1] : STR("");
	for (size_t i = 2; i < at->fields.n; i++)
		ret = str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(ret), STR_ARG(at->fields.v[i]));
	return ret;
}

bool script_has_event(const struct script_clause *c)
{
	return vec_any(const struct script_attach, at, &c->attach, at->provider->whose != OF_TRACE);
}

static void add_arg(struct arena *a, struct script_clause *c, struct token *t)
{
	unsigned n;
	if (vocabulary_arg_number(t->text, &n))
		vec_push(a, &c->args, (struct script_arg){t, n});
}

/** What is not understood may read what it names. */
static void add_opaque(struct arena *a, struct script_clause *c, const struct node *n)
{
	for (struct token *t = n->first, *prev = NULL;; prev = t, t = t->next) {
		bool is_member =
		    prev && (tok_is(prev, ".") || tok_is(prev, "->") || tok_is(prev, "@"));
		if (t->kind == TOK_IDENT && !is_member)
			add_arg(a, c, t);
		if (t == n->last)
			break;
	}
}

static void collect(struct arena *a, struct script_clause *c, struct node *n)
{
	if (n->kind == NODE_NAME)
		add_arg(a, c, n->name);
	else if (n->kind == NODE_OPAQUE)
		add_opaque(a, c, n);
	else if (n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args"))
		vec_push(a, &c->named_args, n);
	else if (n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "vars"))
		vec_push(a, &c->named_vars, n);
}

/** fn and macro, too: they have no attach points. */
static void add_clause(struct arena *a, struct script *s, struct node *clause)
{
	struct script_clause *c = arena_new(a, struct script_clause);
	c->node = clause;
	for (struct node *n = clause->child; n; n = n->next) {
		struct script_attach at = {.node = n};
		if (n->kind != NODE_ATTACH) {
			for (struct node *in = n; in; in = node_next(n, in))
				collect(a, c, in);
			continue;
		}
		script_split_attach(a, &at, NULL);
		vec_push(a, &c->attach, at);
	}
	vec_push(a, &s->clauses, c);
	if (clause->kind != NODE_MACRO)
		return;
	struct script_macros *same = map_get(&s->macros, node_text(clause));
	if (!same) {
		same = arena_new(a, struct script_macros);
		map_put(a, &s->macros, node_text(clause), same);
	}
	vec_push(a, &same->nodes, clause);
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
		if (!ret->after_c && !tok_is_any(n->first, tags))
			ret->after_c = n->first;
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
static bool accepts_arguments(const struct node *macro, const struct node *n)
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
		if (accepts_arguments(same->nodes.v[i], n))
			return same->nodes.v[i];
	return NULL;
}

bool script_has_function(const struct script *s, struct str name)
{
	return s->has_import || map_get(&s->functions, name);
}

bool script_is_parameter(const struct node *macro, const struct node *n)
{
	enum node_kind kind = n->kind == NODE_MAP ? NODE_MAP : NODE_NAME;
	for (const struct node *p = macro ? macro->child : NULL; p && p->next && n->name;
	     p = p->next)
		if (p->kind == kind && p->name && str_eq(node_text(p), node_text(n)))
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

struct str script_long_form(struct arena *a, const struct script_attach *at, struct str text)
{
	text = str_trim(text);
	struct str rest = str_from_offset(text, str_find(text, ':'));
	return at->provider && rest.n
		   ? str_printf(a, "%s" STR_FMT, at->provider->name, STR_ARG(rest))
		   : text;
}
