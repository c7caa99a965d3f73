#include "run/run.h"

#include <inttypes.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/progress.h"
#include "kernel/hold.h"
#include "kernel/kernelmap.h"
#include "run/run_priv.h"
#include "run/start.h"

#define HELD_LOOK_MS 50	      // while lines wait for those that belong before them
#define COSTLY_LOOKS 3	      // in a row: a burst is no reason to end
#define FIRST_FORK_LOOK_MS 50 // each after twice that time, up to the next
#define LAST_FORK_LOOK_MS 1000
#define CLOCK_SET_NS 100000000 // less may be the machine that is busy
#define FEW_PROBES 4	       // with BEGIN and END: a third of a second to detach

static void close_gate(struct runner *r)
{
	bool is_closed = kernelmap_set(r->gate, GATE_CLOSED);
	close(r->gate);
	r->gate = -1;
	int map = r->cfg->under_way ? kernelmap_open(r->stop.pid, r->cfg->under_way) : -1;
	if (map >= 0) {
		r->n_under_way = kernelmap_count_keys(map);
		close(map);
	}
	// Breakpoints that cost too much are not to stay longer than bpftrace has them. A few are detached at once: whoever
	// looks at the program after btgen's end finds it as it was.
	if (is_closed && r->ready && !r->is_too_costly && r->relay.n_probes > FEW_PROBES)
		r->is_held = hold_attachments(r->stop.pid);
}

/** Nothing counts from here on. */
void run_end_events(struct runner *r)
{
	if (!r->over_at && r->has_cost)
		cost_read(&r->cost);
	if (!r->over_at && r->ready && r->cfg->gate && r->gate < 0)
		r->gate = kernelmap_open(r->stop.pid, r->cfg->gate);
	r->over_at = r->over_at ? r->over_at : clock_ms();
	if (r->gate >= 0)
		close_gate(r);
}

static void interrupt(struct runner *r)
{
	run_end_events(r);
	stop_interrupt(&r->stop, r->ready);
}

void run_want_kept(struct runner *r, struct str why, int64_t ns)
{
	bool is_first = !r->wanted_at;
	r->wanted_since = is_first || ns < r->wanted_since ? ns : r->wanted_since;
	r->wanted_ns = is_first || ns > r->wanted_ns ? ns : r->wanted_ns;
	if (is_first) {
		r->wanted_at = clock_ms();
		r->wanted_by = str_dup(r->arena, why);
	}
}

void run_handle_signal(struct runner *r)
{
	struct signalfd_siginfo info;
	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1 && r->keep) {
		run_want_kept(r, STR("SIGUSR1"), clock_of_probes());
	} else if (info.ssi_signo == SIGUSR1) {
		keep_report_missing();
	} else if (info.ssi_signo == SIGCHLD) { // of bpftrace, or of a program that we started
		stop_look_for_end(&r->stop);
		if (r->cfg->child)
			spawn_reap(r->cfg->child);
	} else if (info.ssi_signo != SIGALRM || !r->stop.interrupts) { // the time is over only once
		if (!r->stop.interrupts)
			r->first_signal = (int)info.ssi_signo;
		interrupt(r);
	}
}

void run_give_up(struct runner *r)
{
	r->given_up = true;
	run_end_events(r);
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

/** Each second: a trace that was above its ceiling all the time is ended. */
void run_look_at_cost(struct runner *r)
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

static bool prints_wall(const struct runner *r)
{
	return writer_prints_wall(r->cfg->writer) ||
	       str_contains(r->cfg->program, STR("strftime("));
}

/** Each second: lines keep the wall clock that the trace began with, by which a capture is placed. */
static void look_at_clock(struct runner *r)
{
	if (!r->ready || clock_ms() - r->clock_at < COST_LOOK_MS)
		return;
	r->clock_at = clock_ms();
	int64_t set = clock_offset_of_probes() - writer_offset(r->cfg->writer);
	if (imaxabs(set - r->clock_set) < CLOCK_SET_NS || !prints_wall(r))
		return;
	r->clock_set = set;
	if (imaxabs(set) >= CLOCK_SET_NS)
		diag_warning(r->diag, NULL,
			     "the wall clock was set and is %.1f s %s the times of this trace: "
			     "restart the trace to correct them",
			     (double)imaxabs(set) / 1e9, set > 0 ? "ahead of" : "behind");
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
	if (r->cfg->resident && (r->cfg->resident->child || r->cfg->resident->pids.n))
		return HELD_LOOK_MS;
	return looks_for_forks(r) ? (int)r->forks_after : r->has_cost ? COST_LOOK_MS : -1;
}

/** Reads what has come through @fd; -1 in *fd at its end. Returns whether there was anything. */
static bool read_bytes(struct runner *r, int *fd, void (*handle)(struct relay *, struct str))
{
	char bytes[65536];
	ssize_t n = read(*fd, bytes, sizeof(bytes));
	if (n > 0) {
		handle(&r->relay, (struct str){bytes, (size_t)n});
		return true;
	}
	if (n == 0 || errno != EINTR) {
		close(*fd);
		*fd = -1;
	}
	return false;
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

/** The target has exited. */
static void handle_target_end(struct runner *r)
{
	if (r->cfg->n_all) {
		close(r->target_end);
		r->target_end = -1;
		r->n_ended++;
		watch_next_target(r);
		if (!run_have_all_ended(r))
			return;
	}
	r->target_end = -1;
	run_look_at_user(r);
	run_end_events(r);
	stop_after_target(&r->stop, r->cfg->pass_pid);
}

/** -N */
static void stop_when_full(struct runner *r)
{
	if (!r->cfg->n_events || r->stop.interrupts ||
	    writer_result(r->cfg->writer).n_events < r->cfg->n_events)
		return;
	r->is_full = true;
	run_count_loss(r);
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
			if (run_is_idle(r))
				relay_stdout_idle(&r->relay);
		} else {
			if (fds[1].revents)
				read_bytes(r, &r->err_pipe, relay_stderr);
			if (fds[0].revents)
				read_bytes(r, &r->out_pipe, relay_stdout);
			if (fds[2].revents)
				run_handle_signal(r);
			if (fds[3].revents)
				handle_target_end(r);
			if (fds[4].revents & POLLERR) { // | head
				run_end_output(r);
				run_give_up(r);
			}
		}
		if (!r->ready && run_is_attached(r))
			run_become_ready(r);
		if (!r->ready)
			run_report_slow_start(r);
		if (!r->ready)
			progress_step("attaching");
		else if (r->stop.is_begun)
			progress_step("detaching");
		run_flush_output(r, false);
		stop_when_full(r);
		run_look_at_cost(r);
		look_at_clock(r);
		look_for_forks(r);
		if (r->ready && r->cfg->resident)
			resident_step(r->cfg->resident);
		stop_again_if_lost(&r->stop, had_output);
		stop_when_idle(&r->stop);
		if (stop_takes_long(&r->stop) && r->ready && !r->is_held && !r->cfg->quiet)
			fprintf(stderr, "btgen: detaching %u probe%s\n", r->relay.n_probes,
				r->relay.n_probes == 1 ? "" : "s");
	}
	progress_clear();
	relay_end(&r->relay);
	messages_end(&r->relay.messages);
}

/** What the writer asks of a line that bpftrace prints itself. */
static bool handle_data_line(void *ctx, struct str line)
{
	return messages_add_data(ctx, line);
}

static void reap(struct runner *r)
{
	int status = 0;
	for (stop_look_for_end(&r->stop); !r->stop.ended;
	     run_handle_signal(r)) { // one that has closed its streams may go on
		struct pollfd fd = {.fd = r->signals, .events = POLLIN};
		poll(&fd, 1, -1);
	}
	while (waitpid(r->stop.pid, &status, 0) < 0 && errno == EINTR)
		;
	r->stop.pid = 0;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->end_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
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
	if (run_have_all_ended(&r)) {
		diag_error(d, NULL, "all %zu processes have exited", cfg->n_all);
		return 1;
	}

	sigset_t set, old;
	stop_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL); // until btgen exits
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	if (cfg->keep_ms)
		r.keep = keep_new(cfg->keep_ms, cfg->keep_size);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (cfg->child)
		spawn_reap(cfg->child); // what came before the signal was blocked

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
			writer_set_messages(cfg->writer, handle_data_line, &r.relay.messages);
		r.relay.holds_messages = true;
		relay_until_end(&r);
		reap(&r);
		stop_fini(&r.stop);
		run_finish(&r);
		bool was_cut = r.given_up || r.stop.interrupts >= ENOUGH_INTERRUPTS;
		*end = (struct run_end){r.is_targets_end, r.ready, was_cut,
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
	stop_timer();
	close(r.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!output_close(&r.output) && !r.given_up)
		r.status = run_report_unwritten(&r);
	return r.status;
}
