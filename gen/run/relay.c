#include "run/relay.h"

#include <ctype.h>
#include <string.h>

#include "run/ready.h"

enum { LONGEST_MESSAGE = 65536 }; // longer lines are data, or reported in pieces

void relay_init(struct relay *r, struct diag *d, const struct linemap *map,
		const char *program_name)
{
	*r = (struct relay){0};
	messages_init(&r->messages, d, map, program_name);
}

void relay_fini(struct relay *r)
{
	strbuf_fini(&r->out);
	strbuf_fini(&r->out_line);
	strbuf_fini(&r->err_line);
	strbuf_fini(&r->held);
	messages_fini(&r->messages);
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
	messages_take(&r->messages, line);
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
