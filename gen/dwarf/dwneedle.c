#include "dwarf/dwneedle.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "dwarf/dwnameat.h"
#include "dwarf/dwunits.h"

/** Bytes that are searched at once; that a thread takes at once; and after which a second one is worth its start. */
enum { PIECE = 1 << 20, STEP = 2 << 20, ALONE = 8 << 20 };
/** Bytes of strings and offsets that are searched; with more every unit is read, as if each had the name. */
enum { MAX_SEARCHED = 512 << 20 };
/** Pieces of a large unit overlap: a place that is too near to the edge of one is well inside of another. */
enum { OVERLAP = DWNAMEAT_REACH + 16 };

/** Units from `next` on that begin before `until` are still to be searched, by who comes first. */
struct work {
	struct dwunits *s;
	pthread_mutex_t lock;
	size_t next;
	uint64_t until;
};

/** Units that a thread takes at once, at most. */
enum { MAX_TAKEN = 256 };

/** One thread's tools. */
struct searcher {
	struct dwunits *s;
	struct dwnameat at;
	const struct dwunit_span *entered; /**< the unit that `at` is for */
	struct dwview view;
	struct dwunit_span taken[MAX_TAKEN]; /**< copies: the list of units grows meanwhile */
	size_t first, n;
};

static void mark(struct dwunit_span *u, unsigned kinds)
{
	u->kinds |= (uint16_t)kinds;
	for (unsigned k = 0; k < NAME_N_KINDS; k++)
		if (kinds >> DWNAMEAT_DEFINES & 1u << k && u->n_defs[k] < UINT8_MAX)
			u->n_defs[k]++;
}

static void mark_any(struct dwunit_span *u)
{
	u->kinds = DWNAMEAT_ANY;
	memset(u->n_defs, UINT8_MAX, sizeof(u->n_defs));
}

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
			mark(u, dwnameat_kinds(&c->at, bytes, at, true));
		if (which > 1)
			mark(u, dwnameat_kinds(&c->at, bytes, at, false));
		if (u->kinds == DWNAMEAT_ANY) {
			mark_any(u);
			return;
		}
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

/** There is a unit @i, as far as is known, or can be told by a look at the piece that is mapped for the search anyway. */
static bool has_unit(struct searcher *c, size_t i)
{
	struct dwunits *s = c->s;
	if (i < s->units.n)
		return true;
	if (s->is_listed || s->is_refused || (c->n && s->listed - c->taken[0].off > STEP))
		return false;
	uint64_t left = s->info.n - s->listed;
	size_t n = left < DWUNITS_HEADER ? (size_t)left : DWUNITS_HEADER;
	return dwunits_list_next(s, dwunits_view(s, &c->view, s->listed, n), n);
}

/** Puts down what was found in the units that @c had taken, and takes the next ones; false when nothing is left. */
static bool take(struct searcher *c, struct work *w)
{
	struct dwunits *s = w->s;
	dwview_drop(s, &c->view);
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < c->n; i++)
		s->units.v[c->first + i] = c->taken[i];
	c->first = w->next;
	c->entered = NULL;
	for (c->n = 0; c->n < MAX_TAKEN && has_unit(c, w->next); c->n++) {
		const struct dwunit_span *u = &s->units.v[w->next];
		if (u->off >= w->until || (c->n && u->end - c->taken[0].off > STEP))
			break;
		dwunits_view(s, &c->view, u->off, 1); // so that the piece begins with the first one
		c->taken[c->n] = *u;
		w->next++;
	}
	pthread_mutex_unlock(&w->lock);
	return c->n > 0;
}

static void *search_all(void *arg)
{
	struct work *w = arg;
	struct searcher c = {.s = w->s};
	dwnameat_init(&c.at, w->s->big);
	while (take(&c, w))
		for (size_t i = 0; i < c.n; i++)
			search_unit(&c, &c.taken[i]);
	dwnameat_fini(&c.at);
	dwview_drop(w->s, &c.view);
	return NULL;
}

static bool has_cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

bool dwneedle_mark(struct dwunits *s, size_t i)
{
	struct dwneedle *n = &s->needle;
	if (n->is_any && dwunits_list_all(s))
		for (; n->n_marked < s->units.n; n->n_marked++)
			mark_any(&s->units.v[n->n_marked]);
	while (n->n_marked <= i && !s->is_refused && (n->n_marked < s->units.n || !s->is_listed)) {
		uint64_t from = n->n_marked < s->units.n ? s->units.v[n->n_marked].off : s->listed;
		struct work w = {s, PTHREAD_MUTEX_INITIALIZER, n->n_marked, from + STEP};
		pthread_t helper;
		bool helped = false;
		if (from >= (s->src->acts_large ? s->src->acts_large : ALONE) && has_cores()) {
			w.until = n->most > w.until ? n->most : w.until;
			helped = pthread_create(&helper, NULL, search_all, &w) == 0;
		}
		search_all(&w);
		if (helped)
			pthread_join(helper, NULL);
		n->n_marked = w.next;
	}
	return n->n_marked > i && !s->is_refused;
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
	*n = (struct dwneedle){.name = z, .most = most};
	wordset_init(&n->words);
	wordset_add(&n->words, z);
	for (size_t i = 0; i < s->units.n; i++) {
		s->units.v[i].kinds = 0;
		memset(s->units.v[i].n_defs, 0, sizeof(s->units.v[i].n_defs));
	}
	const struct str sections[2] = {s->str, s->line_str};
	// A hole of a file takes no room on disk, but its pages take memory when they are searched.
	n->is_any = s->str.n + s->line_str.n + s->str_offsets.n > MAX_SEARCHED;
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
