/* shop [CUSTOMERS]: sells something to each. */
#include "till.h"
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const items[] = { "bread", "milk", "salt", "a dozen eggs" };
	unsigned customers = argc > 1 ? (unsigned)atoi(argv[1]) : 3;

	USDT_PROBE(shop, opened, customers);
	for (unsigned i = 0; i < customers; i++) {
		struct sale sale = { .number = i + 1, .payment = (enum payment)(i % 3), .cents = 199 + 50 * i };
		snprintf(sale.item, sizeof(sale.item), "%s", items[i % 4]);
		till_sell(&sale);
	}
	USDT_PROBE(shop, closed, USDT_ARG(till_total(), "cents"));
	printf("%u cents\n", till_total());
	return 0;
}
