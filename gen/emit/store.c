// What goes into a variable, a map, a key, a tuple or an aggregation.
//
// The first value decides the type of such a store in bpftrace, and versions differ in what they do with the
// next one: drop its upper bits, change its sign, refuse the script. So each value is written with 64 bits
// and the sign of the store (sema/store.h), unless all have one type.

#include "emit/emit_priv.h"
#include "sema/store.h"
#include "dialect/dialect.h"

enum store_type { AS_IS, INT64, UINT64 };

static const struct used_name *used_name_of(const struct emitter *e, const struct node *n)
{
	if (n->kind == NODE_MAP)
		return map_get(&e->b->found.uses.maps, n->name ? node_text(n) : STR(""));
	return n->kind == NODE_VARIABLE && e->clause
		   ? map_get(uses_variables(&e->b->found.uses, e->clause->clause), node_text(n))
		   : NULL;
}

const struct use *emit_uses(const struct emitter *e, const struct node *n)
{
	const struct used_name *name = used_name_of(e, n);
	return name ? name->first : NULL;
}

/** NULL: nothing is known of it, as of a parameter of a macro. */
static struct name_stores *stores_of(struct emitter *e, const struct node *n)
{
	const struct used_name *name = used_name_of(e, n);
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

static enum store_type store_type_of(const struct emitter *e, const struct store *s,
				     bool is_variable)
{
	unsigned values = s ? s->kinds & ~STORE_STEP : 0;
	if (!values || (values & STORE_OTHER) || s->n || !e->b->given->files)
		return AS_IS;
	bool is_one = s->n_values == 1 && !(s->kinds & STORE_STEP);
	switch (s->sign) {
	case SIGN_UNSIGNED:
		// From 0.24 on ++ and -- make an int64.
		return (s->kinds & STORE_STEP) && !dialect_mixes_signs(e->b->given->version)
			   ? INT64
			   : UINT64;
	case SIGN_SIGNED:
	case SIGN_MIXED:
		return INT64;
	case SIGN_NONE:
		// 0.23 takes !x for an uint64, and x < y for an int64.
		if (values == STORE_LITERAL ||
		    (s->kinds == STORE_BOOL && is_variable &&
		     (is_one || !dialect_mixes_signs(e->b->given->version))))
			return AS_IS;
		return is_one || (s->kinds == STORE_NUMBER && s->type) ? AS_IS : INT64;
	default:
		// Up to 0.23 a variable that was assigned a literal cannot hold a time.
		return is_variable && !is_one && dialect_mixes_signs(e->b->given->version) ? UINT64
											   : AS_IS;
	}
}

/** @t of @n converted to the type of the store. */
static const struct text *make_stored(struct emitter *e, enum store_type as, const struct node *n,
				      const struct text *t)
{
	if (as == AS_IS || !n->expr || n->expr->kind != EXPR_NUMBER)
		return t;
	bool is_signed = as == INT64;
	// In newer versions pid and the like have 32 bits, and sizeof() is signed.
	const struct node *plain = node_ungrouped(n);
	bool is_word = (plain->kind == NODE_NAME || plain->kind == NODE_CALL) && !t->is_made &&
		       !t->is_number && t->repr == REPR_UNSIGNED && n->expr->sign == SIGN_NONE;
	if (is_word)
		return number_set_repr(
		    text_format(e, n, is_signed ? "(int64)(uint64)%c" : "(uint64)%c", t),
		    is_signed ? REPR_SIGNED : REPR_UNSIGNED);
	// To 0.17 a large literal is signed, too.
	if ((t->repr == REPR_LITERAL || t->is_number) && !is_signed)
		return number_set_repr(text_format(e, n, "(uint64)%c", t), REPR_UNSIGNED);
	return number_make(e, n, t, is_signed);
}

enum repr store_repr(struct emitter *e, const struct node *n)
{
	const struct name_stores *s = stores_of(e, n);
	const struct expr *x = n->expr;
	bool mixes = e->b->given->files && dialect_mixes_signs(e->b->given->version);
	switch (store_type_of(e, s ? &s->value : NULL, n->kind == NODE_VARIABLE)) {
	case INT64:
		return REPR_SIGNED;
	case UINT64:
		return REPR_UNSIGNED;
	default:
		break;
	}
	if (s && mixes && store_is_integer(s->declared)) // see store_cut()
		return s->declared->is_signed ? REPR_SIGNED : REPR_UNSIGNED;
	struct ctype *t = s ? s->value.type : NULL;
	if (t == &store_argument && s->value.kinds == STORE_NUMBER)
		return dialect_has_signed_args(e->b->given->version) ? REPR_SIGNED : REPR_UNSIGNED;
	if (t && s->value.kinds == STORE_NUMBER && (!mixes || n->kind == NODE_VARIABLE))
		return t->is_signed ? REPR_SIGNED : t->size < 8 ? REPR_NARROW : REPR_UNSIGNED;
	if (s && (s->value.kinds & ~STORE_STEP) == STORE_LITERAL)
		return REPR_SIGNED;
	bool is_signed = x->sign == SIGN_SIGNED || x->sign == SIGN_MIXED;
	return is_signed ? REPR_SIGNED : mixes ? REPR_UNSIGNED : REPR_UNKNOWN;
}

/** .0 or .1 of a tuple? */
static bool is_element(const struct node *n, const char *number)
{
	struct str text = n->kind == NODE_MEMBER ? n->name->text : STR("");
	str_take(&text, STR("."));
	return str_eq(text, str_from(number));
}

/** The map of the loop whose variable @kv is; NULL: there is none. */
static const struct node *looped_map(const struct node *kv)
{
	for (const struct node *in = kv->parent; in && kv->kind == NODE_VARIABLE; in = in->parent)
		if (in->kind == NODE_FOR && str_eq(in->child->name->text, kv->name->text))
			return in->child->next->kind == NODE_MAP ? in->child->next : NULL;
	return NULL;
}

bool store_repr_in_loop(struct emitter *e, const struct node *n, enum repr *ret)
{
	const struct node *map = is_element(n, "1") ? looped_map(n->child) : NULL;
	if (map) {
		*ret = store_repr(e, map);
		return true;
	}
	while (n->kind == NODE_MEMBER && n->child->kind == NODE_MEMBER)
		n = n->child;
	*ret = REPR_SIGNED; // before 0.24 each number of a key
	return dialect_mixes_signs(e->b->given->version) && is_element(n, "0") &&
	       looped_map(n->child);
}

bool store_is_int64(struct emitter *e, const struct node *n)
{
	const struct name_stores *s = stores_of(e, n);
	return s && store_type_of(e, &s->value, n->kind == NODE_VARIABLE) == INT64;
}

/** The store of an aggregation's map. */
static const struct store *sample_of(struct emitter *e, const struct node *call)
{
	const struct node *assign = call->parent;
	const struct name_stores *s = assign->kind == NODE_ASSIGN && assign->child->next == call
					  ? stores_of(e, assign->child)
					  : NULL;
	return s && s->map ? &s->map->sample : NULL;
}

/** The store that @n, a tuple, is assigned to; NULL: none, or not known. */
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
	bool is_known = s && i < s->n && !(s->kinds & ~STORE_STEP);
	return number_for_store(
	    e, n, make_stored(e, store_type_of(e, is_known ? &s->columns[i] : NULL, false), n, t));
}

/** What is stored as the @i-th key of @map; NULL: not known. */
static const struct store *column_of(struct emitter *e, const struct node *map, size_t i)
{
	const struct name_stores *s = stores_of(e, map);
	const struct store *key = s && s->map ? &s->map->key : NULL;
	return key && i < key->n && !key->kinds ? &key->columns[i] : NULL;
}

const struct text *store_align(struct emitter *e, const struct node *map, size_t i,
			       const struct node *n, const struct text *t)
{
	const struct store *c = column_of(e, map, i);
	if (n->kind != NODE_STRING || !n->next || (c && !c->has_sizes) ||
	    !dialect_misaligns_keys(e->b->given->version))
		return t;
	struct str text = node_text(n);
	size_t size = lex_string_value(e->arena, n->first).n + 1;
	return text_format(e, n, "%t%t\"", str_slice(text, 0, text.n - 1),
			   str_slice(STR("\\0\\0\\0\\0\\0\\0\\0"), 0, 2 * (-size % 8)));
}

const struct text *store_key(struct emitter *e, const struct node *map, size_t i,
			     const struct node *n, const struct text *t)
{
	const struct store *c = column_of(e, map, i);
	// 0.27 takes a literal above INT64_MAX and what is computed of unsigned numbers for an uint64, and an
	// argument for an int64; of `@a[0, x]`, `@a[p->u8, 1]` and `@a[-2, 2]` it makes 254 of the last.
	bool is_computed = c && c->has_signed && t->repr != REPR_SIGNED && t->repr != REPR_LITERAL;
	bool is_split = c && ((c->sign == SIGN_UNSIGNED && !c->type) || is_computed) &&
			dialect_has_signed_args(e->b->given->version);
	bool is_disputed = c && (c->disputed || is_split) && !(c->kinds & STORE_OTHER);
	return number_for_store(
	    e, n, make_stored(e, is_disputed ? store_type_of(e, c, false) : AS_IS, n, t));
}

const struct text *store_sample(struct emitter *e, const struct node *call, const struct node *n,
				const struct text *t)
{
	const struct store *s = sample_of(e, call);
	return number_for_store(e, n, make_stored(e, store_type_of(e, s, false), n, t));
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
		return make_stored(e, to->is_signed ? INT64 : UINT64, n, t);
	return number_set_repr(
	    text_format(e, n, "(%sint64)(%sint%u)%c", sign, sign, (unsigned)to->size * 8, t),
	    to->is_signed ? REPR_SIGNED : REPR_UNSIGNED);
}

const struct text *store_value(struct emitter *e, const struct node *name, const struct node *n,
			       const struct text *t)
{
	const struct name_stores *s = stores_of(e, name);
	bool is_variable = name->kind == NODE_VARIABLE;
	const struct ctype *to = s && e->b->given->files ? s->declared : NULL;
	if (store_is_integer(to) && dialect_mixes_signs(e->b->given->version))
		return store_cut(e, to, n, t);
	t = make_stored(e, store_type_of(e, s ? &s->value : NULL, is_variable), n, t);
	return is_variable ? number_of_bool(e, n, t) : number_for_store(e, n, t);
}

// --- max() and min() of versions that lose numbers ---

/** Does max() or min() lose some of what @x may be? A difference of times is no negative number. */
static bool loses(unsigned version, const struct expr *x, bool is_max)
{
	bool is_signed = x->sign == SIGN_SIGNED || x->sign == SIGN_MIXED;
	if (!is_max)
		return dialect_has_local_min(version) || !x->bits || x->bits > 31U + is_signed;
	return is_signed || x->sign == SIGN_UNSIGNED;
}

/** May the map have other numbers than it was given, for those who print it? */
static bool use_can_shift(const struct use *u, const char *function)
{
	const struct node *value = u->value ? node_ungrouped(u->value) : NULL, *map = u->node;
	bool is_printed = !map->child && (u->does & USE_PRINT);
	// Which are the largest is another question than which the smallest.
	if (is_printed && map->next)
		return strcmp(function, "max") == 0 && !map->next->next;
	return is_printed || (u->does & (USE_EMPTIES | USE_DELETE)) ||
	       (value && node_is(value, NODE_CALL, function) && value->child);
}

/** The version keeps not all that such a function is given. */
static bool is_lossy(const struct emitter *e, const struct node *call)
{
	unsigned v = e->b->given->version;
	return node_is(call, NODE_CALL, "max") ? dialect_has_unsigned_max(v)
	       : node_is(call, NODE_CALL, "min")
		   ? dialect_has_narrow_samples(v) || dialect_has_local_min(v)
		   : false;
}

/** Does the map hold averages of unsigned numbers, which bpftrace divides as signed ones? The relay divides stats(). */
static enum value_shift shift_of_average(const struct emitter *e, const struct use *first)
{
	bool is = false, is_avg = e->makes_records;
	for (const struct use *u = first; u; u = u->next) {
		const struct node *value = u->value ? node_ungrouped(u->value) : NULL;
		bool averages =
		    value && value->child &&
		    (node_is(value, NODE_CALL, "avg") || node_is(value, NODE_CALL, "stats"));
		is |= averages && value->child->expr->sign == SIGN_UNSIGNED;
		is_avg &= use_can_shift(u, "avg");
	}
	if (!is || !dialect_has_signed_averages(e->b->given->version))
		return VALUE_UNSHIFTED;
	return is_avg ? VALUE_STATS : VALUE_AVERAGE;
}

enum value_shift store_shift(const struct emitter *e, struct str map)
{
	const struct use *first = uses_of_map(&e->b->found.uses, map), *u = first;
	enum value_shift of_average = shift_of_average(e, first);
	if (of_average)
		return of_average;
	while (u && !u->value)
		u = u->next;
	bool is_max = u && node_is(node_ungrouped(u->value), NODE_CALL, "max"), is_needed = false;
	if (!u || !is_lossy(e, node_ungrouped(u->value)) || !e->makes_records)
		return VALUE_UNSHIFTED;
	for (u = first; u; u = u->next) {
		if (!use_can_shift(u, is_max ? "max" : "min"))
			return VALUE_UNSHIFTED;
		is_needed |= u->value && loses(e->b->given->version,
					       node_ungrouped(u->value)->child->expr, is_max);
	}
	return !is_needed ? VALUE_UNSHIFTED : is_max ? VALUE_RAISED : VALUE_MIRRORED;
}

/** @t of @n as an int64, also in the script of a host, where numbers have bpftrace's own types. */
static const struct text *make_int64(struct emitter *e, const struct node *n, const struct text *t)
{
	t = make_stored(e, INT64, n, t);
	if (e->b->given->files || t->repr == REPR_LITERAL)
		return t;
	return text_format(e, n, t->repr == REPR_NARROW ? "(int64)(uint64)%c" : "(int64)%c", t);
}

/** @t of @n from 1 to 2^63 - 1, where these two stand for all that is less or more. */
static const struct text *shift_sample(struct emitter *e, const struct node *n,
				       const struct text *t, enum value_shift how)
{
	const struct expr *x = n->expr;
	const uint64_t last = VALUE_SHIFT - 1;
	// That of all samples: see sema/store.h.
	bool is_max = how == VALUE_RAISED,
	     is_unsigned = store_type_of(e, sample_of(e, n->parent), false) == UINT64;
	t = is_unsigned ? make_stored(e, UINT64, n, t) : make_int64(e, n, t);
	bool is_negative = x->sign == SIGN_SIGNED || x->sign == SIGN_MIXED;
	// No bpftrace takes an assignment that is no statement.
	bool is_small =
	    !e->print || x->is_time || (x->bits && x->bits < 62 && !(is_unsigned && is_negative));
	struct str *name = &e->sample[is_unsigned];
	if (!is_small) {
		*name = name->n ? *name : emit_new_variable(e, STR("$sample"));
		text_add(e->arena, e->print->before, text_format(e, n, "%t = %n; ", *name, t));
		t = text_format(e, n, "%t", *name);
	}
	struct text *shifted = is_max
				   ? text_format(e, n, "(int64)%c + %u", t, (uint64_t)VALUE_SHIFT)
				   : text_format(e, n, "%u - (int64)%c", (uint64_t)VALUE_SHIFT, t);
	if (!is_small && !is_unsigned)
		shifted = text_format(e, n, "(%t <= -%u ? %u : %n)", *name, last,
				      is_max ? (uint64_t)1 : (uint64_t)INT64_MAX, shifted);
	if (!is_small)
		shifted = text_format(e, n, "%t >= %u ? %u : %n", *name, last,
				      is_max ? (uint64_t)INT64_MAX : (uint64_t)1, shifted);
	return shifted;
}

/** What is lost is no number at all up to 0.19, and a wrong one in 0.20 and 0.21, of which the newest patches are right. */
static void report_lossy(struct emitter *e, const struct node *call, bool is_max)
{
	unsigned v = e->b->given->version;
	bool is_local = dialect_has_local_min(v);
	e->good &= diag_finding(
	    e->b->diag, "call", is_local ? DIAG_WARNING : DIAG_ERROR, tok_at(call->child->first),
	    "%s() of bpftrace " DIALECT_FMT " %s", is_max ? "max" : "min", DIALECT_ARG(v),
	    is_local ? is_max ? "takes negative numbers for large ones before 0.21.2"
			      : "ignores all processors but one before 0.21.2"
	    : is_max ? "ignores negative numbers"
		     : "ignores numbers from 4294967295 on");
	diag_note(e->b->diag, NULL, "%s%s",
		  is_max ? "cast it to uint64 if it is never negative, or " : "",
		  e->makes_records ? "print all of the map, undivided"
				   : "let btgen run the script, or use a newer bpftrace");
}

const struct text *store_shifted(struct emitter *e, const struct node *call, const struct text *t)
{
	const struct node *map = sample_of(e, call) ? call->parent->child : NULL;
	bool is_max = tok_is(call->name, "max");
	if (!is_lossy(e, call) && !tok_is(call->name, "avg"))
		return NULL;
	enum value_shift how =
	    map ? store_shift(e, map->name ? node_text(map) : STR("")) : VALUE_UNSHIFTED;
	if (how == VALUE_STATS)
		return text_format(e, call, "stats(%n)", store_sample(e, call, call->child, t));
	if (how == VALUE_AVERAGE || !is_lossy(e, call))
		return NULL;
	if (how)
		return text_format(e, call, "max(%n)", shift_sample(e, call->child, t, how));
	// An unsigned number so large is hardly meant, nor one of 32 bits that are all set: pid is one.
	const struct expr *x = call->child->expr;
	unsigned v = e->b->given->version;
	if (loses(v, x, is_max) &&
	    (is_max ? x->sign != SIGN_UNSIGNED : dialect_has_local_min(v) || x->bits != 32))
		report_lossy(e, call, is_max);
	return NULL;
}
