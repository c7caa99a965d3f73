/** clock - what time it is, for how long something takes and when it is over. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

/** CLOCK_MONOTONIC in ms. */
static inline unsigned long clock_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

#endif
