/** run_options - the command line of `btgen run`, read and checked for what does not go together. */
#pragma once

#include "cmd/expand.h"
#include "doctor/privilege.h"
#include "run/config.h"

struct run_options {
	struct expand_request req;
	// What options say of these; the rest is 0.
	struct run_config run;
	struct writer_config output;
	const char *command, *bpftrace;
	const char *format; /**< of -f, or NULL */
	bool converts;	    /**< that is no format of ours, but made of JSON at the end */
	bool lists;	    /**< -l */
	const char *facts;  /**< --facts: where /proc is looked for, "" for /; or NULL */
	bool no_run, echo;
	bool has_time, no_time; /**< --time, --time none */
	bool has_ceiling;	/**< --max-cost or --max-rate is given */
	const char *trigger;	/**< --trigger, or NULL */
	bool waits, follows;	/**< -w, --follow */
	const char *awaited;	/**< with `waits`: a program that does not run yet, or NULL */
	struct privilege may;	/**< what bpftrace is allowed to do */
	bool can_gate;		/**< btgen may set a map of bpftrace's */
	struct shapes shapes;	/**< of a script that is run */
	word_list words;	/**< scripts, and maybe a program's name */
};

/** Reads all of it into @o, with `lists` no more than the words; -1, or the exit status when nothing is left to do. */
int run_options_read(int argc, char **argv, struct run_options *o);
/** The program, for the process that is held or, if there is none, those that were given; as expand_run(). */
bool run_options_expand(struct arena *a, struct diag *d, struct run_options *o,
			struct expansion *x);
