#include "types/dwneedle.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/** More places in .debug_str than this, and every unit is looked at. */
enum { MAX_NEEDLES = 8 };

/** The next place of the 4 bytes @needle in @hay from @from on, or hay.n. */
static size_t find_word(struct str hay, size_t from, const char needle[4])
{
#ifdef __SSE2__
	__m128i first = _mm_set1_epi8(needle[0]), last = _mm_set1_epi8(needle[3]);
	__m128i second = _mm_set1_epi8(needle[1]);
	for (; from + 32 <= hay.n; from += 16) {
		const char *p = hay.p + from;
		__m128i a = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), first);
		__m128i b = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 1)), second);
		__m128i c = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 3)), last);
		unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(a, b), c));
		for (; mask; mask &= mask - 1) {
			unsigned i = (unsigned)__builtin_ctz(mask);
			if (memcmp(p + i, needle, 4) == 0)
				return from + i;
		}
	}
#endif
	const char *hit = from < hay.n ? memmem(hay.p + from, hay.n - from, needle, 4) : NULL;
	return hit ? (size_t)(hit - hay.p) : hay.n;
}

static struct dwunit_span *unit_at(struct dwunits *s, uint64_t off)
{
	size_t lo = 0, hi = s->units.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (s->units.v[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->units.n ? &s->units.v[lo] : NULL;
}

static void put_word(struct dwunits *s, uint32_t v, char ret[4])
{
	for (unsigned i = 0; i < 4; i++)
		ret[i] = (char)(v >> (s->big ? 24 - 8 * i : 8 * i));
}

/** Marks the units with @needle in them; a unit that has it once is not searched further. */
static void mark_word(struct dwunits *s, const char needle[4])
{
	for (size_t at = 0; (at = find_word(s->info, at, needle)) < s->info.n;) {
		struct dwunit_span *u = unit_at(s, at);
		if (!u)
			return;
		u->is_candidate = true;
		at = u->end;
	}
}

/** Names inside of .debug_info, by their first four bytes when they have as many. */
static void mark_inline(struct dwunits *s, struct str z)
{
	for (size_t at = 0; at < s->info.n;) {
		size_t hit;
		if (z.n >= 4) {
			hit = find_word(s->info, at, z.p);
			if (hit < s->info.n &&
			    (s->info.n - hit < z.n || memcmp(s->info.p + hit, z.p, z.n) != 0)) {
				at = hit + 1;
				continue;
			}
		} else {
			const char *p = memmem(s->info.p + at, s->info.n - at, z.p, z.n);
			hit = p ? (size_t)(p - s->info.p) : s->info.n;
		}
		struct dwunit_span *u = hit < s->info.n ? unit_at(s, hit) : NULL;
		if (!u)
			return;
		u->is_candidate = true;
		at = u->end;
	}
}

void dwneedle_mark_all(struct dwunits *s, bool candidate)
{
	for (size_t i = 0; i < s->units.n; i++)
		s->units.v[i].is_candidate = candidate;
}

/**
 * Linkers merge a string into the tail of another, so every place where the name ends a string counts. With
 * .debug_str_offsets (strx forms) the offset may be in that section instead, and the DIE has only an index.
 */
void dwneedle_mark(struct dwunits *s, struct str name)
{
	if (s->marked.p && str_eq(s->marked, name))
		return; // the same question again, e.g. for another kind
	dwneedle_mark_all(s, false);
	struct str z = {arena_strndup(s->src->arena, name.p, name.n), name.n + 1};
	s->marked = (struct str){z.p, name.n};
	uint32_t needles[MAX_NEEDLES];
	unsigned n = 0;
	const char *sections[2] = {s->str.n ? s->str.p : "", s->line_str.n ? s->line_str.p : ""};
	size_t sizes[2] = {s->str.n, s->line_str.n};
	for (unsigned k = 0; k < 2; k++) {
		const char *p = sections[k], *end = p + sizes[k];
		while (sizes[k] && p < end && (p = memmem(p, (size_t)(end - p), z.p, z.n))) {
			size_t off = (size_t)(p - sections[k]);
			if (n == MAX_NEEDLES || off > UINT32_MAX) {
				dwneedle_mark_all(s, true);
				return;
			}
			needles[n++] = (uint32_t)off;
			p++;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		char word[4];
		put_word(s, needles[i], word);
		if (s->str_offsets.n && find_word(s->str_offsets, 0, word) < s->str_offsets.n) {
			dwneedle_mark_all(s, true);
			return;
		}
		mark_word(s, word);
	}
	mark_inline(s, z);
}
