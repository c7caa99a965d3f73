// With -DFUZZ_MUTATE, main() of a fuzz target that reads text: runs it on each FILE given, whole and cut off at 16 places.
#ifndef FUZZ_CUT_H
#define FUZZ_CUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static uint8_t buf[1 << 20];
	int runs = 0;
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size_t n = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		for (size_t cut = 0; cut <= 16; cut++, runs++) {
			size_t size = n - n * cut / 17;
			uint8_t *copy =
			    malloc(size ? size : 1); // its own, so that a read past it shows
			if (!copy)
				return 1;
			memcpy(copy, buf, size);
			LLVMFuzzerTestOneInput(copy, size);
			free(copy);
		}
	}
	printf("%d runs\n", runs);
	return 0;
}

#endif
