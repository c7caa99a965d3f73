// Statements and blocks.
#include "emit/emit_priv.h"
#include "record/shape.h"

static bool is_print(const struct node *n)
{
	n = node_ungrouped(n);
	return n->kind == NODE_TERNARY ||
	       (n->kind == NODE_CALL && vocabulary_word(node_text(n))->prints);
}

static const struct text *emit_expression(struct emitter *e, const struct node *n,
					  const struct node *value);

/** `c ? printf(x) : printf(y)`, whose two calls are statements; NULL for anything else. */
static const struct text *emit_choice(struct emitter *e, const struct node *n,
				      const struct node *value)
{
	const struct node *choice = node_ungrouped(value), *c = choice->child;
	const struct node *yes = choice->kind == NODE_TERNARY ? c->next : NULL;
	const struct node *no = yes ? yes->next : NULL;
	if (!e->makes_records || !e->in_body || !no || (!is_print(yes) && !is_print(no)))
		return NULL;
	const struct text *condition = emit_asked(e, c, emit(e, c, WANT_VALUE));
	const struct text *first = emit_expression(e, NULL, node_ungrouped(yes));
	return made(e, n, "if (%n) { %n } else { %n }", condition, first,
		    emit_expression(e, NULL, node_ungrouped(no)));
}

/** @value as a statement: that of @n, or (NULL) one that is made of it. */
static const struct text *emit_expression(struct emitter *e, const struct node *n,
					  const struct node *value)
{
	const struct text *t = emit_choice(e, n ? n : value, value);
	struct text before = {.at = value->first};
	struct print_statement *was = e->print, print = {.value = value, .before = &before};
	if (t)
		return t;
	e->print = &print;
	t = emit(e, value, WANT_VALUE);
	e->print = was;
	t = print.is_done ? made(e, value, "%n", t)
	    : n		  ? emit_written(e, n, &t)
			  : made(e, value, "%n;", t);
	if (e->b->made->gate && node_is(value, NODE_CALL, "exit"))
		t = made(e, value, "%s = (uint64)%u; %n", e->b->given->shapes->gate,
			 (uint64_t)GATE_CLOSED, t);
	if (!before.pieces)
		return t;
	text_add(e->arena, &before, t);
	struct text *all = arena_new(e->arena, struct text);
	*all = before;
	return all;
}

/**
 * `++x;` after a block: bpftrace 0.27 takes the operator for one on the block's value, and no version minds
 * `x++;`.
 */
static const struct text *emit_step(struct emitter *e, const struct node *n)
{
	const struct node *step = n->child, *before = e->last_statement;
	bool is_step = node_is(step, NODE_UNARY, "++") || node_is(step, NODE_UNARY, "--");
	if (!is_step || !before || before->next != n ||
	    (before->child->kind != NODE_IF && before->child->kind != NODE_BLOCK))
		return NULL;
	return made(e, n, "%n%t;", emit(e, step->child, WANT_VALUE), step->name->text);
}

static const struct text *emit_simple(struct emitter *e, const struct node *n)
{
	const struct text *t = emit_step(e, n);
	if (!t)
		t = emit_expression(e, n, n->child);
	e->last_statement = n;
	return t;
}

const struct text *statement_emit(struct emitter *e, const struct node *n)
{
	struct print_statement *was = e->print;
	bool is_loop = node_is(n, NODE_WHILE, "while");
	if (n->kind == NODE_EXPRESSION)
		return emit_simple(e, n);
	e->print = NULL;
	e->in_loop += is_loop;
	const struct text *t = emit_written(e, n, emit_children(e, n, NULL));
	e->in_loop -= is_loop;
	e->print = was;
	return t;
}
