/**
 * spawn - start a program and hold it before its first instruction, for `-c COMMAND`.
 *
 * The program is stopped where the dynamic loader hands over to it: its libraries are mapped, so
 * their probes can be found, and no instruction of its own has run. Where the command only starts
 * the program that is meant (a shell, timeout, sudo), the next one that it starts can be held
 * instead, until there are no more.
 *
 *	struct spawned s;
 *	bool good = spawn_held(&arena, &diag, "timeout 2 app --opt 'a b'", &s);
 *	while (good && (spawn_is_wrapper(&s) || !is_meant(s.target)))
 *		good = spawn_next(&s);
 *	if (good) {
 *		spawn_keep(&s);
 *		...attach to s.target...
 *		spawn_release(&s);
 *	}
 *	spawn_end(&s, &ends);
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/diag.h"

/** A task that we trace with ptrace(2). */
struct spawned_task {
	pid_t tid;
	uint64_t entry; /**< where its breakpoint is; 0: it has none */
	long word;	/**< what was there */
};

struct spawned {
	struct arena *arena;
	pid_t pid;     /**< the command, our child; 0 when there is none, or none any more */
	pid_t target;  /**< the program that is held: the command, or one that it has started */
	int target_fd; /**< a pidfd of @target where that is not our child, else -1 */
	bool held;     /**< it waits for spawn_release() */
	bool is_early; /**< before its entry point, where another trace has a uprobe */
	VEC(struct spawned_task) tasks;
	VEC(pid_t) ended; /**< tasks that ended before spawn_keep(), for spawn_reap() */
};

/**
 * Splits @command as a shell does (quotes, variables, ~; no pipes, no redirections), starts it and
 * stops it at its entry point. An error is reported when it cannot be run.
 */
bool spawn_held(struct arena *a, struct diag *d, const char *command, struct spawned *ret);
/** Is it there to start another, as timeout, sudo, a shell with -c? By its name. */
bool spawn_is_wrapper(const struct spawned *s);
/**
 * Lets the program go on, and holds the next one that it, or what it has started, becomes by
 * exec(). False when there is none: all have ended.
 */
bool spawn_next(struct spawned *s);
/** It is the one: the others run on, no longer traced. */
void spawn_keep(struct spawned *s);
/**
 * To be called at each SIGCHLD. A tracer cannot detach from a task that has ended: a thread, or a process
 * whose other threads still run. Until the tracer has waited for it, the process has not ended for its parent.
 */
void spawn_reap(struct spawned *s);
void spawn_release(struct spawned *s);
/**
 * Ends the programs if they still run (SIGTERM, after two seconds SIGKILL). A command whose program has
 * ended goes on until it ends, or one of @ends comes, which must be blocked.
 */
void spawn_end(struct spawned *s, const sigset_t *ends);
