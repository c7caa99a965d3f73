#include "kernel/hold.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "process/proc.h"

typedef VEC(int) fd_list;

/** False: not all of them. */
static bool copy_attachments(struct arena *a, pid_t pid, int process, fd_list *ret)
{
	int fds = proc_open_file(PROCFS, pid, "fd"), fd = 0;
	DIR *dir = fds < 0 ? NULL : fdopendir(fds);
	for (struct dirent *e; dir && fd >= 0 && (e = readdir(dir));) {
		char to[64];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof(to));
		struct str kind = {to, n > 0 ? (size_t)n : 0};
		if (!str_eq(kind, STR("anon_inode:[perf_event]")) &&
		    !str_eq(kind, STR("anon_inode:bpf_link")))
			continue;
		fd = (int)syscall(SYS_pidfd_getfd, process, atoi(e->d_name), 0);
		if (fd >= 0)
			vec_push(a, ret, fd);
	}
	if (dir)
		closedir(dir);
	else if (fds >= 0)
		close(fds);
	return dir && fd >= 0;
}

/** In a process of its own, for which no one has to wait. Its end closes the copies: the kernel would give up what KILL interrupts. */
static void keep(fd_list *copies, int process)
{
	struct pollfd end = {.fd = process, .events = POLLIN};
	sigset_t none;
	setsid();
	pid_t child = fork();
	if (child != 0)
		_exit(child < 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_NAME, "btgen-detach");
	if (chdir("/") != 0)
		_exit(1);
	file_close_all_but(copies->v, copies->n);
	poll(&end, 1, -1);
	_exit(0);
}

bool hold_attachments(pid_t pid)
{
	struct arena a = {0};
	fd_list copies = {0};
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	bool good = process >= 0 && copy_attachments(&a, pid, process, &copies);
	if (process >= 0)
		vec_push(&a, &copies, process);
	pid_t child = copies.n > 1 ? fork() : -1;
	if (child == 0)
		keep(&copies, process);
	int status = 1;
	good &= child > 0 && waitpid(child, &status, 0) == child && status == 0;
	vec_each(const int, fd, &copies)
		close(*fd);
	arena_fini(&a);
	return good;
}
