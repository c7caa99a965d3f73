#include "emit/record_priv.h"

#include "sema/exprtype.h"
#include "dialect/dialect.h"

/** How many numbers are left for the bytes of all structs that the call prints. */
static uint64_t words_for_structs(const struct printing *g)
{
	enum { SHOWN = 3 }; // a name of 16 bytes, and KEY
	const struct bind *b = g->e->b;
	unsigned strings = 0, others = b->given->shapes->has_head ? SHAPE_HEAD : 0;
	others += g->shape.has_since ? SHAPE_SINCE : 0;
	if (dialect_prints_from_stack(b->given->version))
		others += (unsigned)g->e->n_variables; // on the same stack
	for (struct node *arg = g->call->child; arg; arg = arg->next) {
		uint64_t size;
		unsigned n = arg->expr ? strings_printed(arg) : 1;
		if (n)
			strings += n;
		else if (exprtype_is_whole(arg->expr, &size) || arg->expr->kind == EXPR_NUMBER)
			others++; // the address of a struct
		else
			others += SHOWN;
	}
	return dialect_printed_numbers(b->given->version, strings, others);
}

/** Small structs get what they need; the others share the rest. */
static uint64_t bytes_of_each(const struct printing *g)
{
	uint64_t all = words_for_structs(g), share = 0, before, size;
	do {
		uint64_t rest = all, n_large = 0;
		for (const struct node *arg = g->call->child; arg; arg = arg->next) {
			if (!exprtype_is_whole(arg->expr, &size))
				continue;
			bool is_small = size / 8 + (size % 8 != 0) <= share;
			rest -= is_small ? (size + 7) / 8 : 0;
			n_large += !is_small;
		}
		before = share;
		share = n_large ? rest / n_large : share;
	} while (share != before);
	return share * 8;
}

void printstruct_add(struct printing *g, struct node *n, uint64_t size, struct shape_field *f)
{
	struct emitter *e = g->e;
	struct arena *a = g->arena;
	uint64_t room = bytes_of_each(g);
	size_t i = g->structs.n;
	if (i == e->at.n)
		vec_push(a, &e->at, emit_new_variable(e, STR("$at")));
	struct str address = e->at.v[i];
	f->value.type = n->expr->type;
	f->value.n_bytes = size < room ? size : room;
	// Clauses have one stack for all that they print.
	if (dialect_prints_from_stack(e->b->given->version) &&
	    e->b->made->printed_strlen > DIALECT_SHORT)
		e->b->made->printed_strlen = DIALECT_SHORT;
	vec_push(a, &g->structs, n);
	vec_push(a, &g->numbers, (struct passed){.words = address});
	for (size_t k = 0; k < (f->value.n_bytes + 7) / 8; k++) {
		struct strbuf text = {0};
		shape_write_word(address, f->value.n_bytes, k, &text);
		vec_push(a, &g->numbers, (struct passed){.words = strbuf_take(&text, a)});
	}
}
