/**
 * jobs - one command that is several processes, which work side by side and end together.
 *
 * Each of them says when it is ready by a line in its ready_fd. They are in process groups of their own:
 * a signal comes to the parent, from a terminal or elsewhere, and is passed on once. When the parent is
 * killed they get SIGTERM.
 */
#ifndef BASE_JOBS_H
#define BASE_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct jobs_work {
	size_t n; /**< processes */
	/** What the @i-th does; returns its exit status. */
	int (*work)(void *ctx, size_t i, int ready_fd);
	void (*all_ready)(void *ctx); /**< in the parent, once */
	void *ctx;
	sigset_t signals; /**< those that end the work; the parent goes on blocking them */
};

/**
 * Returns when all have ended: with the first exit status that is not 0, or 0. One that fails before
 * all are ready ends the others. -1, with errno, when they cannot be started.
 */
int jobs_run(const struct jobs_work *w);

#endif
