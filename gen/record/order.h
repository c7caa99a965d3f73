/**
 * order - lines that come from several processors, brought into the order of time.
 *
 * bpftrace 0.17 drains the buffer of one processor after the other: what comes is sorted for each of
 * them, but not as a whole. 0.23 has one buffer, into which an event may be put after one that has
 * looked at the clock later. Lines are held until no earlier one can come any more, as runs that are
 * sorted by themselves (there are about as many as processors), and runs are merged.
 *
 * When a line comes, all that happened before it is in bpftrace's buffers already, and comes within one
 * round through them. A round may take any time, for buffers are filled while they are drained; but each
 * buffer has one turn in it. So a line goes out when a processor has had three turns since (at the second
 * one a round may just have begun), and not before ORDER_NS, for lines that are almost in order. This is
 * time in which bpftrace works, not that of the events, which may lag by any amount.
 *
 * Stable: lines of the same time stay in the order in which they came. A line that is earlier than one that
 * has gone out is late: it goes out at once, and is counted. Lines beyond ORDER_BYTES go out, the earliest
 * first.
 *
 *	struct order *o = order_new(true);
 *	order_set_clock(o, now);
 *	order_set_cpu(o, cpu);
 *	order_add(o, ns, line, &out);		// adds what thereby is ready
 *	order_flush(o, INT64_MAX, &out);
 *	order_free(o);
 */
#pragma once

#include "base/str.h"

/** How long events of one buffer may be on their way into it, and more. */
#define ORDER_NS 1000000000ll
/** That many events of 100 bytes come in a second when bpftrace does nothing else, and not more. */
#define ORDER_BYTES ((size_t)64 << 20)

struct order;

/** @has_rounds: each processor has a buffer of its own; false: all have one. */
struct order *order_new(bool has_rounds);
/** What is still held is lost. */
void order_free(struct order *o);
/** Lines come now, at @now ns of a clock that does not go back: that of bpftrace's work. */
void order_set_clock(struct order *o, int64_t now);
/** What comes next is out of the buffer of processor @cpu. */
void order_set_cpu(struct order *o, int64_t cpu);
/**
 * Takes a piece of output, one or several whole lines, of the time @ns (not negative). What thereby
 * is ready is added to @out. To mark a line that is late, ask order_is_late() before.
 */
void order_add(struct order *o, int64_t ns, struct str lines, struct strbuf *out);
/** Would a line of @ns come too late? */
bool order_is_late(const struct order *o, int64_t ns);
/**
 * The time of the latest line so far: the place of lines without a time of their own (a map's), after those
 * that came before. 0: none has come.
 */
int64_t order_newest(const struct order *o);
/** The time of the last line that has gone out; 0: none has. */
int64_t order_gone(const struct order *o);
/** No line of the time @before or earlier can come any more: such lines go out. */
void order_flush(struct order *o, int64_t before, struct strbuf *out);
/** Is a line of the time @ns, or an earlier one, held? */
bool order_holds(const struct order *o, int64_t ns);
uint64_t order_n_late(const struct order *o);
