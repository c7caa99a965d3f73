/**
 * traceevent - the trace event format, in JSON, which Perfetto and Chrome show. Its description: "Trace Event
 * Format", the document that Perfetto's page on JSON traces points to.
 *
 * Names, categories and args are JSON already: a text as it stands between quotes, and members of an object.
 *
 *	struct traceevent t = {.start = ns};
 *	traceevent_name(&t, "thread_name", line, STR("reactor_0"), &out);
 *	traceevent_slice(&t, line, &what, end_ns, &out);
 *	traceevent_end(&t, &out);
 */
#ifndef CONVERT_TRACEEVENT_H
#define CONVERT_TRACEEVENT_H

#include <stdint.h>

#include "base/str.h"

struct traceevent {
	int64_t start; /**< ns since 1970: times are counted from here */
	bool has_any;
	uint64_t n_pairs;
};

/** Where it is drawn. */
struct traceevent_line {
	int64_t pid, tid;
};

struct traceevent_what {
	struct str name;
	const char *category;
	int64_t ns; /**< since 1970, as all times here */
	struct str args;
};

/** @what: process_name or thread_name */
void traceevent_name(struct traceevent *t, const char *what, struct traceevent_line at,
		     struct str name, struct strbuf *out);
/** Slices of one line must lie within each other, or apart. */
void traceevent_slice(struct traceevent *t, struct traceevent_line at,
		      const struct traceevent_what *what, int64_t end, struct strbuf *out);
/** One that need not: it gets a line of its own below. */
void traceevent_pair(struct traceevent *t, struct traceevent_line at,
		     const struct traceevent_what *what, int64_t end, struct strbuf *out);
/** Without an end: nothing of its line comes behind it. */
void traceevent_unfinished(struct traceevent *t, struct traceevent_line at,
			   const struct traceevent_what *what, struct strbuf *out);
/** @scope: 't', of its line, or 'g', of all */
void traceevent_instant(struct traceevent *t, struct traceevent_line at, char scope,
			const struct traceevent_what *what, struct strbuf *out);
/** @what->args: numbers by name */
void traceevent_counter(struct traceevent *t, struct traceevent_line at,
			const struct traceevent_what *what, struct strbuf *out);
/** What ends it behind any line. */
void traceevent_end(const struct traceevent *t, struct strbuf *out);

#endif
