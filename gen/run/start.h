/**
 * start - bpftrace as a child process: its arguments, its environment, its pipes.
 *
 * It gets the program through a descriptor of its own (no file is left anywhere), a process group
 * of its own (^C reaches it through us), no stdin, and ends when we are killed.
 */
#pragma once

#include "run/config.h"

struct started {
	pid_t pid;
	int out, err;		  /**< what it prints; to be closed by the caller */
	const char *program_name; /**< what it calls the program in messages */
};

/** False, with an error, if there is nothing to start it with; the exit status shows whether it could be run. */
bool start_bpftrace(struct arena *a, struct diag *d, const struct run_config *cfg,
		    struct started *ret);
