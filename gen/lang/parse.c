#define TREE_IS_MADE_HERE
#include "lang/parse_priv.h"

// What the parts share

struct node *parse_begin(struct parser *p, enum node_kind kind)
{
	struct node *n = arena_new(p->arena, struct node);
	n->kind = kind;
	n->first = p->at;
	return n;
}

struct node *parse_begin_at(struct parser *p, enum node_kind kind, struct node *child)
{
	struct node *n = parse_begin(p, kind);
	n->first = child->first;
	parse_add(n, child);
	return n;
}

bool parse_add(struct node *parent, struct node *child)
{
	if (!child)
		return false;
	if (parent->child)
		parent->last_child->next = child;
	else
		parent->child = child;
	parent->last_child = child;
	child->parent = parent;
	if (parent->height <= child->height)
		parent->height = child->height + 1;
	return true;
}

struct node *parse_end(struct parser *p, struct node *n)
{
	n->last = p->prev;
	if (n->height <= PARSE_MAX_HEIGHT || n->kind > NODE_RANGE)
		return n;
	if (!p->failed_at) {
		p->failed_at = n->last;
		p->why = "this expression is too long";
	}
	return NULL;
}

bool parse_is(const struct parser *p, const char *z)
{
	return tok_is(p->at, z);
}

struct token *parse_advance(struct parser *p)
{
	struct token *t = p->at;
	if (t->kind != TOK_EOF) {
		p->prev = t;
		p->at = t->next;
	}
	return t;
}

bool parse_accept(struct parser *p, const char *z)
{
	bool fits = parse_is(p, z);
	if (fits)
		parse_advance(p);
	return fits;
}

bool parse_enter(struct parser *p)
{
	// A bracket is up to two levels: its own, and the ternary's in it.
	if (p->depth <= 2 * PARSE_MAX_NESTING) {
		p->depth++;
		return true;
	}
	if (!p->failed_at) {
		p->failed_at = p->at;
		p->why = "this expression is nested too deeply";
	}
	return false;
}

void parse_leave(struct parser *p)
{
	p->depth--;
}

// Brackets

bool parse_is_opener(const struct token *t)
{
	return tok_is(t, "(") || tok_is(t, "[") || tok_is(t, "{");
}

static bool is_closer(const struct token *t)
{
	return tok_is(t, ")") || tok_is(t, "]") || tok_is(t, "}");
}

static struct token *error_at(struct parser *p, const struct token *t, const char *what,
			      const struct token *other)
{
	diag_error(p->diag, tok_at(t), "this \"" STR_FMT "\" %s", STR_ARG(t->text), what);
	if (other) {
		diag_note(p->diag, tok_at(other), "the innermost open bracket is here");
	}
	return NULL;
}

/** The bracket that closes @open, all between them matching; NULL after an error. */
static struct token *find_close(struct parser *p, struct token *open)
{
	VEC(struct token *) stack = {0};
	for (struct token *t = open; t->kind != TOK_EOF; t = t->next) {
		if (parse_is_opener(t)) {
			if (stack.n == PARSE_MAX_NESTING)
				return error_at(p, t, "is nested too deeply", NULL);
			vec_push(p->arena, &stack, t);
		} else if (is_closer(t)) {
			struct token *o = stack.v[stack.n - 1];
			char want = tok_is(o, "(") ? ')' : tok_is(o, "[") ? ']' : '}';
			if (t->text.p[0] != want)
				return error_at(p, t, "does not match the open bracket", o);
			if (--stack.n == 0)
				return t;
		}
	}
	return error_at(p, stack.v[stack.n - 1], "is not closed", NULL);
}

struct token *parse_closing(struct token *open)
{
	unsigned depth = 0;
	struct token *t = open;
	for (; t->next->kind != TOK_EOF; t = t->next) {
		depth = depth + parse_is_opener(t) - is_closer(t);
		if (!depth)
			break;
	}
	return t;
}

// The program

/** What is there from @first to @last, without a meaning. */
static struct node *parse_opaque(struct parser *p, enum node_kind kind, struct token *first,
				 struct token *last)
{
	p->at = first;
	struct node *n = parse_begin(p, kind);
	p->prev = last;
	p->at = last->next;
	return parse_end(p, n);
}

/** The last token of what ends with a semicolon, or with a block; NULL after an error. */
static struct token *end_of_item(struct parser *p)
{
	struct token *last = p->at;
	for (struct token *t = p->at; t->kind != TOK_EOF; t = t->next) {
		last = t;
		if (tok_is(t, ";"))
			break;
		if (!parse_is_opener(t) && !is_closer(t))
			continue;
		last = is_closer(t) ? error_at(p, t, "has no opening bracket", NULL)
				    : find_close(p, t);
		if (!last || tok_is(t, "{"))
			break;
		t = last;
	}
	return last;
}

/** Skips __attribute__((...)) and the like at @t. */
static struct token *skip_attributes(struct token *t)
{
	while (tok_is(t, "__attribute__") || tok_is(t, "__packed")) {
		t = t->next;
		while (tok_is(t, "("))
			t = parse_closing(t)->next;
	}
	return t;
}

/** struct, union or enum with a body; anything else that starts so is no definition. */
static struct node *parse_definition(struct parser *p)
{
	struct token *last = end_of_item(p);
	if (!last)
		return NULL;
	if (!tok_is(last, "}"))
		return parse_opaque(p, NODE_OPAQUE, p->at, last);
	struct token *name = skip_attributes(p->at->next);
	struct token *after = skip_attributes(last->next);
	// bpftrace needs no semicolon; it reports the error struct { ... } name; itself
	if (after->kind == TOK_IDENT && tok_is(after->next, ";") && after == last->next)
		after = after->next;
	while (last->next != after)
		last = last->next;
	if (tok_is(after, ";"))
		last = after;
	struct node *n = parse_opaque(p, NODE_DEFINITION, p->at, last);
	if (n)
		n->name = name->kind == TOK_IDENT ? name : NULL;
	return n;
}

/** fn f($a : T, ...) : T { ... } */
static struct node *parse_function(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_FUNCTION);
	parse_advance(p);
	n->name = parse_advance(p);
	if (!parse_accept(p, "("))
		return NULL;
	while (!parse_accept(p, ")")) {
		struct node *let = parse_begin(p, NODE_LET);
		if (!parse_is_variable(p->at) || !parse_add(let, parse_primary(p)) ||
		    !parse_accept(p, ":") || !parse_add(let, parse_type_annotation(p, ",)")))
			return NULL;
		parse_add(n, parse_end(p, let));
		if (!parse_accept(p, ",") && !parse_is(p, ")"))
			return NULL;
	}
	if (parse_accept(p, ":") && !parse_add(n, parse_type_annotation(p, "{")))
		return NULL;
	return parse_add(n, parse_block(p)) ? parse_end(p, n) : NULL;
}

/** macro m($a, @b, c) { ... }; without brackets, too */
static struct node *parse_macro(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_MACRO);
	parse_advance(p);
	n->name = parse_advance(p);
	if (parse_accept(p, "("))
		while (!parse_accept(p, ")"))
			if (!parse_add(n, parse_primary(p)) ||
			    (!parse_accept(p, ",") && !parse_is(p, ")")))
				return NULL;
	return parse_add(n, parse_block(p)) ? parse_end(p, n) : NULL;
}

/** let @m = hash(10); */
static struct node *parse_map_type(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_MAP_TYPE);
	parse_advance(p);
	if (!parse_is(p, "@") || !parse_add(n, parse_primary(p)) || !parse_accept(p, "=") ||
	    !parse_add(n, parse_primary(p)))
		return NULL;
	parse_accept(p, ";");
	return parse_end(p, n);
}

/** One of those that begin with a word of their own; what does not fit is opaque. */
static struct node *parse_item(struct parser *p)
{
	struct token *first = p->at, *last;
	struct node *n = NULL;
	if (!(last = end_of_item(p)))
		return NULL;
	if (parse_is(p, "config"))
		return parse_opaque(p, NODE_CONFIG, first, last);
	if (parse_is(p, "import"))
		return parse_opaque(p, NODE_IMPORT, first, last);
	if (parse_is(p, "fn"))
		n = parse_function(p);
	else if (parse_is(p, "macro"))
		n = parse_macro(p);
	else if (parse_is(p, "let"))
		n = parse_map_type(p);
	return n ? n : parse_opaque(p, NODE_OPAQUE, first, last);
}

// Clauses

/** Attach points, up to the predicate or the body. */
static void parse_attach_points(struct parser *p, struct node *clause)
{
	struct node *n = NULL;
	for (unsigned depth = 0; p->at->kind != TOK_EOF;) {
		bool slash = parse_is(p, "/") && !p->at->attach;
		if (parse_is(p, "{") || slash)
			break;
		depth += parse_is(p, "(");
		depth -= depth && parse_is(p, ")");
		bool between = (depth == 0 && parse_is(p, ",")) || p->at->kind == TOK_DIRECTIVE;
		if (between && n)
			parse_add(clause, parse_end(p, n));
		if (between)
			n = NULL;
		else if (!n)
			n = parse_begin(p, NODE_ATTACH);
		parse_advance(p);
	}
	if (n)
		parse_add(clause, parse_end(p, n));
}

/** The slash before the body; NULL when the predicate does not end in one. */
static struct token *predicate_end(struct token *open)
{
	struct token *prev = open;
	for (struct token *t = open->next; t->kind != TOK_EOF; prev = t, t = t->next)
		if (tok_is(t, "{") && prev != open)
			return tok_is(prev, "/") ? prev : NULL;
	return NULL;
}

static struct node *parse_predicate(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_PREDICATE);
	struct token *open = parse_advance(p);
	p->in_predicate = true;
	bool good = parse_is(p, "/") || parse_add(n, parse_expression(p));
	p->in_predicate = false;
	if (good && parse_accept(p, "/") && parse_is(p, "{"))
		return parse_end(p, n);
	struct token *end = predicate_end(open), *unexpected = p->at;
	if (!end) {
		error_at(p, open, "begins a predicate without a closing slash before {", NULL);
		return NULL;
	}
	n = parse_opaque(p, NODE_PREDICATE, open, end);
	if (n)
		n->name = unexpected;
	return n;
}

static struct node *parse_clause(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_CLAUSE);
	parse_attach_points(p, n);
	if (parse_is(p, "/") && !parse_add(n, parse_predicate(p)))
		return NULL;
	if (!parse_is(p, "{")) {
		n->kind = NODE_OPAQUE;
		n->child = n->last_child = NULL;
		return parse_end(p, n);
	}
	struct token *open = p->at, *close = find_close(p, open);
	if (!close)
		return NULL;
	if (!parse_add(n, parse_block(p)))
		parse_add(n, parse_opaque(p, NODE_OPAQUE, open, close));
	return parse_end(p, n);
}

static bool is_item(const struct token *t)
{
	static const char *const words[] = {"macro",  "fn",	"let",	 "import", "typedef",
					    "extern", "static", "const", NULL};
	if (tok_is(t, "config") && tok_is(t->next, "="))
		return true;
	// A probe's name is followed by a colon, a comma or a brace.
	return tok_is_any(t, words) && !tok_is(t->next, ":") && !tok_is(t->next, ",") &&
	       !tok_is(t->next, "{");
}

struct node *parse_program(struct arena *a, struct diag *d, struct token *tokens)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	struct parser p = {.arena = a, .diag = d, .at = tokens};
	struct node *program = parse_begin(&p, NODE_PROGRAM);
	while (p.at->kind != TOK_EOF) {
		struct node *n;
		if (parse_is(&p, ";") || p.at->kind == TOK_DIRECTIVE) {
			parse_advance(&p);
			continue;
		}
		if (is_closer(p.at))
			return error_at(&p, p.at, "has no opening bracket", NULL), NULL;
		if (tok_is_any(p.at, tags))
			n = parse_definition(&p);
		else
			n = is_item(p.at) ? parse_item(&p) : parse_clause(&p);
		if (p.failed_at) {
			struct diag_place at = tok_place(p.failed_at);
			diag_error(d, &at, "%s", p.why);
			return NULL;
		}
		if (!parse_add(program, n))
			return NULL;
	}
	return parse_end(&p, program);
}
