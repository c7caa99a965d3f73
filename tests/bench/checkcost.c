/**
 * btgen with a clock in it: linked with --wrap=check_script, it says at the end of a run what the
 * checks of a script took, in milliseconds of CPU.
 */
#include <stdio.h>
#include <time.h>

#include "check/check.h"

bool __real_check_script(const struct bind *b);
bool __wrap_check_script(const struct bind *b);

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

bool __wrap_check_script(const struct bind *b)
{
	double start = now();
	bool good = __real_check_script(b);
	fprintf(stderr, "check_script %.3f\n", now() - start);
	return good;
}
