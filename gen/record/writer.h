/**
 * writer - records and what bpftrace prints beside them, turned into what the user gets: text, text
 * with a head in front of each line, or JSON, in the order in which it came or in that of time.
 *
 * Bare text goes out as it comes. Everything else needs shapes.has_head, and lines that several
 * records make are kept until they are whole (record/joined.h).
 *
 *	writer_set_clock(w, ns);
 *	writer_add(w, bytes, &out);	// as they come
 *	writer_idle(w, &out);		// while writer_is_holding(w), whenever bpftrace has nothing to read
 *	writer_end(w, &out);
 */
#pragma once

#include "record/decode.h"
#include "record/mapline.h"

enum writer_time { WRITER_WALL, WRITER_MONO, WRITER_SINCE };

/** The head of each line of text; in JSON always all of it. */
enum writer_head {
	WRITER_BARE,  /**< nothing */
	WRITER_TIME,  /**< --time: 12:00:01.000123456 */
	WRITER_LIST,  /**< -t: 12:00:01.000123 comm[tid] probe */
	WRITER_WHOLE, /**< -s: 12:00:01.000123456 [003] pid tid probe: */
};

struct writer_config {
	bool json;
	bool sorts;	 /**< -s */
	bool has_calls;	 /**< --calls: records become a tree, record/calltree.h */
	bool has_filter; /**< with that: not all entries are printed */
	bool has_rounds; /**< -s: bpftrace reads one processor's events after the other's */
	enum writer_head head;
	enum writer_time time; /**< of text; in JSON it is always the wall's */
	/**
	 * Of the lines of events so many are printed and no more; 0: all. What is printed once, at
	 * the start and the end, is none of them.
	 */
	uint64_t limit;
	bool is_printable;	/**< control characters in keys are escaped */
	bool has_percentiles;	/**< of a map of buckets, record/percentile.h */
	bool is_live;		/**< that is also printed each second, and becomes a line */
	unsigned long max_keys; /**< a printed map with so many may lack some; 0: not known */
	bool has_open_top;	/**< [2G, 4G) of hist() is [2G, ...): bpftrace 0.17 */
	bool has_lost_lines;	/**< bpftrace before 0.24: "Lost 42 events" is among the data */
	struct str heading;	/**< of JSON: the first line; empty: none */
	struct map_shape *maps;
	size_t n_maps;
	const char *trigger; /**< a pattern for probes, see writer_next_trigger(), or NULL */
	struct render render;
	void (*on_process)(void *ctx, int pid); /**< of each record that has a PID; or NULL */
	void *process_ctx;
};

/** Does @pattern mean the probe @label: all of it, or its name alone? */
bool writer_is_trigger(const char *pattern, struct str label);

struct writer;

/** @shapes, and what @config points to, must outlive it. */
struct writer *writer_new(const struct writer_config *config, struct shapes *shapes);
void writer_free(struct writer *w);
/** @handle is asked of each line that is no record and no part of strings; of what is its own it returns true. */
void writer_set_messages(struct writer *w, bool (*handle)(void *ctx, struct str line), void *ctx);
/**
 * For -s: how long bpftrace has worked, in ns of any clock that does not go back and stops while it does
 * nothing; lines wait for others by this clock, see order_set_clock().
 */
void writer_set_clock(struct writer *w, int64_t ns);
/** The trace has begun: the heading goes out, if it has not with data that came before. */
void writer_begin(struct writer *w, struct strbuf *out);
/** Takes bytes of the program's output and adds to @out what is ready. */
void writer_add(struct writer *w, struct str bytes, struct strbuf *out);
/**
 * Nothing more comes for now: bpftrace waits for events, and all that it has printed was taken. Of the
 * lines that are held for -s those go out that are older than any that can still come.
 */
void writer_idle(struct writer *w, struct strbuf *out);
/** Does an event of the time @ns, or an earlier one, wait to be sorted, or for the end of its call? */
bool writer_holds(const struct writer *w, int64_t ns);
/** Does something wait for writer_idle() to be called again, in 100 ms or so? */
bool writer_is_holding(const struct writer *w);
/** bpftrace was killed: lines that are not whole are dropped. writer_end() must follow. */
void writer_drop(struct writer *w);
/** The probe of `trigger` whose line has gone out since this was asked before, in @a, and in @ns the time of the first event that it is for; or empty. */
struct str writer_next_trigger(struct writer *w, struct arena *a, int64_t *ns);
/** CLOCK_REALTIME - the clock of probes, in ns, with which it prints times of day. */
int64_t writer_offset(const struct writer *w);
/** Does it print times of day itself? Not those of strftime(), which are bpftrace's. */
bool writer_prints_wall(const struct writer *w);
/** The time of the newest event whose line has gone out; 0: none that has one. */
int64_t writer_newest(const struct writer *w);
/** What the trace has cost, as an object of JSON, for the end; without JSON it is not printed. */
void writer_set_account(struct writer *w, struct str line);
/** Nothing more comes: the rest, and in JSON what was lost. */
void writer_end(struct writer *w, struct strbuf *out);

/** What has come of it so far. */
struct writer_result {
	struct decode_sum decoded;
	uint64_t n_events;	/**< lines of events that were printed */
	uint64_t n_late;	/**< with -s, lines that came when later ones had gone out */
	uint64_t reported_lost; /**< events that bpftrace before 0.24 has reported as lost */
	bool has_data;		/**< something was printed between the start and the end */
	bool has_value;		/**< of that, more than counters that are 0 */
	bool has_ends;		/**< something was printed by BEGIN or END */
	struct str full_maps;	/**< "@a, @b": printed with all the keys that they have room for */
};
struct writer_result writer_result(const struct writer *w);
