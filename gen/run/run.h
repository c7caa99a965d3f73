/**
 * run - one bpftrace, from start to exit status.
 *
 * The program goes to bpftrace through a descriptor, so no file is left anywhere. Nothing of the output
 * file is touched before the probes are attached. bpftrace ends with us: it gets a signal when we are
 * interrupted, and the kernel sends it one when we are killed.
 */
#pragma once

#include "run/config.h"

/** Exit statuses: of a trace that has lost events, with loss_fails; of one above its ceiling. */
enum { RUN_LOST = 3, RUN_TOO_COSTLY = 4 };

/** How a trace has ended. */
struct run_end {
	bool is_gone; /**< because the target has; also one that could not be attached to in time */
	bool was_ready; /**< data were written */
	bool was_cut;	/**< but not all of them: on a full disk, or after a second signal */
	uint64_t n_events;
	uid_t user; /**< of the target, when last looked at; (uid_t)-1: not known */
};

/** Runs it to its end, described in *@end; returns the exit status for the shell. Errors are reported through @d. */
int run_program(struct arena *a, struct diag *d, const struct run_config *cfg, struct run_end *end);
