// What goes into a variable, a map, a key, a tuple or an aggregation.
//
// bpftrace makes the type of such a store of what it is given first, and versions differ in what they do
// with the next value: drop its upper bits, take it for the other sign, refuse the script. So all that
// goes in is written with 64 bits and the sign of the store (sema/store.h), unless it is of one type.
#include "emit/emit_priv.h"
#include "sema/store.h"
#include "lang/vocabulary.h"
#include "dialect/dialect.h"

enum repr { AS_IS, INT64, UINT64 };

static const struct used_name *name_of(const struct emitter *e, const struct node *n)
{
	if (n->kind == NODE_MAP)
		return map_get(&e->b->found.uses.maps, n->name ? node_text(n) : STR(""));
	return n->kind == NODE_VARIABLE && e->clause
		   ? map_get(uses_variables(&e->b->found.uses, e->clause->clause), node_text(n))
		   : NULL;
}

const struct use *emit_uses(const struct emitter *e, const struct node *n)
{
	const struct used_name *name = name_of(e, n);
	return name ? name->first : NULL;
}

/** NULL: nothing is known of it, as of a parameter of a macro. */
static struct name_stores *stores_of(struct emitter *e, const struct node *n)
{
	const struct used_name *name = name_of(e, n);
	if (!name || !e->in_body)
		return NULL;
	struct name_stores *all = map_get_ptr(&e->stores, name);
	if (!all) {
		all = store_find(e->arena, name, &e->stores);
		map_put_ptr(e->arena, &e->stores, name, all);
	}
	struct name_stores *own = all->let || all->next ? map_get_ptr(&e->stores, n) : NULL;
	while (!own && all && all->let)
		all = all->next;
	return own ? own : all;
}

static enum repr repr_of(const struct emitter *e, const struct store *s, bool is_variable)
{
	unsigned values = s ? s->takes & ~STORE_STEP : 0;
	if (!values || (values & STORE_OTHER) || s->n || !e->b->given->files)
		return AS_IS;
	bool is_one = s->n_values == 1 && !(s->takes & STORE_STEP);
	switch (s->sign) {
	case SIGN_UNSIGNED:
		// From 0.24 on what is counted up or down is an int64.
		return (s->takes & STORE_STEP) && !dialect_mixes_signs(e->b->given->version)
			   ? INT64
			   : UINT64;
	case SIGN_SIGNED:
	case SIGN_MIXED:
		return INT64;
	case SIGN_NONE:
		if (values == STORE_LITERAL || (s->takes == STORE_TRUTH && is_variable))
			return AS_IS;
		return is_one || (s->takes == STORE_NUMBER && s->type) ? AS_IS : INT64;
	default:
		// To 0.23 a variable that has got a literal takes no time.
		return is_variable && !is_one && dialect_mixes_signs(e->b->given->version) ? UINT64
											   : AS_IS;
	}
}

static const struct text *hold(struct text *t, enum held held)
{
	t->held = held;
	t->is_tight = t->is_made = true;
	return t;
}

/** @t of @n as such a store takes it. */
static const struct text *make(struct emitter *e, enum repr repr, const struct node *n,
			       const struct text *t)
{
	if (repr == AS_IS || !n->expr || n->expr->kind != EXPR_NUMBER)
		return t;
	bool is_signed = repr == INT64;
	// pid and the like have 32 bits in newer versions, and sizeof() a sign.
	const struct node *plain = node_ungrouped(n);
	bool is_word = (plain->kind == NODE_NAME || plain->kind == NODE_CALL) && !t->is_made &&
		       !t->is_number && t->held == HELD_UNSIGNED && n->expr->sign == SIGN_NONE;
	if (is_word)
		return hold(made(e, n, is_signed ? "(int64)(uint64)%c" : "(uint64)%c", t),
			    is_signed ? HELD_SIGNED : HELD_UNSIGNED);
	// To 0.17 a large literal has a sign, too.
	if ((t->held == HELD_ANY || t->is_number) && !is_signed)
		return hold(made(e, n, "(uint64)%c", t), HELD_UNSIGNED);
	return number_make(e, n, t, is_signed);
}

enum held store_held(struct emitter *e, const struct node *n)
{
	const struct name_stores *s = stores_of(e, n);
	const struct expr *x = n->expr;
	bool mixes = e->b->given->files && dialect_mixes_signs(e->b->given->version);
	switch (repr_of(e, s ? &s->value : NULL, n->kind == NODE_VARIABLE)) {
	case INT64:
		return HELD_SIGNED;
	case UINT64:
		return HELD_UNSIGNED;
	default:
		break;
	}
	if (s && mixes && store_is_integer(s->declared)) // see store_cut()
		return s->declared->is_signed ? HELD_SIGNED : HELD_UNSIGNED;
	struct ctype *t = s ? s->value.type : NULL;
	if (t == &store_argument && s->value.takes == STORE_NUMBER)
		return dialect_has_signed_args(e->b->given->version) ? HELD_SIGNED : HELD_UNSIGNED;
	if (t && s->value.takes == STORE_NUMBER && (!mixes || n->kind == NODE_VARIABLE))
		return t->is_signed ? HELD_SIGNED : t->size < 8 ? HELD_NARROW : HELD_UNSIGNED;
	if (s && s->value.takes == STORE_LITERAL)
		return HELD_SIGNED;
	bool is_signed = x->sign == SIGN_SIGNED || x->sign == SIGN_MIXED;
	return is_signed ? HELD_SIGNED : mixes ? HELD_UNSIGNED : HELD_OPEN;
}

bool store_is_int64(struct emitter *e, const struct node *n)
{
	const struct name_stores *s = stores_of(e, n);
	return s && repr_of(e, &s->value, n->kind == NODE_VARIABLE) == INT64;
}

/** Of an aggregation's map. */
static const struct store *sample_of(struct emitter *e, const struct node *call)
{
	const struct node *assign = call->parent;
	const struct name_stores *s = assign->kind == NODE_ASSIGN && assign->child->next == call
					  ? stores_of(e, assign->child)
					  : NULL;
	return s && s->map ? &s->map->sample : NULL;
}

/** The store that @n, a tuple, goes into; NULL: none, or it is not known. */
static const struct store *store_of_tuple(struct emitter *e, const struct node *n)
{
	const struct node *of = n, *parent = n->parent;
	size_t i = 0;
	while (parent->kind == NODE_GROUP) {
		of = parent;
		parent = parent->parent;
	}
	for (const struct node *c = parent->child; c != of; c = c->next)
		i++;
	const struct name_stores *s = NULL;
	const struct store *outer = NULL;
	if ((parent->kind == NODE_ASSIGN || parent->kind == NODE_LET) && i > 0)
		s = stores_of(e, parent->child);
	else if (parent->kind == NODE_MAP)
		outer = (s = stores_of(e, parent)) && s->map ? &s->map->key : NULL;
	else if (parent->kind == NODE_TUPLE)
		outer = store_of_tuple(e, parent);
	if (outer)
		return i < outer->n ? &outer->columns[i] : NULL;
	return s ? &s->value : NULL;
}

const struct text *store_element(struct emitter *e, const struct node *tuple, size_t i,
				 const struct node *n, const struct text *t)
{
	const struct store *s = store_of_tuple(e, tuple);
	bool is_known = s && i < s->n && !(s->takes & ~STORE_STEP);
	return number_kept(e, n, make(e, repr_of(e, is_known ? &s->columns[i] : NULL, false), n, t),
			   false);
}

const struct text *store_key(struct emitter *e, const struct node *map, size_t i,
			     const struct node *n, const struct text *t)
{
	const struct name_stores *s = stores_of(e, map);
	const struct store *key = s && s->map ? &s->map->key : NULL;
	const struct store *c = key && i < key->n && !key->takes ? &key->columns[i] : NULL;
	bool is_disputed = c && c->disputed && !(c->takes & STORE_OTHER);
	if (t->is_truth)
		return number_make(e, n, t, false);
	return number_kept(e, n, make(e, is_disputed ? repr_of(e, c, false) : AS_IS, n, t), false);
}

const struct text *store_sample(struct emitter *e, const struct node *call, const struct node *n,
				const struct text *t)
{
	const struct store *s = n == call->child ? sample_of(e, call) : NULL;
	return number_kept(e, n, make(e, repr_of(e, s, false), n, t), true);
}

bool store_is_integer(const struct ctype *t)
{
	return ctype_is_number(t) && t->kind != CTYPE_BOOL;
}

const struct text *store_cut(struct emitter *e, const struct ctype *to, const struct node *n,
			     const struct text *t)
{
	const char *sign = to->is_signed ? "" : "u";
	if (to->size == 8)
		return make(e, to->is_signed ? INT64 : UINT64, n, t);
	return hold(made(e, n, "(%sint64)(%sint%u)%c", sign, sign, (unsigned)to->size * 8, t),
		    to->is_signed ? HELD_SIGNED : HELD_UNSIGNED);
}

const struct text *store_value(struct emitter *e, const struct node *name, const struct node *n,
			       const struct text *t)
{
	const struct name_stores *s = stores_of(e, name);
	bool is_variable = name->kind == NODE_VARIABLE;
	const struct ctype *to = s && e->b->given->files ? s->declared : NULL;
	if (store_is_integer(to) && dialect_mixes_signs(e->b->given->version))
		return store_cut(e, to, n, t);
	t = make(e, repr_of(e, s ? &s->value : NULL, is_variable), n, t);
	return is_variable ? t : number_kept(e, n, t, false);
}
