#include "run/relay.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "run/definitions.h"
#include "run/ready.h"

enum { LONGEST_MESSAGE = 65536 }; // longer lines are data, or reported in pieces

void relay_init(struct relay *r, struct diag *d, const struct linemap *map,
		const char *program_name)
{
	*r = (struct relay){.diag = d, .map = map, .program_name = program_name};
}

void relay_fini(struct relay *r)
{
	strbuf_fini(&r->out);
	strbuf_fini(&r->out_line);
	strbuf_fini(&r->err_line);
	strbuf_fini(&r->c_errors);
	strbuf_fini(&r->withheld);
	strbuf_fini(&r->held);
}

/** Takes a decimal number off the front of *s. */
static bool take_number(struct str *s, unsigned long long *ret)
{
	size_t n = 0;
	*ret = 0;
	while (n < s->n && n < 18 && isdigit((unsigned char)s->p[n]))
		*ret = *ret * 10 + (unsigned long long)(s->p[n++] - '0');
	*s = str_from_offset(*s, n);
	return n > 0;
}

static bool take_text(struct str *s, struct str text)
{
	if (!str_has_prefix(*s, text))
		return false;
	*s = str_from_offset(*s, text.n);
	return true;
}

/** "Attaching 5 probes...": ready.h's report is printed when it is true. */
static bool is_attaching_line(struct str line)
{
	unsigned long long n;
	return take_text(&line, STR("Attaching ")) && take_number(&line, &n) &&
	       take_text(&line, STR(" probe"));
}

static bool is_lost_line(struct str line, unsigned long long *n)
{
	return take_text(&line, STR("Lost ")) && take_number(&line, n) && str_eqz(line, " events");
}

static bool may_be_message(const struct relay *r, struct str part)
{
	struct str attaching = STR("Attaching "), lost = STR("Lost ");
	if (!r->stdout_has_messages)
		return false;
	return (!r->seen_attaching &&
		(str_has_prefix(attaching, part) || str_has_prefix(part, attaching))) ||
	       (!r->attached && str_has_prefix(str_from(READY_ATTACHED), part)) ||
	       str_has_prefix(lost, part) || str_has_prefix(part, lost);
}

static void add_blank_lines(struct relay *r)
{
	for (; r->blank_lines; r->blank_lines--)
		strbuf_addc(&r->out, '\n');
}

/** A whole line of stdout, newline included unless the stream ended without one. */
static void take_out_line(struct relay *r, struct str line)
{
	struct str bare = line;
	if (str_has_suffix(bare, STR("\n")))
		bare.n--;
	unsigned long long n;
	if (r->stdout_has_messages && !r->seen_attaching && is_attaching_line(bare)) {
		r->seen_attaching = true;
		return;
	}
	// Behind "Attaching" and before any data.
	if (r->stdout_has_messages && !r->attached && str_eqz(bare, READY_ATTACHED)) {
		r->attached = true;
		return;
	}
	if (r->stdout_has_messages && is_lost_line(bare, &n))
		r->lost += n;
	if (!bare.n && line.n) {
		// The first of too many cannot be bpftrace's.
		if (r->blank_lines < 2 + r->n_maps)
			r->blank_lines++;
		else
			strbuf_addc(&r->out, '\n');
		return;
	}
	// bpftrace prints two empty lines before the first map and one before each other; more are
	// those of empty maps.
	if (r->ending && bare.p[0] == '@') {
		unsigned most = r->printing_maps ? 1 : 2;
		r->blank_lines = r->blank_lines < most ? r->blank_lines : most;
		r->printing_maps = true;
	}
	add_blank_lines(r);
	r->has_data = true;
	strbuf_adds(&r->out, line);
}

void relay_stdout(struct relay *r, struct str bytes)
{
	while (bytes.n) {
		size_t nl = str_find(bytes, '\n');
		bool whole = nl < bytes.n;
		struct str part = str_slice(bytes, 0, nl + whole);
		bytes = str_from_offset(bytes, part.n);
		if (r->out_mid_line) { // its beginning was passed on as data, so the rest is data, too
			strbuf_adds(&r->out, part);
			r->out_mid_line = !whole;
			continue;
		}
		strbuf_adds(&r->out_line, part);
		if (!whole) {
			if (r->out_line.n > LONGEST_MESSAGE)
				relay_stdout_idle(r);
			break;
		}
		take_out_line(r, strbuf_str(&r->out_line));
		strbuf_clear(&r->out_line);
	}
}

void relay_stdout_idle(struct relay *r)
{
	// A printf() need not end its line: what bpftrace leaves unfinished while it waits is shown
	// as it is.
	add_blank_lines(r);
	if (!r->out_line.n || may_be_message(r, strbuf_str(&r->out_line)))
		return;
	strbuf_adds(&r->out, strbuf_str(&r->out_line));
	strbuf_clear(&r->out_line);
	r->out_mid_line = r->has_data = true;
}

/** The place in a template that program position @line:@col (0: the whole line) came from. */
static bool find_place(struct relay *r, unsigned line, unsigned col, unsigned len,
		       struct diag_place *ret, bool *is_ours)
{
	const struct token *t = NULL;
	if (r->map)
		t = col ? linemap_find(r->map, line, col) : linemap_find_line(r->map, line);
	if (!t || !t->use.file)
		return false;
	bool exact = t->use.file == t->loc.file && t->use.off == t->loc.off;
	*is_ours = !t->loc.file;
	*ret = src_place(t->use, exact && len ? len : t->text.n);
	if (ret->source.n && ret->col - 1 + ret->len > ret->source.n)
		ret->len = ret->col <= ret->source.n ? (unsigned)ret->source.n - ret->col + 1 : 1;
	return true;
}

/**
 * Warnings that leave nothing to do: bpftrace 0.27 says the first of its own address spaces and the
 * second of delete() as a statement, which is what older versions have; each some times, with the
 * places it went through.
 */
static bool is_idle_warning(struct relay *r, struct str text, bool is_ours)
{
	if (!str_eq(text, STR("expanded from"))) // that is where the one before came from
		r->idle = is_ours || str_eq(text, STR("Addrspace mismatch")) ||
			  str_eq(text, STR("Return value discarded."));
	return r->idle;
}

/**
 * In containers and bare machines it is not mounted: then bpftrace knows no tracepoint, and from
 * 0.24 on it runs nothing.
 */
static void explain_tracefs(const struct relay *r, struct str line)
{
	bool is_it = str_contains(line, STR("tracepoint not found")) ||
		     str_contains(line, STR("available_events"));
	if (is_it && access("/sys/kernel/tracing/events", F_OK) != 0 &&
	    access("/sys/kernel/debug/tracing/events", F_OK) != 0)
		diag_note(r->diag, NULL,
			  "neither tracefs nor debugfs is mounted: mount -t tracefs tracefs "
			  "/sys/kernel/tracing; mount -t debugfs debugfs /sys/kernel/debug");
}

/**
 * "NAME:2:17-20: ERROR: text" or "NAME:2-4: ERROR: text": bpftrace's Location, from 1, columns
 * count bytes, the second one stands behind the last. False when the line is none of these.
 */
static bool take_placed_message(struct relay *r, struct str line)
{
	unsigned long long l1, c1 = 0, c2 = 0;
	if (!take_text(&line, str_from(r->program_name)) || !take_text(&line, STR(":")) ||
	    !take_number(&line, &l1))
		return false;
	if (take_text(&line, STR(":"))) {
		if (!take_number(&line, &c1) || !take_text(&line, STR("-")) ||
		    !take_number(&line, &c2))
			return false;
	} else if (!take_text(&line, STR("-")) || !take_number(&line, &c2)) {
		return false;
	} else {
		c2 = 0;
	}
	if (!take_text(&line, STR(": ")))
		return false;

	bool is_error = take_text(&line, STR("ERROR: "));
	bool is_warning = !is_error && take_text(&line, STR("WARNING: "));
	if (!is_error && !is_warning)
		return false;
	struct diag_place at;
	bool is_ours;
	if (!find_place(r, (unsigned)l1, (unsigned)c1, c2 > c1 ? (unsigned)(c2 - c1) : 0, &at,
			&is_ours))
		return false;
	// Ours is that of a cast that we put in so that all versions read the same: not the
	// template's business.
	bool is_idle = is_idle_warning(r, line, is_ours);
	if (is_warning && !r->withheld.n && (is_idle || r->diag->quiet)) {
		strbuf_adds(&r->withheld, line);
		r->withheld_at = at;
	}
	if (is_error)
		diag_error(r->diag, &at, "bpftrace: " STR_FMT, STR_ARG(line));
	else if (!is_idle)
		diag_warning(r->diag, &at, "bpftrace: " STR_FMT, STR_ARG(line));
	if (is_error)
		explain_tracefs(r, line);
	r->n_errors += is_error;
	r->skip_excerpt = c1 ? 2 : 0; // a place over several lines comes without them
	return true;
}

/** A warning, or the second line of that of 0.23 which says where it looked for kernel headers. */
static bool is_warning_line(struct str line)
{
	return str_has_prefix(line, STR("WARNING: ")) ||
	       str_has_prefix(line, STR("modprobe kheaders "));
}

/** A message that is passed on as it is. */
static void pass_on(struct relay *r, struct str line)
{
	if (r->diag->quiet && is_warning_line(line))
		return;
	if (str_has_prefix(line, STR("ERROR: ")))
		r->n_errors++;
	r->reported |= !is_warning_line(line);
	r->skip_excerpt = 0;
	struct strbuf b;
	strbuf_init(&b);
	strbuf_add_printable(&b, line);
	strbuf_addc(&b, '\n');
	fwrite(b.p, 1, b.n, r->diag->out);
	fflush(r->diag->out);
	strbuf_fini(&b);
	if (str_has_prefix(line, STR("ERROR: ")))
		explain_tracefs(r, line);
}

/**
 * What clang says of a definition of the program. Newer bpftraces try several times, each time with
 * more of the kernel's types, and may succeed in the end: so nothing is reported until it is known
 * that this was the last attempt. What has been said before begins the next one.
 */
static bool hold_definition_message(struct relay *r, struct str line)
{
	if (!str_has_prefix(line, STR("definitions.h:")))
		return false;
	struct strbuf whole;
	strbuf_init(&whole);
	strbuf_adds(&whole, line);
	strbuf_addc(&whole, '\n');
	if (str_contains(strbuf_str(&r->c_errors), strbuf_str(&whole)))
		strbuf_clear(&r->c_errors);
	strbuf_adds(&r->c_errors, strbuf_str(&whole));
	strbuf_fini(&whole);
	return true;
}

/** "definitions.h:5:2: error: text" */
static void tell_definition_message(struct relay *r, struct str line)
{
	struct str rest = line;
	unsigned long long l = 0, c = 0;
	bool placed = take_text(&rest, STR("definitions.h:")) && take_number(&rest, &l) &&
		      take_text(&rest, STR(":")) && take_number(&rest, &c) &&
		      take_text(&rest, STR(": "));
	take_text(&rest, STR("fatal "));
	bool is_error = placed && take_text(&rest, STR("error: "));
	unsigned program_line = definitions_find_line(r->program, (unsigned)l);
	struct diag_place at;
	bool is_ours;
	if (!is_error || !program_line ||
	    !find_place(r, program_line, (unsigned)c, 0, &at, &is_ours)) {
		pass_on(r, line);
		return;
	}
	diag_error(r->diag, &at, "bpftrace: " STR_FMT, STR_ARG(rest));
	r->n_errors++;
}

static void tell_definition_messages(struct relay *r)
{
	struct str rest = strbuf_str(&r->c_errors);
	while (rest.n) {
		size_t nl = str_find(rest, '\n');
		tell_definition_message(r, str_slice(rest, 0, nl));
		rest = str_from_offset(rest, nl + 1);
	}
	strbuf_clear(&r->c_errors);
}

/** What bpftrace says behind the messages of the last attempt, if that failed. */
static bool gives_definitions_up(struct str line)
{
	return str_has_prefix(line, STR("ERROR: Include headers with missing type definitions")) ||
	       str_eqz(line, "Clang parse error");
}

/** bpftrace shows the line and a row of ~ below it; we have shown the template's. */
static bool is_own_excerpt(struct relay *r, struct str line)
{
	if (!r->skip_excerpt)
		return false;
	r->skip_excerpt--;
	for (size_t i = 0; i < line.n; i++)
		if (!strchr(" \t~^\n", line.p[i]))
			return true; // the source line
	r->skip_excerpt = 0;
	return true;
}

/**
 * Messages that tell of nothing wrong. Kernels from 5.11 on account BPF memory by cgroup, so the
 * limit that bpftrace may not raise is not used. And without tracefs no probe was made through
 * uprobe_events, so there is none to take out of it: bpftrace 0.17 and 0.23 try all the same.
 */
static bool is_noise(struct str line)
{
	if (str_contains(line, STR("couldn't set RLIMIT_MEMLOCK for bpftrace")))
		return true;
	// It leaves out the losses of one processor.
	if (str_has_prefix(line, STR("WARNING: Total lost event count: ")))
		return true;
	// Only kernel functions are meant, and one that cannot be traced is an error of its own.
	if (str_has_prefix(line, STR("WARNING: Could not read functions from ")))
		return true;
	bool detach = str_has_prefix(line, STR("ERROR: failed to detach probe: u")) ||
		      str_has_prefix(line, STR("WARNING: failed to detach probe: u")) ||
		      (str_has_prefix(line, STR("open(")) &&
		       str_contains(line, STR("/uprobe_events): No such file or directory")));
	return detach && access("/sys/kernel/tracing/uprobe_events", F_OK) != 0 &&
	       access("/sys/kernel/debug/tracing/uprobe_events", F_OK) != 0;
}

static void take_err_line(struct relay *r, struct str line)
{
	unsigned long long n;
	if (ready_is_report(line)) {
		r->attached = true;
		return;
	}
	if (r->holds_messages) {
		strbuf_adds(&r->held, line);
		strbuf_addc(&r->held, '\n');
		return;
	}
	if (is_lost_line(line, &n)) {
		r->lost += n;
		return;
	}
	if (is_noise(line) || take_placed_message(r, line) || is_own_excerpt(r, line) ||
	    hold_definition_message(r, line))
		return;
	if (gives_definitions_up(line))
		tell_definition_messages(r);
	pass_on(r, line);
}

void relay_release(struct relay *r)
{
	r->holds_messages = false;
	struct str rest = strbuf_str(&r->held);
	while (rest.n) {
		struct str line = str_slice(rest, 0, str_find(rest, '\n'));
		rest = str_from_offset(rest, line.n + 1);
		take_err_line(r, line);
	}
	strbuf_clear(&r->held);
}

void relay_stderr(struct relay *r, struct str bytes)
{
	while (bytes.n) {
		size_t nl = str_find(bytes, '\n');
		strbuf_adds(&r->err_line, str_slice(bytes, 0, nl));
		if (nl == bytes.n && r->err_line.n < LONGEST_MESSAGE)
			break;
		bytes = str_from_offset(bytes, nl + 1);
		take_err_line(r, strbuf_str(&r->err_line));
		strbuf_clear(&r->err_line);
	}
}

void relay_end(struct relay *r)
{
	if (r->out_line.n)
		take_out_line(r, strbuf_str(&r->out_line));
	strbuf_clear(&r->out_line);
	r->blank_lines = 0; // with a map among the last lines they all are bpftrace's, too
	if (r->err_line.n)
		take_err_line(r, strbuf_str(&r->err_line));
	strbuf_clear(&r->err_line);
}

void relay_explain_failure(struct relay *r, int status)
{
	if (r->reported || r->n_errors || r->diag->n_errors)
		return;
	tell_definition_messages(r); // 0.17 has nothing to add to some
	if (r->reported || r->n_errors)
		return;
	if (r->withheld.n)
		diag_error(r->diag, &r->withheld_at, "bpftrace: " STR_FMT,
			   STR_ARG(strbuf_str(&r->withheld)));
	else
		diag_error(r->diag, NULL, "bpftrace ended with status %d", status);
}
