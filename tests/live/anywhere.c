// What anywhere.t traces. For each line that it reads, up to "quit": 20 operations, then a line about each of them, and "done";
// for "flood N", N events and "done".
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { KIND_READ, KIND_WRITE = 5, KIND_FLUSH = 7 };
struct op {
	long id;
	int change;
	enum kind kind;
	const char *name;
};

__attribute__((noinline)) int serve(struct op *op)
{
	void *block = malloc(5000);
	__asm__ volatile("" : "+r"(block));
	USDT_PROBE(app, op_start, op->id, op->kind, op->name);
	free(block);
	USDT_PROBE(app, op_done, op->id, op->kind);
	return op->change / 2;
}

int main(void)
{
	static const enum kind kinds[] = {KIND_READ, KIND_WRITE, KIND_FLUSH};
	static const char *const kind_names[] = {"KIND_READ", "KIND_WRITE", "KIND_FLUSH"};
	static const char *const names[] = {"data", "a \"log\""};
	static char line[256], in[4096], out[4096]; // all that is allocated is in serve()
	setvbuf(stdin, in, _IOFBF, sizeof(in));
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q') {
		int result[20];
		long flood = 0;
		if (sscanf(line, "flood %ld", &flood) == 1) {
			for (long i = 0; i < flood; i++)
				USDT_PROBE(app, flood, i);
			printf("done\n");
			fflush(stdout);
			continue;
		}
		for (int i = 0; i < 20; i++) {
			struct op op = {.id = 100 + i,
					.change = 7 - 5 * i,
					.kind = kinds[i % 3],
					.name = names[i % 2]};
			result[i] = serve(&op);
		}
		for (int i = 0; i < 20; i++)
			printf("op\t%d\t%s\t%s\t%d\t%d\n", 100 + i, kind_names[i % 3], names[i % 2],
			       7 - 5 * i, result[i]);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
