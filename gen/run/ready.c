#include "run/ready.h"

#include <sys/syscall.h>

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

void ready_pass_on(struct diag *d, const char *file, int fd)
{
	if (file)
		outfile_notify(d, "--ready-file", file, STR("ready\n"));
	if (fd >= 0) {
		if (!file_write_all(fd, STR("ready\n")))
			diag_warning(d, NULL, "--ready-fd: %s", strerror(errno));
		close(fd);
	}
}

void ready_report(struct diag *d, const struct run_config *cfg)
{
	if (!cfg->quiet) // in one write: other builds' messages come at the same time
		fprintf(stderr, "btgen: %s\n", cfg->attached_to);
	ready_pass_on(d, cfg->ready_file, cfg->ready_fd);
	if (cfg->child)
		spawn_release(cfg->child);
}
