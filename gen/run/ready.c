#include "run/ready.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/output.h"

bool ready_is_report(struct str line)
{
	const struct str verb = STR("Attached ");
	if (!str_has_prefix(line, verb))
		return str_eqz(line, READY_ATTACHED);
	struct str rest = str_from_offset(line, verb.n);
	while (rest.n && isdigit((unsigned char)rest.p[0]))
		rest = str_from_offset(rest, 1);
	return rest.n + verb.n < line.n && str_has_prefix(rest, STR(" probe"));
}

bool ready_is_waiting(pid_t pid)
{
	struct arena a;
	struct str text; // a number and more, or "running": neither call is number 0
	arena_init(&a);
	proc_read(&a, PROCFS, pid, "syscall", &text);
	long nr = strtol(text.p, NULL, 10);
	arena_fini(&a);
#ifdef SYS_epoll_wait
	if (nr == SYS_epoll_wait)
		return true;
#endif
	return nr == SYS_epoll_pwait;
}

bool ready_is_tracing(pid_t pid)
{
	struct arena a;
	struct str text;
	arena_init(&a);
	proc_read(&a, PROCFS, pid, "status", &text);
	const char *caught = strstr(text.p, "\nSigCgt:");
	bool is = caught && (strtoull(caught + 8, NULL, 16) & 1ull << (SIGINT - 1));
	arena_fini(&a);
	return is;
}

void ready_tell(struct arena *a, struct diag *d, const struct run_config *cfg)
{
	if (!cfg->quiet && cfg->proc)
		fprintf(stderr, "btgen: attached to " STR_FMT " (PID %d)\n",
			STR_ARG(str_printable(a, proc_name(cfg->proc))), cfg->proc->pid);
	else if (!cfg->quiet && cfg->exe)
		fprintf(stderr, "btgen: attached to every process of " STR_FMT "\n",
			STR_ARG(str_printable(a, str_from(cfg->exe))));
	else if (!cfg->quiet)
		fprintf(stderr, "btgen: attached\n");
	if (cfg->ready_file) {
		int fd = open(cfg->ready_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0 || !output_write_all(fd, STR("ready\n")))
			diag_warning(d, NULL, "--ready-file: cannot write %s: %s", cfg->ready_file,
				     strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	if (cfg->ready_fd >= 0) {
		if (!output_write_all(cfg->ready_fd, STR("ready\n")))
			diag_warning(d, NULL, "--ready-fd: %s", strerror(errno));
		close(cfg->ready_fd);
	}
	if (cfg->child)
		spawn_release(cfg->child);
}
