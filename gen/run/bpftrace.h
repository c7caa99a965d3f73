/**
 * bpftrace - which bpftrace to run, and what version it is.
 */
#pragma once

#include "base/diag.h"

/** Exit statuses of the shell for a program that cannot be run, or is not there. */
enum { RUN_NOT_RUNNABLE = 126, RUN_NOT_FOUND = 127 };

/** From this version on it reports itself that it is attached, and on stderr, as all its messages. */
enum { BPFTRACE_SAYS_ATTACHED = 24 };

struct bpftrace {
	const char *path; /**< absolute, or as given */
	unsigned version; /**< see dialect/dialect.h; 0 when it does not say */
};

/**
 * Finds bpftrace: @wanted if not NULL, else $BTGEN_BPFTRACE, else the one that configure was given,
 * else $PATH. Its version is remembered until the next boot, for as long as it is the same file, in
 * $XDG_RUNTIME_DIR or /run, if only this user can write there. Returns 0, or RUN_NOT_FOUND / RUN_NOT_RUNNABLE after reporting why.
 * Not @may_recall: it is run even where a version that is remembered would do: does it run at all?
 */
int bpftrace_find(struct arena *a, struct diag *d, const char *wanted, bool may_recall,
		  struct bpftrace *ret);
/** An unmeasured version is treated as DIALECT_NEWEST; this reports it. */
void bpftrace_note_newer(struct diag *d, unsigned version);
