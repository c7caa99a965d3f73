/**
 * jobs - one command that is several processes, which work side by side and end together.
 *
 * Each of them reports that it is ready by a line in its ready_fd. They are in process groups of their own:
 * a signal comes to the parent, from a terminal or elsewhere, and is passed on once. When the parent is
 * killed they get SIGTERM.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct jobs;

/** Exit status of one that was added later and has not begun: the others go on. */
enum { JOBS_NOT_BEGUN = 125 };

struct jobs_work {
	size_t n; /**< processes at the start */
	/** What the @i-th does; returns its exit status. */
	int (*work)(void *ctx, size_t i, int ready_fd);
	void (*all_ready)(void *ctx); /**< in the parent, once */
	void *ctx;
	sigset_t signals; /**< those that end the work; the parent goes on blocking them */
	/** In the parent, each look_ms until the work is ended: may add some. Then the end of any ends all. Or NULL. */
	void (*look)(void *ctx, struct jobs *jobs);
	int look_ms;
	void (*not_begun)(void *ctx, size_t i); /**< one of these: JOBS_NOT_BEGUN */
};

/** For look(): starts the next one, whose number is returned; -1 with errno. */
int jobs_add(struct jobs *jobs);
/** For look(): ends the @i-th, as ^C does. The others go on. */
void jobs_end(struct jobs *jobs, size_t i);

/**
 * Returns when all have ended: with the first exit status that is not 0, or 0. One that fails before
 * all are ready ends the others. -1, with errno, when they cannot be started.
 */
int jobs_run(const struct jobs_work *w);
