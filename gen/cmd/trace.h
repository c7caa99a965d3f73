/**
 * trace - `bpftrace.sh -t PATTERN`: strace for probes, the skeleton of matching probes run as it
 * is.
 */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include "template/skeleton.h"
#include "marks/records.h"

/**
 * A template for the probes of @files that match, and the decoder of what it prints; both live in
 * @a. Errors as skeleton_collect() says them.
 */
bool trace_make(struct arena *a, struct diag *d, struct targetfiles *files, unsigned version,
		const char *const *patterns, size_t n, bool json, struct records **records,
		struct str *program);

#endif
