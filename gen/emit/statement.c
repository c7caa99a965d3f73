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

/** `c ? printf(x) : printf(y)`, a choice of two statements; NULL for anything else. */
static const struct text *emit_choice(struct emitter *e, const struct node *n,
				      const struct node *value)
{
	const struct node *choice = node_ungrouped(value), *c = choice->child;
	const struct node *yes = choice->kind == NODE_TERNARY ? c->next : NULL;
	const struct node *no = yes ? yes->next : NULL;
	if (!e->makes_records || !e->in_body || !no || (!is_print(yes) && !is_print(no)))
		return NULL;
	const struct text *condition = emit_null_test(e, c, emit(e, c, WANT_VALUE));
	const struct text *first = emit_expression(e, NULL, node_ungrouped(yes));
	return text_format(e, n, "if (%n) { %n } else { %n }", condition, first,
			   emit_expression(e, NULL, node_ungrouped(no)));
}

/** @value as a statement, in the place of @n; NULL: a new one. */
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
	t = print.is_done ? text_format(e, value, "%n", t)
	    : n		  ? emit_with_children(e, n, &t)
			  : text_format(e, value, "%n;", t);
	// What fires until bpftrace ends is not printed any more, and no loss.
	if (e->b->given->shapes && e->b->given->shapes->has_gate &&
	    node_is(value, NODE_CALL, "exit"))
		t = text_format(e, value, "%s = (uint64)%u; %n", e->b->given->shapes->gate,
				(uint64_t)GATE_CLOSED, t);
	if (!before.pieces)
		return t;
	text_add(e->arena, &before, t);
	struct text *all = arena_new(e->arena, struct text);
	*all = before;
	return all;
}

/**
 * `++x;` as `x++;`, which all versions accept: after a block, bpftrace 0.27 applies the ++ to the value
 * of the block.
 */
static const struct text *emit_step(struct emitter *e, const struct node *n)
{
	const struct node *step = n->child, *before = e->last_statement;
	bool is_step = node_is(step, NODE_UNARY, "++") || node_is(step, NODE_UNARY, "--");
	if (!is_step || !before || before->next != n ||
	    (before->child->kind != NODE_IF && before->child->kind != NODE_BLOCK))
		return NULL;
	return text_format(e, n, "%n%t;", emit(e, step->child, WANT_VALUE), step->name->text);
}

/** `for ($kv : @m)`, after the assignments of e->loop. */
static const struct text *emit_loop(struct emitter *e, const struct node *n)
{
	struct text *all = text_format(e, n, "");
	struct loop loop = {.before = all};
	e->loop = &loop;
	const struct text *t = statement_emit(e, n);
	e->loop = NULL;
	if (!loop.words.n)
		return t;
	text_add(e->arena, all, t);
	return all;
}

const struct text *statement_emit(struct emitter *e, const struct node *n)
{
	struct print_statement *was = e->print;
	bool is_loop = node_is(n, NODE_WHILE, "while");
	if (n->kind == NODE_EXPRESSION) {
		const struct text *step = emit_step(e, n);
		if (!step)
			step = emit_expression(e, n, n->child);
		e->last_statement = n;
		return step;
	}
	if (n->kind == NODE_FOR && n->child->next->kind == NODE_MAP && e->in_body && !e->loop)
		return emit_loop(e, n);
	e->print = NULL;
	e->in_loop += is_loop;
	const struct text *t = emit_with_children(e, n, emit_children(e, n, NULL));
	e->in_loop -= is_loop;
	e->print = was;
	return t;
}
