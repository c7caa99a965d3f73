/**
 * semaphore - counters of a file that the kernel raises while somebody holds a descriptor.
 *
 * A uprobe can name a 16-bit counter in the file (ref_ctr_offset of perf_event_open(2), since Linux
 * 4.20), which the kernel adds 1 to in each process that it is for, also in those that map the file
 * later. It takes that back when the descriptor is closed, as it is when we are killed.
 */
#ifndef KERNEL_SEMAPHORE_H
#define KERNEL_SEMAPHORE_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Raises the counter at the offset @counter of the file @path in the process @pid, -1: in all, by a uprobe without a
 * program at the instruction at @place. A descriptor, or -1 with errno.
 */
int semaphore_raise(const char *path, uint64_t place, uint64_t counter, pid_t pid);

#endif
