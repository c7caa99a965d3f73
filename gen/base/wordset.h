/**
 * wordset - where any of some short words occurs in bytes, in one pass at about the speed of
 * memory.
 *
 * Words are 2 to 4 bytes. With AVX2, 64 places are looked at together: a byte's two halves choose
 * from tables the words that may have such a byte there, eight groups of words as the bits of a
 * byte, and the answers for the first two or three bytes are combined. Elsewhere a table of all
 * pairs of bytes tells where a word may begin. Both only filter: each candidate is then compared.
 *
 *	struct wordset w;
 *	wordset_init(&w);
 *	wordset_add(&w, STR("abcd"));
 *	for (size_t at = 0; (at = wordset_next(&w, hay, at, &which)) < hay.n; at++)
 *		...				// which & 1: the first word is at hay.p + at
 */
#ifndef BASE_WORDSET_H
#define BASE_WORDSET_H

#include "base/str.h"

enum { WORDSET_MAX = 64 };

struct wordset {
	char words[WORDSET_MAX][4];
	uint8_t lengths[WORDSET_MAX];
	unsigned n;
	uint64_t pairs[1024]; /**< bit by the first byte + 256 * the second */
	uint8_t low[3][16],
	    high[3][16]; /**< by the byte's place in a word and its halves: groups */
};

void wordset_init(struct wordset *w);
/** Adds a word of two bytes or more, of which four count; false when there are 64 already. */
bool wordset_add(struct wordset *w, struct str word);
/**
 * The next place of a word from @from on, and which are there as bits in the order of adding; hay.n
 * at the end.
 */
size_t wordset_next(const struct wordset *w, struct str hay, size_t from, uint64_t *which);

#endif
