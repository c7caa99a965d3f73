/* A service of which there are two builds, with other values of an enum and another struct: -DFIRST= -DMORE= and
 * -DFIRST='NONE, ' -DMORE='long pad;'. Its probe fires with each byte that it reads. */
#include <btgen/usdt.h>
#include <unistd.h>
enum state { FIRST IDLE, RUNNING };
struct request { MORE int id; enum state state; };
int main(void)
{
	struct request r = {.id = 0, .state = RUNNING};
	enum state next = IDLE;
	char c;
	while (read(0, &c, 1) == 1) {
		r.id = c;
		USDT_PROBE_LAZY(app, hit, (struct request *)&r, next);
	}
	return 0;
}
