#include "run/stop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/ready.h"

#define STOP_LOOKS 4 // that many looks in a row, longer than its last wait, mean it has not heard
#define LAST_EVENTS_MS 250  // what the target did at its end is read at most 100 ms later
#define BUSY_MS 3000	    // one that always has something to read is interrupted in the end
#define LONG_DETACH_MS 1000 // from then on stop_takes_long()
#define ASK_AGAIN_MS 200    // of the guard

void stop_signals(sigset_t *ret)
{
	struct sigaction hup;
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGQUIT);
	sigaddset(ret, SIGUSR2); // it would end us without the maps
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN) // nohup: go on
		sigaddset(ret, SIGHUP);
}

static void begin_stop(struct stop *s)
{
	if (!s->is_begun)
		s->begun_at = clock_ms();
	s->is_begun = true;
}

void stop_now(struct stop *s, int sig)
{
	if (s->pid > 0)
		kill(s->pid, sig);
	s->sent |= 1u << sig;
	begin_stop(s);
	s->idle_looks = 0;
	s->looked_at = clock_ms();
}

void stop_when_idle(struct stop *s)
{
	unsigned long now = clock_ms();
	if (s->at && now >= s->at && (now >= s->at + BUSY_MS || ready_is_waiting(s->pid))) {
		s->at = 0;
		stop_now(s, SIGINT);
	}
}

/**
 * KILL in the middle of a detach leaves the breakpoint and the semaphore in the target: the kernel
 * gives up restoring them. A process that has been stopped is in no system call.
 */
static void kill_when_stopped(struct stop *s)
{
	siginfo_t info = {0};
	if (s->is_killing && !(s->sent & 1u << SIGKILL) &&
	    waitid(P_PID, (id_t)s->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == s->pid)
		stop_now(s, SIGKILL);
}

void stop_look_for_end(struct stop *s)
{
	siginfo_t info = {0};
	int rc = waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	s->ended |= (rc == 0 && info.si_pid == s->pid) || (rc != 0 && errno == ECHILD);
	kill_when_stopped(s);
}

void stop_interrupt(struct stop *s, bool is_running)
{
	s->interrupts++;
	if (s->ended || s->pid <= 0)
		return;
	// SIGINT makes bpftrace detach (a tenth of a second for each probe), run END and print its maps.
	if (s->interrupts == 1 && is_running) {
		s->at = clock_ms() + 1;
		return;
	}
	s->at = 0;
	if (s->interrupts == 1) {
		stop_now(s, SIGINT);
	} else if (s->interrupts == 2) {
		fprintf(stderr,
			"btgen: bpftrace is detaching its probes; press ^C again to kill it "
			"without printing maps\n");
		stop_now(s, SIGTERM);
	} else {
		s->is_killing = true;
		stop_now(s, SIGSTOP);
		kill_when_stopped(s);
	}
}

void stop_after_target(struct stop *s, bool has_pid)
{
	if (has_pid) // 0.27 may miss that it ended, and is signalled when it does not stop
		begin_stop(s);
	s->looked_at = clock_ms();
	if (!has_pid && !s->at) // a ^C that has come is sent as soon
		s->at = clock_ms() + LAST_EVENTS_MS;
}

/**
 * bpftrace 0.17 and 0.23 lose a signal that comes while they handle output, and go on. One that
 * still waits for events, look after look and with nothing to say, has lost it. (After detaching it
 * waits once more, for 100 ms.)
 */
void stop_again_if_lost(struct stop *s, bool had_output)
{
	if (had_output)
		s->idle_looks = 0;
	if (!s->is_begun || clock_ms() - s->looked_at < STOP_LOOK_MS)
		return;
	s->looked_at = clock_ms();
	s->idle_looks = ready_is_waiting(s->pid) ? s->idle_looks + 1 : 0;
	if (s->idle_looks >= STOP_LOOKS)
		stop_now(s, SIGINT);
}

bool stop_takes_long(struct stop *s)
{
	bool does = s->begun_at && clock_ms() >= s->begun_at + LONG_DETACH_MS;
	if (does)
		s->begun_at = 0;
	return does;
}

// --- the guard

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

void stop_init(struct stop *s, pid_t pid)
{
	int ends[2];
	*s = (struct stop){.pid = pid, .lifeline = -1};
	int bpftrace = (int)syscall(SYS_pidfd_open, pid, 0);
	if (bpftrace < 0 || pipe2(ends, O_CLOEXEC) != 0) {
		if (bpftrace >= 0)
			close(bpftrace);
		return;
	}
	s->lifeline = ends[1];
	s->guard = fork();
	if (s->guard == 0) {
		setpgid(0, 0); // what is sent to btgen's process group is not meant
		file_close_all_but((int[]){ends[0], bpftrace}, 2);
		watch(ends[0], bpftrace);
		_exit(0);
	}
	close(ends[0]);
	close(bpftrace);
}

void stop_fini(struct stop *s)
{
	if (s->guard > 0) {
		kill(s->guard, SIGKILL);
		waitpid(s->guard, NULL, 0);
	}
	if (s->lifeline >= 0)
		close(s->lifeline);
}
