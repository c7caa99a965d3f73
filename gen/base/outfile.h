/**
 * outfile - every file that is written, whose name the user gave.
 *
 * The path is looked up once: the directory is opened, and all else is done in it, so that nobody can put
 * another file there between a look and the write. A pipe or a character device is written to. A
 * program, a script, a block device is refused: its name was given by mistake. As root, what another user
 * could have prepared is refused, too (file_is_trusted()): a symbolic link that is not root's, and a file of
 * another user or with several hard links in a directory in which others can write. What /dev/stdout and
 * /dev/fd/N lead to is this process's own descriptor, as it is.
 *
 * A result is written all at once, or not at all:
 *
 *	outfile_write(&arena, &diag, "-o", path, text);
 *
 * The text goes into a private file beside @path, which is renamed when everything is on disk: a
 * reader never sees half of it, and an error leaves what was there before. A trace grows in its place:
 *
 *	outfile_open(&arena, &diag, "-o", path, &o);	// nothing is changed
 *	outfile_empty(&arena, &diag, &o);		// o.fd is for the data
 */
#pragma once

#include <sys/stat.h>

#include "base/diag.h"

struct outfile {
	const char *option, *path; /**< as given; for messages */
	int fd;			   /**< -1: not made yet */
	int dir;		   /**< where it is, opened once; and its name there */
	const char *name;
	struct stat st;	     /**< of the file there; st_mode is 0 if there is none */
	const char *foreign; /**< as root: who else can put files into the directory; or NULL */
	const char *why;     /**< "a script: not overwritten", if it is refused */
	const char *no_dir;  /**< a directory of @path that does not exist */
	char *temp;	     /**< the private file; NULL: written to directly */
	unsigned mode;
	bool is_descriptor; /**< the name is a link of /proc to an open file */
};

/** Writes @text to @path, or to standard output when @path is NULL or "-". @option, "-o", is for errors. */
bool outfile_write(struct arena *a, struct diag *d, const char *option, const char *path,
		   struct str text);

/** Opens @path to append to it, without a change; a file that does not exist is only tried for. A FIFO waits for its reader. */
bool outfile_open(struct arena *a, struct diag *d, const char *option, const char *path,
		  struct outfile *ret);
/** After outfile_open(): empties the file, or makes it. */
bool outfile_empty(struct arena *a, struct diag *d, struct outfile *o);
/** Instead of it: goes on after what is in the file, which must be @ours where others can put files. */
bool outfile_resume(struct diag *d, struct outfile *o, const struct stat *ours);
/** After outfile_open(), also one that failed. False, with errno, when only now it turns out that something cannot be written. */
bool outfile_close(struct outfile *o);

/** Can @path be written, new or as it is? Changes nothing, opens no device. */
bool outfile_may_write(struct arena *a, struct diag *d, const char *option, const char *path);
/** Empties or makes @path and writes @text, without waiting for a FIFO's reader; what fails is a warning. */
void outfile_notify(struct diag *d, const char *option, const char *path, struct str text);

/** Two names of one regular file. */
bool outfile_is_same(const char *path, const char *other);
