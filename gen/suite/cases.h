/**
 * cases - what a file of `btgen test` asks for: programs to run, what to trace, what must be printed.
 *
 *	NAME a push has the depth of the queue
 *	RUN ./app 3
 *	TRACE app:push
 *	EXPECT depth=1
 *	EXPECT_NONE depth=4
 *
 * A line is a word and what it takes, up to its end. NAME begins a case. Empty lines and lines that begin with # are
 * comments. The words are those of bpftrace's own tests where these have one (btgen(1) lists them).
 */
#ifndef SUITE_CASES_H
#define SUITE_CASES_H

#include "base/diag.h"
#include "base/vec.h"

enum expect_kind {
	EXPECT_TEXT,  /**< behind what was expected before it, a line has this in it */
	EXPECT_REGEX, /**< likewise a line matches this extended regular expression */
	EXPECT_NONE,  /**< no line has this in it */
	EXPECT_LEAST, /**< at least `n` lines have */
	EXPECT_FILE,  /**< all that is printed is what this file has */
};

struct expect {
	enum expect_kind kind;
	struct str text;
	uint64_t n;
	unsigned line; /**< of the file */
};

struct suite_case {
	struct str name;
	const char
	    *requires; /**< a command of the shell that fails where this is to be skipped; or NULL */
	const char *run, *process; /**< a command, or a process to trace; the other is NULL */
	VEC(const char *) patterns;
	const char *script, *text; /**< instead of those: a file, or a program; or NULL */
	const char *after; /**< a command of the shell, for when the probes are attached; or NULL */
	unsigned long timeout; /**< ms */
	unsigned line;
	VEC(struct expect) expects;
};

struct suite {
	const char *path;
	VEC(struct suite_case) cases;
};

/** Reads @path; false after errors, each at its line. */
bool suite_read(struct arena *a, struct diag *d, const char *path, struct suite *ret);

/** The first thing of @c that @output, whole lines, has not; NULL: it has all. @why: how it fails, in @a. */
const struct expect *judge_find_missing(struct arena *a, const struct suite_case *c,
					struct str output, const char **why);

// tracing.c: one case, traced by btgen itself: its program, what is run besides, the time that it may take.

/** What has come of it. */
struct tracing {
	const char *why; /**< it did not work; NULL: it did */
	struct str output;
	struct str messages; /**< of btgen, and what the program has printed */
	double seconds;
};

/** Does REQUIRES of @c, if it has that, succeed? */
bool tracing_is_possible(const struct suite_case *c);
/**
 * Runs @c with `@btgen run`; @options are further words for that, ending in NULL. What it starts has ended when this returns,
 * but for what the program itself leaves behind.
 */
void tracing_run(struct arena *a, const char *btgen, const char *const *options,
		 const struct suite_case *c, struct tracing *ret);

// report.c: results of cases as TAP (testanything.org), as they come, and as JUnit's XML, at the end.

struct report_result {
	struct str name;
	const char *file;
	const char *skipped; /**< why; or NULL */
	const char *why;     /**< it has failed; or NULL */
	struct str more;     /**< lines that help to see why, in the report below it */
	double seconds;
};

struct report {
	VEC(struct report_result) results;
};

/** Prints @r, and keeps it, in @a. */
void report_add(struct arena *a, struct report *all, const struct report_result *r);
size_t report_count_failures(const struct report *all);
struct str report_junit(struct arena *a, const struct report *all);

#endif
