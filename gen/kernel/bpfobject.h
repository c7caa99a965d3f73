/** bpfobject - the BPF objects, maps and programs, whose descriptors another process has. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum bpfobject { BPFOBJECT_MAP, BPFOBJECT_PROGRAM };

/** @fd is @fn's to close. False: no more are wanted. */
typedef bool bpfobject_fn(void *ctx, int fd);

/**
 * Calls @fn for each of these objects of the process @pid; one that it has two descriptors of may
 * come twice. Returns the last error: 0, or why one could not be opened.
 */
int bpfobject_walk(pid_t pid, enum bpfobject kind, bpfobject_fn *fn, void *ctx);
