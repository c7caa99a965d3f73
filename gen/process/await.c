#include "process/await.h"

#include "base/clock.h"
#include "process/proc.h"

enum { LOOK_NS = 20000000, SETTLE_LOOKS = 50 };

/** Sleeps until it is time to look again; or returns the signal that has come. */
static int sleep_until_look(const struct awaited *what)
{
	struct timespec t = {.tv_nsec = LOOK_NS};
	int sig = sigtimedwait(&what->signals, NULL, &t);
	if (sig > 0)
		return sig;
	return what->deadline && clock_ms() >= what->deadline ? SIGALRM : 0;
}

static bool is_known(const struct awaited *what, int pid)
{
	for (size_t i = 0; i < what->n_known; i++)
		if (what->known[i] == pid)
			return true;
	return proc_start_time(PROCFS, pid) <= what->after;
}

static bool has_user(struct arena *a, const struct awaited *what, int pid)
{
	uid_t uid = proc_uid(a, PROCFS, pid, PROC_UID_REAL);
	bool is_one = uid == 0;
	for (size_t i = 0; i < what->n_users; i++)
		is_one |= uid == what->users[i] && uid != (uid_t)-1;
	return is_one;
}

/** Anybody can give a program the name. A server's children may be of another user than it is. */
static bool is_trusted(struct arena *a, const struct awaited *what, int pid)
{
	int parent = proc_parent(a, PROCFS, pid);
	return !what->n_users || has_user(a, what, pid) ||
	       (parent > 0 && has_user(a, what, parent) && proc_same_exe(PROCFS, parent, pid));
}

/** Each is reported once, and not all that somebody makes. */
struct strangers {
	int pids[5];
	size_t n;
};

static void report_stranger(struct arena *a, const struct awaited *what, struct strangers *s,
			    int pid)
{
	struct str exe = proc_exe(a, PROCFS, pid);
	uid_t uid = proc_uid(a, PROCFS, pid, PROC_UID_REAL);
	for (size_t i = 0; i < s->n; i++)
		if (s->pids[i] == pid)
			return;
	if (uid == (uid_t)-1 || !exe.n || s->n == sizeof(s->pids) / sizeof(s->pids[0]))
		return;
	s->pids[s->n++] = pid;
	diag_warning(what->diag, NULL,
		     "process %d is not traced: it runs " STR_FMT
		     " as uid %u, unlike the process before it",
		     pid, STR_ARG(exe), (unsigned)uid);
}

static int *find_trusted(struct arena *a, const struct awaited *what, struct strangers *strangers,
			 size_t *n)
{
	size_t n_all;
	int *pids = proc_find_named(a, PROCFS, what->name, &n_all);
	*n = 0;
	for (size_t i = 0; i < n_all; i++) {
		if (is_known(what, pids[i]))
			continue;
		if (is_trusted(a, what, pids[i]))
			pids[(*n)++] = pids[i];
		else
			report_stranger(a, what, strangers, pids[i]);
	}
	return pids;
}

/**
 * A process that has just been made maps one library after the other. It has done so, or has ended,
 * when its map is the same at two looks; one that goes on for a second is taken as it is.
 */
static int settle(const struct awaited *what, int pid)
{
	int sig = 0;
	size_t before = 0;
	for (int i = 0; i < SETTLE_LOOKS && !sig; i++) {
		struct arena a = {0};
		struct str maps;
		proc_read(&a, PROCFS, pid, "maps", &maps);
		bool is_settled = i > 0 && maps.n == before;
		before = maps.n;
		arena_fini(&a);
		if (is_settled)
			break;
		sig = sleep_until_look(what);
	}
	return sig;
}

int *await_process(struct arena *a, const struct awaited *what, size_t *n, int *sig)
{
	sigset_t old;
	int *ret = NULL;
	struct strangers strangers = {0};
	sigprocmask(SIG_BLOCK, &what->signals, &old);
	*sig = 0;
	while (!ret && !*sig) {
		struct arena look = {0};
		int *found = find_trusted(&look, what, &strangers, n);
		*sig = *n ? settle(what, found[0]) : sleep_until_look(what);
		// Again: a server has made its children by now, and what had ended is not there.
		if (*n && !*sig)
			found = find_trusted(&look, what, &strangers, n);
		if (*n && !*sig) {
			ret = arena_array(a, int, *n);
			memcpy(ret, found, *n * sizeof(*ret));
		}
		arena_fini(&look);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return ret;
}
