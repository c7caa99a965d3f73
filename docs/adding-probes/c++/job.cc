/* A static library with probes: an object, a scoped enum, a string and a floating-point number. */
#include "job.h"
#include <btgen/usdt.h>
#include <utility>

namespace jobs
{
USDT_DOC(jobs, changed, "a job is about to be in another state");

job::job(int number, std::string name) : number(number), name(std::move(name)) {}

void job::become(state to)
{
	USDT_PROBE(jobs, changed, this, USDT_ARG(name.c_str(), "name"), USDT_ARG(now, "from"), to);
	now = to;
}

void job::run()
{
	become(state::RUNNING);
	seconds = number * 0.25;
	USDT_PROBE(jobs, ran, number, USDT_BITS(seconds));
	become(number % 3 ? state::DONE : state::FAILED);
}
}
