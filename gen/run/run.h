/**
 * run - one bpftrace, from start to exit status.
 *
 * The program goes to bpftrace through a descriptor, so no file is left anywhere. Nothing of the output
 * file is touched before the probes are attached. bpftrace ends with us: it is told to when we are
 * interrupted, and the kernel tells it when we are killed.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "out/emit.h"
#include "run/bpftrace.h"
#include "marks/codemark.h"
#include "marks/records.h"
#include "run/spawn.h"
#include "target/proc.h"

/** A program of a bpftrace that tells of loss late prints nothing this often, on every processor. */
enum { RUN_HEARTBEAT_HZ = 5 };

struct run_config {
	const struct bpftrace *bpftrace;
	struct str program;
	const struct linemap *map; /**< NULL: the program is no template's */
	struct proc *proc;	   /**< the target, or NULL */
	bool pass_pid;		   /**< bpftrace is given -p: the process of @proc */
	const char
	    *exe; /**< with no process: the file all of whose processes are traced, or NULL */
	struct spawned *child;	   /**< program to release once attached, or NULL */
	const char *out_path;	   /**< file for the data, or NULL for stdout */
	const char *ready_file;	   /**< file to write once attached, or NULL */
	int ready_fd;		   /**< descriptor to write a line to once attached, or -1 */
	bool quiet;		   /**< no messages but errors and lost events */
	struct codemark *codemark; /**< the program prints marks: name them; or NULL */
	struct records *records;   /**< the program prints records: decode them; or NULL */
	bool has_heartbeat;	   /**< of RUN_HEARTBEAT_HZ */
	unsigned max_strlen;	   /**< longest string to be shown; 0: bpftrace's default */
	char **args;		   /**< positional parameters of the script, ends in NULL */
};

/** Runs it to its end; returns the exit status for the shell. Errors are said through @d. */
int run_program(struct arena *a, struct diag *d, const struct run_config *cfg);

#endif
