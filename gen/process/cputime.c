#include "process/cputime.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "process/proc.h"

/** The second number of each thread's schedstat (Documentation/scheduler/sched-stats.rst); the process's own is its main thread's. */
static uint64_t read_waited(int pid)
{
	struct arena a = {0};
	uint64_t sum = 0;
	size_t n;
	const char *tasks = arena_printf(&a, "%s/%d/task", PROCFS, pid);
	const int *tids = proc_list(&a, tasks, &n);
	for (size_t i = 0; i < n; i++) {
		struct str text;
		uint64_t waited;
		if (proc_read(&a, tasks, tids[i], "schedstat", &text) &&
		    sscanf(str_dup(&a, text), "%*u %" SCNu64, &waited) == 1)
			sum += waited;
	}
	arena_fini(&a);
	return sum;
}

bool cputime_read(int pid, struct cputime *ret)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return false;
	*ret = (struct cputime){(uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec,
				read_waited(pid)};
	return true;
}
