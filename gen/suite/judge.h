/** judge - whether what was printed is what a case expects. */
#ifndef SUITE_JUDGE_H
#define SUITE_JUDGE_H

#include "suite/cases.h"

/** The first thing of @c that @output, whole lines, has not; NULL: it has all. @why: how it fails, in @a. */
const struct expect *judge_find_missing(struct arena *a, const struct suite_case *c,
					struct str output, const char **why);

#endif
