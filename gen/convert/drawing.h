/**
 * drawing - what a timeline is drawn on: a row of functions for each format that has slices.
 *
 * Names, categories and args are JSON already: a text as it stands between quotes, and members of an object.
 */
#ifndef CONVERT_DRAWING_H
#define CONVERT_DRAWING_H

#include "base/diag.h"
#include "convert/capture.h"

/** A thread, or the place of an object among those. */
struct drawing_line {
	int64_t pid, tid;
};

/** Of a drawing that has them. */
struct drawing_ids {
	uint64_t trace[2], span, parent; /**< 0: none */
};

struct drawing_what {
	struct str name;
	const char *category; /**< empty: it begins and ends nothing */
	int64_t ns;	      /**< since 1970, as all times here */
	struct str args;
	struct drawing_line by; /**< the thread whose record it is */
	struct drawing_ids ids;
};

/** The state is the drawing's own. NULL: it has no such thing. */
struct drawing {
	void *(*begin)(void);
	void (*capture)(void *state, struct str capture);
	/** Before what is made of it, as all that has a time. */
	void (*record)(void *state, const struct capture_line *l);
	/** @what begins, on the line @at; its ids are to be set. @outer: of the call of its thread around it. */
	void (*begun)(void *state, struct drawing_line at, const struct drawing_ids *outer,
		      struct drawing_what *what);
	/** @what: process_name or thread_name */
	void (*name)(void *state, const char *what, struct drawing_line at, struct str name,
		     struct strbuf *out);
	/** @is_beside: it need not lie within others of its line, or apart. */
	void (*ended)(void *state, struct drawing_line at, const struct drawing_what *what,
		      int64_t end, bool is_beside, struct strbuf *out);
	/** Without an end: nothing of its line comes behind it. */
	void (*unfinished)(void *state, struct drawing_line at, const struct drawing_what *what,
			   struct strbuf *out);
	/** @scope: 't', of its line; 'p', of the process: a trigger of --keep; 'g', of all: loss */
	void (*mark)(void *state, struct drawing_line at, char scope,
		     const struct drawing_what *what, struct strbuf *out);
	/** @what->args: numbers by name */
	void (*counter)(void *state, struct drawing_line at, const struct drawing_what *what,
			struct strbuf *out);
	bool (*end)(void *state, struct diag *d);
	void (*free)(void *state);
};

extern const struct drawing otlp_drawing;
/** A line "NS NAME" for each slice that ends and is no state, see slow_new(). */
extern const struct drawing slow_drawing;
/** Slices of one line lie within each other, or apart: those that need not get a line of their own below. */
extern const struct drawing traceevent_drawing;
/** What ends it behind any line. */
void traceevent_tail(const void *state, struct strbuf *out);

#endif
