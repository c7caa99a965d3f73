#include "text/variants.h"

#include <string.h>

/** More cells than that, of 4 bytes each, no table has. */
enum { MOST_CELLS = 1 << 22 };

/** Longest common subsequence of what differs: a row for each old line, from the end. */
struct table {
	const struct variants_line *old, *new;
	size_t n_old, n_new;
	uint32_t
	    *lengths; // of what follows (old line, new line); NULL: nothing is taken as the same
};

static bool is_same(const struct variants_line *x, const struct variants_line *y)
{
	return str_eq(x->text, y->text);
}

static uint32_t *at(const struct table *t, size_t old, size_t new)
{
	return &t->lengths[old * (t->n_new + 1) + new];
}

static void fill(struct table *t)
{
	for (size_t i = t->n_old; i-- > 0;)
		for (size_t k = t->n_new; k-- > 0;) {
			uint32_t down = *at(t, i + 1, k), right = *at(t, i, k + 1);
			*at(t, i, k) = is_same(&t->old[i], &t->new[k]) ? *at(t, i + 1, k + 1) + 1
				       : down > right		       ? down
								       : right;
		}
}

/** Appends lines of both, in an order that is right for each. */
static void merge(struct variants *v, const struct table *t)
{
	size_t i = 0, k = 0;
	while (i < t->n_old || k < t->n_new) {
		bool is_both =
		    t->lengths && i < t->n_old && k < t->n_new && is_same(&t->old[i], &t->new[k]);
		bool is_old = i < t->n_old && (k == t->n_new || !t->lengths ||
					       *at(t, i + 1, k) >= *at(t, i, k + 1));
		struct variants_line line = is_both || is_old ? t->old[i] : t->new[k];
		line.of |= is_both ? t->new[k].of : 0;
		vec_push(v->arena, &v->lines, line);
		i += is_both || is_old;
		k += is_both || !is_old;
	}
}

static void add_same(struct variants *v, const struct variants_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct variants_line line = lines[i];
		line.of |= UINT64_C(1) << v->n;
		vec_push(v->arena, &v->lines, line);
	}
}

/** The table is of what is between the lines that both begin and end with. */
static void add_lines(struct variants *v, const struct variants_line *new, size_t n_new)
{
	size_t n_old = v->lines.n, n_most = n_old < n_new ? n_old : n_new, first = 0, last = 0;
	struct variants_line *old = arena_array(v->arena, struct variants_line, n_old + 1);
	if (n_old)
		memcpy(old, v->lines.v, n_old * sizeof(*old));
	while (first < n_most && is_same(&old[first], &new[first]))
		first++;
	while (last < n_most - first && is_same(&old[n_old - 1 - last], &new[n_new - 1 - last]))
		last++;
	struct table t = {.old = old + first,
			  .new = new + first,
			  .n_old = n_old - first - last,
			  .n_new = n_new - first - last};
	if ((t.n_old + 1) <= MOST_CELLS / (t.n_new + 1)) {
		t.lengths = arena_array(v->arena, uint32_t, (t.n_old + 1) * (t.n_new + 1));
		fill(&t);
	}
	v->lines.n = 0;
	add_same(v, old, first);
	merge(v, &t);
	add_same(v, old + n_old - last, last);
}

void variants_add(struct variants *v, struct str text)
{
	VEC(struct variants_line) new = {0};
	struct variants_line none;
	while (text.n) {
		struct variants_line line = {str_take_line(&text), UINT64_C(1) << v->n};
		vec_push(v->arena, &new, line);
	}
	add_lines(v, new.n ? new.v : &none, new.n);
	v->n++;
}
