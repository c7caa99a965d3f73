// shop [SECONDS]: sells at the counter and by mail, twenty days a second. One probe tells of both.
#include <btgen/usdt.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int income;

__attribute__((noinline)) static void sell_at_counter(int pieces, int cents)
{
	income += pieces * cents;
	USDT_PROBE(shop, sold, pieces, cents);
}

__attribute__((noinline)) static void sell_by_mail(int pieces)
{
	const int cents = 250, postage = 95;
	USDT_PROBE(shop, sold, pieces, cents);
	income += pieces * cents - postage;
}

int main(int argc, char **argv)
{
	int days = argc > 1 ? atoi(argv[1]) * 20 : 1;
	for (int day = 0; day < days; day++) {
		sell_at_counter(1, 300);
		sell_at_counter(2, 120);
		sell_by_mail(days);
		usleep(50000);
	}
	return 0;
}
