// Enums, widths, structs that are alike and structs that are not.
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>

enum state { STATE_OFF, STATE_STARTING, STATE_ON, STATE_STOPPING };
enum mode { MODE_READ = 1, MODE_WRITE = 2, MODE_SYNC = 4 };
enum code { CODE_OK, CODE_AGAIN = 11, CODE_LARGE = 4096 };
typedef enum { RED, GREEN, BLUE, BLACK } color_t;
typedef enum state state_t;
enum { LIMIT = 99 };

struct head { int kind; struct head *next; };
struct request { struct head head; uint32_t length; uint8_t tries; bool is_done; enum state state; char name[16]; unsigned lane : 3; };
struct packet { long stamp; int size; };
struct event { const char *source; double load; };
struct tagged { int kind; long payload; };
struct late { int count; struct head link; };
struct hidden;

int main(int argc, char **argv)
{
	struct request request = {{argc, 0}, 512, 3, false, STATE_ON, "first"}, *r = &request;
	struct packet packet = {argc, 40}, *p = &packet;
	struct event event = {argv[0], 0.5}, *e = &event;
	struct tagged tagged = {argc, 7}, *t = &tagged;
	struct late late = {argc, {argc, 0}}, *l = &late;
	enum state state = STATE_ON;
	state_t again = STATE_OFF;
	enum mode mode = MODE_WRITE;
	enum code code = CODE_OK;
	color_t color = BLUE;
	uint8_t level = (uint8_t)argc;
	int16_t delta = (int16_t)-argc;
	uint32_t length = (uint32_t)argc;
	uint64_t total = (uint64_t)argc;
	int64_t balance = -argc;
	bool busy = argc > 1;
	const char *text = argv[0];
	void *any = argv;
	struct hidden *hidden = (struct hidden *)argv;
	USDT_PROBE(app, enums, state, again, mode, code, color, argc);
	USDT_PROBE(app, numbers, level, delta, length, total, balance, busy);
	USDT_PROBE(app, pointers, r, p, e, text, any, hidden);
	USDT_PROBE(app, more, &r, &request.head, argc, state, &length, total, t, l);
	return 0;
}
