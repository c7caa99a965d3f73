/**
 * spawn - start a program and hold it before its first instruction, for `-c COMMAND`.
 *
 * The program is stopped where the dynamic loader hands over to it: its libraries are mapped, so
 * their probes can be found, and no instruction of its own has run.
 *
 *	struct spawned s;
 *	if (spawn_held(&arena, &diag, "app --opt 'a b'", &s)) {
 *		...attach to s.pid...
 *		spawn_release(&s);
 *	}
 */
#ifndef RUN_SPAWN_H
#define RUN_SPAWN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"

struct spawned {
	pid_t pid; /**< 0 when there is none */
	bool held; /**< it waits for spawn_release() */
};

/**
 * Splits @command as a shell does (quotes, variables, ~; no pipes, no redirections), starts it and
 * stops it at its entry point. An error is reported when it cannot be run.
 */
bool spawn_held(struct arena *a, struct diag *d, const char *command, struct spawned *ret);
void spawn_release(struct spawned *s);
/** Ends the program if it still runs (SIGTERM, after two seconds SIGKILL) and reaps it. */
void spawn_end(struct spawned *s);

#endif
