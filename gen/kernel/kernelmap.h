/**
 * kernelmap - maps of bpftrace's programs that btgen reads, and one that it sets.
 *
 * Events lost: the reports of bpftrace are not reliable. 0.27 leaves one processor out, and before 0.24
 * they are lines among the data, which the traced program could print as well. The counter is a map of its
 * own (from 0.22 or so on).
 *
 * The gate (record/shape.h): a script's @gate is a map that all versions make alike (a hash; keys and
 * values of 8 bytes), under 15 characters of its name with AT_ for the @.
 *
 * A map lives as long as we hold it open: bpftrace may be gone when it is read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * The map that the script of the bpftrace @pid calls @name, as "@gate", or (NULL) the counter; to be
 * closed. -1, with errno.
 */
int kernelmap_open(pid_t pid, const char *name);
/** The events lost so far; false when it cannot be read. */
bool kernelmap_read_loss(int map, unsigned long long *ret);
/** Sets a map without keys; false, with errno. */
bool kernelmap_set(int map, uint64_t value);
/** Sets it if it is not @kept, to which the script itself may have set it. */
bool kernelmap_set_unless(int map, uint64_t kept, uint64_t value);
/** How many keys it has. */
uint64_t kernelmap_count_keys(int map);
