/**
 * await - wait until a program runs.
 *
 * For -w and --follow: looks at the processes there are, fifty times a second, until one has the
 * name.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/diag.h"

struct awaited {
	const char *name; /**< of the program, see proc_find_named() */
	uint64_t after;	  /**< started later than this, in clock ticks after boot */
	const int *known; /**< and none of these */
	size_t n_known;
	/** Only of these users or root, or children of such a process; none: of any. Others are reported to @diag. */
	const uid_t *users;
	size_t n_users;
	struct diag *diag;
	unsigned long deadline; /**< ms of CLOCK_MONOTONIC; 0: none */
	sigset_t signals;	/**< these end it */
};

/**
 * The processes that are @what, in @a, once there are any and the first of them has all its
 * libraries; their number in *@n. NULL: a signal came, its number is in *@sig, SIGALRM at the
 * deadline.
 */
int *await_process(struct arena *a, const struct awaited *what, size_t *n, int *sig);
