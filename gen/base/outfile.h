/**
 * outfile - a result written to a file all at once, or not at all.
 *
 * The text goes into a private file beside @path, which is renamed when everything is on disk: a
 * reader never sees half of it, and an error leaves what was there before. What is not a regular
 * file (a pipe, /dev/stdout) is written to directly. A program or library is never replaced: its
 * name was given by mistake.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/diag.h"

/** Writes @text to @path, or to standard output when @path is NULL or "-"; an error is said. */
bool outfile_write(struct arena *a, struct diag *d, const char *path, struct str text);

/** The same piece by piece. */
struct outfile {
	const char *path;
	char *temp; /**< the private file; NULL: written to directly */
	int fd;
	unsigned mode;
	bool has_failed; /**< which was said */
};

bool outfile_begin(struct arena *a, struct diag *d, const char *path, struct outfile *ret);
bool outfile_add(struct diag *d, struct outfile *o, struct str text);
/** After outfile_begin(), in any case; not @is_wanted: what there was stays. False: nothing new is there. */
bool outfile_end(struct diag *d, struct outfile *o, bool is_wanted);

/**
 * @path is an ELF file: false, with an error that says so; true when it is none or cannot be read.
 */
bool outfile_check(struct diag *d, const char *path);
/** May a file be written at @path, new or as it is? false, with an error after @option, "-o". */
bool outfile_may_write(struct arena *a, struct diag *d, const char *option, const char *path);
/** Two names of one regular file. */
bool outfile_is_same(const char *path, const char *other);

#endif
