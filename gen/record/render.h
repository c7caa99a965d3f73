/**
 * render - a record as text: its format filled in, or the list of -t.
 */
#ifndef RECORD_RENDER_H
#define RECORD_RENDER_H

#include "record/decode.h"
#include "value/render_value.h"

/**
 * Adds the text of a record; no newline is added, and a list begins with a blank. In a format what a
 * traced program's strings hold is passed on as it is, and a null string is empty, as bpftrace has it;
 * in a list both are shown.
 */
void render_record(const struct render *how, const struct record *r, struct strbuf *out);
/**
 * The text of a FIELD_STRING. A string whose page is not in memory comes as an empty one: a literal is
 * then in the program's file, and @text becomes that, in @room. False: it could not be read.
 */
bool render_find_string(const struct render *how, int64_t address, struct str *text,
			struct strbuf *room);
/** @ns of CLOCK_BOOTTIME as local time: strftime()'s @format, and %f for six digits of a second. */
void render_time(const struct render *how, struct str format, int64_t ns, struct strbuf *out);

#endif
