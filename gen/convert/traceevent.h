/**
 * traceevent - the trace event format, in JSON, which Perfetto and Chrome show. Its description: "Trace Event
 * Format", the document that Perfetto's page on JSON traces points to.
 */
#ifndef CONVERT_TRACEEVENT_H
#define CONVERT_TRACEEVENT_H

#include "convert/drawing.h"

/** Slices of one line lie within each other, or apart: those that need not get a line of their own below. */
extern const struct drawing traceevent_drawing;
/** What ends it behind any line. */
void traceevent_tail(const void *state, struct strbuf *out);

#endif
