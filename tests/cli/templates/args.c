// A probe for each kind of argument; tests/live/args.t reads values.
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
enum mode { OFF, ON = 3, BAD = -1 };
typedef struct { int depth; } queue_t;
struct job { char name[8]; enum mode mode; long size; short level; queue_t queue; struct job *next; };
int main(int argc, char **argv)
{
	struct job job = {"first", ON, argc, (short)-argc, {3}, 0}, *j = &job;
	const char *text = argv[0];
	uint16_t port = (uint16_t)argc, *where = &port;
	bool busy = argc > 1;
	queue_t *q = &j->queue;
	USDT_PROBE(app, all, text, j, j->mode, j->level, port, where, port);
	USDT_PROBE(app, more, busy, q);
	USDT_PROBE(app, one, j->size, text);
	USDT_PROBE(app, two, text, argc);
	USDT_PROBE(app, two, argv[1], -argc);
	USDT_PROBE(app, swapped, argc, port);
	USDT_PROBE(app, swapped, port, argc);
	USDT_PROBE(app, widths, j->size);
	USDT_PROBE(app, widths, USDT_ARG(argc, "size"));
	USDT_PROBE(app, spread, argc, argc, argc, argc, argc, argc, USDT_ARG(argc, "last"));
	USDT_PROBE(app, spread, argc, argc, argc, argc, argc, argc, USDT_ARG(-1, "last"));
	USDT_PROBE(app, none);
	return 0;
}
