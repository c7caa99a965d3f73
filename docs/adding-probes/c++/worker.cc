// worker [JOBS]: runs so many.
#include "job.h"
#include <btgen/usdt.h>
#include <cstdlib>

int main(int argc, char **argv)
{
	const int jobs = argc > 1 ? std::atoi(argv[1]) : 3;
	auto finished = [jobs](int n) { USDT_PROBE(worker, finished, n, jobs); };

	for (int i = 1; i <= jobs; i++) {
		jobs::job(i, "job " + std::to_string(i)).run();
		finished(i);
	}
	return 0;
}
