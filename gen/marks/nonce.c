#include "marks/nonce.h"

#include <sys/random.h>
#include <time.h>

uint64_t nonce_make(void)
{
	uint64_t n = 0;
	struct timespec real, mono;
	if (getrandom(&n, sizeof(n), 0) == (ssize_t)sizeof(n))
		return n;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return (uint64_t)mono.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)real.tv_nsec;
}
