/**
 * timeline - a capture as slices, marks and counters on lines of threads and objects (docs/pictures.md).
 *
 * What is kept is what is open: calls and states that have not ended; and the names of lines.
 */
#ifndef CONVERT_TIMELINE_H
#define CONVERT_TIMELINE_H

#include "base/diag.h"
#include "convert/capture.h"

struct timeline;

struct timeline *timeline_new(void);
void timeline_free(struct timeline *t);
/** Adds what @l becomes to @out. False: its tracks are none. */
bool timeline_line(struct timeline *t, const struct capture_line *l, struct strbuf *out);
/** Adds what makes a whole of what came so far. */
void timeline_tail(const struct timeline *t, struct strbuf *out);
/** Adds what is still open, behind which the tail must follow. Tells of tracks that no record was right for, and of records out of order. */
void timeline_end(struct timeline *t, struct diag *d, struct strbuf *out);

#endif
