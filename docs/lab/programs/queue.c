// queue: jobs come and go. The probe passes the job itself; what is in it is the tracer's choice.
#include <btgen/usdt.h>

enum job_kind { JOB_COPY, JOB_MOVE, JOB_DELETE = 9 };

struct owner {
	int uid;
	char name[24];
};

struct job {
	short priority;
	enum job_kind kind;
	char path[40];
	unsigned is_urgent : 1, n_tries : 5;
	struct owner *owner;
	struct job *next;
};

static struct job *last;

__attribute__((noinline)) static void put(struct job *job)
{
	job->next = last;
	last = job;
	USDT_PROBE(queue, put, job);
}

int main(void)
{
	static struct owner root = {0, "root"}, ann = {1000, "ann"};
	struct job jobs[] = {
		{.priority = 5, .kind = JOB_COPY, .path = "/srv/films", .n_tries = 1, .owner = &ann},
		{.priority = -20, .kind = JOB_DELETE, .path = "/tmp/old", .is_urgent = 1, .n_tries = 7, .owner = &root},
	};
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		put(&jobs[i]);
	return 0;
}
