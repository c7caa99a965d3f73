#include "base/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct jobs {
	const struct jobs_work *work;
	pid_t *pids; // 0: it has ended
	size_t n_begun, n_left, n_ready;
	int status; // the first that is not 0
};

static void send(const struct jobs *c, int sig)
{
	for (size_t i = 0; i < c->n_begun; i++)
		if (c->pids[i] > 0)
			kill(c->pids[i], sig);
}

static void reap(struct jobs *c)
{
	for (size_t i = 0; i < c->n_begun; i++) {
		int status;
		if (c->pids[i] <= 0 || waitpid(c->pids[i], &status, WNOHANG) != c->pids[i])
			continue;
		c->pids[i] = 0;
		c->n_left--;
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (status && !c->status) {
			c->status = status;
			if (c->n_ready < c->work->n)
				send(c, SIGINT);
		}
	}
}

static void take_signal(struct jobs *c, int signals)
{
	struct signalfd_siginfo info;
	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		reap(c);
	} else if (info.ssi_signo == SIGTSTP) { // suspended are all of them or none
		send(c, SIGSTOP);
		raise(SIGSTOP);
		send(c, SIGCONT);
	} else {
		send(c, (int)info.ssi_signo);
	}
}

/** Each line is of one that is ready. False at the end: all have said so, or are gone. */
static bool take_ready(struct jobs *c, int fd)
{
	char bytes[256];
	ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	for (ssize_t i = 0; i < n; i++)
		if (bytes[i] == '\n' && ++c->n_ready == c->work->n)
			c->work->all_ready(c->work->ctx);
	return true;
}

static bool begin(struct jobs *c, const int ready[2], const sigset_t *mask)
{
	pid_t parent = getpid();
	fflush(NULL); // what is buffered would be written by each of them
	pid_t pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(128 + SIGTERM);
		sigprocmask(SIG_SETMASK, mask, NULL);
		close(ready[0]);
		int status = c->work->work(c->work->ctx, c->n_begun, ready[1]);
		fflush(NULL);
		_exit(status);
	}
	c->pids[c->n_begun++] = pid;
	c->n_left++;
	return true;
}

int jobs_run(const struct jobs_work *w)
{
	struct jobs c = {.work = w, .pids = calloc(w->n, sizeof(*c.pids))};
	int ready[2] = {-1, -1}, error = 0;
	sigset_t set = w->signals, before, old;
	sigprocmask(SIG_BLOCK, &set, &before);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, &old);
	int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!c.pids || signals < 0 || pipe2(ready, O_CLOEXEC) != 0)
		error = errno;
	while (!error && c.n_begun < w->n)
		if (!begin(&c, ready, &before)) {
			error = errno;
			send(&c, SIGINT);
		}
	if (ready[1] >= 0)
		close(ready[1]);
	while (c.n_left) {
		struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
				       {.fd = ready[0], .events = POLLIN}};
		poll(fds, 2, -1);
		if (fds[1].revents && !take_ready(&c, ready[0])) {
			close(ready[0]);
			ready[0] = -1;
		}
		if (fds[0].revents)
			take_signal(&c, signals);
	}
	if (ready[0] >= 0)
		close(ready[0]);
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(c.pids);
	errno = error;
	return error ? -1 : c.status;
}
