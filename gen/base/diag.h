/**
 * diag - errors, warnings and notes for the user.
 *
 * An error is reported once, by the code that knows most about it; the caller gets false and passes
 * it on:
 *
 *	return diag_error(d, &place, "unknown probe \"" STR_FMT "\"", STR_ARG(name));
 *
 * prints `bpf/nvmf.bt:14:7: error: ...`, the line and a caret. After DIAG_MAX_ERRORS errors the
 * rest are counted but not shown. Nothing here exits. Every message and line is escaped before it
 * reaches a terminal.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

#define DIAG_MAX_ERRORS 20

/** Where in a text; `line` 0 when only the file (or a place in a binary, as text) is known. */
struct diag_place {
	struct str
	    file; /**< as the user wrote it, or "path:.section+0x1c4"; empty: no text of the user's */
	unsigned line;	   /**< from 1, or 0 */
	unsigned col;	   /**< from 1, in bytes; 0 when only the line is known */
	unsigned len;	   /**< bytes to underline, at least 1 */
	struct str source; /**< the whole line without its newline; empty when it is not at hand */
};

struct diag {
	FILE *out; /**< where messages go, not owned; NULL: they are only counted */
	unsigned n_errors, n_warnings;
	bool quiet;	  /**< warnings and their notes are counted, not shown */
	bool last_hidden; /**< notes follow the fate of the message before them */
};

void diag_init(struct diag *d, FILE *out);
/** @at may be NULL. All return false, so that a caller can pass it on. */
bool diag_error(struct diag *d, const struct diag_place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool diag_warning(struct diag *d, const struct diag_place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Belongs to the error or warning before it. */
bool diag_note(struct diag *d, const struct diag_place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
