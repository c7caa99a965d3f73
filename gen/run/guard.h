/**
 * guard - ends bpftrace when btgen is gone without having done so (kill -9).
 *
 * A process of its own that does nothing else. The kernel could only kill bpftrace
 * (PR_SET_PDEATHSIG), in the middle of a detach, too, which leaves breakpoints in the traced
 * process; and a signal that bpftrace may handle is lost by 0.17 while it attaches. The guard asks
 * as ^C does, until it is heard.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid;
	int lifeline; /**< closes with btgen */
};

/** Starts it for the bpftrace @pid; it goes away with bpftrace. */
void guard_start(struct guard *g, pid_t pid);
/** bpftrace is gone. */
void guard_end(struct guard *g);

#endif
