#include "types/dwneedle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "types/dwunits.h"

/** Bytes that are read and searched at once, small enough for a core's own cache; and in one step. */
enum { WINDOW = 256 << 10, STEP = 2 << 20, ALONE = 24 << 20 };

/** The next place of the 4 bytes @needle in @hay from @from on, or hay.n; the slow way, and the end of the fast ones. */
static size_t find_word_plain(struct str hay, size_t from, const char needle[4])
{
	const char *hit = from < hay.n ? memmem(hay.p + from, hay.n - from, needle, 4) : NULL;
	return hit ? (size_t)(hit - hay.p) : hay.n;
}

// The fast ways compare three bytes at a time in many places; the fourth byte of most offsets is 0 and says nothing.
#ifdef __x86_64__
static size_t find_word_sse2(struct str hay, size_t from, const char needle[4])
{
	__m128i n0 = _mm_set1_epi8(needle[0]), n1 = _mm_set1_epi8(needle[1]);
	__m128i n2 = _mm_set1_epi8(needle[2]);
	for (; from + 32 <= hay.n; from += 16) {
		const char *p = hay.p + from;
		__m128i a = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), n0);
		__m128i b = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 1)), n1);
		__m128i c = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 2)), n2);
		unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(a, b), c));
		for (; mask; mask &= mask - 1) {
			unsigned i = (unsigned)__builtin_ctz(mask);
			if (memcmp(p + i, needle, 4) == 0)
				return from + i;
		}
	}
	return find_word_plain(hay, from, needle);
}

__attribute__((target("avx2"))) static __m256i match_avx2(const char *p, __m256i n0, __m256i n1,
							  __m256i n2)
{
	__m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)p), n0);
	__m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(p + 1)), n1);
	__m256i c = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(p + 2)), n2);
	return _mm256_and_si256(_mm256_and_si256(a, b), c);
}

__attribute__((target("avx2"))) static size_t find_word_avx2(struct str hay, size_t from,
							     const char needle[4])
{
	__m256i n0 = _mm256_set1_epi8(needle[0]), n1 = _mm256_set1_epi8(needle[1]);
	__m256i n2 = _mm256_set1_epi8(needle[2]);
	for (; from + 80 <= hay.n; from += 64) {
		const char *p = hay.p + from;
		__m256i a = match_avx2(p, n0, n1, n2), b = match_avx2(p + 32, n0, n1, n2);
		__m256i both = _mm256_or_si256(a, b);
		if (_mm256_testz_si256(both, both))
			continue;
		uint64_t mask = (uint32_t)_mm256_movemask_epi8(a);
		mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
		for (; mask; mask &= mask - 1) {
			unsigned i = (unsigned)__builtin_ctzll(mask);
			if (memcmp(p + i, needle, 4) == 0)
				return from + i;
		}
	}
	return find_word_sse2(hay, from, needle);
}

/**
 * Does the processor have AVX2, and the system keep its registers (Intel SDM volume 1, section 14.3)? Asked once, and only
 * by who searches: __builtin_cpu_supports() asks at every start of the program, 0.1 ms in a virtual machine.
 */
static bool has_avx2(void)
{
	static _Atomic signed char
	    known; // 0: not asked yet; threads that ask at once find the same
	if (!known) {
		unsigned a, b, c, d, lo, hi;
		bool has = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
		if (has) {
			__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
			has = (lo & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
			      (b & bit_AVX2);
		}
		known = has ? 1 : -1;
	}
	return known > 0;
}
#endif

static size_t find_word(struct str hay, size_t from, const char needle[4])
{
#ifdef __x86_64__
	return has_avx2() ? find_word_avx2(hay, from, needle) : find_word_sse2(hay, from, needle);
#else
	return find_word_plain(hay, from, needle);
#endif
}

/** One thread's part: units [first, last). */
struct part {
	struct dwunits *s;
	size_t first, last;
};

/** @needle is in @hay; of an inline name, as much of it as @hay has behind its first four bytes. */
static bool has_name(const struct dwneedle *n, struct str hay)
{
	for (unsigned i = 0; i < n->n; i++)
		if (find_word(hay, 0, n->at[i]) < hay.n)
			return true;
	if (n->name.n < 4)
		return memmem(hay.p, hay.n, n->name.p, n->name.n) != NULL;
	for (size_t at = 0; (at = find_word(hay, at, n->name.p)) < hay.n; at++) {
		size_t most = hay.n - at < n->name.n ? hay.n - at : n->name.n;
		if (memcmp(hay.p + at, n->name.p, most) == 0)
			return true;
	}
	return false;
}

static void mark_unit(struct dwunits *s, struct dwunit_span *u, struct str bytes)
{
	u->is_candidate = u->is_candidate || has_name(&s->needle, bytes);
}

/** Units that fit are read together; of a large one each piece overlaps the next by what a word may need. */
static void *mark_part(void *arg)
{
	struct part *part = arg;
	struct dwunits *s = part->s;
	struct dwunit_span *v = s->units.v;
	uint8_t *buf = s->fd >= 0 ? malloc(WINDOW) : NULL;
	if (s->fd >= 0 && !buf)
		base_oom();
	for (size_t i = part->first, k; i < part->last; i = k) {
		uint64_t off = v[i].off;
		for (k = i + 1; k < part->last && v[k].end - off <= WINDOW;)
			k++;
		size_t n = (size_t)(v[k - 1].end - off);
		if (n <= WINDOW) {
			const char *p = (const char *)dwunits_bytes(s, off, n, buf);
			for (size_t u = i; u < k; u++) {
				if (p)
					mark_unit(s, &v[u],
						  (struct str){p + (v[u].off - off),
							       (size_t)(v[u].end - v[u].off)});
				else
					v[u].is_candidate =
					    true; // who reads it will see what is wrong
			}
			continue;
		}
		for (; off < v[i].end && !v[i].is_candidate; off += WINDOW - 3) {
			n = v[i].end - off < WINDOW ? (size_t)(v[i].end - off) : WINDOW;
			const char *p = (const char *)dwunits_bytes(s, off, n, buf);
			if (p)
				mark_unit(s, &v[i], (struct str){p, n});
			else
				v[i].is_candidate = true;
		}
	}
	free(buf);
	return NULL;
}

/** The same for units up to @last, by two threads: neither touches what the other does. */
static void mark_by_two(struct dwunits *s, size_t last)
{
	struct dwneedle *n = &s->needle;
	uint64_t half = (s->units.v[n->n_marked].off + s->units.v[last - 1].end) / 2;
	size_t mid = n->n_marked;
	while (mid < last && s->units.v[mid].end <= half)
		mid++;
	struct part mine = {s, n->n_marked, mid}, other = {s, mid, last};
	pthread_t helper;
	bool helped = pthread_create(&helper, NULL, mark_part, &other) == 0;
	mark_part(&mine);
	if (helped)
		pthread_join(helper, NULL);
	else
		mark_part(&other);
}

void dwneedle_mark(struct dwunits *s, size_t i)
{
	struct dwneedle *n = &s->needle;
	const struct dwunit_span *v = s->units.v;
	while (n->n_marked <= i) {
		uint64_t from = v[n->n_marked].off;
		size_t last = n->n_marked + 1;
		if (n->is_any) {
			for (last = n->n_marked; last < s->units.n; last++)
				s->units.v[last].is_candidate = true;
		} else if (from >= n->alone && last < s->units.n &&
			   sysconf(_SC_NPROCESSORS_ONLN) > 1) {
			last = s->units.n;
			mark_by_two(s, last);
		} else {
			while (last < s->units.n && v[last].end - from <= STEP)
				last++;
			mark_part(&(struct part){s, n->n_marked, last});
		}
		n->n_marked = last;
	}
}

static void put_word(struct dwunits *s, uint32_t v, char ret[4])
{
	for (unsigned i = 0; i < 4; i++)
		ret[i] = (char)(v >> (s->big ? 24 - 8 * i : 8 * i));
}

/**
 * Linkers merge a string into the tail of another, so every place where the name ends a string counts. With
 * .debug_str_offsets (strx forms) the offset may be in that section instead, and the DIE has only an index.
 */
void dwneedle_begin(struct dwunits *s, struct str name)
{
	struct dwneedle *n = &s->needle;
	if (n->name.n && str_eq(str_slice(n->name, 0, n->name.n - 1), name))
		return; // the same question again, e.g. for another kind
	struct str z = {arena_strndup(s->src->arena, name.p, name.n), name.n + 1};
	*n = (struct dwneedle){.name = z, .alone = n->alone ? n->alone : ALONE};
	for (size_t i = 0; i < s->units.n; i++)
		s->units.v[i].is_candidate = false;
	const struct str sections[2] = {s->str, s->line_str};
	for (unsigned k = 0; k < 2; k++) {
		const char *p = sections[k].p, *end = p + sections[k].n;
		while (sections[k].n && p < end && (p = memmem(p, (size_t)(end - p), z.p, z.n))) {
			size_t off = (size_t)(p++ - sections[k].p);
			if (n->n == DWNEEDLE_MAX || off > UINT32_MAX) {
				n->is_any = true;
				return;
			}
			put_word(s, (uint32_t)off, n->at[n->n++]);
		}
	}
	for (unsigned i = 0; i < n->n && s->str_offsets.n; i++)
		n->is_any |= find_word(s->str_offsets, 0, n->at[i]) < s->str_offsets.n;
}
