/**
 * What the parts of run share: struct runner, one run of bpftrace.
 *
 *	run.c		the main loop; signals; looks at costs and at children of the target
 *	run_attach.c	until the probes are attached: what is checked then, and when events begin to count
 *	run_output.c	what was printed, on its way to the output
 *	run_report.c	the end: lost and late events, full maps, the exit status
 */
#pragma once

#include "base/clock.h"
#include "run/keep.h"
#include "run/relay.h"
#include "run/run.h"
#include "run/stop.h"

#define READY_POLL_MS 5	    // how often bpftrace is looked at until it is attached
#define ENOUGH_INTERRUPTS 2 // after the second, output that nobody reads is given up,
#define COST_LOOK_MS 1000

/** One run. */
struct runner {
	struct arena *arena;
	struct diag *diag;
	const struct run_config *cfg;
	struct relay relay;
	struct stop stop;	// has bpftrace's PID
	int out_pipe, err_pipe; // -1 once they have ended
	int signals;
	int target_end; // becomes readable when the target ends; -1 afterwards, or without one
	size_t n_ended; // of cfg->all, in their order
	struct output output;
	bool ready;	      // the probes are attached
	bool is_held;	      // what bpftrace closes is detached by btgen-detach, kernel/hold.h
	bool given_up;	      // no more output: its reader has gone, or an error was reported
	int first_signal;     // that we got
	int loss;	      // its counter of lost events, or -1
	int gate;	      // the map that lets events count, or -1
	uint64_t n_under_way; // when it was closed: see run_finish()
	int status;
	int end_signal;		 // that ended bpftrace, or 0
	bool is_full;		 // all lines that are wanted have come
	bool is_unread;		 // because the reader of the output has ended
	unsigned long long lost; // events, by bpftrace's own account
	bool is_exact;		 // that is the kernel's
	bool is_targets_end;	 // it is over because the target is
	uid_t user;		 // of the target, which may become another one; -1: not known
	uint64_t n_lost;	 // reported so far
	unsigned long ready_at, over_at; // ms: the trace began, and its end; 0: not yet
	unsigned long started_at; // when bpftrace was started, in ms; 0: and the delay was reported
	struct keep *keep;	  // of --keep, or NULL
	struct str heading;	  // what goes before what was kept
	unsigned long wanted_at;  // ms: what was kept is; 0: not now
	int64_t wanted_since,
	    wanted_ns;	       // by the clock of probes: the earliest reason, and the latest one
	int64_t newest;	       // event of what is kept, by that clock
	const char *wanted_by; // for that reason
	struct cost cost;
	bool counts_cost, has_cost; // the kernel does; it is being looked at
	unsigned long cost_at;	    // ms: the last look
	unsigned costly_looks;	    // above the ceiling, in a row
	bool is_too_costly;	    // so it is ended
	unsigned long clock_at;	    // ms: the last look at the wall clock
	int64_t clock_set;	    // ns that it was set by, which was reported
	unsigned long forks_at;	    // ms: the next look for children
	unsigned forks_after;	    // ms between two looks
	unsigned n_children;	    // that were seen at once, while there were no events
};

// --- run.c

/** Nothing counts from here on. */
void run_end_events(struct runner *r);
/** What was kept goes out, for something that has happened at @ns by the clock of probes. */
void run_want_kept(struct runner *r, struct str why, int64_t ns);
void run_handle_signal(struct runner *r);
void run_give_up(struct runner *r);
/** Each second: a trace that was above its ceiling all the time is ended. */
void run_look_at_cost(struct runner *r);

// --- run_output.c

/** What the reader has not taken is not lost. */
void run_end_output(struct runner *r);
/** What has just failed with errno. Returns the exit status. */
int run_report_unwritten(struct runner *r);
/** bpftrace waits for events, and what it had printed before is taken. */
bool run_is_idle(const struct runner *r);
/** Writes what has come, records decoded and functions named; @end: nothing more will come. */
void run_flush_output(struct runner *r, bool end);
void run_begin_output(struct runner *r);

// --- run_attach.c

bool run_target_called_exec(const struct runner *r);
void run_report_exec(struct runner *r);
/** Also of one that has exited, until its parent has waited for it. */
void run_look_at_user(struct runner *r);
void run_become_ready(struct runner *r);
/** Reports when bpftrace does not get to its events, whatever it waits for. */
void run_report_slow_start(struct runner *r);
/** By bpftrace's own word; those to come may choose another, but will wait for events. */
bool run_is_attached(const struct runner *r);

// --- run_report.c

void run_count_loss(struct runner *r);
/** Final reports and cleaning up once bpftrace is gone. */
void run_finish(struct runner *r);

/** All of several targets have. */
static inline bool run_have_all_ended(const struct runner *r)
{
	return r->cfg->n_all && r->n_ended == r->cfg->n_all;
}
