// libscale: weighs things. The probe is in the library, wherever that is used.
#include <btgen/usdt.h>

long scale_weigh(const char *what, int pieces);

static long total;

long scale_weigh(const char *what, int pieces)
{
	long grams = 120L * pieces;
	total += grams;
	USDT_PROBE(scale, weighed, what, grams, total);
	return total;
}
