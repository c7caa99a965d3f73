/**
 * ready - when all probes are attached, and the report of it: a line, a file, a descriptor.
 *
 * bpftrace sets up, runs BEGIN, attaches, reports it (relay.h), and only then waits for events with
 * epoll_wait and prints any: when its main thread is in that system call, it has nothing left to do.
 */
#pragma once

#include "run/config.h"

/**
 * What bpftrace prints when all probes are attached, if there is a variable of this name: up to
 * 0.22 on stderr, 0.23 on stdout. Newer ones print "Attached N probes" on stderr.
 */
#define READY_ATTACHED "__BPFTRACE_NOTIFY_PROBES_ATTACHED"

/** Does the process @pid wait for events? */
bool ready_is_waiting(pid_t pid);
/** Reports it to the user, --ready-file and --ready-fd, and lets a held command go. */
void ready_report(struct diag *d, const struct run_config *cfg);
/** Of these, only --ready-file (or NULL) and --ready-fd (or -1). */
void ready_pass_on(struct diag *d, const char *file, int fd);
