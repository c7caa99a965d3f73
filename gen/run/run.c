#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "run/guard.h"
#include "run/loss.h"
#include "run/output.h"
#include "run/ready.h"
#include "run/relay.h"
#include "run/start.h"

#define READY_POLL_MS 5 // how often bpftrace is looked at until it is attached
#define STOP_LOOK_MS 60 // how often its state is polled once it got a signal
#define STOP_LOOKS 4 // that many looks in a row, longer than its last wait, mean it has not heard
#define LAST_EVENTS_MS 250  // what the target did at its end is read at most 100 ms later
#define BUSY_MS 3000	    // one that always has something to read is interrupted in the end
#define ENOUGH_INTERRUPTS 2 // by then what nobody reads is given up

/** One run. */
struct runner {
	struct arena *arena;
	struct diag *diag;
	const struct run_config *cfg;
	struct relay relay;
	pid_t pid;		// bpftrace; 0 once it is reaped
	int out_pipe, err_pipe; // -1 once they have ended
	int signals;
	int target_end; // becomes readable when the target ends; -1 afterwards, or without one
	struct output output;
	bool ready;    // the probes are attached
	bool ended;    // bpftrace is a zombie
	bool given_up; // no more output: its reader has gone, or what an error has said
	unsigned interrupts;
	unsigned long
	    stop_at;	  // ms: from then on bpftrace gets SIGINT, as soon as it waits; 0: not yet
	bool stopping;	  // it got the signal
	unsigned sent;	  // bits of the signals that we have sent to it
	int first_signal; // that we got
	bool killing;	  // it is to be killed once it is stopped
	struct guard guard;
	int loss;		 // its counter of lost events, or -1
	unsigned idle_looks;	 // how often since then it was seen to wait for events, in a row
	unsigned long looked_at; // ms, of the last such look
	int status;
	int end_signal; // that ended bpftrace, or 0
	bool lost;	// some events
};

static unsigned long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

static void stop_bpftrace(struct runner *r, int sig)
{
	if (r->pid > 0)
		kill(r->pid, sig);
	r->sent |= 1u << sig;
	r->stopping = true;
	r->idle_looks = 0;
	r->looked_at = now_ms();
}

/**
 * bpftrace drops the events that it is reading when a signal comes: so it gets one while it waits
 * for events, that is, when it has read those that there were.
 */
static void stop_when_idle(struct runner *r)
{
	unsigned long now = now_ms();
	if (r->stop_at && now >= r->stop_at &&
	    (now >= r->stop_at + BUSY_MS || ready_is_waiting(r->pid))) {
		r->stop_at = 0;
		stop_bpftrace(r, SIGINT);
	}
}

/**
 * KILL in the middle of a detach leaves the breakpoint and the semaphore in the target: the kernel
 * gives up restoring them. A process that has been stopped is in no system call.
 */
static void kill_when_stopped(struct runner *r)
{
	siginfo_t info = {0};
	if (r->killing && !(r->sent & 1u << SIGKILL) &&
	    waitid(P_PID, (id_t)r->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == r->pid)
		stop_bpftrace(r, SIGKILL);
}

/** Has bpftrace itself ended, or stopped? What it has started may go on and hold its pipes open. */
static void look_for_end(struct runner *r)
{
	siginfo_t info = {0};
	int rc = waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	r->ended |= (rc == 0 && info.si_pid == r->pid) || (rc != 0 && errno == ECHILD);
	kill_when_stopped(r);
}

static void take_signal(struct runner *r)
{
	struct signalfd_siginfo info;
	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) { // of bpftrace, or of a program that we started
		look_for_end(r);
		return;
	}
	if (r->interrupts++ == 0)
		r->first_signal = (int)info.ssi_signo;
	// SIGINT makes bpftrace detach (a tenth of a second for each probe), run END and print its
	// maps.
	if (r->interrupts == 1 && r->ready) {
		r->stop_at = now_ms() + (r->cfg->has_heartbeat ? 1000 / RUN_HEARTBEAT_HZ + 10 : 1);
		return;
	}
	r->stop_at = 0;
	if (r->interrupts == 1) {
		stop_bpftrace(r, SIGINT);
	} else if (r->interrupts == 2) {
		fprintf(stderr,
			"btgen: bpftrace is detaching its probes; press ^C again to kill it "
			"without printing maps\n");
		stop_bpftrace(r, SIGTERM);
	} else {
		r->killing = true;
		stop_bpftrace(r, SIGSTOP);
		kill_when_stopped(r);
	}
}

/**
 * False, with errno, when it cannot be written; EPIPE also when nobody reads and a second signal
 * came.
 */
static bool write_polled(struct runner *r, struct str data)
{
	while (data.n) {
		struct pollfd fds[] = {
		    {.fd = r->output.fd, .events = POLLOUT},
		    {.fd = r->signals, .events = POLLIN},
		};
		if (poll(fds, 2, r->stop_at ? READY_POLL_MS : -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			take_signal(r);
		stop_when_idle(r);
		ssize_t n = fds[0].revents ? output_write(&r->output, data) : 0;
		if (n == 0 && r->interrupts >= ENOUGH_INTERRUPTS) {
			errno = EPIPE;
			return false;
		}
		if (n < 0)
			return false;
		data = str_from_offset(data, (size_t)n);
	}
	return true;
}

static void write_output(struct runner *r, struct str data)
{
	if (data.n && !r->given_up && !write_polled(r, data)) {
		int err = errno;
		r->given_up = true;
		output_cut_part(&r->output);
		if (err != EPIPE)
			diag_error(r->diag, NULL, "cannot write %s: %s",
				   r->cfg->out_path ? r->cfg->out_path : "the output",
				   strerror(err));
		if (!r->stopping)
			stop_bpftrace(r, SIGINT);
	}
}

/** Writes what has come, records decoded and functions named; @end: nothing more will come. */
static void flush_output(struct runner *r, bool end)
{
	struct str data = strbuf_str(&r->relay.out);
	if (r->cfg->out_path && !r->ready)
		return;
	struct records *records = r->cfg->records;
	struct codemark *marks = r->cfg->codemark;
	struct strbuf lines;
	strbuf_init(&lines);
	if (records) {
		records_take(records, data, &lines);
		if (end)
			records_end(records, &lines);
		data = strbuf_str(&lines);
	} else if (marks) {
		codemark_take(marks, data, &lines);
		if (end)
			codemark_end(marks, &lines);
		data = strbuf_str(&lines);
	}
	write_output(r, data);
	strbuf_fini(&lines);
	strbuf_clear(&r->relay.out);
}

static void give_up(struct runner *r)
{
	r->given_up = true;
	stop_bpftrace(r, SIGINT);
}

static void become_ready(struct runner *r)
{
	// bpftrace knows a process by its PID alone: only now that it is attached can we tell
	// whether the PID still belonged to the process that was looked at, and whether that still
	// runs the same program.
	const struct proc *proc = r->cfg->proc;
	r->ready = true;
	relay_release(&r->relay);
	r->loss = loss_open(r->pid);
	if (!output_begin(r->diag, &r->output)) {
		give_up(r);
	} else if (proc && proc_is_replaced(proc)) {
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT
			   ") has exited and its PID was reused: the new process is not traced",
			   proc->pid, STR_ARG(proc_name(proc)));
		give_up(r);
	} else if (proc && !proc_is_same(proc)) {
		return; // said at the end
	} else if (proc && !proc_runs_same_file(proc)) {
		diag_error(r->diag, NULL, "process %d called exec() during setup: try again",
			   proc->pid);
		give_up(r);
	} else {
		ready_tell(r->arena, r->diag, r->cfg);
	}
}

/**
 * bpftrace 0.17 and 0.23 lose a signal that comes while they handle output, and go on. One that
 * still waits for events, look after look and with nothing to say, has lost it. (After detaching it
 * waits once more, for 100 ms.)
 */
static void stop_again_if_lost(struct runner *r, bool had_output)
{
	if (had_output)
		r->idle_looks = 0;
	if (!r->stopping || now_ms() - r->looked_at < STOP_LOOK_MS)
		return;
	r->looked_at = now_ms();
	r->idle_looks = ready_is_waiting(r->pid) ? r->idle_looks + 1 : 0;
	if (r->idle_looks >= STOP_LOOKS)
		stop_bpftrace(r, SIGINT);
}

/** How long to wait for something to happen, in ms. */
static int wait_time(const struct runner *r)
{
	if (r->ended)
		return 0;
	if (!r->ready || r->relay.out_line.n || r->relay.blank_lines || r->stop_at)
		return READY_POLL_MS;
	return r->stopping ? STOP_LOOK_MS : -1;
}

/** Reads what has come through @fd; -1 in *fd at its end. Returns whether there was anything. */
static bool take_bytes(struct runner *r, int *fd, void (*take)(struct relay *, struct str))
{
	char bytes[65536];
	ssize_t n = read(*fd, bytes, sizeof(bytes));
	if (n > 0) {
		if (r->ready && r->relay.stdout_has_messages && !ready_is_tracing(r->pid))
			r->relay.ending = true;
		take(&r->relay, (struct str){bytes, (size_t)n});
		return true;
	}
	if (n == 0 || errno != EINTR) {
		close(*fd);
		*fd = -1;
	}
	return false;
}

/** By bpftrace's own word; those to come may choose another, but will wait for events. */
static bool is_attached(const struct runner *r)
{
	return r->relay.attached || (!r->relay.stdout_has_messages && ready_is_waiting(r->pid));
}

/** Until bpftrace has closed both of its streams, or has ended and nothing more comes. */
static void relay_until_end(struct runner *r)
{
	while (r->out_pipe >= 0 || r->err_pipe >= 0) {
		struct pollfd fds[] = {
		    {.fd = r->out_pipe, .events = POLLIN},
		    {.fd = r->err_pipe, .events = POLLIN},
		    {.fd = r->signals, .events = POLLIN},
		    {.fd = r->target_end, .events = POLLIN},
		};
		int n = poll(fds, 4, wait_time(r));
		bool had_output = n > 0 && (fds[0].revents || fds[1].revents);
		if ((n < 0 && errno != EINTR) || (n == 0 && r->ended))
			break;
		if (n <= 0) {
			if (ready_is_waiting(r->pid))
				relay_stdout_idle(&r->relay);
		} else {
			if (fds[1].revents)
				take_bytes(r, &r->err_pipe, relay_stderr);
			if (fds[0].revents)
				take_bytes(r, &r->out_pipe, relay_stdout);
			if (fds[2].revents)
				take_signal(r);
			if (fds[3].revents) {
				r->target_end = -1;
				// With -p bpftrace ends by itself, mostly: 0.27 may miss it, and is
				// told below.
				r->stopping = r->cfg->pass_pid;
				r->looked_at = now_ms();
				r->stop_at = r->cfg->pass_pid ? 0 : now_ms() + LAST_EVENTS_MS;
			}
		}
		if (!r->ready && is_attached(r))
			become_ready(r);
		flush_output(r, false);
		stop_again_if_lost(r, had_output);
		stop_when_idle(r);
	}
	relay_end(&r->relay);
}

static void reap(struct runner *r)
{
	int status = 0;
	for (look_for_end(r); !r->ended;
	     take_signal(r)) { // one that has closed its streams may go on
		struct pollfd fd = {.fd = r->signals, .events = POLLIN};
		poll(&fd, 1, -1);
	}
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->end_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/** bpftrace was ended by a signal that is none of ours. */
static void tell_end_signal(struct runner *r)
{
	const char *name = strsignal(r->end_signal);
	diag_error(r->diag, NULL, "bpftrace was killed by signal %d (%s)", r->end_signal, name);
	if (r->stopping && r->ready)
		diag_note(r->diag, NULL,
			  "it was detaching its probes: breakpoints may be left in the traced "
			  "program; tracing it again and ending that with ^C removes them");
}

/** Loss is never silent: a reader of the data has to know. */
static void tell_loss(struct runner *r)
{
	struct records *records = r->cfg->records;
	struct records_sum sum = records ? records_sum(records) : (struct records_sum){0};
	unsigned long long lost = records ? records->reported_lost : r->relay.lost;
	bool is_exact = loss_read(r->loss, &lost), was_quiet = r->diag->quiet;
	r->diag->quiet = false;
	if (records && records->is_counted && sum.n_lost)
		diag_warning(r->diag, NULL,
			     "%" PRIu64 " of %" PRIu64
			     " events were lost: bpftrace could not keep up",
			     sum.n_lost, sum.n_fired);
	else if (lost && !(records && records->is_counted))
		diag_warning(
		    r->diag, NULL, "%s%llu events were lost: bpftrace could not keep up%s",
		    is_exact ? "" : "at least ", lost,
		    !is_exact && r->relay.stdout_has_messages && !records
			? " (or the traced program printed bpftrace's line \"Lost N events\": "
			  "see the data)"
			: "");
	r->diag->quiet = was_quiet;
	r->lost = lost || sum.n_lost;
}

/** How it has ended, and the status of that. */
static void tell_end(struct runner *r, bool is_gone)
{
	const struct run_config *cfg = r->cfg;
	bool by_us = r->end_signal && (r->sent & 1u << r->end_signal);
	if (!r->ready && r->interrupts) {
		r->status = 128 + r->first_signal;
		if (!cfg->quiet)
			fprintf(stderr, "btgen: interrupted before all probes were attached\n");
	} else if (!r->ready && r->status && is_gone) {
		r->status = 1;
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT ") has exited before it could be traced",
			   cfg->proc->pid, STR_ARG(proc_name(cfg->proc)));
	} else if (r->end_signal && !by_us) {
		tell_end_signal(r);
	} else if (!r->ready && r->status) {
		messages_explain_failure(&r->relay.messages, r->status);
	} else if (is_gone && r->status == 0 && !cfg->quiet && !r->given_up) {
		fprintf(stderr, "btgen: process %d (" STR_FMT ") has exited\n", cfg->proc->pid,
			STR_ARG(str_printable(r->arena, proc_name(cfg->proc))));
	}
	if (r->given_up && (r->status == 0 || by_us || r->diag->n_errors))
		r->status = r->diag->n_errors ? 1 : 0;
}

/** What remains to be said and done once bpftrace is gone. */
static void finish(struct runner *r)
{
	const struct run_config *cfg = r->cfg;
	bool was_ready = r->ready, is_gone = cfg->proc && !proc_is_same(cfg->proc);
	if (r->ready || !r->status || !is_gone) // else it talks of a process that is no more
		relay_release(&r->relay);
	if (!r->ready && r->status == 0) { // it was over before we saw it wait: a BEGIN that exits
		r->ready = true;
		if (!output_begin(r->diag, &r->output))
			r->given_up = true;
	}
	if (r->ready)
		flush_output(r, true);
	tell_loss(r);
	bool has_data = cfg->records ? records_sum(cfg->records).n_events > 0 : r->relay.has_data;
	if (was_ready && !has_data && !r->lost && !r->given_up && r->status == 0 && !cfg->quiet)
		fprintf(stderr,
			"btgen: no events: nothing was printed while the probes were attached\n");
	tell_end(r, is_gone);
}

/** Names of maps in a program: an empty line each, if there is nothing in them. */
static unsigned count_maps(struct arena *a, struct str program)
{
	struct map names = {0};
	unsigned n = 0;
	bool in_string = false;
	for (size_t i = 0; i < program.n; i++) {
		if (program.p[i] == '\\' && in_string)
			i++;
		else if (program.p[i] == '"')
			in_string = !in_string;
		if (in_string || i >= program.n || program.p[i] != '@')
			continue;
		size_t from = i;
		while (str_is_made_of(str_slice(program, i + 1, 1), ALPHABET_WORD))
			i++;
		n += map_add(a, &names, str_slice(program, from, i + 1 - from));
	}
	return n;
}

int run_program(struct arena *a, struct diag *d, const struct run_config *cfg)
{
	struct runner r = {
	    .arena = a, .diag = d, .cfg = cfg, .out_pipe = -1, .err_pipe = -1, .loss = -1};
	r.target_end = cfg->proc ? cfg->proc->pidfd : -1;
	if (!output_open(a, d, cfg->out_path, &r.output))
		return 1;
	if (cfg->proc && !proc_is_same(cfg->proc)) {
		diag_error(d, NULL, "process %d has exited", cfg->proc->pid);
		return 1;
	}

	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	struct sigaction hup;
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN) // nohup: goes on
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	r.status = 1;
	struct started started;
	if (start_bpftrace(a, d, cfg, &started)) {
		r.pid = started.pid;
		r.out_pipe = started.out;
		r.err_pipe = started.err;
		relay_init(&r.relay, d, cfg->map, started.program_name);
		r.relay.messages.program = cfg->program;
		r.relay.stdout_has_messages = cfg->bpftrace->version < BPFTRACE_SAYS_ATTACHED;
		r.relay.holds_messages = true;
		r.relay.n_maps = r.relay.stdout_has_messages ? count_maps(a, cfg->program) : 0;
		guard_start(&r.guard, r.pid);
		relay_until_end(&r);
		reap(&r);
		guard_end(&r.guard);
		finish(&r);
		relay_fini(&r.relay);
		if (r.loss >= 0)
			close(r.loss);
	}
	close(r.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	output_close(&r.output);
	return r.status;
}
