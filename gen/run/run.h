/**
 * run - one bpftrace, from start to exit status.
 *
 * The program goes to bpftrace through a descriptor, so no file is left anywhere. Nothing of the
 * output file is touched before the probes are attached. bpftrace ends with us: it gets a signal
 * when we are interrupted, and the kernel tells it when we are killed.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/config.h"

/**
 * A program of a bpftrace that tells of loss late prints nothing this often, on every processor.
 */
enum { RUN_HEARTBEAT_HZ = 5 };

/** Runs it to its end; returns the exit status for the shell. Errors are reported through @d. */
int run_program(struct arena *a, struct diag *d, const struct run_config *cfg);

#endif
