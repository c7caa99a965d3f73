/**
 * cost - an estimate of what a trace costs: the time of its BPF programs, and of the breakpoints that start them.
 *
 * The kernel counts runs and nanoseconds of BPF programs while somebody asks for it (BPF_ENABLE_STATS,
 * bpf(2); since Linux 5.8; with CAP_SYS_ADMIN). What a breakpoint takes before and after its program
 * is not in it: 1 us, and 10 where the kernel single-steps the instruction (kernel/breakpoint.h). The run
 * time counts what interrupts a program, too. Both happen while the traced process runs, so where that is
 * the only one, its probes are never taken to cost more than its CPU time.
 *
 * A share is of one processor: 1.0 is all of it; there may be more.
 */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/** A probe that a program attaches to. */
struct cost_name {
	struct str name;    /**< "usdt:app:query" */
	struct str program; /**< "uprobe:4498" where bpftrace knows it by that; or empty */
	unsigned n_traps;   /**< breakpoints of a hit: 2 with that of a return, 0 in the kernel */
	double n_extra;	    /**< of our own after its sites, for semaphores: so many a hit */
};
typedef VEC(struct cost_name) cost_names;

struct cost_sum {
	uint64_t hits;		  /**< runs of its programs, one for each clause */
	uint64_t ns;		  /**< without the breakpoints */
	double emulated, stepped; /**< breakpoints, kernel/breakpoint.h */
};

/** One of them, or several that cannot be told apart. */
struct cost_probe {
	struct cost_name of;
	struct cost_sum first, before, sum; /**< by cost_open(), and by the last two cost_read() */
};

struct cost_program;

/** How long the threads of a process have run, and waited for a processor. */
struct cputime {
	uint64_t ran;	 /**< ns, of all threads, also of those that have exited */
	uint64_t waited; /**< ns, runnable but not running; of the threads that exist */
};

struct cost {
	struct arena *arena;
	int stats; /**< keeps the kernel counting, or -1 */
	int only;  /**< the PID of the only process whose probes fire; 0: others may */
	VEC(struct cost_probe) probes;
	VEC(struct cost_program) programs;
	uint64_t began, before, now; /**< CLOCK_MONOTONIC, ns: cost_open(), the last two reads */
	struct cputime cpu_began, cpu_before, cpu_now; /**< of `only`, likewise */
};

/** Has the kernel count. False, with errno, if it does not or must not. */
bool cost_begin(struct arena *a, struct cost *c);
/**
 * Finds the programs of the bpftrace @pid, which has attached them to @names, patterns among these. @only as in struct cost.
 * False, with errno: not all.
 */
bool cost_open(struct cost *c, pid_t pid, const cost_names *names, int only);
/** Reads the kernel's numbers. */
void cost_read(struct cost *c);
/** What was used between the last two reads, or if @all since cost_open(), as a share. */
double cost_share(const struct cost *c, bool all);
/** Hits a second between the last two reads. */
double cost_rate(const struct cost *c);
/**
 * What the process could have of a processor between the last two reads: all of it or, on a full machine, what it ran.
 * There its threads waited for a processor for longer than that, and did one or the other at least half of the time, which
 * a process that sleeps does not.
 */
double cost_available(const struct cost *c);
/**
 * Adds lines "usdt:app:query: 41200 hits/s, 1.05 us a hit, 4.3 %", most expensive first, without those
 * below a hundredth of the whole.
 */
void cost_write_text(const struct cost *c, bool all, struct strbuf *ret);
/** {"cost": ...}, docs/records.md. */
void cost_write_json(const struct cost *c, struct strbuf *ret);
void cost_end(struct cost *c);
