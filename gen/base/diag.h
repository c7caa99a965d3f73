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
 *
 * A finding is a message with a name (check/names.c), which the user can switch off, make an error,
 * or go on in spite of: `... error: there is no arg3  [argument]`.
 */
#pragma once

#include "base/map.h"

#define DIAG_MAX_ERRORS 20

struct json;

/** Where in a text; `line` 0 when only the file (or a place in a binary, as text) is known. */
struct diag_place {
	struct str file;   /**< as the user wrote it, or "path:.section+0x1c4", or empty */
	unsigned line;	   /**< from 1, or 0 */
	unsigned col;	   /**< from 1, in bytes; 0 when only the line is known */
	unsigned len;	   /**< bytes to underline, at least 1 */
	struct str source; /**< the whole line without its newline; empty when it is not at hand */
	/** The macro call that the text there came out of, for a note of its own; `file` empty: none */
	struct {
		struct str file, source;
		unsigned line, col, len;
	} macro;
};

/** The place that is given, for a message that is said right there: diag_at({.file = path}). */
#define diag_at(...) ((const struct diag_place[]){__VA_ARGS__})

enum diag_level { DIAG_OFF, DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

/** One that was kept instead of shown; a note belongs to what is before it. */
struct diag_message {
	enum diag_level level;
	const char *name;     /**< of a finding, or NULL */
	struct diag_place at; /**< its file is empty: of no place */
	struct str text;
};

struct diag_log {
	struct arena *arena;
	VEC(struct diag_message) messages;
};

/** What was said of a place: clauses of which there are several would say all of it several times. */
struct diag_once {
	struct arena *arena;
	struct map seen;
};

/** -W NAME, -W no-NAME */
struct diag_choice {
	const char *name;
	bool is_on;
};

struct diag {
	FILE *out; /**< where messages go, not owned; NULL: they are only counted */
	unsigned n_errors, n_warnings;
	bool quiet;	  /**< warnings and their notes are counted, not shown */
	bool last_hidden; /**< notes follow the fate of the message before them */
	bool is_coloured;
	bool is_strict;			   /**< -W error: a warning is an error */
	bool is_forced;			   /**< --force: a finding is a warning at most */
	const struct diag_choice *choices; /**< the last one about a name counts; not owned */
	size_t n_choices;
	struct json *json;		 /**< messages become objects of its open array; or NULL */
	bool in_json;			 /**< one of them is open, for notes */
	struct diag_once *once;		 /**< of one place the same is said once; or NULL */
	struct diag_log *log;		 /**< messages are kept there instead, or NULL */
	struct diag *warns;		 /**< messages are its, errors as warnings; or NULL */
	const char *const *for_versions; /**< of bpftrace, for which the next message is; or NULL */
	size_t n_versions;
	bool is_for_all; /**< these are all that were asked about: the message does not say so */
};

/** Coloured if @out is a terminal and neither NO_COLOR nor TERM=dumb is set. */
void diag_init(struct diag *d, FILE *out);
/** Ends the last object of d->json. */
void diag_end_json(struct diag *d);
/** Shows @m, which was counted when it was kept. */
void diag_show(struct diag *d, const struct diag_message *m);
/** A message at @at, which may be NULL. @name: of a finding, or NULL. */
bool diag_report(struct diag *d, enum diag_level level, const char *name,
		 const struct diag_place *at, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/** All are false, so that a caller can pass it on. */
#define diag_error(d, at, ...) diag_report(d, DIAG_ERROR, NULL, at, __VA_ARGS__)
#define diag_warning(d, at, ...) diag_report(d, DIAG_WARNING, NULL, at, __VA_ARGS__)
/** Belongs to the error or warning before it. */
#define diag_note(d, at, ...) diag_report(d, DIAG_NOTE, NULL, at, __VA_ARGS__)
/** A finding: @level is the default, which the user can change. False when it is an error. */
#define diag_finding(d, name, level, at, ...) diag_report(d, level, name, at, __VA_ARGS__)
