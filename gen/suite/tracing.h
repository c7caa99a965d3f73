/** tracing - one case, traced by btgen itself: its program, what is run besides, the time that it may take. */
#ifndef SUITE_TRACING_H
#define SUITE_TRACING_H

#include "suite/cases.h"

/** What has come of it. */
struct tracing {
	const char *why; /**< it did not work; NULL: it did */
	struct str output;
	struct str messages; /**< of btgen, and what the program has printed */
	double seconds;
};

/**
 * Runs @c with `@btgen run`; @options are further words for that, ending in NULL. What it starts has ended when this returns,
 * but for what the program itself leaves behind.
 */
void tracing_run(struct arena *a, const char *btgen, const char *const *options,
		 const struct suite_case *c, struct tracing *ret);

#endif
