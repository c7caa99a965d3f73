#include "record/writer.h"

#include "base/clock.h"
#include "record/calltree.h"
#include "record/joined.h"
#include "record/order.h"
#include "record/percentile.h"
#include "record/render.h"
#include "record/stamp.h"

enum { MAX_MARKS = 64 };

/** When bpftrace waits for events, it has read and printed those that are older. */
#define STILL_COMING_NS 200000000ll

/** A thread may stand still so long between its mark and what it prints. */
#define SAME_TIME_NS 100000000ll

/** Whose lines bpftrace prints next. */
struct mark {
	struct arena arena;
	struct record record;
};

struct writer {
	struct writer_config config;
	struct shapes *shapes;
	struct decoder decoder;
	struct order *order;	// NULL: not sorted
	struct calltree *calls; // or NULL
	struct mapline *mapline;
	struct stamp stamp;
	int64_t first, newest; // times of the first record and the last one; 0: none has come
	struct strbuf *out;
	struct strbuf text, head, piece, printable; // of what is being written
	struct joined joined;
	struct percentile percentile, before; // of is_live: up to the last second
	bool (*handle_message)(void *ctx, struct str line);
	void *message_ctx;
	struct mark *marks[MAX_MARKS]; // the oldest first
	size_t n_marks;
	bool in_part;	       // what comes next ends a line that has begun
	bool in_map;	       // or is of the map of the name
	struct strbuf map;     // with its @
	struct mark *map_mark; // NULL: it is printed at the end
	struct strbuf counted; // the map of n_rows consecutive lines
	uint64_t n_rows;
	struct strbuf full; // see struct writer_result, as the next ones
	uint64_t reported_lost;
	struct str account; // of writer_set_account()
	struct {
		struct strbuf probe;
		int64_t since, ns; // the first of several, or somewhat earlier, and the last
	} trigger,
	    last_trigger; // that have come: the first, and the last whose line is not out with its
	unsigned n_blank; // empty lines that have come and may be bpftrace's
	bool has_printed_map;
	bool in_strings;   // since the last event a map was printed that has strings in it
	uint64_t n_events; // lines of them
	bool has_data, has_value;
	bool has_ends;
};

// --- the head of a line

static void add_time(struct writer *w, int64_t ns, struct strbuf *out)
{
	unsigned digits = w->config.head == WRITER_LIST ? 6 : 9;
	if (w->config.time == WRITER_WALL)
		stamp_wall(&w->stamp, ns, digits, out);
	else
		stamp_seconds(w->config.time == WRITER_SINCE ? ns - w->first : ns, digits, out);
	strbuf_addc(out, ' ');
}

/** In front of each line of text. */
static void add_head(struct writer *w, const struct record *r, bool is_late, struct strbuf *out)
{
	enum writer_head head = w->config.head;
	if (head != WRITER_BARE) {
		add_time(w, r->head.ns, out);
	} else if (r->shape->has_since) {
		stamp_seconds(r->since, 6, out);
		strbuf_addz(out, ": ");
	}
	if (head == WRITER_LIST) {
		strbuf_add_printable(out, r->comm);
		strbuf_addc(out, '[');
		stamp_signed(r->head.tid, out);
		strbuf_addz(out, "] ");
	} else if (head == WRITER_WHOLE) {
		strbuf_addc(out, '[');
		stamp_number((uint64_t)r->head.cpu, 3, out);
		strbuf_addz(out, "] ");
		stamp_signed(r->head.pid, out);
		strbuf_addc(out, ' ');
		stamp_signed(r->head.tid, out);
		strbuf_addc(out, ' ');
	}
	if (is_late)
		strbuf_addz(out, "late ");
	if (head == WRITER_LIST || head == WRITER_WHOLE)
		strbuf_add_printable(out, r->probe);
	if (head == WRITER_WHOLE)
		strbuf_addz(out, ": ");
}

/** The same as members of an object that is open. */
static void add_members(struct writer *w, const struct record *r, bool is_late, struct json *j)
{
	struct strbuf *out = json_value(j, "time");
	strbuf_addc(out, '"');
	stamp_rfc3339(&w->stamp, r->head.ns, out);
	strbuf_addc(out, '"');
	for (const struct head_number *n = head_numbers; n < head_numbers + HEAD_NUMBERS; n++) {
		int64_t number;
		if (!n->json.n)
			continue;
		memcpy(&number, (const char *)&r->head + n->at, sizeof(number));
		strbuf_adds(out, n->json);
		stamp_signed(number, out);
	}
	json_bytes(j, "comm", r->comm);
	json_bytes(j, "probe", r->probe);
	if (is_late)
		json_bool(j, "late", true);
}

// --- what is whole goes out

static bool is_late(const struct writer *w, const struct record *r)
{
	return w->order && r && order_is_late(w->order, r->head.ns);
}

/** Where a piece of output is to be written; write_record() must follow. */
static struct strbuf *begin_line(struct writer *w)
{
	strbuf_clear(&w->piece);
	return w->order ? &w->piece : w->out;
}

/** @r: NULL when it has no time. */
static void write_record(struct writer *w, const struct record *r)
{
	if (w->order)
		order_add(w->order, r ? r->head.ns : order_newest(w->order), strbuf_str(&w->piece),
			  w->out);
}

/** An object on a line of its own: end_json() must follow. */
static struct json begin_json(struct writer *w, const struct record *r)
{
	struct json j = {.out = begin_line(w)};
	json_open(&j, NULL, '{');
	if (r)
		add_members(w, r, is_late(w, r), &j);
	return j;
}

static void end_json(struct writer *w, const struct record *r, struct json *j)
{
	json_close(j, '}');
	strbuf_addc(j->out, '\n');
	write_record(w, r);
}

/** @fields: an object; empty: those of @r. */
static void put_json(struct writer *w, const struct record *r, struct str text, struct str fields)
{
	struct json j = begin_json(w, r);
	json_bytes(&j, "text", text);
	if (fields.n)
		strbuf_adds(json_value(&j, "fields"), fields);
	else if (r && r->shape->style != SHAPE_MARK)
		render_record_json(&w->config.render, r, &j);
	end_json(w, r, &j);
}

static void put_text(struct writer *w, const struct record *r, struct str text)
{
	struct strbuf *out = begin_line(w);
	bool is_list = w->config.head == WRITER_LIST;
	strbuf_clear(&w->head);
	if (r)
		add_head(w, r, is_late(w, r), &w->head);
	do {
		struct str line = str_take_line(&text);
		strbuf_adds(out, strbuf_str(&w->head));
		if (is_list && r && line.n)
			strbuf_addc(out, ' ');
		if (is_list && (!r || r->shape->style != SHAPE_LIST))
			strbuf_add_printable(out, line);
		else
			strbuf_adds(out, line);
		strbuf_addc(out, '\n');
		if (r && r->shape->style == SHAPE_LIST) // a stack
			break;
	} while (text.n);
	if (text.n) {
		strbuf_adds(out, text);
		strbuf_addc(out, '\n');
	}
	write_record(w, r);
}

/** All lines of events that are wanted have come. */
static bool is_full(const struct writer *w)
{
	return w->config.limit && w->n_events >= w->config.limit;
}

/** A text that is whole, with its last newline or without. @r: NULL when nothing is known of it. */
static void put_whole(void *ctx, const struct record *r, struct str text)
{
	struct writer *w = ctx;
	bool is_event = r && r->shape->is_event;
	if (is_event && is_full(w))
		return;
	w->n_events += is_event;
	if (str_has_suffix(text, STR("\n")))
		text.n--;
	if (w->config.json)
		put_json(w, r, text, STR(""));
	else
		put_text(w, r, text);
}

/** A line of the tree of calls. */
static void put_call(void *ctx, const struct record *r, struct str text, struct str fields)
{
	struct writer *w = ctx;
	if (is_full(w))
		return;
	w->n_events++;
	if (w->config.json) {
		put_json(w, r, text, fields);
		return;
	}
	if (w->config.head == WRITER_TIME)
		add_time(w, r->head.ns, w->out);
	strbuf_adds(w->out, text);
	strbuf_addc(w->out, '\n');
}

// --- marks

static void free_mark(struct mark *m)
{
	if (m)
		arena_fini(&m->arena);
	free(m);
}

static struct mark *remove_mark(struct writer *w, size_t i)
{
	struct mark *m = w->marks[i];
	w->n_marks--;
	memmove(&w->marks[i], &w->marks[i + 1], (w->n_marks - i) * sizeof(w->marks[0]));
	return m;
}

static void add_mark(struct writer *w, const struct record *r)
{
	if (w->n_marks == MAX_MARKS)
		free_mark(remove_mark(w, 0));
	struct mark *m = base_new(struct mark);
	joined_copy_head(&m->arena, r, &m->record);
	w->marks[w->n_marks++] = m;
}

/**
 * The statement that prints text which is no map's; NULL: not known. If all processors have one buffer,
 * text may follow the mark of another statement that printed at the same time.
 */
static const struct record *text_mark(const struct writer *w)
{
	const struct record *newest = NULL;
	for (size_t i = w->n_marks; i-- > 0;) {
		const struct record *r = &w->marks[i]->record;
		if (r->shape->map.n)
			continue;
		if (newest && !w->config.has_rounds && newest->head.ns - r->head.ns < SAME_TIME_NS)
			return NULL;
		newest = newest ? newest : r;
	}
	return newest;
}

// --- maps

static const struct record *map_head(const struct writer *w)
{
	return w->map_mark ? &w->map_mark->record : NULL;
}

/**
 * What bpftrace prints itself, as of a map, cat() or system(): which part of it is a value's is not
 * known. Valid until the next call.
 */
static struct str shown(struct writer *w, struct str text)
{
	if (!w->config.render.is_for_terminal)
		return text;
	strbuf_clear(&w->printable);
	strbuf_add_printable_lines(&w->printable, text);
	return strbuf_str(&w->printable);
}

/** The lines of a map in `text`. */
static struct str shown_map(struct writer *w)
{
	if (!w->config.is_printable) {
		strbuf_addc(&w->text, '\n');
		return shown(w, strbuf_str(&w->text));
	}
	strbuf_clear(&w->printable);
	strbuf_add_printable(&w->printable, strbuf_str(&w->text));
	strbuf_addc(&w->printable, '\n');
	return strbuf_str(&w->printable);
}

/** Text that goes out as it comes. */
static bool is_plain(const struct writer *w)
{
	const struct writer_config *c = &w->config;
	return !c->json && !c->sorts && c->head == WRITER_BARE;
}

static void end_map(struct writer *w)
{
	if (w->in_map && w->config.json) {
		struct json j = begin_json(w, map_head(w));
		mapline_json(w->mapline, &w->config.render, &j);
		end_json(w, map_head(w), &j);
	} else if (mapline_has_part(w->mapline)) {
		strbuf_clear(&w->text);
		mapline_take_part(w->mapline, &w->text);
		if (is_plain(w))
			strbuf_adds(w->out, shown_map(w));
		else
			put_whole(w, map_head(w), shown_map(w));
	}
	w->in_map = false;
	free_mark(w->map_mark);
	w->map_mark = NULL;
}

/** "@name" of a line that begins with it, or an empty one. */
static struct str map_name(struct str line)
{
	size_t n = 1;
	if (!str_has_prefix(line, STR("@")))
		return (struct str){0};
	while (str_is_made_of(str_slice(line, n, 1), ALPHABET_WORD))
		n++;
	return str_slice(line, 0, n);
}

/** Without a mark of its own it is printed at the end. */
static void begin_map(struct writer *w, struct str name)
{
	w->in_map = true;
	strbuf_clear(&w->map);
	strbuf_adds(&w->map, name);
	for (size_t i = 0; i < w->n_marks && !w->map_mark; i++)
		if (str_eq(w->marks[i]->record.shape->map, str_from_offset(name, 1)))
			w->map_mark = remove_mark(w, i);
}

/** Is @line, which begins with the map's @name or with none, one of a map? Then it is taken. */
static bool is_map_line(struct writer *w, struct str line, struct str name)
{
	if (!w->config.json) {
		if ((!line.n && !mapline_has_part(w->mapline)) ||
		    (name.n && !str_eq(name, strbuf_str(&w->map))))
			end_map(w);
		return w->in_map || name.n;
	}
	if (mapline_add(w->mapline, line))
		return true;
	end_map(w);
	return mapline_add(w->mapline, line);
}

/** A line of text, with names in it if it is a map's. Empty: more of it has to come. */
static struct str named(struct writer *w, struct str line)
{
	struct map_bucket b; // the one in which 0.17 counts all that is more, too
	strbuf_clear(&w->text);
	if (w->config.has_open_top && str_has_prefix(line, STR("[2G, 4G) ")) &&
	    mapentry_to_bucket(line, &b))
		strbuf_addf(&w->text, "[2G, ...) " STR_FMT,
			    STR_ARG(str_from_offset(line, strlen("[2G, ...) "))));
	else
		mapline_name(w->mapline, &w->config.render, line, &w->text);
	bool has_more = !w->text.n && (line.n || mapline_has_part(w->mapline));
	return has_more ? STR("") : shown_map(w);
}

// --- what the decoder finds

/** Text that goes out as it comes but for the time before each line: #pragma time since. */
static bool is_timed(const struct writer *w, const struct record *r)
{
	return is_plain(w) && r && r->shape->has_since;
}

static void add_blank_lines(struct writer *w)
{
	for (; w->n_blank; w->n_blank--)
		strbuf_addc(w->out, '\n');
}

/**
 * A map is printed: bpftrace prints two empty lines before the first one of its end. Before 0.24 more
 * are those of maps that have nothing in them.
 */
static void limit_blank_lines(struct writer *w)
{
	unsigned most = w->has_printed_map ? 1 : 2;
	if (!w->config.has_lost_lines)
		return;
	w->n_blank = w->n_blank < most ? w->n_blank : most;
	w->has_printed_map = true;
}

/** All buckets have come: those of a second, or of the end. */
static void end_buckets(struct writer *w, bool is_second)
{
	if (!percentile_has(&w->percentile))
		return;
	if (is_second && w->config.is_live) {
		percentile_live(&w->percentile, &w->before, begin_line(w));
		write_record(w, NULL);
		return;
	}
	limit_blank_lines(w);
	if (is_plain(w))
		add_blank_lines(w);
	if (w->config.json) {
		struct json j = begin_json(w, NULL);
		percentile_json(&w->percentile, &j);
		end_json(w, NULL, &j);
	} else {
		percentile_text(&w->percentile, begin_line(w));
		write_record(w, NULL);
	}
}

bool writer_is_trigger(const char *pattern, struct str label)
{
	const char *colon = memchr(label.p, ':', label.n);
	struct str name = colon ? str_from_offset(label, (size_t)(colon + 1 - label.p)) : label;
	return str_glob(str_from(pattern), label) || str_glob(str_from(pattern), name);
}

struct str writer_next_trigger(struct writer *w, struct arena *a, int64_t *ns)
{
	if (!w->trigger.probe.n || writer_holds(w, w->trigger.ns)) // mostly
		return STR("");
	struct str probe = str_copy(a, strbuf_str(&w->trigger.probe));
	*ns = w->trigger.since;
	strbuf_clear(&w->trigger.probe);
	if (writer_holds(w, w->last_trigger.ns)) {
		strbuf_adds(&w->trigger.probe, strbuf_str(&w->last_trigger.probe));
		w->trigger.since = writer_newest(w);
		w->trigger.ns = w->last_trigger.ns;
	}
	return probe;
}

static void note_trigger(struct writer *w, const struct record *r)
{
	if (!w->trigger.probe.n) {
		strbuf_adds(&w->trigger.probe, r->probe);
		w->trigger.since = w->trigger.ns = r->head.ns;
	}
	strbuf_clear(&w->last_trigger.probe);
	strbuf_adds(&w->last_trigger.probe, r->probe);
	w->last_trigger.ns = r->head.ns;
}

static void on_record(void *ctx, const struct record *r)
{
	struct writer *w = ctx;
	if (w->config.trigger && writer_is_trigger(w->config.trigger, r->probe))
		note_trigger(w, r);
	w->first = w->first ? w->first : r->head.ns;
	w->newest = r->head.ns > w->newest ? r->head.ns : w->newest;
	if (w->config.on_process && r->head.pid > 0 && r->head.pid <= INT32_MAX)
		w->config.on_process(w->config.process_ctx, (int)r->head.pid);
	end_buckets(w, true);
	if (w->config.is_live && r->shape->style == SHAPE_FORMAT)
		return; // it only ends the buckets of a second
	end_map(w);
	joined_end_unknown(&w->joined);
	w->in_part = false;
	if (w->order)
		order_set_cpu(w->order, r->head.cpu);
	w->in_strings = false;
	strbuf_clear(&w->counted);
	// What comes of a processor comes in order: its marks are for lines that came before.
	for (size_t i = w->n_marks; i-- > 0;)
		if (w->marks[i]->record.head.cpu == r->head.cpu)
			free_mark(remove_mark(w, i));
	if (r->shape->style == SHAPE_MARK) {
		add_mark(w, r);
		return;
	}
	if (r->shape->is_event && is_full(w))
		return;
	w->has_data |= r->shape->is_counted;
	w->has_value |= r->shape->is_counted;
	w->has_ends |= !r->shape->is_counted;
	add_blank_lines(w);
	w->has_printed_map = false;
	if (r->shape->style >= SHAPE_ENTRY) {
		calltree_add(w->calls, r);
		return;
	}
	bool is_list = r->shape->style == SHAPE_LIST;
	if (is_plain(w) && !is_list && !is_timed(w, r)) {
		size_t before = w->out->n;
		render_record(&w->config.render, r, w->out);
		struct str text = str_from_offset(strbuf_str(w->out), before);
		w->n_events += r->shape->is_event && str_find(text, '\n') < text.n;
		return;
	}
	strbuf_clear(&w->text);
	render_record(&w->config.render, r, &w->text);
	if (is_list) // a list begins with a blank
		put_whole(w, r, str_from_offset(strbuf_str(&w->text), 1));
	else if (w->text.n)
		joined_add(&w->joined, r, strbuf_str(&w->text));
}

/**
 * May the line be part of a string of the traced program, in a map? bpftrace reports loss between events,
 * never between the lines of a map.
 */
static bool is_in_string(struct writer *w, struct str line)
{
	if (map_name(line).n)
		w->in_strings |= mapline_has_text(w->mapline, line);
	return w->in_strings;
}

/** bpftrace before 0.24: "Lost 42 events" */
static bool handle_lost_line(struct writer *w, struct str line)
{
	uint64_t n;
	if (!w->config.has_lost_lines || !str_take(&line, STR("Lost ")) ||
	    !str_take_number(&line, &n) || !str_eqz(line, " events"))
		return false;
	w->reported_lost += n;
	return w->shapes->list.n > 0; // else the traced program may have printed it
}

/** The empty lines that stand before @line. */
static void begin_plain(struct writer *w, struct str line, bool ends_part)
{
	if (map_name(line).n && !ends_part)
		limit_blank_lines(w);
	add_blank_lines(w);
}

static void put_plain(struct writer *w, struct str line, bool ends_part)
{
	if (!line.n && !ends_part && !mapline_has_part(w->mapline)) {
		// The first of too many cannot be bpftrace's.
		if (w->n_blank < 5 + w->config.n_maps) // and maps of counts, KEY, the gate
			w->n_blank++;
		else
			strbuf_addc(w->out, '\n');
		return;
	}
	begin_plain(w, line, ends_part);
	strbuf_adds(w->out, ends_part ? shown(w, line) : named(w, line));
	if (ends_part)
		strbuf_addc(w->out, '\n');
}

/** Is @name one of "@a, @b"? */
static bool is_listed(struct str list, struct str name)
{
	while (list.n) {
		struct str one = str_slice(list, 0, str_find(list, ','));
		if (str_eq(one, name))
			return true;
		list = str_from_offset(list, one.n + 2);
	}
	return false;
}

/** Of the maps that are printed, which have no room left? A histogram has more keys than are seen. */
static void count_row(struct writer *w, struct str line)
{
	struct str name = map_name(line);
	if (!line.n) // between two maps, or the same one again
		strbuf_clear(&w->counted);
	if (!name.n || !str_has_prefix(str_from_offset(line, name.n), STR("[")))
		return;
	if (!str_eq(name, strbuf_str(&w->counted))) {
		strbuf_clear(&w->counted);
		strbuf_adds(&w->counted, name);
		w->n_rows = 0;
	}
	if (++w->n_rows != w->config.max_keys || is_listed(strbuf_str(&w->full), name))
		return;
	strbuf_addz(&w->full, w->full.n ? ", " : "");
	strbuf_adds(&w->full, name);
}

static void on_line(void *ctx, struct str line)
{
	struct writer *w = ctx;
	bool ends_part = w->in_part;
	w->in_part = false;
	if (!ends_part && !is_in_string(w, line) &&
	    (handle_lost_line(w, line) ||
	     (w->handle_message && w->handle_message(w->message_ctx, line))))
		return;
	w->has_data |= line.n > 0;
	w->has_value |= line.n > 0 && !(map_name(line).n && str_has_suffix(line, STR(": 0")));
	if (!ends_part)
		count_row(w, line);
	// Before 0.24, in the place of no buckets.
	if (w->config.is_live && !line.n && !percentile_has(&w->before))
		return;
	if (!ends_part && w->config.has_percentiles && percentile_add(&w->percentile, line))
		return;
	end_buckets(w, false);
	bool is_map = !ends_part && is_map_line(w, line, map_name(line));
	if (is_map && !w->in_map)
		begin_map(w, map_name(line));
	const struct record *r = is_map ? map_head(w) : text_mark(w);
	// The empty lines around maps are there for the eye.
	bool is_between = !line.n && !ends_part && !joined_has(&w->joined, r);
	if (is_plain(w) && (is_between || !is_timed(w, r))) {
		bool is_event = !is_between && r && r->shape->is_event;
		if (is_event && is_full(w))
			return;
		w->n_events += is_event;
		put_plain(w, line, ends_part);
		return;
	}
	if (is_plain(w))
		begin_plain(w, line, ends_part);
	if (is_map) {
		struct str text = w->config.json ? STR("") : named(w, line);
		if (text.n)
			put_whole(w, r, text);
		return;
	}
	if (is_between)
		return;
	strbuf_clear(&w->text);
	strbuf_adds(&w->text, shown(w, line));
	strbuf_addc(&w->text, '\n');
	joined_add(&w->joined, r, strbuf_str(&w->text));
}

static void on_part(void *ctx, struct str text)
{
	struct writer *w = ctx;
	w->in_part = w->has_data = w->has_value = true;
	add_blank_lines(w);
	text = shown(w, text);
	if (is_plain(w) && !is_timed(w, text_mark(w))) {
		strbuf_adds(w->out, text);
		return;
	}
	end_map(w);
	joined_add(&w->joined, text_mark(w), text);
}

static const struct decode_handler handler = {
    .record = on_record, .line = on_line, .part = on_part};

// --- from outside

struct writer *writer_new(const struct writer_config *config, struct shapes *shapes)
{
	struct writer *w = base_new(struct writer);
	w->config = *config;
	w->shapes = shapes;
	w->stamp.offset = config->render.offset;
	w->order = config->sorts ? order_new(config->has_rounds) : NULL;
	if (config->has_calls)
		w->calls =
		    calltree_new(&(struct calltree_config){config->json, config->has_rounds,
							   config->has_filter, &w->config.render},
				 shapes, put_call, w);
	w->mapline = mapline_new(config->maps, config->n_maps);
	for (size_t i = 0; i < shapes->list.n; i++)
		shape_make_keys(shapes->arena, &shapes->list.v[i]);
	w->joined = (struct joined){.shapes = shapes, .put = put_whole, .ctx = w};
	decode_init(&w->decoder, shapes, &handler, w);
	return w;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	joined_fini(&w->joined);
	percentile_fini(&w->percentile);
	percentile_fini(&w->before);
	while (w->n_marks)
		free_mark(remove_mark(w, 0));
	free_mark(w->map_mark);
	order_free(w->order);
	calltree_free(w->calls);
	mapline_free(w->mapline);
	decode_fini(&w->decoder);
	strbuf_fini(&w->text);
	strbuf_fini(&w->trigger.probe);
	strbuf_fini(&w->last_trigger.probe);
	strbuf_fini(&w->printable);
	strbuf_fini(&w->head);
	strbuf_fini(&w->piece);
	strbuf_fini(&w->map);
	strbuf_fini(&w->counted);
	strbuf_fini(&w->full);
	free(w);
}

void writer_set_messages(struct writer *w, bool (*handle)(void *ctx, struct str line), void *ctx)
{
	w->handle_message = handle;
	w->message_ctx = ctx;
}

void writer_set_clock(struct writer *w, int64_t ns)
{
	if (w->order)
		order_set_clock(w->order, ns);
	if (w->calls)
		calltree_set_clock(w->calls, ns);
}

void writer_begin(struct writer *w, struct strbuf *out)
{
	strbuf_adds(out, w->config.heading);
	w->config.heading = STR("");
}

void writer_add(struct writer *w, struct str bytes, struct strbuf *out)
{
	w->out = out;
	if (bytes.n)
		writer_begin(w, out);
	decode_add(&w->decoder, bytes);
}

void writer_idle(struct writer *w, struct strbuf *out)
{
	w->out = out;
	add_blank_lines(w);
	decode_idle(&w->decoder);
	end_map(w);
	if (!w->config.is_live) // what ends has no record after it
		end_buckets(w, true);
	w->in_strings = false;
	int64_t settled = clock_of_probes() - STILL_COMING_NS;
	if (w->order)
		order_flush(w->order, settled, out);
	if (w->calls)
		calltree_idle(w->calls, settled);
}

int64_t writer_offset(const struct writer *w)
{
	return w->stamp.offset;
}

bool writer_prints_wall(const struct writer *w)
{
	bool yes =
	    w->config.json || (w->config.head != WRITER_BARE && w->config.time == WRITER_WALL);
	vec_each(const struct shape, s, &w->shapes->list)
		for (size_t i = 0; i < s->n_fields; i++)
			yes |= s->fields[i].value.how == VALUE_TIME;
	return yes;
}

int64_t writer_newest(const struct writer *w)
{
	return w->order ? order_gone(w->order) : w->newest;
}

bool writer_holds(const struct writer *w, int64_t ns)
{
	return (w->order && order_holds(w->order, ns)) ||
	       (w->calls && calltree_holds(w->calls, ns));
}

bool writer_is_holding(const struct writer *w)
{
	return w->decoder.pending.n || w->n_blank || w->in_map || percentile_has(&w->percentile) ||
	       writer_holds(w, INT64_MAX);
}

/** {"lost": {"total": 5, "a:b": 3, "a:c": 2}} */
static void add_lost(const struct writer *w, struct strbuf *out)
{
	struct json j = {.out = out};
	uint64_t total = decode_sum(&w->decoder).n_lost;
	struct arena a = {0};
	struct map by_probe = {0};
	if (!total)
		return;
	vec_each(const struct shape, s, &w->shapes->list) {
		uint64_t *n = map_get(&by_probe, s->probe);
		if (!s->is_counted || s->n_fired <= s->n_events || !s->probe.n)
			continue;
		if (!n) {
			n = arena_new(&a, uint64_t);
			map_put(&a, &by_probe, s->probe, n);
		}
		*n += s->n_fired - s->n_events;
	}
	json_open(&j, NULL, '{');
	json_open(&j, "lost", '{');
	json_printf(&j, "total", "%" PRIu64, total);
	for (struct map_entry *e = NULL; (e = map_next(&by_probe, e));)
		strbuf_addf(json_named_value(&j, e->key), "%" PRIu64, *(uint64_t *)e->value);
	json_close(&j, '}');
	json_close(&j, '}');
	strbuf_addc(out, '\n');
	arena_fini(&a);
}

void writer_drop(struct writer *w)
{
	decode_drop(&w->decoder);
	joined_fini(&w->joined);
}

void writer_set_account(struct writer *w, struct str line)
{
	w->account = line;
}

void writer_end(struct writer *w, struct strbuf *out)
{
	w->out = out;
	decode_end(&w->decoder);
	end_map(w);
	end_buckets(w, false);
	joined_end(&w->joined);
	if (w->order)
		order_flush(w->order, INT64_MAX, out);
	if (w->calls)
		calltree_end(w->calls);
	if (w->config.json)
		strbuf_adds(out, w->account);
	if (w->config.json && !is_full(w)) // after that it is of no interest
		add_lost(w, out);
}

struct writer_result writer_result(const struct writer *w)
{
	return (struct writer_result){.decoded = decode_sum(&w->decoder),
				      .n_events = w->n_events,
				      .n_late = w->order   ? order_n_late(w->order)
						: w->calls ? calltree_n_late(w->calls)
							   : 0,
				      .reported_lost = w->reported_lost,
				      .has_data = w->has_data,
				      .has_value = w->has_value,
				      .has_ends = w->has_ends,
				      .full_maps = strbuf_str(&w->full)};
}
