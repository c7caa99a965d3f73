/**
 * convert - the output of a trace in another tool's format: the trace is written as a capture, which `btgen convert` reads at its end.
 *
 *	struct convert c;
 *	if (!convert_begin(a, d, "perfetto", "trace.json", &c)) return 1;
 *	...a trace writes its JSON to c.capture...
 *	status = convert_end(a, d, &c, status, is_whole);
 *
 * With a file the capture is FILE.json beside it, else a file without a name.
 */
#pragma once

#include "base/diag.h"

struct convert {
	const char *format, *out; /**< NULL: standard output */
	const char *capture;
	const char *program;
	int fd; /**< of a capture without a name, or -1 */
};

/**
 * The version of docs/records.md that captures keep to. It goes up when a reader of the old one would read a new capture wrong:
 * members that are added leave it. The readers in scripts/ refuse what is newer than they are.
 */
#define CAPTURE_SCHEMA 1

/** The first line of a capture in JSON: where, when and with what it was made (docs/records.md). */
struct header {
	struct str boot_id; /**< or empty */
	struct str program; /**< the name of the one that is traced, or empty */
	struct str script;  /**< its name, as the user has it; empty: none */
	struct str tracks;  /**< a JSON array, or empty */
	struct str skipped; /**< likewise: probes that are not traced */
	int64_t offset;	    /**< CLOCK_REALTIME - CLOCK_BOOTTIME in ns, with which times are made */
};

void convert_write_header(const struct header *h, struct strbuf *out);

/** Is @format one that `btgen convert` makes? */
bool convert_is_format(const char *format);
/** Finds the program that converts, see python_find(), and chooses the capture; false with an error. @out: -o or NULL. */
bool convert_begin(struct arena *a, struct diag *d, const char *format, const char *out,
		   struct convert *ret);
/**
 * Converts, and removes the capture. @status: the trace's, which is returned if the conversion succeeds. Where the trace was
 * not ended as it should, @is_whole is false: then the capture stays, and a line names the command that converts it.
 */
int convert_end(struct arena *a, struct diag *d, struct convert *c, int status, bool is_whole);

/** What options and messages name. */
#define CONVERT_VALUES "perfetto|otlp|folded"
#define CONVERT_NAMES "perfetto, otlp or folded"
#define CONVERT_OF_EVENTS "perfetto and -f otlp"
