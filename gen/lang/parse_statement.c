#define TREE_IS_MADE_HERE
// Statements and blocks.
#include "lang/parse_priv.h"

/**
 * A statement that begins at @first and does not fit the grammar at the next token, up to its semicolon,
 * the end of its block, or the end of the block that it is in.
 */
static struct node *parse_opaque(struct parser *p, struct token *first)
{
	struct token *unexpected = p->at;
	p->at = first;
	struct node *n = parse_begin(p, NODE_OPAQUE);
	n->name = unexpected;
	while (!parse_is(p, "}") && p->at->kind != TOK_EOF) {
		bool is_block = parse_is(p, "{");
		if (parse_is_opener(p->at))
			p->at = parse_closing(p->at);
		if (tok_is(parse_advance(p), ";") || is_block)
			break;
	}
	return parse_end(p, n);
}

/** With its semicolon, which the last statement of a block can do without. */
static struct node *end_statement(struct parser *p, struct node *n)
{
	return n && (parse_accept(p, ";") || parse_is(p, "}")) ? parse_end(p, n) : NULL;
}

/** `(` expression `)` or one without brackets, in front of a block. */
static bool add_condition(struct parser *p, struct node *n)
{
	// The brackets are the statement's own: what they hold is no cast of what follows, and no record.
	if (parse_accept(p, "("))
		return parse_add(n, parse_expression(p)) && parse_accept(p, ")");
	return parse_add(n, parse_unary(p));
}

struct node *parse_if(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_IF);
	n->name = p->at;
	for (;;) {
		parse_advance(p); // if
		if (!add_condition(p, n) || !parse_add(n, parse_block(p)))
			return NULL;
		if (!parse_accept(p, "else"))
			return parse_end(p, n);
		if (!parse_is(p, "if"))
			break;
	}
	return parse_add(n, parse_block(p)) ? parse_end(p, n) : NULL;
}

static struct node *parse_loop(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_WHILE);
	n->name = parse_advance(p);
	return add_condition(p, n) && parse_add(n, parse_block(p)) ? parse_end(p, n) : NULL;
}

/** A map, or a..b */
static struct node *parse_range_or_map(struct parser *p)
{
	struct node *first = parse_primary(p);
	if (!first || !parse_is(p, ".."))
		return first;
	struct node *n = parse_begin_at(p, NODE_RANGE, first);
	parse_advance(p);
	return parse_add(n, parse_primary(p)) ? parse_end(p, n) : NULL;
}

static struct node *parse_for(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_FOR);
	n->name = parse_advance(p);
	bool has_bracket = parse_accept(p, "(");
	if (!parse_is_variable(p->at) || !parse_add(n, parse_primary(p)) || !parse_accept(p, ":") ||
	    !parse_add(n, parse_range_or_map(p)))
		return NULL;
	if (has_bracket && !parse_accept(p, ")"))
		return NULL;
	return parse_add(n, parse_block(p)) ? parse_end(p, n) : NULL;
}

static struct node *parse_let(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_LET);
	n->name = parse_advance(p);
	if (!parse_is_variable(p->at) || !parse_add(n, parse_primary(p)))
		return NULL;
	if (parse_accept(p, ":") && !parse_add(n, parse_type_annotation(p, ";=}")))
		return NULL;
	if (parse_accept(p, "=") && !parse_add(n, parse_expression(p)))
		return NULL;
	return end_statement(p, n);
}

static struct node *parse_return(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_RETURN);
	n->name = parse_advance(p);
	if (!parse_is(p, ";") && !parse_is(p, "}") && !parse_add(n, parse_expression(p)))
		return NULL;
	return end_statement(p, n);
}

static struct node *parse_jump(struct parser *p, enum node_kind kind)
{
	struct node *n = parse_begin(p, kind);
	n->name = parse_advance(p);
	if (kind == NODE_IMPORT)
		parse_advance(p);
	return end_statement(p, n);
}

/** An assignment, or an expression; one that ends in a block needs no semicolon. */
static struct node *parse_simple(struct parser *p)
{
	struct node *n = parse_begin(p, NODE_EXPRESSION);
	struct node *left = parse_expression(p);
	if (left && parse_is_assignment(p->at)) {
		struct node *assign = parse_begin_at(p, NODE_ASSIGN, left);
		assign->name = parse_advance(p);
		left = parse_add(assign, parse_expression(p)) ? parse_end(p, assign) : NULL;
	}
	if (!left || !parse_add(n, left))
		return NULL;
	if (left->kind == NODE_IF || left->kind == NODE_BLOCK) {
		parse_accept(p, ";");
		return parse_end(p, n);
	}
	return end_statement(p, n);
}

static struct node *parse_statement(struct parser *p)
{
	struct token *next = p->at->next;
	if (parse_is(p, "let"))
		return parse_let(p);
	if ((parse_is(p, "while") || parse_is(p, "unroll")) && !parse_is_assignment(next))
		return parse_loop(p);
	if (parse_is(p, "for") && (tok_is(next, "(") || parse_is_variable(next)))
		return parse_for(p);
	if (parse_is(p, "return"))
		return parse_return(p);
	if ((parse_is(p, "break") || parse_is(p, "continue")) &&
	    (tok_is(next, ";") || tok_is(next, "}")))
		return parse_jump(p, NODE_JUMP);
	if (parse_is(p, "import") && next->kind == TOK_STRING)
		return parse_jump(p, NODE_IMPORT);
	return parse_simple(p);
}

struct node *parse_block(struct parser *p)
{
	if (!parse_is(p, "{") || !parse_enter(p))
		return NULL;
	struct node *n = parse_begin(p, NODE_BLOCK);
	parse_advance(p);
	while (!parse_is(p, "}") && p->at->kind != TOK_EOF) {
		struct token *first = p->at;
		if (parse_accept(p, ";"))
			continue;
		struct node *statement = parse_statement(p);
		parse_add(n, statement ? statement : parse_opaque(p, first));
	}
	parse_leave(p);
	return parse_accept(p, "}") ? parse_end(p, n) : NULL;
}
