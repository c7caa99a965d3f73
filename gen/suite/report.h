/** report - results of cases as TAP (testanything.org), as they come, and as JUnit's XML, at the end. */
#ifndef SUITE_REPORT_H
#define SUITE_REPORT_H

#include "base/diag.h"
#include "base/vec.h"

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

void report_begin(size_t n);
/** Prints @r, and keeps it, in @a. */
void report_add(struct arena *a, struct report *all, const struct report_result *r);
size_t report_count_failures(const struct report *all);
struct str report_junit(struct arena *a, const struct report *all);

#endif
