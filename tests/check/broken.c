/* What some bpftraces compute wrong: see wrong-values.cases. */
#include <btgen/usdt.h>
#include <unistd.h>

struct last { int id; char name[8]; };
struct within { struct last l; int n; };
struct first { char name[8]; int id; };
int answer = 42;

__attribute__((noinline)) int half(struct last *l, struct within *w, struct first *f)
{
	USDT_PROBE(app, all, l, w, f, USDT_ARG(l->id, "id"));
	return l->id / 2;
}

int main(int argc, char **argv)
{
	struct last l = {argc, "last"};
	struct within w = {l, argc};
	struct first f = {"first", argc};
	int ret = half(&l, &w, &f);
	usleep(500000); // symbols are read while it is there
	return ret;
}
