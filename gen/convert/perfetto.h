/**
 * perfetto - a capture as the trace event format, which Perfetto and Chrome show: threads and objects as
 * tracks, with slices, instants and counters (docs/pictures.md).
 *
 * What is kept is what is open: calls that have not ended, and the names of tracks. The format:
 * "Trace Event Format", the document that Perfetto's page on JSON traces points to.
 */
#ifndef CONVERT_PERFETTO_H
#define CONVERT_PERFETTO_H

#include "base/diag.h"
#include "convert/capture.h"

struct perfetto;

struct perfetto *perfetto_new(void);
void perfetto_free(struct perfetto *p);
/** Adds what @l becomes to @out. False: its tracks are none. */
bool perfetto_line(struct perfetto *p, const struct capture_line *l, struct strbuf *out);
/** Adds the end. Notes of tracks that no record was right for. */
void perfetto_end(struct perfetto *p, struct diag *d, struct strbuf *out);

#endif
