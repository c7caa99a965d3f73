/**
 * kin - processes that run the same program: the ones of a server that forks, which are traced together.
 */
#ifndef TARGET_KIN_H
#define TARGET_KIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/** Do both processes run the same executable file? False when one of them is gone or may not be looked at. */
bool kin_run_same_file(int pid, int other);
/** How many children of @pid run the same executable file. */
unsigned kin_count_children(int pid);
/**
 * Moves those of @pids to the front that are no children of another of them which runs the same file, and returns how
 * many they are: 1 when all but one are the children of that one.
 */
size_t kin_parents_first(int *pids, size_t n);
/**
 * The processes whose executable or main thread (which is called after the link that was run) has this name, in @a;
 * their number in *@n.
 */
int *kin_find(struct arena *a, const char *name, size_t *n);

#endif
