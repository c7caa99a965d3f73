#include "sema/vars.h"

void vars_begin_round(struct vars *all)
{
	all->before = all->known;
	all->known = (struct map){0};
	all->names = &all->of_rounds[all->round % 2];
	arena_reset(all->names);
}

void vars_fini(struct vars *all)
{
	strbuf_fini(&all->key);
	arena_fini(&all->of_rounds[0]);
	arena_fini(&all->of_rounds[1]);
}

/** Of a variable of this clause, a parameter of this macro, or of a map; valid until the next call. */
static struct str scoped_name(struct vars *all, const struct node *n)
{
	struct str name = n->name ? n->name->text : STR("");
	strbuf_clear(&all->key);
	if (n->kind == NODE_MAP && !script_is_parameter(all->macro, n))
		strbuf_addc(&all->key, '@');
	else
		strbuf_add(&all->key, &all->scope, sizeof(all->scope));
	strbuf_adds(&all->key, name);
	return strbuf_str(&all->key);
}

/** The key in `known`: each `let` of a name declares a variable of its own. */
static struct str key_of(struct vars *all, const struct node *n)
{
	struct str name = scoped_name(all, n);
	const struct node *inner = n->kind == NODE_MAP ? NULL : map_get(&all->inner, name);
	if (inner)
		strbuf_add(&all->key, &inner, sizeof(const void *));
	return strbuf_str(&all->key);
}

struct var *vars_find(struct vars *all, const struct node *n)
{
	struct str key = key_of(all, n);
	struct var *h = map_get(&all->known, key);
	if (!h) {
		h = arena_new(all->names, struct var);
		h->value.sign = SIGN_OPEN;
		map_put(all->names, &all->known, str_copy(all->names, key), h);
	}
	return h;
}

/** Do they differ? A plain 0 fits anything. */
static bool is_mixture(const struct expr *a, const struct expr *b)
{
	if (a->kind == EXPR_OPEN || b->kind == EXPR_OPEN)
		return false;
	return a->arg_of != b->arg_of || (a->arg_of && a->arg != b->arg) || !a->type != !b->type ||
	       (a->type && a->type != b->type && !ctype_is_same(a->type, b->type));
}

/** Is @b a literal that fits the type of @a, or is @a empty? */
static bool literal_fits(const struct expr *b, const struct expr *a)
{
	bool is_literal = b->width == WIDTH_LITERAL;
	return b->sign == SIGN_OPEN ||
	       (is_literal && (a->width <= WIDTH_DIFFERS || b->bits <= a->width));
}

static unsigned join_widths(const struct expr *a, const struct expr *b)
{
	if (a->width == b->width || literal_fits(b, a))
		return a->sign == SIGN_OPEN ? b->width : a->width;
	if (literal_fits(a, b))
		return b->width;
	return a->width && b->width ? WIDTH_DIFFERS : WIDTH_UNKNOWN;
}

struct ctype *expr_enum(const struct expr *e)
{
	struct ctype *t = ctype_strip(e->type);
	return t && t->kind == CTYPE_ENUM ? t : NULL;
}

/** Is @e no value of the enum @t? A literal may be one. */
static bool is_foreign(const struct expr *e, struct ctype *t)
{
	struct ctype *own = e->enumerator_of ? ctype_strip(e->enumerator_of) : expr_enum(e);
	if (own)
		return !ctype_is_same(own, t);
	return e->kind != EXPR_OPEN && e->width != WIDTH_LITERAL;
}

bool expr_confuses_enums(const struct expr *a, const struct expr *b)
{
	struct ctype *ta = expr_enum(a), *tb = expr_enum(b);
	return (ta && is_foreign(b, ta)) || (tb && is_foreign(a, tb));
}

/** Joins the values of two rounds. */
static void join_rounds(struct expr *a, const struct expr *b)
{
	bool is_one = a->sign == SIGN_OPEN || a->enumerator_of == b->enumerator_of;
	a->enumerator_of = is_one ? b->enumerator_of : NULL;
	a->width = (unsigned char)join_widths(a, b);
	a->sign = sign_of_both(a->sign, b->sign);
	a->bits = a->bits > b->bits ? a->bits : b->bits;
	a->is_time |= b->is_time;
	a->is_mixed |= b->is_mixed;
	a->effect = a->effect > b->effect ? a->effect : b->effect;
	if (a->kind != b->kind && b->kind != EXPR_OPEN)
		a->kind = a->kind == EXPR_OPEN ? b->kind : EXPR_MIXED;
}

void expr_join(struct expr *a, const struct expr *b)
{
	a->is_mixed |= is_mixture(a, b);
	a->is_guess |= b->is_guess;
	join_rounds(a, b);
}

/** The common type: a pointer may be a plain 0 elsewhere; of numbers the signs count. */
static struct ctype *join_types(struct ctype *x, struct ctype *y)
{
	if (x && y)
		return x == y || ctype_is_same(x, y) ? x : NULL;
	x = x ? x : y;
	return ctype_pointee(x) ? x : NULL;
}

/** The common facts of @x and @y, keys of one map or elements assigned to one name; of nested tuples @depth deep. */
static struct expr *join_keys(struct arena *a, const struct expr *x, const struct expr *y,
			      unsigned depth)
{
	if (!x || !y || !depth)
		return NULL;
	struct expr *both = arena_new(a, struct expr);
	*both = *x;
	expr_join(both, y);
	both->type = join_types(x->type, y->type);
	if (x->n_elements != y->n_elements) {
		both->kind = EXPR_MIXED;
		both->n_elements = 0;
	}
	if (both->n_elements)
		both->elements = arena_array(a, struct expr *, both->n_elements);
	for (size_t i = 0; i < both->n_elements; i++)
		both->elements[i] = join_keys(a, x->elements[i], y->elements[i], depth - 1);
	return both;
}

/** The elements of @to: those of @value, joined with those assigned @before, in this round or the last one. */
static void join_elements(struct arena *a, struct expr *to, const struct expr *before,
			  const struct expr *value)
{
	const struct expr *was = to->elements ? to : before;
	bool is_alike = was && was->n_elements == value->n_elements;
	to->n_elements = value->n_elements;
	if (!is_alike || !value->n_elements) {
		to->elements = value->elements;
		return;
	}
	struct expr **joined = arena_array(a, struct expr *, value->n_elements);
	for (size_t i = 0; i < value->n_elements; i++)
		joined[i] = join_keys(a, value->elements[i], was->elements[i], 3);
	to->elements = joined;
}

void expr_of_tuple(struct arena *a, const struct node *n, struct expr *e)
{
	size_t i = 0;
	e->kind = EXPR_TUPLE;
	e->n_elements = node_count(n);
	e->elements = arena_array(a, struct expr *, e->n_elements);
	for (const struct node *c = n->child; c; c = c->next)
		e->elements[i++] = c->expr;
}

/** The key of an assignment to @map: several values are a tuple to a loop over it. */
static void assign_key(struct vars *all, struct var *h, const struct node *map)
{
	struct expr *key = map->child->expr;
	if (map->child->next) {
		key = arena_new(all->arena, struct expr);
		key->sign = SIGN_OTHER;
		expr_of_tuple(all->arena, map, key);
	}
	h->key = h->key ? join_keys(all->arena, h->key, key, 3) : key;
}

/** A variable's type is that of the last assignment, a map's of any; the sign is that of all. */
struct var *vars_assign(struct vars *all, const struct node *target, const struct expr *value)
{
	struct var *h = vars_find(all, target);
	bool is_first = h->value.sign == SIGN_OPEN && h->value.kind == EXPR_OPEN;
	h->is_computed |= expr_confuses_enums(&h->value, value);
	expr_join(&h->value, value);
	const struct var *before = map_get(&all->before, key_of(all, target));
	if (before && before->value.bits && before->value.bits < h->value.bits)
		h->value.bits = 64; // it grows from round to round, as in @n = @n + 1
	h->value.arg_of = value->arg_of;
	h->value.arg = value->arg;
	h->value.is_bool = value->is_bool && (is_first || h->value.is_bool);
	if (value->type || value->elements) {
		join_elements(all->arena, &h->value, before ? &before->value : NULL, value);
		h->value.type = value->type;
	}
	if (target->kind == NODE_MAP && target->child)
		assign_key(all, h, target);
	return h;
}

void vars_lookup(struct vars *all, const struct node *n, struct expr *e)
{
	struct str key = key_of(all, n);
	const struct var *now = map_get(&all->known, key), *before = map_get(&all->before, key);
	const struct var *last = now ? now : before;
	e->sign = !last && all->round ? SIGN_OTHER : SIGN_OPEN;
	if (last) {
		join_rounds(e, &last->value);
		e->arg_of = last->value.arg_of;
		e->arg = last->value.arg;
		e->is_bool = last->value.is_bool;
		e->is_guess = last->value.is_guess;
	}
	if (now && before) {
		join_rounds(e, &before->value);
		e->is_bool &= before->value.is_bool;
	}
	bool is_known = now && (now->value.type || now->value.elements);
	bool comes_later = n->kind == NODE_MAP || all->macro; // an assignment below counts, too
	const struct var *from = is_known ? now : comes_later ? before : NULL;
	if (!from)
		return;
	e->type = from->value.type;
	e->elements = from->value.elements;
	e->n_elements = from->value.n_elements;
	// An enumerator plus a number is none any more.
	bool is_computed = (now && now->is_computed) || (before && before->is_computed);
	if (is_computed && expr_enum(e))
		e->type = NULL;
}

bool vars_stored(struct vars *all, const struct node *n, struct expr *e)
{
	struct str key = key_of(all, n);
	const struct var *now = map_get(&all->known, key), *before = map_get(&all->before, key);
	const struct var *from = now && now->stored ? now : before;
	if (!from || !from->stored)
		return false;
	*e = *from->stored;
	return true;
}

struct expr *vars_key(struct vars *all, const struct node *map)
{
	struct str key = key_of(all, map);
	const struct var *now = map_get(&all->known, key), *before = map_get(&all->before, key);
	if (!now || !now->key || !before || !before->key)
		return now && now->key ? now->key : before ? before->key : NULL;
	return join_keys(all->arena, now->key, before->key, 3);
}

void vars_shadow(struct vars *all, const struct node *variable)
{
	struct str name = str_copy(all->arena, scoped_name(all, variable));
	struct shadowed h = {name, map_get(&all->inner, name)};
	vec_push(all->arena, &all->shadowed, h);
	map_put(all->arena, &all->inner, name, (void *)(uintptr_t)variable);
}

void vars_unshadow(struct vars *all, size_t n)
{
	while (all->shadowed.n > n) {
		const struct shadowed *h = &all->shadowed.v[--all->shadowed.n];
		map_put(all->arena, &all->inner, h->name, (void *)(uintptr_t)h->was);
	}
}
