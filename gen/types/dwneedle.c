#include "types/dwneedle.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "types/dwnameat.h"
#include "types/dwunits.h"

/** Bytes that are searched at once; that a thread takes at once; and after which a second one is worth its start. */
enum { PIECE = 1 << 20, STEP = 2 << 20, ALONE = 8 << 20 };
/** Pieces of a large unit overlap: a place that is too near to the edge of one is well inside of another. */
enum { OVERLAP = DWNAMEAT_REACH + 16 };

/** Units [next, last) are still to be searched, by who comes first. */
struct work {
	struct dwunits *s;
	pthread_mutex_t lock;
	size_t next, last;
};

/** One thread's tools. */
struct searcher {
	struct dwunits *s;
	struct dwnameat at;
	const struct dwunit_span *entered; /**< the unit that `at` is for */
	struct dwview view;
};

/** Marks @u by what is found in @bytes of it. */
static void search(struct searcher *c, struct dwunit_span *u, struct str bytes)
{
	const struct dwneedle *n = &c->s->needle;
	uint64_t which;
	for (size_t at = 0; (at = wordset_next(&n->words, bytes, at, &which)) < bytes.n; at++) {
		// Of a name in full as much is compared as there is.
		size_t most = bytes.n - at < n->name.n ? bytes.n - at : n->name.n;
		bool is_inline = which & 1 && memcmp(bytes.p + at, n->name.p, most) == 0;
		if (!is_inline && which == 1)
			continue;
		if (c->entered != u)
			dwnameat_enter(&c->at, c->s->abbrev, u);
		c->entered = u;
		if (is_inline)
			u->kinds |= (uint16_t)dwnameat_kinds(&c->at, bytes, at, true);
		if (which > 1)
			u->kinds |= (uint16_t)dwnameat_kinds(&c->at, bytes, at, false);
		if (u->kinds == DWNAMEAT_ANY)
			return;
	}
}

static void search_unit(struct searcher *c, struct dwunit_span *u)
{
	for (uint64_t off = u->off;; off += PIECE - OVERLAP) {
		size_t n = u->end - off < PIECE ? (size_t)(u->end - off) : PIECE;
		const char *p = (const char *)dwunits_view(c->s, &c->view, off, n);
		search(c, u, (struct str){p, n});
		if (off + n == u->end)
			return;
	}
}

static void *search_all(void *arg)
{
	struct work *w = arg;
	struct dwunits *s = w->s;
	struct searcher c = {.s = s};
	dwnameat_init(&c.at, s->big);
	for (;;) {
		pthread_mutex_lock(&w->lock);
		size_t first = w->next, last = first;
		while (last < w->last &&
		       (last == first || s->units.v[last].end - s->units.v[first].off <= STEP))
			last++;
		w->next = last;
		pthread_mutex_unlock(&w->lock);
		if (first == last)
			break;
		for (size_t i = first; i < last; i++)
			search_unit(&c, &s->units.v[i]);
	}
	dwnameat_fini(&c.at);
	dwview_drop(s, &c.view);
	return NULL;
}

static bool has_cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

void dwneedle_mark(struct dwunits *s, size_t i)
{
	struct dwneedle *n = &s->needle;
	const struct dwunit_span *v = s->units.v;
	while (n->n_marked <= i) {
		struct work w = {s, PTHREAD_MUTEX_INITIALIZER, n->n_marked, n->n_marked + 1};
		uint64_t from = v[n->n_marked].off;
		pthread_t helper;
		bool helped = false;
		if (n->is_any) {
			for (; w.next < s->units.n; w.next++)
				s->units.v[w.next].kinds = DWNAMEAT_ANY;
			w.last = s->units.n;
		} else if (from >= n->alone && has_cores()) {
			while (w.last < s->units.n && v[w.last].off < n->most)
				w.last++;
			helped = pthread_create(&helper, NULL, search_all, &w) == 0;
		}
		while (w.last < s->units.n && v[w.last].end - from <= STEP)
			w.last++; // at least
		search_all(&w);
		if (helped)
			pthread_join(helper, NULL);
		n->n_marked = w.last;
	}
}

static void add_offset(struct dwunits *s, uint32_t off, bool *is_full)
{
	char word[4];
	for (unsigned i = 0; i < 4; i++)
		word[i] = (char)(off >> (s->big ? 24 - 8 * i : 8 * i));
	*is_full |= !wordset_add(&s->needle.words, (struct str){word, 4});
}

/**
 * Linkers merge a string into the tail of another, so every place where the name ends a string counts. With
 * .debug_str_offsets (strx forms) the offset may be in that section instead, and the DIE has only an index.
 */
void dwneedle_begin(struct dwunits *s, struct str name, uint64_t most)
{
	struct dwneedle *n = &s->needle;
	n->most = most;
	if (n->name.n && str_eq(str_slice(n->name, 0, n->name.n - 1), name))
		return; // the same question again, e.g. for another kind
	struct str z = {arena_strndup(s->src->arena, name.p, name.n), name.n + 1};
	*n = (struct dwneedle){.name = z, .most = most, .alone = n->alone ? n->alone : ALONE};
	wordset_init(&n->words);
	wordset_add(&n->words, z);
	for (size_t i = 0; i < s->units.n; i++)
		s->units.v[i].kinds = 0;
	const struct str sections[2] = {s->str, s->line_str};
	for (unsigned k = 0; k < 2; k++) {
		struct str rest = sections[k];
		const char *p;
		while (!n->is_any && rest.n && (p = memmem(rest.p, rest.n, z.p, z.n))) {
			size_t off = (size_t)(p - sections[k].p);
			n->is_any = off > UINT32_MAX;
			add_offset(s, (uint32_t)off, &n->is_any);
			rest = str_from_offset(sections[k], off + 1);
		}
	}
	uint64_t which;
	for (size_t at = 0; !n->is_any && (at = wordset_next(&n->words, s->str_offsets, at,
							     &which)) < s->str_offsets.n;
	     at++)
		n->is_any = which > 1;
}
