// Probes and sites that pass different things.
#include <btgen/usdt.h>

enum state { OFF, ON };
enum mode { FAST, SLOW };
struct order {
	int id;
};

int main(int argc, char **argv)
{
	struct order order = {argc};
	short narrow = (short)argc;
	enum state state = argc > 1 ? ON : OFF;
	enum mode mode = argc > 2 ? SLOW : FAST;
	char *text = argv[0];
	void *any = text;
	USDT_PROBE(app, alpha, argc, text);
	USDT_PROBE(app, avenue, text, argc);
	USDT_PROBE(app, width, argc);
	USDT_PROBE(app, width, narrow);
	USDT_PROBE(app, number, argc, narrow);
	USDT_PROBE(app, number, argc);
	USDT_PROBE(app, kind, argc);
	USDT_PROBE(app, kind, text);
	USDT_PROBE(app, state_of, state);
	USDT_PROBE(app, state_mode, mode);
	USDT_PROBE(app, order_new, &order);
	USDT_PROBE(app, order_count, argc);
	USDT_PROBE(app, any_text, text);
	USDT_PROBE(app, any_pointer, any);
	return 0;
}
