/**
 * upgrade - a trace of a file goes on when the file is replaced.
 *
 * Probes are on an inode. A package manager renames a new file over the path and restarts the service, whose
 * new processes have no probes then. The traced file is looked at twice a second; a new one gets a bpftrace of
 * its own, with the types of its build, and both write into one output (run/output.h). That of the old file
 * ends when no process runs it any more.
 *
 * A cgroup is no path: there the processes are looked at, and whether the group was made anew, as systemd does.
 */
#pragma once

#include <signal.h>

#include "run/output.h"

/** One build, traced by a process of its own. */
struct upgrade_build {
	size_t i;		   /**< 0: the first */
	int pid;		   /**< of a cgroup: a process that runs it; else 0 */
	unsigned long duration;	   /**< ms, 0: none */
	struct output_share share; /**< without the heading */
	int ready_fd;
};

struct upgrade {
	struct arena *arena;
	struct diag *diag;
	const char *file;    /**< of -x, or NULL */
	const char *cgroup;  /**< of --cgroup, or NULL */
	uint64_t group;	     /**< its number */
	struct str name;     /**< of the program in it that is traced */
	struct stat first;   /**< the file that is traced first */
	struct str build;    /**< its build ID */
	const char *why_one; /**< only it can be traced: "-f perfetto handles one build"; or NULL */
	/** Two builds would both be shown what they have in common, unless the cgroup was made anew; or NULL. */
	const char *why_shared;
	bool quiet;		/**< no messages but warnings */
	unsigned long duration; /**< ms that the whole trace takes; 0: until ^C */
	sigset_t signals;	/**< these end it */
	int (*trace)(
	    void *ctx,
	    const struct upgrade_build *b); /**< returns the exit status, or JOBS_NOT_BEGUN */
	void (*ready)(void *ctx);
	void *ctx;
	struct str heading; /**< of the first */
};

/** Traces until all have ended; the exit status. *@is_missed: something that should have been traced was not. */
int upgrade_run(const struct upgrade *u, bool *is_missed);
