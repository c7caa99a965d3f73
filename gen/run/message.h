/**
 * message - errors of bpftrace: at their place in the template, and once for each cause.
 *
 * bpftrace places an error in the program that it was given, which is generated. The line map
 * (text/program.h) leads back to the template. Three kinds need more:
 *
 * - Up to 0.23 an error about an attach point has only lines, from the end of the clause before, and a
 * failure to load or attach a probe has no place at all: its place is the attach point that the text names.
 * - From 0.24 on many functions are written in bpftrace's own language. An error in one of them is
 *   placed in stdlib/base.bt, with an "expanded from" for each call that led there: the one that is
 *   in the program is its place.
 * - An expression that bpftrace does not understand has the type "none" from then on, and all that contains
 * it is wrong as well. Such errors are reported only if there are no others.
 *
 * An error at a place that already has one is not reported, nor is the second use of an unknown name. A
 * warning that a running program repeats thousands of times, such as a full map, is reported once, and its
 * number at the end.
 */
#pragma once

#include "text/program.h"

/** A message that waits until it is known whether it is needed, or how often it came. */
struct message_held {
	struct str text; /**< empty: none */
	struct diag_place at;
	unsigned long n; /**< how often it was not shown */
};

struct message_points;

struct messages {
	struct diag *diag;	   /**< for those with a place */
	const struct linemap *map; /**< may be NULL: places stay bpftrace's */
	struct str program;	   /**< its text, for places in its definitions */
	const char *program_name;  /**< what bpftrace calls the program */
	unsigned n_errors;	   /**< that were reported or passed on */
	bool passed_on;		   /**< one was passed on as it is */

	struct arena arena;
	struct map causes;	       /**< of the errors reported: places, names */
	struct strbuf key;	       /**< of one that is looked up */
	struct message_points *points; /**< where attach points stand; NULL: not yet known */
	struct map repeated;	       /**< warnings while it runs -> struct message_held */
	bool is_running;	       /**< all probes are attached: warnings are of what happens */
	bool has_loss;		       /**< maps lack some of what happened */
	bool wants_helper;   /**< the next line of stdout is the second one of a message */
	unsigned data_lines; /**< so many lines of stdout are still part of it */
	struct message_held follow_up; /**< the first that was caused by another */
	struct message_held withheld;  /**< the first warning not shown */
	struct message_held inner;     /**< the last in bpftrace's own script */
	bool last_hidden;	/**< the last message was not reported: nor is what belongs to it */
	unsigned skip_excerpt;	/**< lines of bpftrace's own excerpt that are still to be dropped */
	struct strbuf c_errors; /**< clang's about the definitions, not yet reported: lines */
};

void messages_fini(struct messages *m);
/** Takes a line of bpftrace's stderr, without its newline, that is a message. */
void messages_add(struct messages *m, struct str line);
/**
 * Consumes a line of bpftrace's data if it is part of a message: there bpftrace 0.20 to 0.23 report
 * run-time errors, with the place in the program, the program's line, and a line with ~ below it.
 */
bool messages_add_data(struct messages *m, struct str line);
/** bpftrace has ended: reports how often warnings came that were shown once. */
void messages_end(struct messages *m);
/**
 * bpftrace has failed with @status: reports why, if that was not done yet. The reason may be
 * something that was held back.
 */
void messages_explain_failure(struct messages *m, int status);
