#include "sema/holder.h"

void holders_begin_round(struct holders *all)
{
	all->before = all->known;
	all->known = (struct map){0};
	all->names = &all->of_rounds[all->round % 2];
	arena_reset(all->names);
}

void holders_fini(struct holders *all)
{
	strbuf_fini(&all->key);
	arena_fini(&all->of_rounds[0]);
	arena_fini(&all->of_rounds[1]);
}

/** Of a variable of this clause, or of a map; until the next is asked for. */
static struct str scoped_name(struct holders *all, const struct node *n)
{
	struct str name = n->name ? n->name->text : STR("");
	strbuf_clear(&all->key);
	if (n->kind == NODE_MAP)
		strbuf_addc(&all->key, '@');
	else
		strbuf_add(&all->key, &all->scope, sizeof(all->scope));
	strbuf_adds(&all->key, name);
	return strbuf_str(&all->key);
}

/** The key in `known`: each `let` of a name is a variable of its own. */
static struct str key_of(struct holders *all, const struct node *n)
{
	struct str name = scoped_name(all, n);
	const struct node *inner = n->kind == NODE_MAP ? NULL : map_get(&all->inner, name);
	if (inner)
		strbuf_add(&all->key, &inner, sizeof(const void *));
	return strbuf_str(&all->key);
}

struct holder *holders_of(struct holders *all, const struct node *n)
{
	struct str key = key_of(all, n);
	struct holder *h = map_get(&all->known, key);
	if (!h) {
		h = arena_new(all->names, struct holder);
		h->value.sign = SIGN_OPEN;
		map_put(all->names, &all->known, str_copy(all->names, key), h);
	}
	return h;
}

/** A plain 0 says nothing of what else a name may hold. */
static bool is_mixture(const struct expr *a, const struct expr *b)
{
	if (a->kind == EXPR_OPEN || b->kind == EXPR_OPEN)
		return false;
	return a->arg_of != b->arg_of || (a->arg_of && a->arg != b->arg) || !a->type != !b->type ||
	       (a->type && a->type != b->type && !ctype_is_same(a->type, b->type));
}

static void join_numbers(struct expr *a, const struct expr *b)
{
	a->sign = sign_of_both(a->sign, b->sign);
	a->bits = a->bits > b->bits ? a->bits : b->bits;
	a->is_time |= b->is_time;
}

/** What a name holds in two rounds. */
static void join_rounds(struct expr *a, const struct expr *b)
{
	bool is_one = a->sign == SIGN_OPEN || a->enumerator_of == b->enumerator_of;
	a->enumerator_of = is_one ? b->enumerator_of : NULL;
	join_numbers(a, b);
	a->is_mixed |= b->is_mixed;
	if (a->kind != b->kind && b->kind != EXPR_OPEN)
		a->kind = a->kind == EXPR_OPEN ? b->kind : EXPR_MIXED;
}

void expr_join(struct expr *a, const struct expr *b)
{
	a->is_mixed |= is_mixture(a, b);
	a->is_guess |= b->is_guess;
	join_rounds(a, b);
}

/** Of what is one or the other: a pointer may be a plain 0 elsewhere; of numbers the signs count. */
static struct ctype *join_types(struct ctype *x, struct ctype *y)
{
	if (x && y)
		return x == y || ctype_is_same(x, y) ? x : NULL;
	x = x ? x : y;
	return ctype_pointee(x) ? x : NULL;
}

/** What @x and @y, keys of one map, or elements of what is put into one name,
 * in two places, have in common; of tuples in tuples @depth deep. */
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

/** What goes into @to has the elements of @value, and of what was put into it @before, in this round or the last one. */
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

/** A variable's type is that of the last assignment, a map's of any; the sign is that of all. */
struct holder *holders_learn(struct holders *all, const struct node *target,
			     const struct expr *value)
{
	struct holder *h = holders_of(all, target);
	bool is_first = h->value.sign == SIGN_OPEN && h->value.kind == EXPR_OPEN;
	expr_join(&h->value, value);
	const struct holder *before = map_get(&all->before, key_of(all, target));
	if (before && before->value.bits && before->value.bits < h->value.bits)
		h->value.bits = 64; // it grows from round to round, as in @n = @n + 1
	h->value.arg_of = value->arg_of;
	h->value.arg = value->arg;
	h->value.is_truth = value->is_truth && (is_first || h->value.is_truth);
	if (value->type || value->elements) {
		join_elements(all->arena, &h->value, before ? &before->value : NULL, value);
		h->value.type = value->type;
	}
	return h;
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

/** The key that @map is set under: several values are a tuple to a loop over it. */
void holders_learn_key(struct holders *all, const struct node *map)
{
	struct holder *h = holders_of(all, map);
	struct expr *key = map->child->expr;
	if (map->child->next) {
		key = arena_new(all->arena, struct expr);
		key->sign = SIGN_OTHER;
		expr_of_tuple(all->arena, map, key);
	}
	h->key = h->key ? join_keys(all->arena, h->key, key, 3) : key;
}

void holders_recall(struct holders *all, const struct node *n, struct expr *e)
{
	struct str key = key_of(all, n);
	const struct holder *now = map_get(&all->known, key), *before = map_get(&all->before, key);
	const struct holder *last = now ? now : before;
	e->sign = !last && all->round ? SIGN_OTHER : SIGN_OPEN;
	if (last) {
		join_rounds(e, &last->value);
		e->arg_of = last->value.arg_of;
		e->arg = last->value.arg;
		e->is_truth = last->value.is_truth;
		e->is_guess = last->value.is_guess;
	}
	if (now && before) {
		join_rounds(e, &before->value);
		e->is_truth &= before->value.is_truth;
	}
	bool is_known = now && (now->value.type || now->value.elements);
	bool comes_later = n->kind == NODE_MAP || all->macro; // from clauses below
	const struct holder *from = is_known ? now : comes_later ? before : NULL;
	if (!from)
		return;
	e->type = from->value.type;
	e->elements = from->value.elements;
	e->n_elements = from->value.n_elements;
	// What is added to an enumerator is none any more.
	struct ctype *plain = ctype_strip(e->type);
	bool is_computed = (now && now->is_computed) || (before && before->is_computed);
	if (is_computed && plain && plain->kind == CTYPE_ENUM)
		e->type = NULL;
}

struct expr *holders_key(struct holders *all, const struct node *map)
{
	struct str key = key_of(all, map);
	const struct holder *now = map_get(&all->known, key), *before = map_get(&all->before, key);
	return now && now->key ? now->key : before ? before->key : NULL;
}

void holders_hide(struct holders *all, const struct node *variable)
{
	struct str name = str_copy(all->arena, scoped_name(all, variable));
	struct hidden h = {name, map_get(&all->inner, name)};
	vec_push(all->arena, &all->hidden, h);
	map_put(all->arena, &all->inner, name, (void *)(uintptr_t)variable);
}

void holders_unhide(struct holders *all, size_t n)
{
	while (all->hidden.n > n) {
		const struct hidden *h = &all->hidden.v[--all->hidden.n];
		map_put(all->arena, &all->inner, h->name, (void *)(uintptr_t)h->was);
	}
}
