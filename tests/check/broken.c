/* What some bpftraces compute wrong: see wrong-values.cases. */
#include <btgen/usdt.h>
#include <unistd.h>

struct last { int id; char name[8]; };
struct within { struct last l; int n; };
struct first { char name[8]; int id; };
struct arrays { unsigned char ip[4]; char name[8], large[300]; const char *path, *other; };
int answer = 42;

__attribute__((noinline)) int half(struct last *l, struct within *w, struct first *f, struct arrays *a)
{
	USDT_PROBE(app, all, l, w, f, USDT_ARG(l->id, "id"), a);
	return l->id / 2;
}

int main(int argc, char **argv)
{
	struct last l = {argc, "last"};
	struct within w = {l, argc};
	struct first f = {"first", argc};
	struct arrays a = {.path = argv[0], .other = argv[0]};
	int ret = half(&l, &w, &f, &a);
	usleep(500000); // symbols are read while it is there
	return ret;
}
