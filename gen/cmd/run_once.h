/**
 * run_once - one run of bpftrace under btgen: what it is given of the options and the program made, and who reads what it prints.
 */
#pragma once

#include "cmd/run_options.h"
#include "run/run.h"

/** What is known of the traces before this one: with --follow it is one of a series. */
struct series {
	struct output_begun begun; /**< the file of -o */
	bool was_ready;		   /**< any of them: it was reported */
	uint64_t started;	   /**< when the last program was, see struct proc */
	struct str build;	   /**< build-id of the last program, empty: none or unknown */
	const char *note;	   /**< about this build, or NULL */
	struct str name;	   /**< of the program */
	struct str path;	   /**< of the last one */
	VEC(uid_t) users;	   /**< of all that were traced */
	unsigned long long over;   /**< ms: when -T is over, on the clock of clock_ms(); 0: never */
	struct run_end end;
};

/**
 * Runs the program of @x; returns the status of the command. @child: what -c has started; @share: as struct run_config has
 * it. What the run was is added to @series.
 */
int run_once(struct arena *a, struct diag *d, struct run_options *o, const struct bpftrace *bt,
	     struct expansion *x, struct spawned *child, const struct output_share *share,
	     struct series *series);
