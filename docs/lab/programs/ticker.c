// ticker [SECONDS]: a probe in a function of its own, ten times a second.
#include <btgen/usdt.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int total;

__attribute__((noinline)) static void tick(int n)
{
	USDT_PROBE(ticker, tick, n);
	total += n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) * 10 : 10;
	for (int i = 1; i <= n; i++) {
		tick(i);
		usleep(100000);
	}
	return 0;
}
