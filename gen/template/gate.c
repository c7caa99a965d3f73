#include "template/gate.h"

#include "bind/beginend.h"
#include "lang/change.h"
#include "record/shape.h"

/** `exit();` of @n. */
static bool close_at_exit(void *ctx, struct node *n, struct node *parent)
{
	struct bind *b = ctx;
	(void)parent;
	if (n->kind == NODE_EXPRESSION && node_is(n->child, NODE_CALL, "exit"))
		change(b->arena, n, "%s = (uint64)%u; %n", b->shapes->gate, (uint64_t)GATE_CLOSED,
		       n);
	return true;
}

void gate_add(struct bind *b)
{
	if (!b->shapes || !b->shapes->can_gate || !b->has_gate)
		return;
	b->shapes->has_gate = true;
	b->gate = arena_printf(b->arena, "%s > %d", b->shapes->gate, GATE_CLOSED);
	node_walk(b->script.program, close_at_exit, b);
	beginend_add_begin(b, str_printf(b->arena, "%s = (uint64)0;", b->shapes->gate));
}
