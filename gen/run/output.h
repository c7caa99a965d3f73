/**
 * output - where the data of a run go.
 *
 * A file is tried when the run starts and touched only when the probes are attached: a run that fails
 * leaves it as it was. A write never blocks for longer than the caller has polled for, so that ^C works
 * while a reader does not read.
 *
 * Several processes may share one output: they take turns, each writes whole lines in its turn, after a
 * heading with its name if the lines before are another's.
 */
#pragma once

#include <sys/types.h>

#include "base/outfile.h"

/** What those who share it have in common, in memory that they share. */
struct output_turns;

/** One that shares an output. */
struct output_share {
	struct output_turns *turns;
	int lock;	    /**< a file of no name */
	unsigned self;	    /**< its number, from 1 */
	struct str heading; /**< a whole line */
};

/** Traces of one run go into one file: which one, once it has data of them. */
struct output_begun {
	bool is_begun;
	struct stat file;
};

struct output {
	const char *path;    /**< NULL: stdout */
	int fd;		     /**< -1: the file is not made yet */
	struct outfile file; /**< of path */
	struct output_begun *begun;
	bool appends;			  /**< what is in the file stays */
	off_t part;			  /**< bytes written since the last end of a line */
	const struct output_share *share; /**< or NULL: not shared */
};

/**
 * Makes what processes that are forked from now on share; false with errno. @first: its lines have no heading
 * until another has written; or 0.
 */
bool output_share_new(struct output_share *ret, unsigned first);

/**
 * Opens @path (NULL for stdout) without changing it; one that does not exist is only tried for. @share:
 * it is not this process's alone; or NULL, and then @begun, which starts as 0, is kept for the next trace.
 */
bool output_open(struct arena *a, struct diag *d, const char *path,
		 const struct output_share *share, struct output_begun *begun, struct output *ret);
/** Is @path (NULL for stdout) a terminal? */
bool output_is_terminal(const char *path);
/** Opens the file for data: empties or creates it, or appends to what the run has written there. */
bool output_begin(struct arena *a, struct diag *d, struct output *o);
/**
 * Writes the first bytes of @data, at most as many as a pipe accepts whole after POLLOUT. Returns their
 * number, 0 for "not now", -1 with errno.
 */
ssize_t output_write(struct output *o, struct str data);
/**
 * Before output_write(): false while another has its turn. What is to be written first, a heading, is
 * added to @first. After the last of it, which should end a line, output_end_turn().
 */
bool output_begin_turn(struct output *o, struct strbuf *first);
void output_end_turn(struct output *o);
/** What is to follow will not come: takes the start of a line off the end of a file. */
void output_cut_part(struct output *o);
/** False, with errno, when only now it turns out that something cannot be written. */
bool output_close(struct output *o);
