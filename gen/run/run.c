#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/progress.h"
#include "convert/convert.h"
#include "dialect/dialect.h"
#include "run/ceiling.h"
#include "run/keep.h"
#include "kernel/kernelmap.h"
#include "run/output.h"
#include "run/ready.h"
#include "run/relay.h"
#include "run/start.h"
#include "run/stop.h"

#define READY_POLL_MS 5	    // how often bpftrace is looked at until it is attached
#define TURN_POLL_MS 2	    // while another writes to the same output
#define SETTLING_MS 50	    // what --latency times is mostly shorter
#define HELD_LOOK_MS 50	    // while lines wait for those that belong before them
#define MAX_PIECE 65536	    // so much at once to a file that is whole at any time
#define ENOUGH_INTERRUPTS 2 // by then what nobody reads is given up,
#define STUCK_MS 2000	    // when it has not been read for so long
#define KEPT_MS 1000	    // a bpftrace that always has something to read is not waited for
#define COST_LOOK_MS 1000
#define SLOW_START_MS 30000   // a busy machine may take 10 s
#define COSTLY_LOOKS 3	      // in a row: a burst is no reason to end
#define FIRST_FORK_LOOK_MS 50 // each after twice that time, up to the next
#define LAST_FORK_LOOK_MS 1000

/** One run. */
struct runner {
	struct arena *arena;
	struct diag *diag;
	const struct run_config *cfg;
	struct relay relay;
	struct stop stop;	// has bpftrace's PID
	int out_pipe, err_pipe; // -1 once they have ended
	int signals;
	int target_end; // becomes readable when the target ends; -1 afterwards, or without one
	size_t n_ended; // of cfg->all, in their order
	struct output output;
	bool ready;	      // the probes are attached
	bool is_unconverted;  // an error has said so
	bool given_up;	      // no more output: its reader has gone, or what an error has said
	int first_signal;     // that we got
	int loss;	      // its counter of lost events, or -1
	int gate;	      // the map that lets events count, or -1
	uint64_t n_under_way; // when it was closed: see finish()
	int status;
	int end_signal; // that ended bpftrace, or 0
	bool
	    is_full; // all lines that are wanted have come: what is lost from then on is of no interest
	bool is_unread;		 // because the reader of the output has ended
	unsigned long long lost; // events, by bpftrace's own account
	bool is_exact;		 // that is the kernel's
	bool is_targets_end;	 // it is over because the target is
	uid_t user;		 // of the target, which may become another one; -1: not known
	uint64_t n_lost;	 // what the user was told of it all
	unsigned long ready_at, over_at; // ms: the trace began, and its end; 0: not yet
	unsigned long started_at;	 // ms: bpftrace was; 0: and that it takes long was said
	struct keep *keep;		 // of --keep, or NULL
	struct slow *slow;		 // says what wants it, or NULL
	struct str heading;		 // what goes before what was kept
	unsigned long wanted_at;	 // ms: what was kept is; 0: not now
	const char *wanted_by;		 // for that reason
	struct cost cost;
	bool counts_cost, has_cost; // the kernel does; it is being looked at
	unsigned long cost_at;	    // ms: the last look
	unsigned costly_looks;	    // above the ceiling, in a row
	bool is_too_costly;	    // so it is ended
	unsigned long forks_at;	    // ms: the next look for children
	unsigned forks_after;	    // ms between two looks
	unsigned n_children;	    // that were seen at once, while there were no events
};

/** Nothing counts from here on. */
static void end_events(struct runner *r)
{
	if (!r->over_at && r->has_cost)
		cost_read(&r->cost);
	r->over_at = r->over_at ? r->over_at : clock_ms();
	if (r->gate < 0)
		return;
	kernelmap_set(r->gate, GATE_CLOSED);
	close(r->gate);
	r->gate = -1;
	if (r->cfg->under_way) {
		int map = kernelmap_open(r->stop.pid, r->cfg->under_way);
		r->n_under_way = map < 0 ? 0 : kernelmap_count_keys(map);
		if (map >= 0)
			close(map);
	}
}

static void interrupt(struct runner *r)
{
	end_events(r);
	stop_interrupt(&r->stop, r->ready);
}

static void want_kept(struct runner *r, struct str why)
{
	if (!r->wanted_at) {
		r->wanted_at = clock_ms();
		r->wanted_by = str_dup(r->arena, why);
	}
}

static void take_signal(struct runner *r)
{
	struct signalfd_siginfo info;
	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1 && r->keep) {
		want_kept(r, STR("SIGUSR1"));
	} else if (info.ssi_signo == SIGUSR1) {
		keep_report_missing();
	} else if (info.ssi_signo == SIGCHLD) { // of bpftrace, or of a program that we started
		stop_look_for_end(&r->stop);
	} else if (info.ssi_signo != SIGALRM || !r->stop.interrupts) { // the time is over only once
		if (!r->stop.interrupts)
			r->first_signal = (int)info.ssi_signo;
		interrupt(r);
	}
}

static void look_at_cost(struct runner *r);

/**
 * Of an output that nobody reads no end would come: after a second signal it is given up, with errno.
 * A reader may be slow, and *since is when it has not read for the first time.
 */
static bool is_stuck(const struct runner *r, unsigned long *since)
{
	unsigned long now = clock_ms();
	if (r->stop.interrupts < ENOUGH_INTERRUPTS)
		return false;
	*since = *since ? *since : now;
	errno = ETIMEDOUT;
	return now - *since >= STUCK_MS;
}

/** False, with errno, if not all is written. */
static bool write_polled(struct runner *r, struct str data)
{
	unsigned long stuck_since = 0;
	while (data.n) {
		struct pollfd fds[] = {
		    {.fd = r->output.fd, .events = POLLOUT},
		    {.fd = r->signals, .events = POLLIN},
		};
		bool is_ending = r->stop.interrupts >= ENOUGH_INTERRUPTS;
		int wait = r->stop.at	 ? READY_POLL_MS
			   : is_ending	 ? STOP_LOOK_MS
			   : r->has_cost ? COST_LOOK_MS
					 : -1;
		if (poll(fds, 2, wait) < 0 && errno != EINTR)
			return false;
		look_at_cost(r);
		if (fds[1].revents)
			take_signal(r);
		stop_when_idle(&r->stop);
		ssize_t n = fds[0].revents ? output_write(&r->output, data) : 0;
		if (n < 0 || (n == 0 && is_stuck(r, &stuck_since)))
			return false;
		if (n > 0)
			stuck_since = 0;
		data = str_from_offset(data, (size_t)n);
	}
	return true;
}

/**
 * The turn of writing, and the heading that goes before what is written in it. False, with errno, as
 * write_polled().
 */
static bool begin_turn(struct runner *r)
{
	struct strbuf heading = {0};
	unsigned long stuck_since = 0;
	while (!output_take_turn(&r->output, &heading)) {
		struct pollfd fd = {.fd = r->signals, .events = POLLIN};
		if (poll(&fd, 1, TURN_POLL_MS) > 0)
			take_signal(r);
		stop_when_idle(&r->stop);
		if (is_stuck(r, &stuck_since))
			return false;
	}
	bool good = write_polled(r, strbuf_str(&heading));
	strbuf_fini(&heading);
	return good;
}

static void count_loss(struct runner *r)
{
	r->lost = r->relay.lost + writer_result(r->cfg->writer).reported_lost;
	r->is_exact = kernelmap_read_loss(r->loss, &r->lost);
}

/** What the reader has not taken is not lost. */
static void take_readers_end(struct runner *r)
{
	if (r->is_unread)
		return;
	r->is_unread = true;
	if (!r->is_full)
		count_loss(r);
	r->is_full = true;
}

/** What has just failed with errno. Returns the exit status. */
static int report_unwritten(struct runner *r)
{
	diag_error(r->diag, NULL, "cannot write %s: %s",
		   r->cfg->out_path ? r->cfg->out_path : "the output",
		   errno == ETIMEDOUT ? "nobody reads it" : strerror(errno));
	return 1;
}

static void write_output(struct runner *r, struct str data)
{
	if (!data.n || r->given_up)
		return;
	if (!begin_turn(r) || !write_polled(r, data)) {
		r->given_up = true;
		if (errno != EPIPE)
			report_unwritten(r);
		else if (r->stop.interrupts < ENOUGH_INTERRUPTS)
			take_readers_end(r);
		end_events(r);
		output_cut_part(&r->output);
		if (!r->stop.is_begun)
			stop_now(&r->stop, SIGINT);
	}
	output_end_turn(&r->output);
}

/** bpftrace waits for events, and what it had printed before is taken. */
static bool is_idle(const struct runner *r)
{
	struct pollfd fd = {.fd = r->out_pipe, .events = POLLIN};
	return ready_is_waiting(r->stop.pid) && poll(&fd, 1, 0) == 0;
}

/**
 * What bpftrace has worked, in ns. A wrapper that only waits for it does not work: by the wall's time a
 * tenth of it counts, too.
 */
static int64_t worked_ns(pid_t bpftrace)
{
	clockid_t clock;
	int64_t own = clock_getcpuclockid(bpftrace, &clock) == 0 ? clock_ns(clock) : 0;
	return own + clock_ns(CLOCK_MONOTONIC) / 10;
}

/** A file that is whole at any time: each piece is lines, with @tail behind it. */
static void write_whole(struct runner *r, struct str data, struct str tail)
{
	while (!r->given_up) {
		struct str piece = data;
		const char *end = data.n > MAX_PIECE ? memrchr(data.p, '\n', MAX_PIECE) : NULL;
		if (end) // else it is short, or a long line, which goes with all behind it
			piece.n = (size_t)(end + 1 - data.p);
		data = str_from_offset(data, piece.n);
		if (!output_write_whole(&r->output, piece, tail)) {
			r->given_up = true;
			report_unwritten(r);
			if (!r->stop.is_begun)
				stop_now(&r->stop, SIGINT);
		}
		if (!data.n)
			break;
	}
}

/** @end: nothing more will come. */
static void write_converted(struct runner *r, struct str lines, bool end)
{
	struct convert *c = r->cfg->convert;
	struct strbuf converted = {0}, tail = {0};
	bool is_last = end && r->ready;
	if (!c) {
		write_output(r, lines);
		return;
	}
	convert_take(c, lines, &converted);
	if (is_last)
		r->is_unconverted |= !convert_end(c, &converted);
	convert_tail(c, &tail);
	bool is_whole = output_is_rewritable(&r->output);
	if (is_last && !is_whole)
		strbuf_adds(&converted, strbuf_str(&tail));
	if (is_whole)
		write_whole(r, strbuf_str(&converted), strbuf_str(&tail));
	else
		write_output(r, strbuf_str(&converted));
	strbuf_fini(&tail);
	strbuf_fini(&converted);
}

/** What was kept until @at, in ms, goes out; @end: nothing more will come. */
static void write_kept(struct runner *r, const char *why, unsigned long at, bool end)
{
	struct str shown = str_printable(r->arena, str_from(why));
	bool is_begun = false;
	uint64_t n = 0;
	for (struct str piece; keep_take(r->keep, at, &piece, &n);) {
		if (!is_begun)
			write_converted(r, keep_heading(r->arena, r->heading, why), false);
		is_begun = true;
		write_converted(r, piece, false);
	}
	if (end)
		write_converted(r, STR(""), true);
	if (!r->cfg->quiet)
		fprintf(stderr,
			"btgen: " STR_FMT ": lines written: %" PRIu64
			", older ones dropped: %" PRIu64 "\n",
			STR_ARG(shown), n, keep_dropped(r->keep));
	r->wanted_at = 0;
}

static void write_data(struct runner *r, struct str lines, bool end)
{
	if (!r->keep) {
		write_converted(r, lines, end);
		return;
	}
	keep_add(r->keep, clock_ms(), lines);
	struct str trigger =
	    r->slow ? slow_take(r->slow, lines) : writer_take_trigger(r->cfg->writer, r->arena);
	if (trigger.n)
		want_kept(r, trigger);
	// What has happened until then is read first.
	bool is_wanted = r->wanted_at && (is_idle(r) || clock_ms() - r->wanted_at > KEPT_MS);
	if (end && r->slow && !slow_has_slices(r->slow))
		diag_warning(r->diag, NULL,
			     "--trigger latency: nothing was measured: no pair of probes, no "
			     "#pragma track");
	if (end)
		write_kept(r, "end of the trace", r->over_at ? r->over_at : clock_ms(), r->ready);
	else if (is_wanted && r->ready)
		write_kept(r, r->wanted_by, r->wanted_at, false);
}

/** Writes what has come, records decoded and functions named; @end: nothing more will come. */
static void flush_output(struct runner *r, bool end)
{
	if (r->cfg->out_path && !r->ready)
		return;
	struct strbuf lines = {0};
	if (r->stop.pid > 0 && r->relay.out.n)
		writer_set_clock(r->cfg->writer, worked_ns(r->stop.pid));
	writer_take(r->cfg->writer, strbuf_str(&r->relay.out), &lines);
	if (end)
		writer_end(r->cfg->writer, &lines);
	else if (writer_is_holding(r->cfg->writer) && is_idle(r))
		writer_idle(r->cfg->writer, &lines);
	write_data(r, strbuf_str(&lines), end);
	strbuf_fini(&lines);
	strbuf_clear(&r->relay.out);
}

static void begin_output(struct runner *r)
{
	struct strbuf first = {0};
	writer_begin(r->cfg->writer, &first);
	r->heading = str_copy(r->arena, strbuf_str(&first));
	if (r->slow)
		slow_take(r->slow, r->heading);
	if (!r->keep)
		write_converted(r, r->heading, false);
	strbuf_fini(&first);
}

static void give_up(struct runner *r)
{
	r->given_up = true;
	end_events(r);
	if (!(r->stop.sent & 1u << SIGINT))
		stop_now(&r->stop, SIGINT);
}

/** None comes any more: whoever waits for the next program is not to be ended by it. */
static void stop_timer(void)
{
	struct itimerval none = {0};
	struct timespec now = {0};
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	setitimer(ITIMER_REAL, &none, NULL);
	sigtimedwait(&alarm, NULL, &now);
}

static bool runs_another_file(const struct runner *r)
{
	return r->cfg->ends_with && !proc_runs_same_file(r->cfg->ends_with);
}

static void report_exec(struct runner *r)
{
	diag_error(r->diag, NULL, "process %d called exec() during setup: try again",
		   r->cfg->ends_with->pid);
}

/** Before events count. */
static void wait_for_pages(struct runner *r)
{
	struct resident *pages = r->cfg->resident;
	if (!pages)
		return;
	resident_wait(pages);
	if (r->cfg->is_verbose && !r->cfg->quiet)
		diag_note(r->diag, NULL,
			  "read-only data mapped for the trace: %" PRIu64
			  " kB of %u process%s, in %u ms",
			  pages->sum.bytes >> 10, pages->sum.n_processes,
			  pages->sum.n_processes == 1 ? "" : "es", pages->sum.ms);
}

/** From here on events count. */
static bool open_gate(struct runner *r)
{
	struct timespec settling = {.tv_nsec = SETTLING_MS * 1000000};
	bool good = true;
	if (r->cfg->gate) {
		r->gate = kernelmap_open(r->stop.pid, r->cfg->gate);
		good = r->gate >= 0;
	}
	if (good && r->cfg->under_way) {
		good = kernelmap_set_unless(r->gate, GATE_CLOSED, GATE_SETTLES);
		nanosleep(&settling, NULL);
	}
	good = good && (r->gate < 0 || kernelmap_set_unless(r->gate, GATE_CLOSED, GATE_OPEN));
	r->ready_at = clock_ms();
	if (good)
		return true;
	diag_error(r->diag, NULL, "cannot set bpftrace's map %s, which starts the counting: %s",
		   r->cfg->gate, strerror(errno));
	give_up(r);
	return false;
}

static void open_cost(struct runner *r)
{
	if (!r->counts_cost)
		return;
	r->has_cost = cost_open(&r->cost, r->stop.pid, &r->cfg->cost_names);
	if (!r->has_cost && !r->cfg->quiet)
		ceiling_report_unknown(r->diag, &r->cfg->ceiling, r->cfg->is_estimate, errno);
	r->cost_at = clock_ms();
}

/** Also of one that has exited, until its parent has waited for it. */
static void look_at_user(struct runner *r)
{
	const struct proc *p = r->cfg->ends_with;
	struct arena a = {0};
	uid_t uid = p && proc_start_time(p->procfs, p->pid) == p->start_time
			? proc_uid(&a, p->procfs, p->pid, PROC_UID_REAL)
			: (uid_t)-1;
	r->user = uid != (uid_t)-1 ? uid : r->user;
	arena_fini(&a);
}

static void become_ready(struct runner *r)
{
	progress_clear();
	// bpftrace knows a process by its PID alone: only now that it is attached can we tell
	// whether the PID still belonged to the process that was looked at, and whether that still
	// runs the same program.
	const struct proc *proc = r->cfg->ends_with;
	r->ready = true;
	r->ready_at = clock_ms();
	relay_release(&r->relay);
	r->relay.messages.is_running = true;
	r->loss = kernelmap_open(r->stop.pid, NULL);
	look_at_user(r);
	if (!output_begin(r->arena, r->diag, &r->output)) {
		give_up(r);
	} else if (proc && proc_is_replaced(proc)) {
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT
			   ") has exited and its PID was reused: the new process is not traced",
			   proc->pid, STR_ARG(proc_name(proc)));
		give_up(r);
	} else if (proc && !proc_is_same(proc)) {
		return; // said at the end
	} else if (runs_another_file(r)) {
		report_exec(r);
		give_up(r);
	} else {
		begin_output(r);
		wait_for_pages(r);
		if (!open_gate(r))
			return;
		open_cost(r);
		ready_report(r->diag, r->cfg);
		// SIGALRM comes when the trace is to end; 0 lets none come.
		unsigned long ms = r->cfg->duration;
		struct itimerval t = {.it_value = {.tv_sec = (time_t)(ms / 1000),
						   .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
		setitimer(ITIMER_REAL, &t, NULL);
	}
}

/** Says so when it takes long. */
static void report_detaching(struct runner *r)
{
	if (stop_takes_long(&r->stop) && r->ready && !r->cfg->quiet)
		fprintf(stderr, "btgen: detaching %u probe%s\n", r->relay.n_probes,
			r->relay.n_probes == 1 ? "" : "s");
}

/** Says so when bpftrace does not get to its events, whatever it waits for. */
static void report_slow_start(struct runner *r)
{
	if (!r->started_at || clock_ms() - r->started_at < SLOW_START_MS)
		return;
	r->started_at = 0;
	progress_clear();
	if (!r->cfg->quiet)
		fprintf(stderr, "btgen: bpftrace (PID %d) has not attached yet\n", r->stop.pid);
}

/** Each second: a trace that was above its ceiling all the time is ended. */
static void look_at_cost(struct runner *r)
{
	if (!r->has_cost || r->over_at || clock_ms() - r->cost_at < COST_LOOK_MS)
		return;
	r->cost_at = clock_ms();
	cost_read(&r->cost);
	r->costly_looks = ceiling_is_reached(&r->cfg->ceiling, &r->cost) ? r->costly_looks + 1 : 0;
	if (r->costly_looks < (r->cfg->is_estimate ? 1 : COSTLY_LOOKS))
		return;
	r->is_too_costly = true;
	ceiling_report(r->diag, &r->cfg->ceiling, &r->cost);
	interrupt(r);
}

/** Nothing has come, which may be because a child of the target does the work. */
static bool looks_for_forks(const struct runner *r)
{
	return r->ready && r->cfg->ends_with && r->cfg->attached.n && !r->cfg->has_family &&
	       !r->n_children && !r->over_at && !writer_result(r->cfg->writer).has_value;
}

static void look_for_forks(struct runner *r)
{
	if (!looks_for_forks(r) || clock_ms() < r->forks_at)
		return;
	r->n_children = proc_count_children(r->cfg->ends_with);
	r->forks_after = r->forks_after ? 2 * r->forks_after : FIRST_FORK_LOOK_MS;
	if (r->forks_after > LAST_FORK_LOOK_MS)
		r->forks_after = LAST_FORK_LOOK_MS;
	r->forks_at = clock_ms() + r->forks_after;
}

/** How long to wait for something to happen, in ms. */
static int wait_time(const struct runner *r)
{
	if (r->stop.ended)
		return 0;
	if (!r->ready || r->relay.out_line.n || r->stop.at || r->wanted_at)
		return READY_POLL_MS;
	if (writer_is_holding(r->cfg->writer))
		return HELD_LOOK_MS;
	if (r->stop.is_begun)
		return STOP_LOOK_MS;
	if (r->cfg->resident && resident_is_busy(r->cfg->resident))
		return HELD_LOOK_MS;
	return looks_for_forks(r) ? (int)r->forks_after : r->has_cost ? COST_LOOK_MS : -1;
}

/** Reads what has come through @fd; -1 in *fd at its end. Returns whether there was anything. */
static bool take_bytes(struct runner *r, int *fd, void (*take)(struct relay *, struct str))
{
	char bytes[65536];
	ssize_t n = read(*fd, bytes, sizeof(bytes));
	if (n > 0) {
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
	return r->relay.attached ||
	       (!r->relay.stdout_has_messages && ready_is_waiting(r->stop.pid));
}

/** Has target_end be that of the next of several that has not ended. */
static void watch_next_target(struct runner *r)
{
	const struct run_config *cfg = r->cfg;
	for (; r->n_ended < cfg->n_all; r->n_ended++) {
		r->target_end = proc_watch(PROCFS, &cfg->all[r->n_ended]);
		if (r->target_end >= 0 || errno != ESRCH)
			return;
	}
}

static bool have_all_ended(const struct runner *r)
{
	return r->cfg->n_all && r->n_ended == r->cfg->n_all;
}

/** The target has exited. */
static void take_target_end(struct runner *r)
{
	if (r->cfg->n_all) {
		close(r->target_end);
		r->target_end = -1;
		r->n_ended++;
		watch_next_target(r);
		if (!have_all_ended(r))
			return;
	}
	r->target_end = -1;
	look_at_user(r);
	end_events(r);
	stop_after_target(&r->stop, r->cfg->pass_pid);
}

/** -N */
static void stop_when_full(struct runner *r)
{
	if (!r->cfg->n_events || r->stop.interrupts ||
	    writer_result(r->cfg->writer).n_events < r->cfg->n_events)
		return;
	r->is_full = true;
	count_loss(r);
	interrupt(r);
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
		    {.fd = r->ready && !r->given_up ? r->output.fd : -1},
		};
		int n = poll(fds, 5, wait_time(r));
		bool had_output = n > 0 && (fds[0].revents || fds[1].revents);
		if ((n < 0 && errno != EINTR) || (n == 0 && r->stop.ended))
			break;
		if (n <= 0) {
			if (is_idle(r))
				relay_stdout_idle(&r->relay);
		} else {
			if (fds[1].revents)
				take_bytes(r, &r->err_pipe, relay_stderr);
			if (fds[0].revents)
				take_bytes(r, &r->out_pipe, relay_stdout);
			if (fds[2].revents)
				take_signal(r);
			if (fds[3].revents)
				take_target_end(r);
			if (fds[4].revents & POLLERR) { // | head
				take_readers_end(r);
				give_up(r);
			}
		}
		if (!r->ready && is_attached(r))
			become_ready(r);
		if (!r->ready)
			report_slow_start(r);
		if (!r->ready)
			progress_step("attaching", 0, 0);
		else if (r->stop.is_begun)
			progress_step("detaching", 0, 0);
		flush_output(r, false);
		stop_when_full(r);
		look_at_cost(r);
		look_for_forks(r);
		if (r->ready && r->cfg->resident)
			resident_step(r->cfg->resident);
		stop_again_if_lost(&r->stop, had_output);
		stop_when_idle(&r->stop);
		report_detaching(r);
	}
	progress_clear();
	relay_end(&r->relay);
	messages_end(&r->relay.messages);
}

/** What the writer asks of a line that bpftrace prints itself. */
static bool take_data_line(void *ctx, struct str line)
{
	return messages_take_data(ctx, line);
}

static void reap(struct runner *r)
{
	int status = 0;
	for (stop_look_for_end(&r->stop); !r->stop.ended;
	     take_signal(r)) { // one that has closed its streams may go on
		struct pollfd fd = {.fd = r->signals, .events = POLLIN};
		poll(&fd, 1, -1);
	}
	while (waitpid(r->stop.pid, &status, 0) < 0 && errno == EINTR)
		;
	r->stop.pid = 0;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->end_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/** bpftrace was ended by a signal that is none of ours. */
static void report_end_signal(struct runner *r)
{
	const char *name = strsignal(r->end_signal);
	diag_error(r->diag, NULL, "bpftrace was killed by signal %d (%s)", r->end_signal, name);
	if (r->stop.is_begun && r->ready)
		diag_note(r->diag, NULL,
			  "it was detaching its probes: breakpoints may remain in the traced "
			  "program; to remove them, trace it again and end with ^C");
}

/**
 * Loss is never silent: a reader of the data has to know. What is not counted, as print() of a map,
 * only the kernel has a number of.
 */
static void report_loss(struct runner *r)
{
	struct decode_sum sum = {0};
	bool was_quiet = r->diag->quiet;
	if (!r->is_full) {
		sum = writer_result(r->cfg->writer).decoded;
		count_loss(r);
	}
	const char *least = r->is_exact ? "" : "at least ";
	r->diag->quiet = false;
	bool is_at_end = sum.n_lost && r->is_exact && !r->lost;
	const char *how =
	    is_at_end ? "are missing, and bpftrace reports no loss: they came while the trace was "
			"ending, or another probe on the same CPU overwrote them"
	    : r->lost ? "were lost: bpftrace could not keep up"
		      : "were lost: they came while the trace was ending, or bpftrace could not "
			"keep up";
	if (sum.n_lost)
		diag_warning(r->diag, NULL, "%" PRIu64 " of %" PRIu64 " events %s", sum.n_lost,
			     sum.n_fired, how);
	else if (r->lost && sum.n_fired)
		diag_warning(r->diag, NULL,
			     "%s%llu calls of print(), clear() and the like were lost: bpftrace "
			     "could not keep up",
			     least, r->lost);
	else if (r->lost)
		diag_warning(
		    r->diag, NULL, "%s%llu events were lost: bpftrace could not keep up%s", least,
		    r->lost,
		    !r->is_exact && r->relay.stdout_has_messages && !r->cfg->map
			? " (or the traced program printed bpftrace's line \"Lost N events\": "
			  "see the data)"
			: "");
	r->diag->quiet = was_quiet;
	r->n_lost = sum.n_lost && !is_at_end ? sum.n_lost : r->lost;
}

/** What has come of it all. */
static void report_events(struct runner *r)
{
	unsigned long end = r->over_at ? r->over_at : clock_ms();
	unsigned long ms = end > r->ready_at ? end - r->ready_at : 0; // ^C may come before
	const char *time = arena_printf(r->arena, "%.*f s", ms < 1000 ? 2 : 1, (double)ms / 1000);
	struct str attached = r->cfg->attached;
	struct writer_result result = writer_result(r->cfg->writer);
	uint64_t n = result.n_events;
	bool has_events = attached.n || !r->cfg->map; // or only BEGIN, END and time that passes
	if (!result.has_data && !r->n_lost && has_events)
		fprintf(stderr, "btgen: no events: %s in %s while %s attached\n",
			result.has_ends ? "only BEGIN or END printed anything"
					: "nothing was printed",
			time, attached.n ? attached.p : "the probes were");
	else if (r->cfg->has_summary && n)
		fprintf(stderr, "btgen: %" PRIu64 " event%s in %s, %" PRIu64 " lost\n", n,
			n == 1 ? "" : "s", time, r->n_lost);
	else if (r->cfg->has_summary)
		fprintf(stderr, "btgen: traced for %s, %" PRIu64 " events lost\n", time, r->n_lost);
}

/** Also with -q: a trace that is empty for this reason looks like one of a program that did nothing. */
static void report_forks(struct runner *r)
{
	const struct proc *proc = r->cfg->ends_with;
	bool was_quiet = r->diag->quiet;
	struct writer_result result = writer_result(r->cfg->writer);
	if (!r->n_children || result.has_value)
		return;
	r->diag->quiet = false;
	diag_warning(r->diag, NULL, "%sprocess %d has forked, and %s not traced: use --children",
		     result.has_data ? "" : "no events: ", proc->pid,
		     r->n_children == 1 ? "its child is" : "its children are");
	r->diag->quiet = was_quiet;
}

static void report_late(struct runner *r)
{
	uint64_t n = writer_result(r->cfg->writer).n_late;
	if (n && r->cfg->has_calls)
		diag_warning(r->diag, NULL,
			     "%" PRIu64 " event%s arrived too late for the tree: calls may "
			     "lack their entry or return",
			     n, n == 1 ? "" : "s");
	else if (n)
		diag_warning(r->diag, NULL,
			     "%" PRIu64 " line%s came after later ones had been printed: look for "
			     "\"late\"",
			     n, n == 1 ? "" : "s");
}

/** Older bpftraces say nothing when a key finds no room in a map. */
static bool has_full_maps(const struct runner *r)
{
	return writer_result(r->cfg->writer).full_maps.n &&
	       !dialect_reports_full_maps(r->cfg->bpftrace->version);
}

static void report_full_maps(struct runner *r)
{
	bool was_quiet = r->diag->quiet;
	r->diag->quiet = false;
	if (has_full_maps(r))
		diag_warning(r->diag, NULL,
			     STR_FMT ": the map is full: keys may be missing (raise %s)",
			     STR_ARG(writer_result(r->cfg->writer).full_maps),
			     dialect_map_keys_variable(r->cfg->bpftrace->version));
	r->diag->quiet = was_quiet;
}

/** Into the output, if that is JSON. */
static void write_account(struct runner *r)
{
	struct strbuf account = {0};
	cost_write_json(&r->cost, &account);
	writer_set_account(r->cfg->writer, str_copy(r->arena, strbuf_str(&account)));
	strbuf_fini(&account);
}

/** How it has ended, and the status of that. */
static void report_end(struct runner *r, bool is_gone)
{
	const struct run_config *cfg = r->cfg;
	bool by_us = r->end_signal && (r->stop.sent & 1u << r->end_signal);
	if (!r->ready && r->stop.interrupts) {
		r->status = 128 + r->first_signal;
		if (!cfg->quiet)
			fprintf(stderr, "btgen: interrupted before all probes were attached\n");
	} else if (!r->ready && r->status && is_gone) {
		r->status = 1;
		diag_error(r->diag, NULL,
			   "process %d (" STR_FMT ") has exited before it could be traced",
			   cfg->ends_with->pid, STR_ARG(proc_name(cfg->ends_with)));
	} else if (!r->ready && r->status && runs_another_file(r)) {
		r->status = 1;
		report_exec(r);
	} else if (r->end_signal && !by_us) {
		report_end_signal(r);
	} else if (!r->ready && r->status) {
		messages_explain_failure(&r->relay.messages, r->status);
	} else if (is_gone && r->status == 0 && !cfg->quiet && !r->given_up) {
		fprintf(stderr, "btgen: process %d (" STR_FMT ") has exited\n", cfg->ends_with->pid,
			STR_ARG(str_printable(r->arena, proc_name(cfg->ends_with))));
	} else if (have_all_ended(r) && r->status == 0 && !cfg->quiet && !r->given_up) {
		fprintf(stderr, "btgen: all %zu processes have exited\n", cfg->n_all);
	}
	if (r->given_up && (r->status == 0 || by_us || r->diag->n_errors))
		r->status = r->diag->n_errors ? 1 : 0;
	bool has_loss =
	    cfg->has_skipped || r->n_lost || r->relay.messages.has_loss || has_full_maps(r);
	if (r->is_unconverted && r->status == 0)
		r->status = 1;
	if (cfg->loss_fails && has_loss && r->status == 0)
		r->status = RUN_LOST;
	if (cfg->is_estimate && !r->has_cost && r->status == 0)
		r->status = 1;
	if (r->is_too_costly && (r->status == 0 || r->status == RUN_LOST))
		r->status = RUN_TOO_COSTLY;
}

/** What remains to be said and done once bpftrace is gone. */
static void finish(struct runner *r)
{
	const struct run_config *cfg = r->cfg;
	bool was_ready = r->ready, is_gone = cfg->ends_with && !proc_is_same(cfg->ends_with);
	// Else it talks of a process, or a program, that is no more.
	if (r->ready || !r->status || !(is_gone || runs_another_file(r)))
		relay_release(&r->relay);
	if (!r->ready && r->status == 0) { // it was over before we saw it wait: a BEGIN that exits
		r->ready = true;
		if (!output_begin(r->arena, r->diag, &r->output))
			r->given_up = true;
	}
	if (r->end_signal)
		writer_drop(cfg->writer);
	if (r->has_cost && !r->over_at)
		cost_read(&r->cost);
	if (r->has_cost && cfg->has_account)
		write_account(r);
	if (r->ready)
		flush_output(r, true);
	if (r->end_signal)
		output_cut_part(&r->output);
	report_loss(r);
	report_late(r);
	report_full_maps(r);
	if (was_ready && !r->given_up && r->status == 0 && !cfg->quiet)
		report_events(r);
	if (was_ready && !r->given_up && r->status == 0)
		report_forks(r);
	if (was_ready && !r->given_up && !cfg->quiet && r->n_under_way) // of --latency
		fprintf(stderr,
			"btgen: %" PRIu64
			" operation%s still in progress at the end of the trace %s not counted\n",
			r->n_under_way, r->n_under_way == 1 ? "" : "s",
			r->n_under_way == 1 ? "is" : "are");
	if (was_ready && r->is_unread && !cfg->quiet)
		fprintf(stderr, "btgen: the reader of the output exited, which ended the trace\n");
	if (r->has_cost && (cfg->is_verbose || cfg->is_estimate))
		ceiling_report_account(&r->cost, cfg->is_estimate);
	report_end(r, is_gone);
	r->is_targets_end =
	    is_gone && !r->stop.interrupts && !r->given_up && (r->status == 0 || !was_ready);
}

static void begin_cost(struct runner *r)
{
	const struct run_config *cfg = r->cfg;
	if (!cfg->ceiling.share && !cfg->ceiling.rate && !cfg->has_account)
		return;
	r->counts_cost = cost_begin(r->arena, &r->cost);
	if (!r->counts_cost && !cfg->quiet)
		ceiling_report_unknown(r->diag, &cfg->ceiling, cfg->is_estimate, errno);
}

int run_program(struct arena *a, struct diag *d, const struct run_config *cfg, struct run_end *end)
{
	struct runner r = {.arena = a,
			   .diag = d,
			   .cfg = cfg,
			   .out_pipe = -1,
			   .err_pipe = -1,
			   .loss = -1,
			   .gate = -1,
			   .user = (uid_t)-1};
	r.target_end = cfg->ends_with ? cfg->ends_with->pidfd : -1;
	*end = (struct run_end){.user = (uid_t)-1};
	if (!output_open(a, d, cfg->out_path, cfg->share, cfg->begun, &r.output))
		return 1;
	if (cfg->ends_with && !proc_is_same(cfg->ends_with)) {
		end->is_gone = true;
		diag_error(d, NULL, "process %d has exited", cfg->ends_with->pid);
		return 1;
	}
	watch_next_target(&r);
	if (have_all_ended(&r)) {
		diag_error(d, NULL, "all %zu processes have exited", cfg->n_all);
		return 1;
	}

	sigset_t set, old;
	stop_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL); // until btgen exits
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	if (cfg->keep_ms) {
		r.keep = keep_new(cfg->keep_ms, cfg->keep_size);
		r.slow = cfg->slow_ns ? slow_new(cfg->slow_ns) : NULL;
	}
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	r.status = 1;
	struct started started;
	if (cfg->resident)
		resident_begin(cfg->resident);
	if (start_bpftrace(a, d, cfg, &started)) {
		begin_cost(&r); // while it compiles
		stop_init(&r.stop, started.pid);
		r.started_at = clock_ms();
		r.out_pipe = started.out;
		r.err_pipe = started.err;
		relay_init(&r.relay, d, cfg->map, started.program_name);
		r.relay.messages.program = cfg->program;
		r.relay.stdout_has_messages = cfg->bpftrace->version < BPFTRACE_SAYS_ATTACHED;
		if (cfg->map && r.relay.stdout_has_messages)
			writer_set_messages(cfg->writer, take_data_line, &r.relay.messages);
		r.relay.holds_messages = true;
		relay_until_end(&r);
		reap(&r);
		stop_fini(&r.stop);
		finish(&r);
		*end = (struct run_end){r.is_targets_end, r.ready,
					writer_result(cfg->writer).n_events, r.user};
		relay_fini(&r.relay);
		if (r.loss >= 0)
			close(r.loss);
		if (r.gate >= 0)
			close(r.gate);
	}
	if (cfg->resident)
		resident_end(cfg->resident);
	if (r.counts_cost)
		cost_end(&r.cost);
	if (cfg->n_all && r.target_end >= 0)
		close(r.target_end);
	keep_free(r.keep);
	slow_free(r.slow);
	stop_timer();
	close(r.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!output_close(&r.output) && !r.given_up)
		r.status = report_unwritten(&r);
	return r.status;
}
