/* Exercise 8: a sort whose probe passes nothing. */
#include <btgen/usdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NEVER_INLINED __attribute__((noinline, noclone))

static NEVER_INLINED int split(int *v, int low, int high)
{
	int pivot = v[(low + high) / 2], left = low - 1, right = high + 1;
	for (;;) {
		while (v[++left] < pivot)
			;
		while (v[--right] > pivot)
			;
		if (left >= right)
			return right;
		int swapped = v[left];
		v[left] = v[right];
		v[right] = swapped;
	}
}

static NEVER_INLINED int sort(int *v, int low, int high)
{
	if (low >= high)
		return 1;
	int middle = split(v, low, high);
	USDT_PROBE(sorter, split);
	return sort(v, low, middle) + sort(v, middle + 1, high);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	for (; n > 0; n--) {
		int v[] = {3, 1, 4, 1, 5, 9, 2, 6};
		int calls = sort(v, 0, 7);
		if (n == 1)
			printf("%d to %d in %d pieces\n", v[0], v[7], calls);
		usleep(100000);
	}
	return 0;
}
