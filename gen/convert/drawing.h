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

enum drawing_kind {
	DRAWING_PROCESS,    /**< the name of a process, */
	DRAWING_THREAD,	    /**< or of a line */
	DRAWING_SLICE,	    /**< lies within others of its line, or apart */
	DRAWING_OVERLAP,    /**< one that need not */
	DRAWING_UNFINISHED, /**< has no end: nothing of its line comes behind it */
	DRAWING_MARK,	    /**< of its line */
	DRAWING_TRIGGER,    /**< of --keep */
	DRAWING_LOSS,
	DRAWING_COUNTER, /**< `args`: numbers by name */
};

struct drawing_what {
	struct drawing_line at;
	struct str name;
	const char *category; /**< empty: it begins and ends nothing */
	int64_t ns, end;      /**< since 1970, as all times here; the end of what has one */
	struct str args;
	struct drawing_line by; /**< the thread whose record it is */
	struct drawing_ids ids;
};

/** The state is the drawing's own. All but put() may be NULL. */
struct drawing {
	size_t size; /**< of the state, which begins as zeros */
	void (*capture)(void *state, struct str capture);
	/** Before what is made of it, as all that has a time. */
	void (*record)(void *state, const struct capture_line *l);
	/** @what begins; its ids are to be set. @outer: of the call of its thread around it. */
	void (*begun)(void *state, const struct drawing_ids *outer, struct drawing_what *what);
	void (*put)(void *state, enum drawing_kind kind, const struct drawing_what *what,
		    struct strbuf *out);
	bool (*end)(void *state, struct diag *d);
	/** Of what the state owns. */
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
