// Enumerators that are called like something of bpftrace's.
#include <btgen/usdt.h>
enum word { pid = 70, perf, raw, tai, init, probetype, arg7, END, count, s, map_key, AF_INET };
int main(void)
{
	enum word w = perf;
	USDT_PROBE(test, word, w, 1, 2, 3, 4, 5, 6, 7);
}
