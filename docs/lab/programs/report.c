// report ROUNDS: works in rounds. A summary of a round is dear; only somebody who traces is to pay for it.
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int n_summaries;

// Dear, so to speak.
__attribute__((noinline)) static long summary(const long *values, int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++)
		sum += values[i];
	n_summaries++;
	return sum;
}

int main(int argc, char **argv)
{
	long values[8];
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	for (int round = 1; round <= rounds; round++) {
		for (int i = 0; i < 8; i++)
			values[i] = (long)round * i;
		USDT_PROBE_LAZY(report, round, round, USDT_ARG(summary(values, 8), "sum"));
		if (rounds > 100)
			usleep(20000);
	}
	printf("%d rounds, %d summaries\n", rounds, n_summaries);
	return 0;
}
