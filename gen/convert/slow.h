/**
 * slow - the slices of a timeline that take too long, as its lines come: what `--trigger latency>50ms` waits for.
 *
 * A slice is what -f perfetto draws: from one probe of a pair to the other, or as `#pragma track` has it; no state.
 *
 *	struct slow *s = slow_new(50000000);
 *	struct str what = slow_take(s, lines);	// "query took 63.2 ms", or empty
 *	slow_free(s);
 */
#ifndef CONVERT_SLOW_H
#define CONVERT_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct slow;

/** Is @trigger such a condition? Its limit, in ns, is then in *@ns, or 0 if that is none. */
bool slow_is_condition(const char *trigger, int64_t *ns);
struct slow *slow_new(int64_t ns);
void slow_free(struct slow *s);
/** Takes @lines of -f json, and says which slice that they end was the first to take longer; valid until the next call. */
struct str slow_take(struct slow *s, struct str lines);
/** Has any slice ended? */
bool slow_has_slices(const struct slow *s);

#endif
