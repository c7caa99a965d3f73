// A struct, and an enum for a table of the same name.
#include <btgen/usdt.h>
enum state { IDLE, READY = 5 };
struct wheel { int n; struct wheel *next; };
int main(void)
{
	static struct wheel w = {3, &w}, *p = &w;
	enum state s = READY;
	USDT_PROBE(car, turn, USDT_ARG(p, "wheel"), USDT_ARG(s, "state"));
	return 0;
}
