#include "value/filetext.h"

#define MAX_PROCESSES 64 // each holds the descriptors of its files

/** A process, as it was when it was first asked for. */
struct peer {
	struct arena arena;
	int64_t pid;
	struct proc *proc;
	struct codename *names;
};

struct filetext {
	struct diag quiet;
	bool has_pids;
	struct peer *peers[MAX_PROCESSES];
	size_t n_peers, oldest;
};

struct filetext *filetext_new(bool has_pids)
{
	struct filetext *t = base_new(struct filetext);
	diag_init(&t->quiet, NULL);
	t->has_pids = has_pids;
	return t;
}

static void close_peer(struct peer *p)
{
	codename_close(p->names);
	if (p->proc)
		proc_close(p->proc);
	arena_fini(&p->arena);
	free(p);
}

/** Its start is known to a tick of the clock. */
static bool had_started(const struct peer *p, int64_t ns)
{
	int64_t tick = 1000000000 / sysconf(_SC_CLK_TCK);
	return (int64_t)p->proc->start_time * tick <= ns;
}

/** The process that has the PID now, if it had it at @ns; else NULL. */
static struct peer *open_peer(struct filetext *t, int64_t pid, int64_t ns)
{
	if (pid <= 0 || pid > INT_MAX)
		return NULL;
	struct peer *p = base_new(struct peer);
	p->pid = pid;
	if (!proc_open(&p->arena, &t->quiet, PROCFS, (int)pid, &p->proc))
		p->proc = NULL;
	if (p->proc && had_started(p, ns)) {
		p->names = codename_open(&p->arena, &t->quiet, p->proc);
		return p;
	}
	close_peer(p);
	return NULL;
}

/** Where the one is that has the PID, else a free place, or that of the one which was opened first. */
static struct peer **find_place(struct filetext *t, int64_t pid)
{
	for (size_t i = 0; i < t->n_peers; i++)
		if (t->peers[i]->pid == pid)
			return &t->peers[i];
	if (t->n_peers < MAX_PROCESSES)
		return &t->peers[t->n_peers];
	return &t->peers[t->oldest++ % MAX_PROCESSES];
}

/** One that has ended is still known, for its last records. */
static struct peer *find_peer(struct filetext *t, int64_t pid, int64_t ns)
{
	struct peer **place = find_place(t, pid), *now;
	struct peer *known = *place && (*place)->pid == pid ? *place : NULL;
	bool is_its = known && had_started(known, ns);
	if (is_its && proc_is_same(known->proc))
		return known;
	now = open_peer(t, pid, ns);
	if (now && place == &t->peers[t->n_peers])
		t->n_peers++;
	else if (now)
		close_peer(*place);
	if (now)
		*place = now;
	return now ? now : is_its ? known : NULL;
}

struct codename *filetext_names(struct filetext *t, int64_t pid, int64_t ns)
{
	struct peer *p = t->has_pids ? find_peer(t, pid, ns) : NULL;
	return p ? p->names : NULL;
}

void filetext_free(struct filetext *t)
{
	for (size_t i = 0; t && i < t->n_peers; i++)
		close_peer(t->peers[i]);
	free(t);
}
