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

#endif
