// wordset: every place of every word, against a comparison at each place.
#include <stdlib.h>
#include <string.h>

#include "base/wordset.h"
#include "tap.h"

enum { HAY = 700 };

static unsigned words_by_hand(const struct wordset *w, struct str hay, size_t at)
{
	unsigned n = 0;
	for (unsigned i = 0; i < w->n; i++)
		n += hay.n - at >= w->lengths[i] &&
		     memcmp(hay.p + at, w->words[i], w->lengths[i]) == 0;
	return n;
}

static unsigned try_words(unsigned n_words, unsigned n_letters, unsigned *found)
{
	struct wordset w;
	uint64_t which;
	unsigned wrong = 0;
	// In memory of its own size, for AddressSanitizer.
	size_t n = (size_t)rand() % HAY;
	char *p = malloc(n + 1);
	if (!p)
		return 1;
	wordset_init(&w);
	for (unsigned i = 0; i < n_words; i++) {
		char word[6];
		for (unsigned k = 0; k < sizeof(word); k++)
			word[k] = (char)(rand() % (int)n_letters * 37);
		wrong += !wordset_add(&w, (struct str){word, 2 + (size_t)rand() % 4});
	}
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(rand() % (int)n_letters * 37);
	struct str hay = {p, n};
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned want = words_by_hand(&w, hay, i);
		if (!want)
			continue;
		at = wordset_next(&w, hay, at, &which);
		wrong += at != i || (unsigned)__builtin_popcountll(which) != want;
		at = i + 1;
		*found += want;
	}
	wrong += wordset_next(&w, hay, at, &which) != n;
	free(p);
	return wrong;
}

int main(void)
{
	static const unsigned counts[] = {1, 2, 8, 9, 33, 64};
	srand(3);
	for (unsigned i = 0; i < 6; i++) {
		unsigned wrong = 0, found = 0;
		for (unsigned k = 0; k < 2000; k++)
			wrong += try_words(counts[i], k % 3 ? 30 : 3, &found);
		ok(wrong == 0 && found > 1000, "%u words: %u places found, %u mistakes", counts[i],
		   found, wrong);
	}
	struct wordset w;
	wordset_init(&w);
	for (unsigned i = 0; i < WORDSET_MAX; i++)
		wordset_add(&w, STR("ab"));
	ok(!wordset_add(&w, STR("cd")), "no more than 64 words");
	wordset_init(&w);
	ok(!wordset_add(&w, STR("a")), "no word of one byte");
	return done();
}
