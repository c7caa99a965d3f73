// A class that a template of ours cannot spell, but for its typedef.
#include <btgen/usdt.h>
template <class T> struct box { int other; T value; };
typedef box<signed char> small;
int main()
{
	small one = {1, -1}, *s = &one;
	USDT_PROBE(app, cc, s);
}
