/**
 * stop - how bpftrace is ended.
 *
 * It drops the events that it is reading when a signal comes, versions up to 0.23 may lose the
 * signal, too, and one that is killed in the middle of a detach leaves breakpoints in the traced
 * program. So SIGINT comes while it waits for events, again when it has not been heard, and what is
 * to be killed is stopped first.
 *
 * When btgen is gone without having done so (kill -9), a guard does: a process of its own that does
 * nothing else. The kernel could only kill bpftrace (PR_SET_PDEATHSIG), and a signal that bpftrace
 * may handle is lost by 0.17 while it attaches. The guard asks as ^C does, until it is heard.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { STOP_LOOK_MS = 60 }; // how often bpftrace's state is polled once it got a signal

struct stop {
	pid_t pid;	     /**< bpftrace; 0 once it is reaped */
	bool ended;	     /**< bpftrace is a zombie */
	unsigned interrupts; /**< by the user, or because the time is over */
	unsigned long at;    /**< ms: from then on SIGINT comes, as soon as it waits; 0: not yet */
	bool is_begun;	     /**< it got the signal */
	unsigned long begun_at;	 /**< ms; 0: not yet, or reported by stop_takes_long() */
	unsigned sent;		 /**< bits of the signals that we have sent to it */
	bool is_killing;	 /**< it is to be killed once it is stopped */
	unsigned idle_looks;	 /**< how often since then it was seen to wait, in a row */
	unsigned long looked_at; /**< ms, of the last such look */
	pid_t guard;
	int lifeline; /**< of the guard: closes with btgen */
};

/** For the bpftrace @pid. */
void stop_init(struct stop *s, pid_t pid);
/** It is gone. */
void stop_fini(struct stop *s);
/** Sends @sig at once. */
void stop_now(struct stop *s, int sig);
/** Sends SIGINT if it is time for that, and bpftrace waits. */
void stop_when_idle(struct stop *s);
/**
 * ^C, another signal, or the time is over: the first ends the trace, which @is_running, the next ones
 * are more and more urgent.
 */
void stop_interrupt(struct stop *s, bool is_running);
/** The target has exited, which ends bpftrace by itself, mostly, where it was given -p: @has_pid. */
void stop_after_target(struct stop *s, bool has_pid);
/** Sends SIGINT again to one that has not heard it; @had_output: it has just printed something. */
void stop_again_if_lost(struct stop *s, bool had_output);
/** Has bpftrace itself ended, or stopped? What it has started may go on and hold its pipes open. */
void stop_look_for_end(struct stop *s);
/** A user would wonder what it is doing. True only once. */
bool stop_takes_long(struct stop *s);
/**
 * The signals by which a user ends a trace; SIGHUP not where it is ignored, as below nohup. A trace
 * blocks them until btgen exits: one more, while the end is written, must not end btgen first.
 */
void stop_signals(sigset_t *ret);
