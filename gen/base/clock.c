#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/**
 * What the time namespace of this process adds to the host's CLOCK_BOOTTIME, in ns: time_namespaces(7). The file
 * has the offsets for children, who are in another one after unshare(2); then it does not say what ours are.
 */
static int64_t read_boottime_offset(void)
{
	char own[64] = "", children[64] = "", line[128];
	int64_t seconds, ns, offset = 0;
	if (readlink("/proc/self/ns/time", own, sizeof(own) - 1) < 0 ||
	    readlink("/proc/self/ns/time_for_children", children, sizeof(children) - 1) < 0 ||
	    strcmp(own, children) != 0)
		return 0;
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "boottime %" SCNd64 " %" SCNd64, &seconds, &ns) == 2)
			offset = seconds * INT64_C(1000000000) + ns;
	if (f)
		fclose(f);
	return offset;
}

int64_t clock_namespace_offset(void)
{
	static int64_t offset;
	static bool is_read;
	if (!is_read)
		offset = read_boottime_offset();
	is_read = true;
	return offset;
}

int64_t clock_of_probes(void)
{
	return clock_ns(CLOCK_BOOTTIME) - clock_namespace_offset();
}

int64_t clock_offset_of_probes(void)
{
	enum { TRIES = 10, CLOSE_NS = 5000 };
	int64_t offset = 0, least = INT64_MAX;
	for (int i = 0; i < TRIES && least > CLOSE_NS; i++) {
		int64_t before = clock_of_probes(), now = clock_ns(CLOCK_REALTIME);
		int64_t took = clock_of_probes() - before;
		if (took < least) {
			least = took;
			offset = now - before - took / 2;
		}
	}
	return offset;
}
