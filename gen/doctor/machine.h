/**
 * machine - can this machine trace: its kernel, what this user may do, its bpftrace; and can this process be traced
 * (process.c): is it there, may it be looked into, and what of it can bpftrace attach to, probe by probe.
 *
 * Reads /proc and /sys only, below directories that the caller names, so that tests can bring their
 * own. That bpftrace refuses, or does without, was measured with 0.17.0, 0.23.2 and 0.27.1.
 */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

#include "doctor/finding.h"
#include "doctor/privilege.h"
#include "run/bpftrace.h"

struct machine {
	struct findings *out;
	const char *procfs;   /**< "/proc" */
	const char *root;     /**< the directory that has "sys"; NULL: our own root */
	const char *bpftrace; /**< the one to use, NULL: see bpftrace_find() */

	// Set by machine_examine():
	struct bpftrace found;	    /**< version 0: none that runs */
	unsigned kernel;	    /**< 6018: Linux 6.18; 0: not known */
	struct privilege privilege; /**< of the bpftrace that would be run */
};

/** Adds what is found to m->out. */
void machine_examine(struct machine *m);
/**
 * Adds what is found of process @pid to @f. @version: of the bpftrace that would attach; 0: there
 * is none, and whether it could is not asked.
 */
void process_examine(struct findings *f, const char *procfs, int pid, unsigned version);

#endif
