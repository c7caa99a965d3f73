#define TREE_IS_MADE_HERE
// Expressions.
#include "lang/parse_priv.h"
#include "lang/vocabulary.h"

static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};

/** How tightly the operator at @t binds, from 1; 0 when it is none. */
static unsigned level_of(const struct parser *p, const struct token *t)
{
	// In /x == 1/ { the first slash before a brace ends the predicate.
	if (p->in_predicate && tok_is(t, "/") && tok_is(t->next, "{"))
		return 0;
	unsigned level = 0;
	expr_operator(t->text, &level);
	return level;
}

bool parse_is_variable(const struct token *t)
{
	return t->kind == TOK_IDENT && t->text.p[0] == '$';
}

static bool is_word(const struct token *t)
{
	return t->kind == TOK_IDENT && t->text.p[0] != '$';
}

/** Can an expression begin here? Decides whether brackets around a name are a cast. */
static bool starts_expression(const struct token *t)
{
	static const char *const starts[] = {"@", "(", "-", "!", "~", "*", "&", NULL};
	return t->kind == TOK_IDENT || t->kind == TOK_NUMBER || t->kind == TOK_STRING ||
	       tok_is_any(t, starts);
}

// Types

/**
 * After `<`...`>` at @t, which hold names, numbers and punctuation of a C++ type; NULL when they
 * do not close. No compiler writes a longer one, and a < of a comparison must not look through all
 * of a long text for its end.
 */
static struct token *skip_template(struct token *t)
{
	enum { MOST_TOKENS = 500 };
	static const char *const others[] = {";", "{", "@", NULL};
	unsigned depth = 0;
	for (unsigned n = 0; n < MOST_TOKENS && !tok_is_any(t, others); n++, t = t->next) {
		if (t->kind != TOK_IDENT && t->kind != TOK_NUMBER && t->kind != TOK_CHAR &&
		    t->kind != TOK_PUNCT)
			return NULL;
		depth += tok_is(t, "<");
		unsigned closes = tok_is(t, ">>") ? 2 : tok_is(t, ">");
		if (closes > depth)
			return NULL;
		depth -= closes;
		if (closes && !depth)
			return t->next;
	}
	return NULL;
}

/** After the name of a type at @t: words, ns::name, name<...>; NULL for none. *@sure: it cannot be anything else. */
static struct token *skip_type_name(struct token *t, bool *sure)
{
	static const char *const tags[] = {"struct", "union", "enum", "class", NULL};
	bool is_tag = false, has_name = false;
	for (; is_word(t) && !(has_name && !vocabulary_is_type_word(t->text)); t = t->next) {
		is_tag |= tok_is_any(t, tags);
		bool is_base = vocabulary_is_type_word(t->text) || is_tag;
		*sure |= is_base;
		has_name |= !tok_is_any(t, tags) && !tok_is(t, "const") && !tok_is(t, "volatile");
	}
	for (; has_name; t = t->next) {
		if (tok_is(t, ":") && tok_is(t->next, ":") && is_word(t->next->next)) {
			*sure = true;
			t = t->next->next;
		} else if (tok_is(t, "<") && *sure && skip_template(t)) {
			for (struct token *end = skip_template(t); t->next != end;)
				t = t->next;
		} else {
			return t;
		}
	}
	return NULL;
}

/** After the type at @t, NULL when there is none. */
static struct token *skip_type(struct token *t, bool *sure)
{
	*sure = false;
	t = skip_type_name(t, sure);
	for (; t; t = t->next) {
		if (tok_is(t, "*")) {
			continue;
		} else if (tok_is(t, "[") && tok_is(t->next, "]")) {
			t = t->next;
		} else if (tok_is(t, "[") && t->next->kind == TOK_NUMBER &&
			   tok_is(t->next->next, "]")) {
			t = t->next->next;
		} else if (!tok_is(t, "const") && !tok_is(t, "volatile")) {
			return t;
		}
	}
	return NULL;
}

static struct node *parse_type_tokens(struct parser *p, const struct token *end)
{
	struct node *n = parse_begin(p, NODE_TYPE);
	while (p->at != end)
		parse_advance(p);
	return parse_end(p, n);
}

static bool is_typeof(const struct token *t)
{
	return tok_is(t, "typeof") && tok_is(t->next, "(");
}

/** What sizeof() and the like take first: a type, or an expression. */
static struct node *type_or_expression(struct parser *p)
{
	bool sure;
	struct token *end = skip_type(p->at, &sure);
	bool is_bare_name = end && end == p->at->next && !sure;
	if (end && !is_bare_name && !vocabulary_is_builtin(p->at->text) &&
	    (tok_is(end, ")") || tok_is(end, ",")))
		return parse_type_tokens(p, end);
	return parse_expression(p);
}

static struct node *parse_typeof(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_TYPEOF);
	parse_advance(p);
	parse_advance(p);
	return parse_add(n, type_or_expression(p)) && parse_accept(p, ")") ? parse_end(p, n) : NULL;
}

struct node *parse_type_annotation(struct parser *p, const char *terminators)
{
	bool sure;
	if (is_typeof(p->at))
		return parse_typeof(p);
	struct token *end = skip_type(p->at, &sure);
	bool fits = end && end->kind == TOK_PUNCT && end->text.n == 1 &&
		    strchr(terminators, end->text.p[0]);
	return fits ? parse_type_tokens(p, end) : NULL;
}

// Brackets

/**
 * (T)x, after the bracket; NULL, and nothing consumed, if it is no cast. Names of types are not known here,
 * so any word in brackets is one if an operand can begin after them, except bpftrace's own words.
 */
static struct node *parse_cast(struct parser *p, struct node *n)
{
	if (is_typeof(p->at)) {
		if (!parse_add(n, parse_typeof(p)))
			return NULL;
	} else {
		bool sure;
		struct token *end = skip_type(p->at, &sure);
		if (!end || !tok_is(end, ")") || !starts_expression(end->next) ||
		    (!p->is_c && vocabulary_is_builtin(p->at->text)))
			return NULL;
		parse_add(n, parse_type_tokens(p, end));
	}
	n->kind = NODE_CAST;
	return parse_accept(p, ")") && parse_add(n, parse_unary(p)) ? parse_end(p, n) : NULL;
}

/** (a = x, b = y), after the bracket */
static struct node *parse_record(struct parser *p, struct node *n)
{
	n->kind = NODE_RECORD;
	do {
		struct node *field = parse_begin(p, NODE_FIELD);
		field->name = parse_advance(p);
		if (!is_word(field->name) || !parse_accept(p, "=") ||
		    !parse_add(field, parse_expression(p)))
			return NULL;
		parse_add(n, parse_end(p, field));
	} while (parse_accept(p, ","));
	return parse_accept(p, ")") ? parse_end(p, n) : NULL;
}

static struct node *parse_brackets(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_TUPLE);
	parse_advance(p);
	if (parse_accept(p, ")"))
		return parse_end(p, n);
	if (is_word(p->at) && tok_is(p->at->next, "="))
		return parse_record(p, n);
	const struct token *start = p->at;
	struct node *cast = parse_cast(p, n);
	if (cast || p->at != start)
		return cast;
	if (!parse_add(n, parse_expression(p)))
		return NULL;
	if (!parse_is(p, ","))
		n->kind = NODE_GROUP;
	while (parse_accept(p, ",") && !parse_is(p, ")"))
		if (!parse_add(n, parse_expression(p)))
			return NULL;
	return parse_accept(p, ")") ? parse_end(p, n) : NULL;
}

// Primaries

/** Is there a `::`, which the preprocessor splits in two, followed by a word? */
static bool is_scope(const struct token *t)
{
	return tok_is(t, ":") && tok_is(t->next, ":") && !t->next->space && is_word(t->next->next);
}

/** ns::on from @t to before @end: an enumerator, if not a type. */
static bool is_scoped_name(const struct token *t, const struct token *end)
{
	while (is_scope(t->next))
		t = t->next->next->next;
	return t->next == end;
}

/** An argument that is clearly a type (enum_name(ns::state, x)), typeof(), or an expression. */
static struct node *parse_argument(struct parser *p, const struct token *callee, bool is_first)
{
	bool sure;
	if (is_typeof(p->at))
		return parse_typeof(p);
	if (is_first && vocabulary_word(callee->text)->takes == TAKES_TYPE)
		return type_or_expression(p);
	struct token *end = skip_type(p->at, &sure);
	bool is_enum_name = is_first && tok_is(callee, "enum_name");
	if (end && sure && (tok_is(end, ",") || tok_is(end, ")")) &&
	    (is_enum_name || !is_scoped_name(p->at, end) || vocabulary_is_type_word(p->at->text)))
		return parse_type_tokens(p, end);
	return parse_expression(p);
}

/** f(...), and m!(...), as macros were called once */
static struct node *parse_call(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_CALL);
	n->name = parse_advance(p);
	parse_accept(p, "!");
	parse_accept(p, "(");
	for (bool is_first = true; !parse_is(p, ")"); is_first = false) {
		if (!is_first && !parse_accept(p, ","))
			return NULL;
		if (!parse_add(n, parse_argument(p, n->name, is_first)))
			return NULL;
	}
	parse_advance(p);
	return parse_end(p, n);
}

static struct node *parse_map(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_MAP);
	parse_advance(p);
	if (is_word(p->at) && !p->at->space)
		n->name = parse_advance(p);
	if (!parse_accept(p, "["))
		return parse_end(p, n);
	do {
		if (!parse_add(n, parse_expression(p)))
			return NULL;
	} while (parse_accept(p, ","));
	return parse_accept(p, "]") ? parse_end(p, n) : NULL;
}

static struct node *parse_leaf(struct parser *p, enum node_kind kind)
{
	struct node *n = parse_begin(p, kind);
	n->name = parse_advance(p);
	return parse_end(p, n);
}

static struct node *parse_dollar(struct parser *p)
{
	struct str text = p->at->text;
	if (text.n > 1)
		return parse_leaf(p, text.p[1] >= '0' && text.p[1] <= '9' ? NODE_PARAMETER
									  : NODE_VARIABLE);
	struct node *n = parse_begin(p, NODE_PARAMETER);
	n->name = parse_advance(p);
	return parse_accept(p, "#") ? parse_end(p, n) : NULL;
}

/** pid, ns::state::on, ::on */
static struct node *parse_name(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_NAME);
	n->name = p->at;
	if (!parse_is(p, ":"))
		parse_advance(p);
	while (is_scope(p->at)) {
		parse_advance(p);
		parse_advance(p);
		parse_advance(p);
	}
	return parse_end(p, n);
}

static struct node *parse_word(struct parser *p)
{
	const struct token *next = p->at->next;
	if (parse_is(p, "if"))
		return parse_if(p);
	if (tok_is(next, "(") || (tok_is(next, "!") && tok_is(next->next, "(")))
		return parse_call(p);
	if (!parse_is(p, "comptime") || !starts_expression(next))
		return parse_name(p);
	struct node *n = parse_begin(p, NODE_COMPTIME);
	parse_advance(p);
	return parse_add(n, parse_unary(p)) ? parse_end(p, n) : NULL;
}

/** Within brackets a slash divides again. */
static struct node *inside(struct parser *p, struct node *(*parse)(struct parser *p))
{
	bool was = p->in_predicate;
	p->in_predicate = false;
	struct node *n = parse(p);
	p->in_predicate = was;
	return n;
}

struct node *parse_primary(struct parser *p)
{
	if (p->at->kind == TOK_NUMBER)
		return parse_leaf(p, NODE_NUMBER);
	if (p->at->kind == TOK_STRING)
		return parse_leaf(p, NODE_STRING);
	if (p->at->kind == TOK_IDENT)
		return is_word(p->at) ? inside(p, parse_word) : parse_dollar(p);
	if (parse_is(p, "@"))
		return inside(p, parse_map);
	if (parse_is(p, "("))
		return inside(p, parse_brackets);
	if (is_scope(p->at))
		return parse_name(p);
	return parse_is(p, "{") ? inside(p, parse_block) : NULL;
}

// Operators

static struct node *parse_index(struct parser *p)
{
	parse_advance(p);
	struct node *index = parse_expression(p);
	return index && parse_accept(p, "]") ? index : NULL;
}

/** @t ends before byte @at; what is there becomes a token of its own. */
static void cut_token(struct parser *p, struct token *t, size_t at, enum tok_kind kind)
{
	struct token *rest = arena_new(p->arena, struct token);
	*rest = *t;
	rest->kind = kind;
	rest->space = rest->bol = false;
	rest->before = STR("");
	rest->text = str_from_offset(t->text, at);
	rest->loc.off += (uint32_t)at;
	rest->use.off += (uint32_t)at;
	t->text = str_slice(t->text, 0, at);
	t->next = rest;
}

/** `.1.a.b` is one number to the preprocessor. */
static void cut_element(struct parser *p, struct token *t)
{
	size_t end = 1;
	while (end < t->text.n && strchr(".0123456789", t->text.p[end]))
		end++;
	if (end == t->text.n || t->text.p[end - 1] != '.' || t->text.p[end - 2] == '.')
		return;
	cut_token(p, t, end - 1, TOK_PUNCT);
	for (t = t->next; t->text.n > 1; t = t->next) {
		cut_token(p, t, 1, TOK_IDENT);
		t = t->next;
		size_t dot = str_find(t->text, '.');
		if (dot == t->text.n)
			return;
		cut_token(p, t, dot, TOK_PUNCT);
	}
}

/** One operator after @n; NULL after an error, @n itself if there is none. */
static struct node *parse_one_postfix(struct parser *p, struct node *base)
{
	struct node *n = NULL;
	// x.1 is cut as x and .1
	if (p->at->kind == TOK_NUMBER && p->at->text.p[0] == '.') {
		cut_element(p, p->at);
		n = parse_begin_at(p, NODE_MEMBER, base);
		n->name = parse_advance(p);
	} else if (parse_is(p, "->") || parse_is(p, ".")) {
		n = parse_begin_at(p, NODE_MEMBER, base);
		parse_advance(p);
		n->name = parse_advance(p);
		if (n->name->kind != TOK_IDENT && n->name->kind != TOK_NUMBER)
			return NULL;
	} else if (parse_is(p, "[")) {
		n = parse_begin_at(p, NODE_INDEX, base);
		if (!parse_add(n, inside(p, parse_index)))
			return NULL;
	} else if ((parse_is(p, "++") || parse_is(p, "--")) && base->kind != NODE_IF &&
		   base->kind != NODE_BLOCK) { // after a block, they begin the next statement
		n = parse_begin_at(p, NODE_POSTFIX, base);
		n->name = parse_advance(p);
	}
	return n ? parse_end(p, n) : base;
}

static struct node *parse_postfix(struct parser *p)
{
	struct node *n = parse_primary(p), *longer;
	for (unsigned count = 0; n; n = longer, count++) {
		if (count == PARSE_MAX_MEMBERS && !p->failed_at) {
			p->failed_at = p->at;
			p->why = "more than 256 members in a row";
		}
		longer = parse_one_postfix(p, n);
		if (longer == n)
			return n;
	}
	return NULL;
}

struct node *parse_unary(struct parser *p)
{
	static const char *const prefixes[] = {"++", "--", "&", "*", "-", "!", "~", "+", NULL};
	if (!parse_enter(p))
		return NULL;
	struct node *n = NULL;
	if (tok_is_any(p->at, prefixes)) {
		n = parse_begin(p, NODE_UNARY);
		n->name = parse_advance(p);
		n = parse_add(n, parse_unary(p)) ? parse_end(p, n) : NULL;
	} else {
		n = parse_postfix(p);
	}
	parse_leave(p);
	return n;
}

/** Operators that bind at least as tightly as @level. */
static struct node *parse_binary(struct parser *p, unsigned level)
{
	struct node *left = parse_unary(p);
	while (left) {
		unsigned found = level_of(p, p->at);
		if (!found || found < level)
			return left;
		struct node *n = parse_begin_at(p, NODE_BINARY, left);
		n->name = parse_advance(p);
		if (!parse_add(n, parse_binary(p, found + 1)))
			return NULL;
		left = parse_end(p, n);
	}
	return NULL;
}

struct node *parse_expression(struct parser *p)
{
	struct node *first = parse_binary(p, 1);
	if (!first || !parse_is(p, "?"))
		return first;
	if (!parse_enter(p))
		return NULL;
	struct node *n = parse_begin_at(p, NODE_TERNARY, first);
	n->name = parse_advance(p);
	bool is_short = parse_is(p, ":") && !is_scope(p->at);
	bool good = is_short || parse_add(n, parse_expression(p));
	good = good && parse_accept(p, ":") && parse_add(n, parse_expression(p));
	parse_leave(p);
	return good ? parse_end(p, n) : NULL;
}

bool parse_is_assignment(const struct token *t)
{
	return tok_is_any(t, assignments);
}

struct node *parse_c_expression(struct arena *a, struct str text)
{
	struct diag silent = {0};
	struct lexer lx;
	lexer_init(&lx, a, &silent, src_from_text(a, STR("source"), text));
	lx.braces = 1; // no attach points in there
	struct parser p = {.arena = a, .diag = &silent, .at = lexer_list(&lx), .is_c = true};
	for (struct token *t = p.at; t->kind != TOK_EOF; t = t->next) {
		t->kind = t->kind == TOK_CHAR ? TOK_NUMBER : t->kind;
		while (t->kind == TOK_STRING && t->next->kind == TOK_STRING) // is one
			t->next = t->next->next;
	}
	struct node *n = parse_expression(&p);
	return p.at->kind == TOK_EOF ? n : NULL;
}
