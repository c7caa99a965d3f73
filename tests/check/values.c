// A probe for each kind of value that printf() and functions are given.
#include <btgen/usdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
enum color { RED, GREEN, BLUE = 7 };
struct job {
	char name[8];
	char path[300], tag[180], page[20000];
	enum color color;
	int size;
	uint64_t id;
	const char *title;
	struct job *next;
	double load;
	uint8_t mac[6], ip6[16];
	uint32_t ip;
	bool is_done;
	char letter;
	char *argv[3];
	const void *where;
	uintptr_t code;
};
static void called(void)
{
}
int main(int argc, char **argv)
{
	struct job job = {"first", "/tmp/first", "a", "b", BLUE, argc, 1ULL << 40, "a job", 0, 2.5,
			  {2, 4, 6, 8, 10, 12}, {0xfe, 0x80}, 0x0100007f, true, 'x', {argv[0]}, argv, 0};
	struct job *j = &job;
	uint64_t id = j->id + (uint64_t)argc, *counter = &id;
	const char *name = j->title;
	char *text = j->name;
	uint8_t *bytes = j->mac, small = (uint8_t)(argc + 200);
	short level = (short)-argc;
	int size = -argc;
	unsigned count = (unsigned)argc;
	long total = -(long)id;
	uintptr_t code = (uintptr_t)called;
	void *where = j;
	void (*call)(void) = called;
	bool busy = argc < 5;
	char letter = (char)('a' + argc);
	enum color color = (enum color)(argc + 6);
	double load = 2.5 + argc;
	float ratio = 0.5f + (float)argc;
	USDT_PROBE(app, numbers, small, level, size, count, total, id);
	USDT_PROBE(app, texts, name, text, bytes, argv);
	USDT_PROBE(app, pointers, j, where, counter, call, code);
	USDT_PROBE(app, others, busy, letter, color, USDT_BITS(load), USDT_BITS(ratio));
	return 0;
}
