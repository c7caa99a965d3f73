#include "base/wordset.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/** Up to so many words their first two bytes tell enough; more take the third one, too. */
enum { FEW = 8 };

void wordset_init(struct wordset *w)
{
	memset(w, 0, sizeof(*w));
}

static unsigned pair_at(const char *p)
{
	return (uint8_t)p[0] | (unsigned)(uint8_t)p[1] << 8;
}

bool wordset_add(struct wordset *w, struct str word)
{
	if (w->n == WORDSET_MAX || word.n < 2)
		return false;
	unsigned n = word.n < 4 ? (unsigned)word.n : 4, pair = pair_at(word.p);
	uint8_t group = (uint8_t)(1u << w->n % 8);
	memcpy(w->words[w->n], word.p, n);
	w->lengths[w->n++] = (uint8_t)n;
	w->pairs[pair / 64] |= (uint64_t)1 << pair % 64;
	for (unsigned i = 0; i < 3; i++) {
		// Behind the end of a short word any byte will do.
		for (unsigned k = 0; k < 16 && i >= n; k++) {
			w->low[i][k] |= group;
			w->high[i][k] |= group;
		}
		if (i < n) {
			w->low[i][word.p[i] & 15] |= group;
			w->high[i][(uint8_t)word.p[i] >> 4] |= group;
		}
	}
	return true;
}

/** The words at @p, where @left bytes are. */
static uint64_t words_at(const struct wordset *w, const char *p, size_t left)
{
	unsigned pair = pair_at(p);
	uint64_t which = 0;
	if (!(w->pairs[pair / 64] >> pair % 64 & 1))
		return 0;
	for (unsigned i = 0; i < w->n; i++)
		if (w->lengths[i] <= left && memcmp(p, w->words[i], w->lengths[i]) == 0)
			which |= (uint64_t)1 << i;
	return which;
}

static size_t next_plain(const struct wordset *w, struct str hay, size_t from, uint64_t *which)
{
	for (; from + 2 <= hay.n; from++)
		if ((*which = words_at(w, hay.p + from, hay.n - from)))
			return from;
	return hay.n;
}

#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2"), always_inline)) static inline

/** For each of 32 bytes: the groups that have a word with this byte at place @i. */
AVX2 __m256i groups_of(const struct wordset *w, unsigned i, const char *p)
{
	__m256i bytes = _mm256_loadu_si256((const __m256i *)p), nibble = _mm256_set1_epi8(15);
	__m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)w->low[i]));
	__m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)w->high[i]));
	low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, nibble));
	high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
	return _mm256_and_si256(low, high);
}

AVX2 __m256i groups_at(const struct wordset *w, const char *p, bool few)
{
	__m256i g = _mm256_and_si256(groups_of(w, 0, p), groups_of(w, 1, p + 1));
	return few ? g : _mm256_and_si256(g, groups_of(w, 2, p + 2));
}

AVX2 uint32_t none_mask(__m256i groups)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
}

AVX2 size_t next_wide(const struct wordset *w, struct str hay, size_t from, uint64_t *which,
		      bool few)
{
	for (; from + 66 <= hay.n; from += 64) {
		const char *p = hay.p + from;
		__m256i a = groups_at(w, p, few), b = groups_at(w, p + 32, few);
		__m256i both = _mm256_or_si256(a, b);
		if (_mm256_testz_si256(both, both))
			continue;
		for (uint64_t m = ~((uint64_t)none_mask(b) << 32 | none_mask(a)); m; m &= m - 1) {
			size_t at = from + (size_t)__builtin_ctzll(m);
			if ((*which = words_at(w, hay.p + at, hay.n - at)))
				return at;
		}
	}
	return next_plain(w, hay, from, which);
}

/** The first two bytes of one or two words, each byte 32 times. */
struct pairs {
	__m256i first[2], second[2];
};

/** For each of 32 bytes: all bits when a word may begin there. */
AVX2 __m256i pairs_at(const struct pairs *s, const char *p)
{
	__m256i one = _mm256_loadu_si256((const __m256i *)p);
	__m256i two = _mm256_loadu_si256((const __m256i *)(p + 1));
	__m256i a = _mm256_and_si256(_mm256_cmpeq_epi8(one, s->first[0]),
				     _mm256_cmpeq_epi8(two, s->second[0]));
	__m256i b = _mm256_and_si256(_mm256_cmpeq_epi8(one, s->first[1]),
				     _mm256_cmpeq_epi8(two, s->second[1]));
	return _mm256_or_si256(a, b);
}

/** One or two words: comparing takes less than tables. */
AVX2 size_t next_pair(const struct wordset *w, struct str hay, size_t from, uint64_t *which)
{
	struct pairs s;
	for (unsigned i = 0; i < 2; i++) {
		const char *word = w->words[i < w->n ? i : 0];
		s.first[i] = _mm256_set1_epi8(word[0]);
		s.second[i] = _mm256_set1_epi8(word[1]);
	}
	for (; from + 65 <= hay.n; from += 64) {
		const char *p = hay.p + from;
		__m256i a = pairs_at(&s, p), b = pairs_at(&s, p + 32), both = _mm256_or_si256(a, b);
		if (_mm256_testz_si256(both, both))
			continue;
		uint64_t m = (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32 |
			     (uint32_t)_mm256_movemask_epi8(a);
		for (; m; m &= m - 1) {
			size_t at = from + (size_t)__builtin_ctzll(m);
			if ((*which = words_at(w, hay.p + at, hay.n - at)))
				return at;
		}
	}
	return next_plain(w, hay, from, which);
}

__attribute__((target("avx2"))) static size_t next_avx2(const struct wordset *w, struct str hay,
							size_t from, uint64_t *which)
{
	if (w->n <= 2)
		return next_pair(w, hay, from, which);
	return w->n <= FEW ? next_wide(w, hay, from, which, true)
			   : next_wide(w, hay, from, which, false);
}
#endif

size_t wordset_next(const struct wordset *w, struct str hay, size_t from, uint64_t *which)
{
	*which = 0;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return next_avx2(w, hay, from, which);
#endif
	return next_plain(w, hay, from, which);
}
