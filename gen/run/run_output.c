#include <poll.h>

#include "run/ready.h"
#include "run/run_priv.h"

#define TURN_POLL_MS 2 // while another writes to the same output
#define STUCK_MS 2000  // when it has not been read for so long
#define KEPT_MS 1000   // a bpftrace that always has something to read is not waited for

/**
 * Has the reader of our output stopped reading? After a second signal such an output is given up, with
 * errno. A reader may be slow; *@since is when it first did not read.
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
		run_look_at_cost(r);
		if (fds[1].revents)
			run_handle_signal(r);
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
	while (!output_begin_turn(&r->output, &heading)) {
		struct pollfd fd = {.fd = r->signals, .events = POLLIN};
		if (poll(&fd, 1, TURN_POLL_MS) > 0)
			run_handle_signal(r);
		stop_when_idle(&r->stop);
		if (is_stuck(r, &stuck_since))
			return false;
	}
	bool good = write_polled(r, strbuf_str(&heading));
	strbuf_fini(&heading);
	return good;
}

/** What the reader has not taken is not lost. */
void run_end_output(struct runner *r)
{
	if (r->is_unread)
		return;
	r->is_unread = true;
	if (!r->is_full)
		run_count_loss(r);
	r->is_full = true;
}

/** What has just failed with errno. Returns the exit status. */
int run_report_unwritten(struct runner *r)
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
			run_report_unwritten(r);
		else if (r->stop.interrupts < ENOUGH_INTERRUPTS)
			run_end_output(r);
		run_end_events(r);
		output_cut_part(&r->output);
		if (!r->stop.is_begun)
			stop_now(&r->stop, SIGINT);
	}
	output_end_turn(&r->output);
}

/** bpftrace waits for events, and what it had printed before is taken. */
bool run_is_idle(const struct runner *r)
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

/** When the newest of what has just come out has happened, by the clock of probes: with -s it has waited. Of text without a time, now. */
static int64_t time_of_output(struct runner *r)
{
	int64_t before = r->newest;
	r->newest = writer_newest(r->cfg->writer);
	return r->newest > before ? r->newest : clock_of_probes();
}

/** What was kept at @ns, by the clock of probes, goes out. */
static void write_kept(struct runner *r, const char *why, int64_t ns)
{
	unsigned long at = (unsigned long)(ns / 1000000);
	struct str shown = str_printable(r->arena, str_from(why));
	bool is_begun = false;
	uint64_t n = 0;
	for (struct str piece; keep_next(r->keep, at, &piece, &n);) {
		if (!is_begun)
			write_output(r, keep_heading(r->arena, r->heading, why));
		is_begun = true;
		write_output(r, piece);
	}
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
		write_output(r, lines);
		return;
	}
	int64_t ns;
	keep_add(r->keep, (unsigned long)(time_of_output(r) / 1000000), lines);
	struct str trigger = writer_next_trigger(r->cfg->writer, r->arena, &ns);
	if (trigger.n)
		run_want_kept(r, trigger, ns);
	// What has happened until then is read first, and sorted.
	bool is_wanted = r->wanted_at && !writer_holds(r->cfg->writer, r->wanted_ns) &&
			 (run_is_idle(r) || clock_ms() - r->wanted_at > KEPT_MS);
	if (end)
		write_kept(r, "end of the trace",
			   clock_of_probes() -
			       (r->over_at ? (int64_t)(clock_ms() - r->over_at) * 1000000 : 0));
	else if (is_wanted && r->ready)
		write_kept(r, r->wanted_by, r->wanted_since);
}

/** Writes what has come, records decoded and functions named; @end: nothing more will come. */
void run_flush_output(struct runner *r, bool end)
{
	if (r->cfg->out_path && !r->ready)
		return;
	struct strbuf lines = {0};
	if (r->stop.pid > 0 && r->relay.out.n)
		writer_set_clock(r->cfg->writer, worked_ns(r->stop.pid));
	writer_add(r->cfg->writer, strbuf_str(&r->relay.out), &lines);
	if (end)
		writer_end(r->cfg->writer, &lines);
	else if (writer_is_holding(r->cfg->writer) && run_is_idle(r))
		writer_idle(r->cfg->writer, &lines);
	write_data(r, strbuf_str(&lines), end);
	strbuf_fini(&lines);
	strbuf_clear(&r->relay.out);
}

void run_begin_output(struct runner *r)
{
	struct strbuf first = {0};
	writer_begin(r->cfg->writer, &first);
	r->heading = str_copy(r->arena, strbuf_str(&first));
	if (!r->keep)
		write_output(r, r->heading);
	strbuf_fini(&first);
}
