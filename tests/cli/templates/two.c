// Two providers with a probe of one name.
#include <btgen/usdt.h>
int main(void)
{
	USDT_PROBE(one, hit, 1);
	USDT_PROBE(two, hit, 2);
}
