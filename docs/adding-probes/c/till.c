/* A shared library with probes of its own: a struct, an enum and a string; one that costs more than a nop is lazy. */
#include "till.h"
#include <btgen/usdt.h>

USDT_DOC(till, sold, "a sale is in the books");

static unsigned sales, cents;

unsigned till_total(void)
{
	return cents;
}

static unsigned average(void)
{
	return cents / sales;
}

void till_sell(const struct sale *sale)
{
	sales++;
	cents += sale->cents;
	USDT_PROBE(till, sold, sale, sale->payment, sale->item);
	USDT_PROBE_LAZY(till, balance, USDT_ARG(average(), "average", "of all sales so far", "cents"));
}
