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

#endif
