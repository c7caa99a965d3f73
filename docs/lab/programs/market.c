// market [SECONDS]: uses libscale, and has no probe of its own.
#include <stdlib.h>
#include <unistd.h>

long scale_weigh(const char *what, int pieces);

int main(int argc, char **argv)
{
	char apples[] = "apples", pears[] = "pears";
	int rounds = argc > 1 ? atoi(argv[1]) * 20 : 1;
	for (int i = 0; i < rounds; i++) {
		scale_weigh(apples, 3);
		scale_weigh(pears, 5);
		if (i + 1 < rounds)
			usleep(50000);
	}
	return 0;
}
