// Where commands come from: clients, their lines, their answers.
#include "rpc.h"
#include "commands.h"
#include "probes.h"
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MAX_ 4096
#define CLIENTS_MAX 16

struct client {
	struct client *next;
	int in, out;
	char line[LINE_MAX_];
	size_t n;
	bool is_closed; // no more to read
	bool is_file;	// never has to be waited for, and cannot be
	struct spdk_poller *poller;
};

static struct {
	struct client *clients;
	struct client *busy; // whose command runs
	bool is_busy, is_stopping, wants_stop, is_pumping;
	const char *path;
	int listen_fd, signal_fd;
	struct spdk_poller *listener, *signals;
} rpc = {.listen_fd = -1, .signal_fd = -1};

static void answer(struct client *c, const char *text)
{
	if (!c)
		return;
	size_t n = strlen(text);
	// A client that went away or does not read loses its answer; SIGPIPE is ignored.
	for (ssize_t w; n > 0 && (w = write(c->out, text, n)) > 0; n -= (size_t)w)
		text += w;
}

static struct client *client_new(int in, int out)
{
	struct client *c = calloc(1, sizeof(*c));
	if (!c)
		abort();
	c->in = in;
	c->out = out;
	struct client **at = &rpc.clients;
	while (*at)
		at = &(*at)->next;
	*at = c;
	return c;
}

static void client_free(struct client *c)
{
	struct client **at = &rpc.clients;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (rpc.busy == c)
		rpc.busy = NULL;
	spdk_poller_unregister(&c->poller);
	if (rpc.path)
		close(c->in);
	free(c);
}

static bool listen_at(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path) >= (int)sizeof(sa.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	rpc.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rpc.listen_fd < 0)
		return false;
	if (bind(rpc.listen_fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		// A socket that nobody listens on is left over from a target that was killed.
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool is_stale = errno == EADDRINUSE && fd >= 0 &&
				connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 &&
				errno == ECONNREFUSED;
		close(fd);
		if (!is_stale || unlink(path) < 0 ||
		    bind(rpc.listen_fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
			errno = EADDRINUSE;
			return false;
		}
	}
	rpc.path = path;
	return listen(rpc.listen_fd, CLIENTS_MAX) == 0;
}

bool rpc_open(const char *path)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	rpc.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (rpc.signal_fd < 0)
		return false;
	if (path)
		return listen_at(path);
	struct stat st;
	struct client *c = client_new(STDIN_FILENO, STDOUT_FILENO);
	c->is_file = fstat(c->in, &st) == 0 && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) &&
		     !isatty(c->in);
	return true;
}

static struct client *accept_client(void)
{
	int fd = accept4(rpc.listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return NULL;
	int n = 0;
	for (struct client *c = rpc.clients; c; c = c->next)
		n++;
	if (n >= CLIENTS_MAX) {
		close(fd);
		return NULL;
	}
	return client_new(fd, fd);
}

static void read_client(struct client *c)
{
	// Full of lines that wait for the command before them: to read into no room would look like the end.
	if (c->n == sizeof(c->line))
		return;
	ssize_t n = read(c->in, c->line + c->n, sizeof(c->line) - c->n);
	if (n > 0)
		c->n += (size_t)n;
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		c->is_closed = true;
	if (c->n == sizeof(c->line) && !memchr(c->line, '\n', c->n)) {
		answer(c, "error: the line is too long\n");
		c->n = 0;
		c->is_closed = true;
	}
}

// Takes the first line out of the buffer; false if none is complete.
static bool take_line(struct client *c, char line[LINE_MAX_])
{
	char *end = memchr(c->line, '\n', c->n);
	size_t n;
	if (end) {
		n = (size_t)(end - c->line) + 1;
	} else if (c->is_closed && c->n > 0 && c->n < sizeof(c->line)) {
		n = c->n; // the last line, without its newline
		c->line[n] = '\n';
	} else {
		return false;
	}
	memcpy(line, c->line, n);
	line[n - (end ? 1 : 0)] = '\0';
	c->n -= n;
	memmove(c->line, c->line + n, c->n);
	return true;
}

bool rpc_wait_for_start(void)
{
	static const char say[] = "nvmf_tgt: waiting for `start`\n";
	if (write(STDOUT_FILENO, say, sizeof(say) - 1) < 0)
		return false;
	for (;;) {
		struct pollfd fds[CLIENTS_MAX + 2];
		struct client *who[CLIENTS_MAX + 2] = {NULL};
		nfds_t n = 0;
		fds[n++] = (struct pollfd){.fd = rpc.signal_fd, .events = POLLIN};
		fds[n++] = (struct pollfd){.fd = rpc.listen_fd, .events = POLLIN};
		for (struct client *c = rpc.clients; c && n < CLIENTS_MAX + 2; c = c->next) {
			who[n] = c;
			fds[n++] = (struct pollfd){.fd = c->in, .events = POLLIN};
		}
		if (poll(fds, n, -1) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return false;
		if (fds[1].revents)
			accept_client();
		for (nfds_t i = 2; i < n; i++) {
			if (!fds[i].revents)
				continue;
			char line[LINE_MAX_];
			read_client(who[i]);
			while (take_line(who[i], line)) {
				if (!strcmp(line, "start") ||
				    !strcmp(line, "framework_start_init")) {
					answer(who[i], "ok\n");
					return true;
				}
				bool is_end = !strcmp(line, "quit");
				answer(who[i], is_end ? "ok\n" : "error: waiting for start\n");
				if (is_end)
					return false;
			}
			if (who[i]->is_closed) {
				client_free(who[i]);
				if (!rpc.path)
					return false;
			}
		}
	}
}

/* after the start, on the first light thread */

static void stop(struct client *c)
{
	rpc.is_stopping = rpc.is_busy = true;
	rpc.busy = c;
	spdk_app_stop();
}

static bool next_line(struct client *c, char line[LINE_MAX_])
{
	while (!take_line(c, line)) {
		if (!c->is_file || c->is_closed)
			return false;
		read_client(c);
	}
	return true;
}

// Runs the next command, unless one is under way.
static void pump(void)
{
	if (rpc.is_pumping) // a command that was done at once
		return;
	rpc.is_pumping = true;
	for (struct client *c = rpc.clients, *next; c && !rpc.is_busy; c = next) {
		char line[LINE_MAX_];
		while (!rpc.is_busy && next_line(c, line)) {
			char *argv[COMMAND_ARGS_MAX];
			int argc = command_split(line, argv);
			if (!argc || argv[0][0] == '#')
				continue;
			PROBE_LOG("command()", log_str(argv[0]));
			if (!strcmp(argv[0], "quit") || !strcmp(argv[0], "spdk_kill_instance")) {
				stop(c);
				break;
			}
			rpc.is_busy = true;
			rpc.busy = c;
			command_run(argc, argv, c->out);
		}
		next = c->next;
		if (!rpc.is_busy && c->is_closed && c->n == 0) {
			client_free(c);
			rpc.wants_stop |= !rpc.path; // the end of stdin
		}
	}
	if (rpc.wants_stop && !rpc.is_busy)
		stop(NULL);
	rpc.is_pumping = false;
}

void rpc_done(void *ctx, const char *error)
{
	char text[256];
	(void)ctx;
	snprintf(text, sizeof(text), "%s%s\n", error ? "error: " : "ok", error ? error : "");
	answer(rpc.busy, text);
	rpc.busy = NULL;
	if (rpc.is_stopping)
		return;
	rpc.is_busy = false;
	pump();
}

static int rpc_subsystem_poll(void *arg)
{
	struct client *c = arg;
	read_client(c);
	if (c->is_closed) // nothing more to wait for; its lines are still run
		spdk_poller_unregister(&c->poller);
	pump();
	return 1;
}

static int rpc_accept(void *arg)
{
	(void)arg;
	struct client *c = accept_client();
	if (c)
		c->poller = spdk_interrupt_register(c->in, rpc_subsystem_poll, c, "rpc");
	return 1;
}

static int app_signal(void *arg)
{
	struct signalfd_siginfo si;
	(void)arg;
	if (read(rpc.signal_fd, &si, sizeof(si)) == sizeof(si)) {
		rpc.wants_stop = true;
		pump();
	}
	return 1;
}

void rpc_start(void)
{
	rpc.signals = spdk_interrupt_register(rpc.signal_fd, app_signal, NULL, "signal");
	if (rpc.listen_fd >= 0)
		rpc.listener =
		    spdk_interrupt_register(rpc.listen_fd, rpc_accept, NULL, "rpc_listen");
	for (struct client *c = rpc.clients; c; c = c->next)
		if (!c->is_file && !c->is_closed)
			c->poller = spdk_interrupt_register(c->in, rpc_subsystem_poll, c, "rpc");
	pump();
}

void rpc_fini(void)
{
	while (rpc.clients)
		client_free(rpc.clients);
	spdk_poller_unregister(&rpc.signals);
	spdk_poller_unregister(&rpc.listener);
	if (rpc.listen_fd >= 0) {
		close(rpc.listen_fd);
		unlink(rpc.path);
	}
	close(rpc.signal_fd);
	rpc.listen_fd = rpc.signal_fd = -1;
}
