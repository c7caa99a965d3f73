#include "kernel/semaphore.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/proc.h"

#define PMU "/sys/bus/event_source/devices/uprobe"

/** The number after @prefix in a file of the PMU's. */
static bool read_number(const char *name, struct str prefix, uint64_t *ret)
{
	struct arena a = {0};
	struct str text = proc_text(&a, PMU, name);
	bool good = str_take(&text, prefix) && str_take_number(&text, ret);
	arena_fini(&a);
	errno = ENOTSUP;
	return good;
}

int semaphore_raise(const char *path, uint64_t place, uint64_t counter, pid_t pid)
{
	enum { BITS = 64 };
	uint64_t type, shift;
	if (!read_number("type", STR(""), &type) ||
	    !read_number("format/ref_ctr_offset", STR("config:"), &shift))
		return -1;
	if (shift >= BITS || counter >> (BITS - shift)) {
		errno = ERANGE;
		return -1;
	}
	struct perf_event_attr attr = {
	    .type = (uint32_t)type,
	    .size = sizeof(attr),
	    .disabled = 1, // nobody reads it
	    .config = counter << shift,
	    .config1 = (uintptr_t)path,
	    .config2 = place,
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, pid > 0 ? -1 : 0, -1,
			    PERF_FLAG_FD_CLOEXEC);
}
