#include "suite/cases.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define LOOK_MS 10
#define ENDING_MS 20000 // from SIGINT on: bpftrace detaches 0.1 s for each probe
#define AFTER_MS 2000	// from SIGTERM on, which AFTER may ignore

/** A case while it runs. */
struct job {
	struct arena *arena;
	const struct suite_case *c;
	int log, output;    // without a name: who kills btgen leaves nothing behind
	int ready;	    // of --ready-fd; -1: it has come, or never will
	pid_t btgen, after; // 0: not there, or ended
	int status, after_status;
	unsigned long deadline; // ms
	bool is_stopping, is_over;
};

/** @fd as all that it has; empty when it cannot be read. */
static struct str read_all(struct arena *a, int fd)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return STR("");
	char *bytes = arena_alloc(a, (size_t)st.st_size + 1);
	return file_read_at(fd, bytes, (size_t)st.st_size, 0)
		   ? (struct str){bytes, (size_t)st.st_size}
		   : STR("");
}

static volatile sig_atomic_t child_group; // which signals of the terminal do not reach

static void pass_on(int sig)
{
	if (child_group)
		kill(-child_group, sig);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void pass_on_signals(void)
{
	static const int all[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (signal(all[i], pass_on) == SIG_IGN)
			signal(all[i], SIG_IGN);
}

/** A child that ends with us; @keep of it stays open; -1: a shell, in a group of its own. Returns 0 if it could not be started. */
static pid_t start(const struct job *j, const char *const *argv, int keep)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid > 0 ? pid : 0;
	prctl(PR_SET_PDEATHSIG, SIGINT);
	if (keep < 0)
		setpgid(0, 0);
	int null = open("/dev/null", O_RDONLY);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(j->log, STDOUT_FILENO) < 0 || dup2(j->log, STDERR_FILENO) < 0 ||
	    (keep >= 0 && fcntl(keep, F_SETFD, 0) != 0))
		_exit(127);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

bool tracing_is_possible(const struct suite_case *c)
{
	struct job j = {.log = open("/dev/null", O_WRONLY | O_CLOEXEC)};
	const char *const shell[] = {"/bin/sh", "-c", c->requires, NULL};
	int status = c->requires != NULL;
	if (c->requires)
		pass_on_signals();
	pid_t pid = child_group = c->requires ? start(&j, shell, -1) : 0;
	unsigned long deadline = clock_ms() + c->timeout;
	while (pid && waitpid(pid, &status, WNOHANG) == 0) {
		if (clock_ms() >= deadline)
			kill(-pid, SIGKILL);
		poll(NULL, 0, LOOK_MS);
	}
	child_group = 0;
	close(j.log);
	return status == 0;
}

/** `btgen run` with all that the case says. */
static pid_t start_trace(const struct job *j, const char *btgen, const char *const *options,
			 int ready)
{
	const struct suite_case *c = j->c;
	struct arena *a = j->arena;
	VEC(const char *) argv = {0};
	const char *const own[] = {btgen,	 "run",
				   "-q",	 "--strict",
				   "--max-cost", "none",
				   "-o",	 arena_printf(a, "/dev/fd/%d", j->output),
				   "--ready-fd", arena_printf(a, "%d", ready)};
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		vec_push(a, &argv, own[i]);
	for (; *options; options++)
		vec_push(a, &argv, *options);
	vec_push(a, &argv, c->run ? "-c" : "-p");
	vec_push(a, &argv, c->run ? c->run : c->process);
	for (size_t i = 0; i < c->patterns.n; i++) {
		vec_push(a, &argv, "-t");
		vec_push(a, &argv, c->patterns.v[i]);
	}
	if (c->text)
		vec_push(a, &argv, "-e");
	if (c->text || c->script)
		vec_push(a, &argv, c->text ? c->text : c->script);
	vec_push(a, &argv, NULL);
	return start(j, argv.v, ready);
}

static void stop(struct job *j)
{
	if (j->is_stopping || !j->btgen)
		return;
	kill(j->btgen, SIGINT);
	j->is_stopping = true;
	j->deadline = clock_ms() + ENDING_MS;
}

/** What AFTER has left in the background ends with it, as long as nobody else can have its number. */
static bool has_after_ended(const struct job *j)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)j->after, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
		return false;
	kill(-j->after, SIGKILL); // fails where it is of another user, as of sudo
	return true;
}

/** Looks which of the two has ended. */
static void reap(struct job *j)
{
	if (j->btgen && waitpid(j->btgen, &j->status, WNOHANG) == j->btgen)
		j->btgen = 0;
	if (j->after && has_after_ended(j)) {
		waitpid(j->after, &j->after_status, 0);
		j->after = child_group = 0;
		stop(j);
	}
}

/** The probes are attached, or never will be. */
static void take_ready(struct job *j)
{
	char byte[16];
	bool is_ready = read(j->ready, byte, sizeof(byte)) > 0;
	const char *const shell[] = {"/bin/sh", "-c", j->c->after, NULL};
	close(j->ready);
	j->ready = -1;
	if (!is_ready || !j->c->after)
		return;
	pass_on_signals();
	j->after = child_group = start(j, shell, -1);
	if (!j->after)
		stop(j);
}

static void until_end(struct job *j)
{
	while (j->btgen) {
		struct pollfd fd = {.fd = j->ready, .events = POLLIN};
		if (poll(&fd, 1, LOOK_MS) > 0)
			take_ready(j);
		reap(j);
		if (clock_ms() < j->deadline || !j->btgen)
			continue;
		if (j->is_stopping)
			kill(j->btgen, SIGKILL);
		j->is_over |= !j->is_stopping;
		stop(j);
	}
}

static void end_after(struct job *j)
{
	unsigned long from = clock_ms();
	if (j->after)
		kill(-j->after, SIGTERM);
	while (j->after && clock_ms() - from < AFTER_MS) {
		poll(NULL, 0, LOOK_MS);
		reap(j);
	}
	if (!j->after)
		return;
	kill(-j->after, SIGKILL);
	waitpid(j->after, NULL, 0);
	child_group = 0;
}

static const char *why_not(const struct job *j)
{
	const char *which = j->c->run ? "RUN" : "PROCESS";
	if (j->is_over)
		return arena_printf(j->arena, "%s did not end within %lu s",
				    j->c->after ? "AFTER" : which, j->c->timeout / 1000);
	if (WIFEXITED(j->after_status) && WEXITSTATUS(j->after_status))
		return arena_printf(j->arena, "the exit status of AFTER is %d",
				    WEXITSTATUS(j->after_status));
	if (WIFSIGNALED(j->status))
		return arena_printf(j->arena, "btgen was killed by signal %d", WTERMSIG(j->status));
	return WEXITSTATUS(j->status)
		   ? arena_printf(j->arena, "btgen's exit status is %d", WEXITSTATUS(j->status))
		   : NULL;
}

void tracing_run(struct arena *a, const char *btgen, const char *const *options,
		 const struct suite_case *c, struct tracing *ret)
{
	int ready[2] = {-1, -1};
	unsigned long from = clock_ms();
	struct job j = {.arena = a,
			.c = c,
			.log = memfd_create("btgen", MFD_CLOEXEC),
			.output = memfd_create("output", 0),
			.deadline = from + c->timeout};
	*ret = (struct tracing){0};
	if (j.output < 0 || j.log < 0 || pipe2(ready, O_CLOEXEC) != 0 ||
	    !(j.btgen = start_trace(&j, btgen, options, ready[1]))) {
		ret->why = arena_printf(a, "cannot be started: %s", strerror(errno));
	} else {
		close(ready[1]);
		j.ready = ready[0];
		until_end(&j);
		end_after(&j);
		if (j.ready >= 0)
			close(j.ready);
		ret->why = why_not(&j);
		ret->output = read_all(a, j.output);
		ret->messages = read_all(a, j.log);
	}
	if (j.output >= 0)
		close(j.output);
	if (j.log >= 0)
		close(j.log);
	ret->seconds = (double)(clock_ms() - from) / 1000;
}
