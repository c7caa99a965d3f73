/**
 * loss - how many events bpftrace's programs could not hand over, by the counter that they keep in
 * the kernel.
 *
 * What bpftrace says itself is not to be relied on: 0.27 leaves one processor out, and before 0.24
 * it says so in a line among the data, which the traced program could print as well. The counter is
 * a map of its own (from 0.22 or so on), which lives as long as we hold it open: bpftrace may be
 * gone when it is read.
 */
#ifndef RUN_LOSS_H
#define RUN_LOSS_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * A descriptor of the counter of the bpftrace @pid, to be closed; -1 when it has none, or may not
 * be looked at.
 */
int loss_open(pid_t pid);
/** The events lost so far; false when it cannot be read. */
bool loss_read(int map, unsigned long long *ret);

#endif
