/** clock - what time it is, for how long something takes and when it is over. */
#pragma once

#include <stdint.h>
#include <time.h>

/** What @clock shows in ns; 0 if there is no such clock. */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	return clock_gettime(clock, &t) == 0 ? t.tv_sec * INT64_C(1000000000) + t.tv_nsec : 0;
}

/** CLOCK_MONOTONIC in ms. */
static inline unsigned long clock_ms(void)
{
	return (unsigned long)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

/** What the time namespace of this process adds to the host's CLOCK_BOOTTIME, in ns; mostly 0. */
int64_t clock_namespace_offset(void);
/** What nsecs of a probe is now, in ns: the host's CLOCK_BOOTTIME, in a time namespace, too. */
int64_t clock_of_probes(void);
/**
 * CLOCK_REALTIME - that, in ns. Of several pairs the one that was read in the shortest time: on a busy machine
 * another process may run for 20 ms between the two.
 */
int64_t clock_offset_of_probes(void);
