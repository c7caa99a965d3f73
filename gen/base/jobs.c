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

struct job {
	pid_t pid;	 // 0: it has ended
	bool is_dropped; // by jobs_end()
};

struct jobs {
	const struct jobs_work *work;
	struct job *list;
	size_t n_begun, n_left, n_ready;
	int status; // the first that is not 0
	int ready[2];
	const sigset_t *mask; // of those that are started
	bool is_ending;
};

static void send(const struct jobs *c, int sig)
{
	for (size_t i = 0; i < c->n_begun; i++)
		if (c->list[i].pid > 0)
			kill(c->list[i].pid, sig);
}

static void reap(struct jobs *c)
{
	for (size_t i = 0; i < c->n_begun; i++) {
		struct job *job = &c->list[i];
		int status;
		if (job->pid <= 0 || waitpid(job->pid, &status, WNOHANG) != job->pid)
			continue;
		job->pid = 0;
		c->n_left--;
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (i >= c->work->n && status == JOBS_NOT_BEGUN) {
			c->work->not_begun(c->work->ctx, i);
			continue;
		}
		bool ends_all = (status && !c->status && c->n_ready < c->work->n) ||
				(c->work->look && !job->is_dropped && !c->is_ending);
		c->status = c->status ? c->status : status;
		c->is_ending |= ends_all;
		if (ends_all)
			send(c, SIGINT);
	}
}

static void handle_signal(struct jobs *c, int signals)
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
		c->is_ending |= info.ssi_signo != SIGUSR1; // which asks for what was kept
		send(c, (int)info.ssi_signo);
	}
}

/** Each line is of one that is ready. False at the end: all have said so, or are gone. */
static bool read_ready(struct jobs *c, int fd)
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

static bool begin(struct jobs *c)
{
	pid_t parent = getpid();
	struct job *list = realloc(c->list, (c->n_begun + 1) * sizeof(*list));
	if (!list)
		return false;
	c->list = list;
	fflush(NULL); // what is buffered would be written by each of them
	pid_t pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(128 + SIGTERM);
		sigprocmask(SIG_SETMASK, c->mask, NULL);
		if (c->ready[0] >= 0)
			close(c->ready[0]);
		int status = c->work->work(c->work->ctx, c->n_begun, c->ready[1]);
		fflush(NULL);
		_exit(status);
	}
	c->list[c->n_begun++] = (struct job){.pid = pid};
	c->n_left++;
	return true;
}

int jobs_add(struct jobs *c)
{
	return begin(c) ? (int)c->n_begun - 1 : -1;
}

void jobs_end(struct jobs *c, size_t i)
{
	c->list[i].is_dropped = true;
	if (c->list[i].pid > 0)
		kill(c->list[i].pid, SIGINT);
}

int jobs_run(const struct jobs_work *w)
{
	struct jobs c = {.work = w, .ready = {-1, -1}};
	int error = 0;
	sigset_t set = w->signals, before, old;
	sigprocmask(SIG_BLOCK, &set, &before);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, &old);
	c.mask = &before;
	int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0 || pipe2(c.ready, O_CLOEXEC) != 0)
		error = errno;
	while (!error && c.n_begun < w->n)
		if (!begin(&c)) {
			error = errno;
			send(&c, SIGINT);
		}
	if (!w->look && c.ready[1] >= 0) // else those that come later have it
		close(c.ready[1]);
	while (c.n_left) {
		struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
				       {.fd = c.ready[0], .events = POLLIN}};
		poll(fds, 2, w->look ? w->look_ms : -1);
		if (fds[1].revents && !read_ready(&c, c.ready[0])) {
			close(c.ready[0]);
			c.ready[0] = -1;
		}
		if (fds[0].revents)
			handle_signal(&c, signals);
		if (w->look && !c.is_ending && c.n_left)
			w->look(w->ctx, &c);
	}
	if (w->look && c.ready[1] >= 0)
		close(c.ready[1]);
	if (c.ready[0] >= 0)
		close(c.ready[0]);
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(c.list);
	errno = error;
	return error ? -1 : c.status;
}
