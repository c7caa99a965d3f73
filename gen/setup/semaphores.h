/**
 * semaphores - raises the semaphores of a program's probes that bpftrace leaves at 0.
 *
 * bpftrace up to 0.23 raises the first one of a probe whose sites have several (usdt/unraised.h). The
 * others are raised here, by the kernel, while this process holds a descriptor for each.
 *
 *	raised_list raised = {0};
 *	semaphores_raise(diag, bind, pid, &raised);	// 10 to 20 ms each
 *	...
 *	... close() of each lowers it
 */
#pragma once

#include "bind/bind.h"
#include "usdt/unraised.h"

/** Descriptors that hold them up. */
typedef VEC(int) raised_list;

/** Adds those of the probe of @m that this bpftrace does not raise, and returns how many they are. */
size_t semaphores_find_unraised(struct arena *a, const struct bind *b, const struct attach_match *m,
				unraised_list *ret);
/**
 * Raises those of all probes in the process @pid, -1: in each that runs the file. A probe of which one
 * cannot be raised is warned of and counts as skipped: given->files->skipped.
 */
void semaphores_raise(struct diag *d, const struct bind *b, pid_t pid, raised_list *ret);
