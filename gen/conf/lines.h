/**
 * lines - a list that people write, line by line.
 *
 * Comments, from a # at the start of a line or after a blank, are left out, and so are blanks at both ends
 * and lines with nothing else.
 *
 *	struct lines l;
 *	bool good = lines_open(arena, diag, path, "of probes", &l);
 *	while (good && lines_next(&l))
 *		good = parse(l.text, &l.at);
 */
#pragma once

#include "base/diag.h"

struct lines {
	struct str text;      /**< of the line, a part of at.source */
	struct diag_place at; /**< the line, without a column */
	struct str rest;      /**< lines that are still to come */
};

/**
 * Reads the file @path, which lives in @a. An error is reported for one that cannot be read or that
 * is no text of up to 1 MiB: no list that people write ("of enums": @what) is as long.
 */
bool lines_open(struct arena *a, struct diag *d, const char *path, const char *what,
		struct lines *ret);
/** The next line; false at the end. */
bool lines_next(struct lines *l);
