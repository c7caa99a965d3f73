/**
 * format - what a capture can be made into, a row for each: its name, and what is done with each line.
 *
 * The state is the format's own; what is printed behind tail() makes a whole of what came before it, so that a file
 * that is still written can be read.
 */
#ifndef CONVERT_FORMAT_H
#define CONVERT_FORMAT_H

#include "base/diag.h"
#include "convert/drawing.h"

struct convert_format {
	const char *name; /**< of -f */
	bool takes_map;	  /**< --map chooses among maps */
	bool is_of_events;
	const struct drawing *drawing; /**< of a format that is drawn as a timeline */
	/** @map: with its @, or NULL. */
	void *(*begin)(const struct convert_format *format, const char *map);
	/** Adds what @l becomes to @out. False: the line is none of a capture. */
	bool (*line)(void *state, const struct capture_line *l, struct strbuf *out);
	/** Adds what was kept. False, with an error: there is nothing that the format could hold. */
	bool (*end)(void *state, struct diag *d, struct strbuf *out);
	/** Adds what must follow, also behind end(); changes nothing. NULL: nothing. */
	void (*tail)(const void *state, struct strbuf *out);
	void (*free)(void *state);
};

/**
 * Slices, marks and counters on lines of threads and objects (docs/pictures.md). What is kept is what is open:
 * calls and states that have not ended; and the names of lines.
 */
extern const struct convert_format timeline_format;
/** What has begun and ended of that, as spans of OpenTelemetry (docs/fleet-traces.md). */
extern const struct convert_format otlp_format;
/** How long each slice of a timeline took; for slow_new(), and none of -f. */
extern const struct convert_format slow_format;
/**
 * Stacks, one a line with how often or how much, the outermost function first, as flame graphs are drawn from:
 * `main;work;read 42`. The format: FlameGraph's stackcollapse programs. They come from maps that have a stack in their
 * keys, with the strings beside it in front (`app;main;read`), and from the records of -t --stack, each of which counts 1.
 */
extern const struct convert_format folded_format;

/** What options and messages say of them all. */
#define FORMAT_VALUES "perfetto|otlp|folded"
#define FORMAT_NAMES "perfetto, otlp or folded"
#define FORMATS_OF_EVENTS "perfetto and -f otlp"
#define FORMAT_RESULTS "a timeline, spans or flame-graph stacks"

#endif
