/**
 * variants - texts that are mostly the same, as one list of lines: each line once, with those that have it.
 *
 *	struct variants v = {.arena = a};
 *	variants_add(&v, first);
 *	variants_add(&v, second);
 *	for (size_t i = 0; i < v.lines.n; i++) if (v.lines.v[i].of & 1 << 1) use(v.lines.v[i].text);	// is `second`
 */
#ifndef TEXT_VARIANTS_H
#define TEXT_VARIANTS_H

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum { VARIANTS_MOST = 52 };

struct variants_line {
	struct str text; /**< without its newline */
	uint64_t of;	 /**< bit N: the N-th text has it */
};

struct variants {
	struct arena *arena;
	VEC(struct variants_line) lines;
	unsigned n;
};

/** Adds @text, which must live as long, as the next one; of at most VARIANTS_MOST. */
void variants_add(struct variants *v, struct str text);

#endif
