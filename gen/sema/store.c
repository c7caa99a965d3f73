#include "sema/store.h"

#include "sema/expr.h"

struct ctype store_argument = {.kind = CTYPE_INT, .size = 8, .has_size = true};

static bool is_literal(const struct node *n)
{
	if (n->kind == NODE_UNARY && (tok_is(n->name, "-") || tok_is(n->name, "~")))
		n = node_ungrouped(n->child);
	bool is_one = n->kind == NODE_NUMBER || (n->kind == NODE_NAME && n->expr->enumerator_of);
	return is_one && n->expr->bits < 32; // a larger one has another type before 0.24
}

static void add_type(struct store *s, const struct expr *x)
{
	struct ctype *t = x->arg_of ? &store_argument : ctype_strip(x->type);
	// What is read through one of two pointers has the type that both lead to.
	bool is_known = ctype_is_number(t) && !x->bit_size && (!x->is_mixed || x->is_place);
	const struct ctype *was = s->type;
	bool is_alike = was && (was == &store_argument) == (t == &store_argument) && t &&
			was->size == t->size && was->is_signed == t->is_signed &&
			(was->kind == CTYPE_BOOL) == (t->kind == CTYPE_BOOL); // to bpftrace
	if (!is_known || ((s->kinds & STORE_NUMBER) && !is_alike))
		t = NULL;
	s->type = t;
	s->kinds |= STORE_NUMBER;
}

static void add_sign(struct store *s, const struct node *n, enum sign sign)
{
	bool was_unsigned = s->sign == SIGN_UNSIGNED, is_signed = sign == SIGN_SIGNED;
	if (!s->disputed &&
	    ((was_unsigned && is_signed) || (s->has_signed && sign == SIGN_UNSIGNED)))
		s->disputed = n;
	s->has_signed |= is_signed;
	s->sign = sign_of_both(s->sign, sign);
}

static void add_to_store(struct arena *a, struct store *s, const struct node *n);

/** The children of @n, a tuple or several keys, or @n alone. */
static void add_columns(struct arena *a, struct store *s, const struct node *first, size_t n)
{
	if (!s->columns) {
		s->columns = arena_array(a, struct store, n + 1);
		s->n = (uint32_t)n;
	} else if (s->n != n) {
		s->kinds |= STORE_OTHER;
	}
	for (size_t i = 0; first && i < s->n; first = first->next)
		add_to_store(a, &s->columns[i++], first);
}

static void add_to_store(struct arena *a, struct store *s, const struct node *n)
{
	n = node_ungrouped(n);
	const struct expr *x = n->expr;
	s->n_values++;
	if (n->kind == NODE_STRING) {
		uint32_t was = s->text;
		s->text = (uint32_t)lex_string_value(a, n->first).n + 1;
		s->has_sizes |= was && was != s->text;
	}
	if (n->kind == NODE_TUPLE) {
		add_columns(a, s, n->child, node_count(n));
	} else if (!x || x->kind != EXPR_NUMBER || ctype_pointee(x->type)) {
		s->kinds |= STORE_OTHER;
	} else {
		add_sign(s, n, x->sign);
		if (x->is_bool)
			s->kinds |= STORE_BOOL;
		else if (is_literal(n))
			s->kinds |= STORE_LITERAL;
		else
			add_type(s, x);
	}
}

static void add_value(struct arena *a, struct name_stores *ret, const struct use *u)
{
	const struct node *value = node_ungrouped(u->value);
	if (u->does & USE_ADD)
		ret->value.kinds |= STORE_STEP;
	if (!value)
		return;
	if (value->expr && value->expr->kind == EXPR_AGGREGATION && value->child)
		add_to_store(a, ret->map ? &ret->map->sample : &ret->value, value->child);
	else
		add_to_store(a, &ret->value, value);
}

/** @m[..], or delete(@m, ..) and has_key(@m, ..) */
static void add_key(struct arena *a, struct name_stores *ret, const struct use *u)
{
	const struct node *n = u->node, *call = n->parent;
	if (n->child) {
		add_columns(a, &ret->map->key, n->child, node_count(n));
	} else if ((node_is(call, NODE_CALL, "delete") || node_is(call, NODE_CALL, "has_key")) &&
		   call->child == n && n->next) {
		const struct node *key = node_ungrouped(n->next);
		bool is_tuple = key->kind == NODE_TUPLE;
		add_columns(a, &ret->map->key, is_tuple ? key->child : n->next,
			    is_tuple ? node_count(key) : 1);
	}
}

/** The stores of the variable or map of @u. */
static struct name_stores *stores_of(struct arena *a, struct name_stores **all, const struct use *u)
{
	struct name_stores *s = *all;
	while (s && s->let != u->let)
		s = s->next;
	if (s)
		return s;
	s = arena_new(a, struct name_stores);
	s->let = u->let;
	s->next = *all;
	*all = s;
	if (u->node->kind != NODE_VARIABLE)
		s->map = arena_new(a, struct map_stores);
	return s;
}

struct name_stores *store_find(struct arena *a, const struct used_name *name, struct map *by_use)
{
	struct name_stores *all = NULL;
	for (const struct use *u = name->first; u; u = u->next) {
		struct name_stores *s = stores_of(a, &all, u);
		const struct node *n = u->node;
		bool is_given = u->does & (USE_GIVEN | USE_OPAQUE);
		bool is_loops = n->kind == NODE_VARIABLE && (u->does & USE_LOOP);
		bool has_type = n->parent->kind == NODE_LET && n->next &&
				(n->next->kind == NODE_TYPE || n->next->kind == NODE_TYPEOF);
		if (is_given || is_loops || has_type)
			s->value.kinds |= STORE_OTHER;
		if (has_type && n->next->kind == NODE_TYPE && n->expr)
			s->declared = ctype_strip(n->expr->type);
		if (is_given && s->map)
			s->map->key.kinds |= STORE_OTHER;
		add_value(a, s, u);
		if (s->map && n->kind == NODE_MAP)
			add_key(a, s, u);
		if (by_use && u->let)
			map_put_ptr(a, by_use, n, s);
	}
	return all;
}
