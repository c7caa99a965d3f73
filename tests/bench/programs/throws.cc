// Throws and catches N exceptions, four calls deep, for each line with an N that it reads, then says "done".
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void __attribute__((noinline)) deep(int n)
{
	if (n == 0)
		throw std::runtime_error("no");
	deep(n - 1);
	__asm__ volatile("");
}

int main()
{
	char line[32];
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = atoi(line); i > 0; i--) {
			try {
				deep(4);
			} catch (const std::exception &) {
			}
		}
		puts("done");
		fflush(stdout);
	}
}
