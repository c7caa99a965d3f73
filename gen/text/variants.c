#include "text/variants.h"

#include <string.h>

/** Longest common subsequence: a row of it for each line of the text, from its end. */
struct table {
	const struct variants_line *old, *new;
	size_t n_old, n_new;
	uint32_t *lengths; // of what follows (old line, new line)
};

static uint32_t *at(const struct table *t, size_t old, size_t new)
{
	return &t->lengths[old * (t->n_new + 1) + new];
}

static void fill(struct table *t)
{
	for (size_t i = t->n_old; i-- > 0;)
		for (size_t k = t->n_new; k-- > 0;) {
			uint32_t down = *at(t, i + 1, k), right = *at(t, i, k + 1);
			*at(t, i, k) = str_eq(t->old[i].text, t->new[k].text)
					   ? *at(t, i + 1, k + 1) + 1
				       : down > right ? down
						      : right;
		}
}

/** Lines of both, in an order that is right for each. */
static void merge(struct variants *v, const struct table *t)
{
	size_t i = 0, k = 0;
	v->lines.n = 0;
	while (i < t->n_old || k < t->n_new) {
		bool is_same =
		    i < t->n_old && k < t->n_new && str_eq(t->old[i].text, t->new[k].text);
		bool is_old =
		    i < t->n_old && (k == t->n_new || *at(t, i + 1, k) >= *at(t, i, k + 1));
		struct variants_line line = is_same || is_old ? t->old[i] : t->new[k];
		line.of |= is_same ? t->new[k].of : 0;
		vec_push(v->arena, &v->lines, line);
		i += is_same || is_old;
		k += is_same || !is_old;
	}
}

void variants_add(struct variants *v, struct str text)
{
	VEC(struct variants_line) new = {0};
	while (text.n) {
		struct variants_line line = {str_take_line(&text), UINT64_C(1) << v->n};
		vec_push(v->arena, &new, line);
	}
	struct table t = {.new = new.v, .n_old = v->lines.n, .n_new = new.n};
	struct variants_line *old = arena_array(v->arena, struct variants_line, t.n_old + 1);
	if (t.n_old)
		memcpy(old, v->lines.v, t.n_old * sizeof(*old));
	t.old = old;
	t.lengths = arena_array(v->arena, uint32_t, (t.n_old + 1) * (t.n_new + 1));
	memset(t.lengths, 0, (t.n_old + 1) * (t.n_new + 1) * sizeof(*t.lengths));
	fill(&t);
	merge(v, &t);
	v->n++;
}
