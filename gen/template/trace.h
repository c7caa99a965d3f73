/**
 * trace - `bpftrace.sh -t PATTERN`: strace for probes, the skeleton of matching probes run as it is;
 * what counts or times them instead; and --calls, their calls as a tree.
 */
#pragma once

#include "template/skeleton.h"

/** What -t and its options ask for. */
struct trace_request {
	word_list patterns; /**< probes, as skeleton_collect() takes them; none: no -t */
	unsigned deep;	    /**< levels of pointees that are shown */
	bool has_stack;
	const char *filter; /**< a condition for events, or NULL */
	const char *counts; /**< --count: keys, tally_write_counts(), instead of events; or NULL */
	const char *start, *done, *key; /**< --latency and its --key; or NULL */
	const char *by;			/**< --by: keys of DONE, a histogram of each; or NULL */
	bool is_live;			/**< --latency: buckets are also printed each second */
	word_list calls;		/**< --calls: functions, instead of patterns */
	struct skeleton_calls how;	/**< of these; 0 functions: the default */
};

/** Is there anything that is to be traced without a script? */
bool trace_is_wanted(const struct trace_request *req);
/** Each event is to be printed: not counted, nor timed. */
bool trace_is_list(const struct trace_request *req);

/**
 * A template for the probes of @files, for bpftrace of @version; @is_one: of one process. One that lists events prints records,
 * whose shapes are added to @shapes; if that is NULL the template is made to be read and edited, as the
 * others are. Lives in @a. NULL: errors as in skeleton_collect().
 */
struct src_file *trace_make(struct arena *a, struct diag *d, struct targetfiles *files,
			    unsigned version, const struct trace_request *req, bool is_one,
			    struct shapes *shapes);
/** How long strings may be that fit in each record of -t; UINT_MAX: no record has any. */
unsigned trace_strlen(const struct shapes *all, unsigned version);
