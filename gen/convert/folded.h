/**
 * folded - the stacks of a capture, one a line with how often or how much, the outermost function first,
 * as flame graphs are drawn from: `main;work;read 42`. The format: FlameGraph's stackcollapse programs.
 *
 * They come from maps that have a stack in their keys, with the strings beside it in front (`app;main;read`),
 * and from the records of -t --stack, each of which counts 1.
 */
#ifndef CONVERT_FOLDED_H
#define CONVERT_FOLDED_H

#include "base/diag.h"
#include "convert/capture.h"

struct folded;

/** @map: of this one alone, with its @; NULL: all that have stacks must be one. */
struct folded *folded_new(const char *map);
void folded_free(struct folded *f);
void folded_line(struct folded *f, const struct capture_line *l);
/** Adds the lines. False, with an error: there are no stacks, or several maps of them. */
bool folded_end(struct folded *f, struct diag *d, struct strbuf *out);

#endif
