/**
 * The trace event format, in JSON, which Perfetto and Chrome show. Its description: "Trace Event
 * Format", the document that Perfetto's page on JSON traces points to.
 */
#include "convert/drawing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "record/stamp.h"

struct traceevent {
	int64_t start; /**< ns since 1970: times are counted from here */
	bool has_start, has_any;
	uint64_t n_pairs;
};

static void *begin_events(void)
{
	return base_new(struct traceevent);
}

static void take_capture(void *state, struct str capture)
{
	struct traceevent *t = state;
	if (!t->has_start)
		t->has_start = capture_start(capture, &t->start);
}

static void take_record(void *state, const struct capture_line *l)
{
	struct traceevent *t = state;
	if (!t->has_start)
		t->start = l->ns;
	t->has_start = true;
}

/** In microseconds. */
static void add_us(int64_t ns, struct strbuf *out)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	if (ns < 0)
		strbuf_addc(out, '-');
	stamp_number(size / 1000, 1, out);
	strbuf_addc(out, '.');
	stamp_number(size % 1000, 3, out);
}

/**
 * An event up to its time; what it has beside that, and close_event(), must follow. Behind each line the
 * array may end.
 */
static void open_event(struct traceevent *t, char phase, struct drawing_line at, struct str name,
		       int64_t ns, struct strbuf *out)
{
	strbuf_addz(out, t->has_any ? ",{\"ph\":\"" : "{\"traceEvents\":[\n{\"ph\":\"");
	t->has_any = true;
	strbuf_addc(out, phase);
	strbuf_addz(out, "\",\"name\":\"");
	strbuf_adds(out, name);
	strbuf_addz(out, "\",\"pid\":");
	stamp_signed(at.pid, out);
	strbuf_addz(out, ",\"tid\":");
	stamp_signed(at.tid, out);
	strbuf_addz(out, ",\"ts\":");
	add_us(ns - t->start, out);
}

static void add_category(const struct drawing_what *what, struct strbuf *out)
{
	strbuf_addz(out, ",\"cat\":\"");
	strbuf_addz(out, what->category);
	strbuf_addc(out, '"');
}

static void close_event(struct str args, struct strbuf *out)
{
	strbuf_addz(out, ",\"args\":{");
	strbuf_adds(out, args);
	strbuf_addz(out, "}}\n");
}

static void put_name(void *t, const char *what, struct drawing_line at, struct str name,
		     struct strbuf *out)
{
	open_event(t, 'M', at, str_from(what), ((struct traceevent *)t)->start, out);
	strbuf_addz(out, ",\"args\":{\"name\":\"");
	strbuf_adds(out, name);
	strbuf_addz(out, "\"}}\n");
}

static void put_pair(struct traceevent *t, struct drawing_line at, const struct drawing_what *what,
		     int64_t end, struct strbuf *out)
{
	t->n_pairs++;
	for (int i = 0; i < 2; i++) {
		open_event(t, i ? 'e' : 'b', at, what->name, i ? end : what->ns, out);
		add_category(what, out);
		strbuf_addf(out, ",\"id\":%" PRIu64, t->n_pairs);
		close_event(i ? STR("") : what->args, out);
	}
}

static void put_ended(void *t, struct drawing_line at, const struct drawing_what *what, int64_t end,
		      bool is_beside, struct strbuf *out)
{
	if (is_beside) {
		put_pair(t, at, what, end, out);
		return;
	}
	open_event(t, 'X', at, what->name, what->ns, out);
	strbuf_addz(out, ",\"dur\":");
	add_us(end > what->ns ? end - what->ns : 0, out);
	add_category(what, out);
	close_event(what->args, out);
}

static void put_unfinished(void *t, struct drawing_line at, const struct drawing_what *what,
			   struct strbuf *out)
{
	open_event(t, 'B', at, what->name, what->ns, out);
	add_category(what, out);
	close_event(what->args, out);
}

static void put_mark(void *t, struct drawing_line at, char scope, const struct drawing_what *what,
		     struct strbuf *out)
{
	open_event(t, 'i', at, what->name, what->ns, out);
	strbuf_addz(out, ",\"s\":\"");
	strbuf_addc(out, scope);
	strbuf_addc(out, '"');
	close_event(what->args, out);
}

static void put_counter(void *t, struct drawing_line at, const struct drawing_what *what,
			struct strbuf *out)
{
	open_event(t, 'C', at, what->name, what->ns, out);
	close_event(what->args, out);
}

void traceevent_tail(const void *state, struct strbuf *out)
{
	const struct traceevent *t = state;
	time_t second = (time_t)(t->start / 1000000000);
	struct tm tm;
	char text[32] = "";
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&second, &tm));
	strbuf_addz(out, t->has_any ? "]" : "{\"traceEvents\":[]");
	strbuf_addf(out, ",\"otherData\":{\"start\":\"%s.%09" PRId64 "Z\"}}\n", text,
		    t->start % 1000000000);
}

const struct drawing traceevent_drawing = {
    .begin = begin_events,
    .capture = take_capture,
    .record = take_record,
    .name = put_name,
    .ended = put_ended,
    .unfinished = put_unfinished,
    .mark = put_mark,
    .counter = put_counter,
    .free = free,
};
