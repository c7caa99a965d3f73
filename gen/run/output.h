/**
 * output - where the data of a run go.
 *
 * A file is tried when the run starts and touched only when the probes are attached: a run that
 * fails leaves it as it was. Writing never blocks for longer than the caller has polled for, so
 * that ^C is heard while a reader does not read.
 */
#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct output {
	const char *path; /**< NULL: stdout */
	int fd;		  /**< -1: the file is not made yet */
	bool is_new;	  /**< the file did not exist before */
	off_t part;	  /**< bytes written since the last end of a line */
};

/** Opens @path (NULL for stdout) without changing it; one that does not exist is only tried for. */
bool output_open(struct arena *a, struct diag *d, const char *path, struct output *ret);
/** The file is wanted now: empties or makes it. */
bool output_begin(struct diag *d, struct output *o);
/**
 * Writes the first bytes of @data, at most as many as a pipe takes whole when poll() has said
 * POLLOUT. Returns their number, 0 for "not now", -1 with errno.
 */
ssize_t output_write(struct output *o, struct str data);
/** A disk is full: takes the start of a line off the end of a file. */
void output_cut_part(struct output *o);
/** Writes all of @data to @fd, for small things that go elsewhere; false with errno. */
bool output_write_all(int fd, struct str data);
void output_close(struct output *o);

#endif
