/**
 * convert - captures of `bpftrace.sh -f json` in the formats of other tools, line by line as they come.
 *
 *	struct convert *c = convert_new(convert_find("perfetto"), NULL, d, "capture.json");
 *	while (read(bytes)) convert_take(c, bytes, &out);
 *	good = convert_end(c, &out);
 *	convert_free(c);
 */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "base/diag.h"
#include "base/str.h"

struct convert;
struct convert_format; // convert/format.h

/** The format of that name, as -f has it; NULL: there is none. */
const struct convert_format *convert_find(const char *name);
/** @map: the one to take, where the format takes some, or NULL; @file: the name for messages. */
struct convert *convert_new(const struct convert_format *format, const char *map, struct diag *d,
			    const char *file);
void convert_free(struct convert *c);
/** Takes bytes of the capture, and adds to @out what is ready. Lines that are no records are skipped. */
void convert_take(struct convert *c, struct str bytes, struct strbuf *out);
/** Adds what must follow what is ready, also behind convert_end(), to make it whole; changes nothing. */
void convert_tail(const struct convert *c, struct strbuf *out);
/**
 * Nothing more comes. A last line that is cut off is left out, with a warning; another counts the lines that
 * were skipped. False, with an error: no line was a record, or there is nothing that the format could hold.
 */
bool convert_end(struct convert *c, struct strbuf *out);
/** Lines were skipped, not counting a last one that is cut off. */
bool convert_has_skipped(const struct convert *c);

/**
 * slow.c: the slices of a timeline that take too long, as its lines come: what `--trigger latency>50ms` waits for.
 *
 * A slice is what -f perfetto draws: from one probe of a pair to the other, or as `#pragma track` has it; no state.
 *
 *	struct slow *s = slow_new(50000000);
 *	struct str what = slow_take(s, lines);	// "query took 63.2 ms", or empty
 *	slow_free(s);
 */
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
