// An argument with a sign, and a struct whose members have one.
#include <btgen/usdt.h>
struct in { int v; };
struct s { int neg; struct in ins[4]; };
static struct s s = {-7, {{-1}}};
__attribute__((noinline)) int f(struct s *p)
{
	USDT_PROBE(app, hit, p->neg);
	return p->neg;
}
int main(void)
{
	return f(&s);
}
