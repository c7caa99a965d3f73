/** config - what one run of bpftrace is to be. */
#pragma once

#include "text/program.h"
#include "run/bpftrace.h"
#include "run/ceiling.h"
#include "run/output.h"
#include "record/writer.h"
#include "process/spawn.h"
#include "process/resident.h"

struct run_config {
	const struct bpftrace *bpftrace;
	struct str program;
	const struct linemap *map;    /**< NULL: the program is no template's */
	struct proc *proc;	      /**< the target, or NULL */
	const struct proc *ends_with; /**< the process whose end ends the trace, or NULL */
	const struct proc_id *all; /**< instead of @ends_with: the last one's end does; or NULL */
	size_t n_all;
	bool is_unsafe;			  /**< and --unsafe, which its attach points need */
	bool pass_pid;			  /**< bpftrace is given -p: the process of @proc */
	struct spawned *child;		  /**< program to release once attached, or NULL */
	const char *out_path;		  /**< file for the data, or NULL for stdout */
	const struct output_share *share; /**< others write there, too; or NULL */
	struct output_begun *begun;	  /**< whether the file has data of this run already */
	const char *attached_to; /**< reported once it is attached: "attached to a (PID 1)" */
	const char *ready_file;	 /**< file to write once attached, or NULL */
	int ready_fd;		 /**< descriptor to write a line to once attached, or -1 */
	bool quiet;		 /**< no messages but errors and lost events */
	unsigned long duration;	 /**< ms after which the trace ends as by ^C; 0: never */
	uint64_t n_events;	 /**< lines of events after which it ends likewise; 0: any number */
	bool has_summary;	 /**< the number of events is reported at the end */
	struct str attached;   /**< names of probes and "was" or "were", for a message; or empty */
	bool loss_fails;       /**< lost events are an error: the status is RUN_LOST */
	bool has_family;       /**< what @proc forks is traced, too */
	bool names_one;	       /**< the script has __PID__: --children is refused */
	bool has_skipped;      /**< probes that were asked for are not traced: likewise */
	struct writer *writer; /**< turns what the program prints into what the user gets */
	const char *gate;      /**< set when events no longer count, record/shape.h; or NULL */
	bool is_gate_shut;     /**< they count only once it is set, too */
	/** The map whose keys are operations begun and not ended, whose number is reported; or NULL. */
	const char *under_way;
	bool has_calls; /**< the writer makes a tree of calls */
	struct ceiling ceiling;
	bool has_account;	   /**< what it has cost is measured, and in JSON at the end */
	bool is_verbose;	   /**< and among the messages */
	cost_names cost_names;	   /**< the probes, for that */
	unsigned long keep_ms;	   /**< how long lines are kept; 0: all go out */
	size_t keep_size;	   /**< bytes for that */
	bool is_estimate;	   /**< the account is all that is wanted, and goes to stdout */
	unsigned max_strlen;	   /**< longest string to be shown; 0: bpftrace's default */
	struct resident *resident; /**< pages that the program may read, of processes; or NULL */
	bool needs_kernel_types;   /**< the program has, or may have, types of the kernel */
	char **args;		   /**< positional parameters of the script, ends in NULL */
};
