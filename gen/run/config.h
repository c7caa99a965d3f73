/** config - what one run of bpftrace is to be. */
#ifndef RUN_CONFIG_H
#define RUN_CONFIG_H

#include "out/emit.h"
#include "run/bpftrace.h"
#include "marks/codemark.h"
#include "marks/records.h"
#include "run/spawn.h"
#include "target/proc.h"

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

#endif
