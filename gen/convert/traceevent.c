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

/**
 * An event up to its time; what it has beside that, and close_event(), must follow. Behind each line the
 * array may end.
 */
static void open_event(struct traceevent *t, char phase, const struct drawing_what *what,
		       int64_t ns, struct strbuf *out)
{
	strbuf_addz(out, t->has_any ? ",{\"ph\":\"" : "{\"traceEvents\":[\n{\"ph\":\"");
	t->has_any = true;
	strbuf_addc(out, phase);
	strbuf_addz(out, "\",\"name\":\"");
	strbuf_adds(out, what->name);
	strbuf_addz(out, "\",\"pid\":");
	stamp_signed(what->at.pid, out);
	strbuf_addz(out, ",\"tid\":");
	stamp_signed(what->at.tid, out);
	strbuf_addz(out, ",\"ts\":");
	stamp_in(STAMP_MICROSECOND, ns - t->start, 3, out);
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

static void put_name(struct traceevent *t, const char *kind, const struct drawing_what *what,
		     struct strbuf *out)
{
	struct drawing_what event = {.at = what->at, .name = str_from(kind)};
	open_event(t, 'M', &event, t->start, out);
	strbuf_addz(out, ",\"args\":{\"name\":\"");
	strbuf_adds(out, what->name);
	strbuf_addz(out, "\"}}\n");
}

static void put_pair(struct traceevent *t, const struct drawing_what *what, struct strbuf *out)
{
	t->n_pairs++;
	for (int i = 0; i < 2; i++) {
		open_event(t, i ? 'e' : 'b', what, i ? what->end : what->ns, out);
		add_category(what, out);
		strbuf_addf(out, ",\"id\":%" PRIu64, t->n_pairs);
		close_event(i ? STR("") : what->args, out);
	}
}

static void put(void *state, enum drawing_kind kind, const struct drawing_what *what,
		struct strbuf *out)
{
	static const char phases[] = {
	    [DRAWING_SLICE] = 'X',   [DRAWING_UNFINISHED] = 'B', [DRAWING_MARK] = 'i',
	    [DRAWING_TRIGGER] = 'i', [DRAWING_LOSS] = 'i',	 [DRAWING_COUNTER] = 'C'};
	// The thread, the process, or all.
	static const char scopes[sizeof(phases)] = {
	    [DRAWING_MARK] = 't', [DRAWING_TRIGGER] = 'p', [DRAWING_LOSS] = 'g'};
	struct traceevent *t = state;
	if (kind == DRAWING_PROCESS || kind == DRAWING_THREAD) {
		put_name(t, kind == DRAWING_PROCESS ? "process_name" : "thread_name", what, out);
		return;
	}
	if (kind == DRAWING_OVERLAP) {
		put_pair(t, what, out);
		return;
	}
	open_event(t, phases[kind], what, what->ns, out);
	if (kind == DRAWING_SLICE) {
		strbuf_addz(out, ",\"dur\":");
		stamp_in(STAMP_MICROSECOND, what->end > what->ns ? what->end - what->ns : 0, 3,
			 out);
	}
	if (kind == DRAWING_SLICE || kind == DRAWING_UNFINISHED)
		add_category(what, out);
	if (scopes[kind])
		strbuf_addf(out, ",\"s\":\"%c\"", scopes[kind]);
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
    .size = sizeof(struct traceevent),
    .capture = take_capture,
    .record = take_record,
    .put = put,
};
