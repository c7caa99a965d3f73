#include "run/relay.h"

#include "run/ready.h"

enum { LONGEST_MESSAGE = 65536 }; // longer lines are data, or reported in pieces

void relay_init(struct relay *r, struct diag *d, const struct linemap *map,
		const char *program_name)
{
	*r = (struct relay){.messages = {.diag = d, .map = map, .program_name = program_name}};
}

void relay_fini(struct relay *r)
{
	strbuf_fini(&r->out);
	strbuf_fini(&r->out_line);
	strbuf_fini(&r->err_line);
	strbuf_fini(&r->held);
	messages_fini(&r->messages);
}

/** "Attaching 5 probes...", "Attached 5 probes". */
static bool is_probes_line(struct str line, struct str verb, unsigned *n_probes)
{
	uint64_t n;
	if (!str_take(&line, verb) || !str_take_number(&line, &n) ||
	    !str_has_prefix(line, STR(" probe")))
		return false;
	*n_probes = (unsigned)n;
	return true;
}

/** The rest may be parts of a string of the traced program: nothing here interprets it. */
static bool is_all_data(const struct relay *r)
{
	return !r->stdout_has_messages || (r->attached && r->seen_attaching);
}

static bool may_be_message(const struct relay *r, struct str part)
{
	struct str attaching = STR("Attaching ");
	return (!r->seen_attaching &&
		(str_has_prefix(attaching, part) || str_has_prefix(part, attaching))) ||
	       (!r->attached && str_has_prefix(str_from(READY_ATTACHED), part));
}

/** A whole line of what comes before all is attached: BEGIN prints, too. */
static void handle_out_line(struct relay *r, struct str line)
{
	struct str bare = line;
	if (str_has_suffix(bare, STR("\n")))
		bare.n--;
	if (!r->seen_attaching && is_probes_line(bare, STR("Attaching "), &r->n_probes))
		r->seen_attaching = true;
	else if (!r->attached && str_eqz(bare, READY_ATTACHED))
		r->attached = true;
	else
		strbuf_adds(&r->out, line);
}

void relay_stdout(struct relay *r, struct str bytes)
{
	while (bytes.n && !(is_all_data(r) && !r->out_line.n)) {
		size_t nl = str_find(bytes, '\n');
		bool whole = nl < bytes.n;
		struct str part = str_slice(bytes, 0, nl + whole);
		bytes = str_from_offset(bytes, part.n);
		strbuf_adds(r->out_mid_line ? &r->out : &r->out_line, part);
		if (!whole && r->out_line.n > LONGEST_MESSAGE)
			relay_stdout_idle(r);
		if (!whole)
			return;
		if (!r->out_mid_line)
			handle_out_line(r, strbuf_str(&r->out_line));
		r->out_mid_line = false;
		strbuf_clear(&r->out_line);
	}
	strbuf_adds(&r->out, bytes);
}

void relay_stdout_idle(struct relay *r)
{
	// A printf() need not end its line.
	if (!r->out_line.n || (!is_all_data(r) && may_be_message(r, strbuf_str(&r->out_line))))
		return;
	strbuf_adds(&r->out, strbuf_str(&r->out_line));
	strbuf_clear(&r->out_line);
	r->out_mid_line = !is_all_data(r);
}

static void handle_err_line(struct relay *r, struct str line)
{
	uint64_t n;
	if (str_eqz(line, READY_ATTACHED) || is_probes_line(line, STR("Attached "), &r->n_probes)) {
		r->attached = true;
		return;
	}
	if (r->holds_messages) {
		strbuf_adds(&r->held, line);
		strbuf_addc(&r->held, '\n');
		return;
	}
	struct str lost = line; // "Lost 12 events"
	if (str_take(&lost, STR("Lost ")) && str_take_number(&lost, &n) &&
	    str_eqz(lost, " events")) {
		r->lost += n;
		return;
	}
	messages_add(&r->messages, line);
}

void relay_release(struct relay *r)
{
	r->holds_messages = false;
	struct str rest = strbuf_str(&r->held);
	while (rest.n)
		handle_err_line(r, str_take_line(&rest));
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
		handle_err_line(r, strbuf_str(&r->err_line));
		strbuf_clear(&r->err_line);
	}
}

void relay_end(struct relay *r)
{
	if (r->out_line.n)
		handle_out_line(r, strbuf_str(&r->out_line));
	strbuf_clear(&r->out_line);
	if (r->err_line.n)
		handle_err_line(r, strbuf_str(&r->err_line));
	strbuf_clear(&r->err_line);
}
