#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/ready.h"
#include "run/run_priv.h"

#define TURN_POLL_MS 2	// while another writes to the same output
#define MAX_PIECE 65536 // so much at once to a file that is whole at any time
#define STUCK_MS 2000	// when it has not been read for so long
#define KEPT_MS 1000	// a bpftrace that always has something to read is not waited for

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
		run_look_at_cost(r);
		if (fds[1].revents)
			run_take_signal(r);
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
			run_take_signal(r);
		stop_when_idle(&r->stop);
		if (is_stuck(r, &stuck_since))
			return false;
	}
	bool good = write_polled(r, strbuf_str(&heading));
	strbuf_fini(&heading);
	return good;
}

/** What the reader has not taken is not lost. */
void run_take_readers_end(struct runner *r)
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
			run_take_readers_end(r);
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
			run_report_unwritten(r);
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
		run_want_kept(r, trigger);
	// What has happened until then is read first.
	bool is_wanted = r->wanted_at && (run_is_idle(r) || clock_ms() - r->wanted_at > KEPT_MS);
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
void run_flush_output(struct runner *r, bool end)
{
	if (r->cfg->out_path && !r->ready)
		return;
	struct strbuf lines = {0};
	if (r->stop.pid > 0 && r->relay.out.n)
		writer_set_clock(r->cfg->writer, worked_ns(r->stop.pid));
	writer_take(r->cfg->writer, strbuf_str(&r->relay.out), &lines);
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
	if (r->slow)
		slow_take(r->slow, r->heading);
	if (!r->keep)
		write_converted(r, r->heading, false);
	strbuf_fini(&first);
}
