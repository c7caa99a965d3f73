#include "run/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASK_AGAIN_MS = 200 };

/** What it has inherited would keep pipes open that somebody waits for. */
static void close_all_but(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
	if (low > 0)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

static void watch(int lifeline, int bpftrace)
{
	struct pollfd fds[] = {{.fd = bpftrace, .events = POLLIN}, {.fd = lifeline, .events = 0}};
	while (!fds[0].revents && poll(fds, 2, fds[1].fd < 0 ? ASK_AGAIN_MS : -1) >= 0) {
		fds[1].fd = -1; // nothing else can have happened to it
		if (fds[0].revents)
			break;
		syscall(SYS_pidfd_send_signal, bpftrace, SIGINT, NULL, 0);
		syscall(SYS_pidfd_send_signal, bpftrace, SIGCONT, NULL, 0);
	}
}

void guard_start(struct guard *g, pid_t pid)
{
	int ends[2];
	*g = (struct guard){.lifeline = -1};
	int bpftrace = (int)syscall(SYS_pidfd_open, pid, 0);
	if (bpftrace < 0 || pipe2(ends, O_CLOEXEC) != 0) {
		if (bpftrace >= 0)
			close(bpftrace);
		return;
	}
	g->lifeline = ends[1];
	g->pid = fork();
	if (g->pid == 0) {
		setpgid(0, 0); // what is sent to btgen's process group is not meant
		close_all_but(ends[0], bpftrace);
		watch(ends[0], bpftrace);
		_exit(0);
	}
	close(ends[0]);
	close(bpftrace);
}

void guard_end(struct guard *g)
{
	if (g->pid > 0) {
		kill(g->pid, SIGKILL);
		waitpid(g->pid, NULL, 0);
	}
	if (g->lifeline >= 0)
		close(g->lifeline);
	*g = (struct guard){.lifeline = -1};
}
