#include "run/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

bool ready_is_waiting(pid_t pid)
{
	struct arena a = {0};
	struct str text; // a number and more, or "running": neither call is number 0
	proc_read(&a, PROCFS, pid, "syscall", &text);
	long nr = strtol(text.p, NULL, 10);
	arena_fini(&a);
#ifdef SYS_epoll_wait
	if (nr == SYS_epoll_wait)
		return true;
#endif
	return nr == SYS_epoll_pwait;
}

/** "attached to 6 processes of postgres (20814, 20815, 20816, ...), and those they fork" */
static void report_processes(struct arena *a, const struct run_config *cfg)
{
	enum { SHOWN = 8 };
	struct str name = str_printable(a, proc_name(cfg->several));
	const char *note = cfg->build_note ? cfg->build_note : "";
	if (cfg->cgroup) {
		fprintf(stderr, "btgen: attached to " STR_FMT " in %s, later processes included\n",
			STR_ARG(name), str_dup(a, str_printable(a, str_from(cfg->cgroup))));
		return;
	}
	if (cfg->n_pids == 1) {
		fprintf(stderr, "btgen: attached to " STR_FMT " (PID %d)%s, and those it forks\n",
			STR_ARG(name), cfg->pids[0], note);
		return;
	}
	const char *pids = "";
	for (size_t i = 0; i < cfg->n_pids && i < SHOWN; i++)
		pids = arena_printf(a, "%s%s%d", pids, i ? ", " : "", cfg->pids[i]);
	// One write: other builds' messages come at the same time.
	fprintf(stderr, "btgen: attached to %zu processes of " STR_FMT " (%s%s)%s%s\n", cfg->n_pids,
		STR_ARG(name), pids, cfg->n_pids > SHOWN ? ", ..." : "", note,
		cfg->has_children ? ", and those they fork" : "");
}

void ready_pass_on(struct diag *d, const char *file, int fd)
{
	if (file) {
		int out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (out < 0 || !file_write_all(out, STR("ready\n")))
			diag_warning(d, NULL, "--ready-file: cannot write %s: %s", file,
				     strerror(errno));
		if (out >= 0)
			close(out);
	}
	if (fd >= 0) {
		if (!file_write_all(fd, STR("ready\n")))
			diag_warning(d, NULL, "--ready-fd: %s", strerror(errno));
		close(fd);
	}
}

void ready_report(struct arena *a, struct diag *d, const struct run_config *cfg)
{
	if (!cfg->quiet && cfg->several)
		report_processes(a, cfg);
	else if (!cfg->quiet && cfg->chosen)
		fprintf(
		    stderr,
		    "btgen: attached to the whole host: the script filters by the PID of " STR_FMT
		    ", %d\n",
		    STR_ARG(str_printable(a, proc_name(cfg->chosen))), cfg->chosen->pid);
	else if (!cfg->quiet && cfg->proc)
		fprintf(stderr, "btgen: attached to " STR_FMT " (PID %d)%s\n",
			STR_ARG(str_printable(a, proc_name(cfg->proc))), cfg->proc->pid,
			cfg->build_note ? cfg->build_note : "");
	else if (!cfg->quiet && cfg->exe)
		fprintf(stderr, "btgen: attached to every process of " STR_FMT "\n",
			STR_ARG(str_printable(a, str_from(cfg->exe))));
	else if (!cfg->quiet)
		fprintf(stderr, "btgen: attached\n");
	ready_pass_on(d, cfg->ready_file, cfg->ready_fd);
	if (cfg->child)
		spawn_release(cfg->child);
}
