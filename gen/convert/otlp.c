/**
 * Spans in OpenTelemetry's OTLP JSON, a whole request on each line, as the collector's otlpjsonfile
 * receiver reads them. What the keys mean: opentelemetry-proto's trace.proto; of JSON, that ids are in
 * hexadecimal digits and integers of 64 bits in strings.
 */
#include "convert/drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "convert/jsonread.h"

/** Of structs and arrays in each other: what is deeper is text. */
enum { MAX_DEPTH = 8 };

struct otlp {
	struct arena arena;
	bool has_start; /**< the capture says when it was made, and where */
	struct str host, program;
	uint64_t origin;      /**< a hash of what tells this capture from others */
	struct map processes; /**< by PID: the comm of the first record */
	struct strbuf text;
	uint64_t n_spans, n_open, n_marks;
	bool has_loss, lacks_start;
};

static void free_otlp(void *state)
{
	struct otlp *o = state;
	strbuf_fini(&o->text);
	arena_fini(&o->arena);
}

// --- ids

/** Each bit of the result depends on each of @h. Never 0, which is no id. */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	h ^= h >> 31;
	return h ? h : 1;
}

static uint64_t hash_number(uint64_t h, uint64_t n)
{
	return mix(h + UINT64_C(0x9e3779b97f4a7c15)) ^ mix(n ^ UINT64_C(0xd1b54a32d192ed03));
}

static uint64_t hash_text(uint64_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return hash_number(h, s.n);
}

/** Hexadecimal, as W3C's Trace Context has it: in small letters, and not all 0. */
static bool read_hex(struct str s, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, s.p[i]);
		if (!at || !*at)
			return false;
		*ret = *ret << 4 | (uint64_t)(at - digits);
	}
	return true;
}

/** 00-<trace, 32 digits>-<span, 16>-<flags, 2> */
static bool read_traceparent(struct str s, struct drawing_ids *ret)
{
	struct drawing_ids ids = {0};
	uint64_t flags;
	if (s.n != 55 || !str_has_prefix(s, STR("00-")) || s.p[35] != '-' || s.p[52] != '-' ||
	    !read_hex(str_slice(s, 3, 16), &ids.trace[0]) ||
	    !read_hex(str_slice(s, 19, 16), &ids.trace[1]) ||
	    !read_hex(str_slice(s, 36, 16), &ids.parent) ||
	    !read_hex(str_slice(s, 53, 2), &flags) || !(ids.trace[0] | ids.trace[1]) || !ids.parent)
		return false;
	*ret = ids;
	return true;
}

/** The members of an object, without its braces. */
static struct jsonread members_of(struct str args)
{
	struct jsonread r = jsonread_of(args);
	r.is_first = true;
	return r;
}

static void take_begun(void *state, const struct drawing_ids *outer, struct drawing_what *what)
{
	struct otlp *o = state;
	struct jsonread r = members_of(what->args);
	struct drawing_ids *ids = &what->ids;
	struct str key, value;
	uint64_t h = hash_number(o->origin, (uint64_t)what->by.pid);
	h = hash_number(hash_number(h, (uint64_t)what->by.tid), (uint64_t)what->at.tid);
	h = hash_text(hash_text(h, str_from(what->category)), what->name);
	h = hash_number(h, (uint64_t)what->ns);
	*ids = (struct drawing_ids){{hash_number(h, 1), hash_number(h, 2)}, 0, 0};
	if (outer)
		*ids = (struct drawing_ids){{outer->trace[0], outer->trace[1]}, 0, outer->span};
	while (jsonread_member(&r, &key, &value))
		if (str_eqz(key, "traceparent") && read_traceparent(jsonread_inside(value), ids))
			break;
	ids->span = mix(h);
}

// --- the capture

static struct str text_of(struct otlp *o, struct str inside)
{
	strbuf_clear(&o->text);
	jsonread_add_text(inside, &o->text);
	return strbuf_str(&o->text);
}

static void take_capture(void *state, struct str capture)
{
	struct otlp *o = state;
	static const char *const own[] = {"host", "boot_id", "wall"};
	int64_t start;
	o->host = str_copy(&o->arena, text_of(o, jsonread_inside(jsonread_get(capture, "host"))));
	o->program =
	    str_copy(&o->arena, text_of(o, jsonread_inside(jsonread_get(capture, "program"))));
	o->origin = 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct str value = jsonread_get(capture, own[i]);
		o->origin = value.n ? hash_text(o->origin, jsonread_inside(value)) : o->origin;
	}
	o->processes = (struct map){0};
	o->has_start = capture_start(capture, &start);
}

static void take_record(void *state, const struct capture_line *l)
{
	struct otlp *o = state;
	o->lacks_start |= !o->has_start;
	if (o->program.n || map_get_u64(&o->processes, (uint64_t)l->pid))
		return;
	struct str *comm = arena_new(&o->arena, struct str);
	*comm = str_copy(&o->arena, text_of(o, l->comm));
	map_put_u64(&o->arena, &o->processes, (uint64_t)l->pid, comm);
}

// --- spans

static void put_value(struct otlp *o, struct json *j, struct str value, unsigned depth);

static void put_list(struct otlp *o, struct json *j, struct str value, unsigned depth)
{
	struct jsonread r = jsonread_of(value);
	struct str element;
	json_open(j, "arrayValue", '{');
	json_open(j, "values", '[');
	jsonread_open(&r, '[');
	while (jsonread_element(&r, &element)) {
		json_open(j, NULL, '{');
		put_value(o, j, element, depth + 1);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void open_attribute(struct json *j, struct str key)
{
	json_open(j, NULL, '{');
	json_str(j, "key", key);
	json_open(j, "value", '{');
}

static void close_attribute(struct json *j)
{
	json_close(j, '}');
	json_close(j, '}');
}

/** What is null has no value. */
static void put_members(struct otlp *o, struct json *j, struct jsonread r, unsigned depth)
{
	struct str key, value;
	while (jsonread_member(&r, &key, &value)) {
		if (str_eqz(value, "null"))
			continue;
		open_attribute(j, text_of(o, key));
		put_value(o, j, value, depth);
		close_attribute(j);
	}
}

/** An enumerator, {"name": ..., "value": ...}, or a string that is not UTF-8, {"text": ..., "hex": ...}. */
static bool is_word(struct str object)
{
	struct jsonread r = jsonread_of(object);
	struct str keys[2], value, more;
	jsonread_open(&r, '{');
	return jsonread_member(&r, &keys[0], &value) && jsonread_member(&r, &keys[1], &value) &&
	       !jsonread_member(&r, &more, &value) &&
	       ((str_eqz(keys[0], "name") && str_eqz(keys[1], "value")) ||
		(str_eqz(keys[0], "text") && str_eqz(keys[1], "hex")));
}

static void put_number(struct json *j, struct str value)
{
	char digits[64] = "";
	int64_t integer;
	if (jsonread_integer(value, &integer)) {
		json_printf(j, "intValue", "\"%" PRId64 "\"", integer);
		return;
	}
	memcpy(digits, value.p, value.n < sizeof(digits) ? value.n : 0);
	if (*digits && strpbrk(digits, ".eE") && isfinite(strtod(digits, NULL)))
		json_printf(j, "doubleValue", STR_FMT, STR_ARG(value));
	else // beyond what those hold
		json_str(j, "stringValue", value);
}

/** The member of an AnyValue that holds it. */
static void put_value(struct otlp *o, struct json *j, struct str value, unsigned depth)
{
	char first = value.p[0];
	if (first == '"')
		json_str(j, "stringValue", text_of(o, jsonread_inside(value)));
	else if (first == 't' || first == 'f')
		json_bool(j, "boolValue", first == 't');
	else if (first == '-' || (first >= '0' && first <= '9'))
		put_number(j, value);
	else if (first == '{' && is_word(value))
		json_str(j, "stringValue", text_of(o, capture_words(value)));
	else if (first != 'n' && depth >= MAX_DEPTH)
		json_str(j, "stringValue", value);
	else if (first == '[')
		put_list(o, j, value, depth);
	else if (first == '{') {
		struct jsonread r = jsonread_of(value);
		json_open(j, "kvlistValue", '{');
		json_open(j, "values", '[');
		jsonread_open(&r, '{');
		put_members(o, j, r, depth + 1);
		json_close(j, ']');
		json_close(j, '}');
	}
}

static void put_text(struct json *j, const char *key, struct str text)
{
	open_attribute(j, str_from(key));
	json_str(j, "stringValue", text);
	close_attribute(j);
}

static void put_integer(struct json *j, const char *key, int64_t n)
{
	open_attribute(j, str_from(key));
	json_printf(j, "intValue", "\"%" PRId64 "\"", n);
	close_attribute(j);
}

static void put_resource(const struct otlp *o, struct json *j, int64_t pid)
{
	const struct str *comm = map_get_u64(&o->processes, (uint64_t)pid);
	json_open(j, "resource", '{');
	json_open(j, "attributes", '[');
	put_text(j, "service.name", o->program.n ? o->program : comm ? *comm : STR(""));
	put_text(j, "host.name", o->host);
	put_integer(j, "process.pid", pid);
	json_close(j, ']');
	json_close(j, '}');
}

static void put_span(struct otlp *o, struct json *j, const struct drawing_what *what)
{
	const struct drawing_ids *ids = &what->ids;
	int64_t from = what->ns > 0 ? what->ns : 0;
	json_printf(j, "traceId", "\"%016" PRIx64 "%016" PRIx64 "\"", ids->trace[0], ids->trace[1]);
	json_printf(j, "spanId", "\"%016" PRIx64 "\"", ids->span);
	if (ids->parent)
		json_printf(j, "parentSpanId", "\"%016" PRIx64 "\"", ids->parent);
	json_str(j, "name", text_of(o, what->name));
	json_printf(j, "kind", "1");
	json_printf(j, "startTimeUnixNano", "\"%" PRId64 "\"", from);
	json_printf(j, "endTimeUnixNano", "\"%" PRId64 "\"", what->end > from ? what->end : from);
	json_open(j, "attributes", '[');
	put_integer(j, "thread.id", what->by.tid);
	put_members(o, j, members_of(what->args), 0);
	json_close(j, ']');
}

static void put_request(struct otlp *o, const struct drawing_what *what, struct strbuf *out)
{
	struct json j = {.out = out};
	if (!o->has_start)
		return;
	o->n_spans++;
	strbuf_addz(out, "{\"resourceSpans\": [{");
	put_resource(o, &j, what->by.pid);
	strbuf_addz(out, ", \"scopeSpans\": [{\"scope\": {\"name\": \"btgen\"}, \"spans\": [{");
	j.needs_comma = false;
	put_span(o, &j, what);
	strbuf_addz(out, "}]}]}]}\n");
}

static void put(void *state, enum drawing_kind kind, const struct drawing_what *what,
		struct strbuf *out)
{
	struct otlp *o = state;
	if (kind == DRAWING_SLICE || kind == DRAWING_OVERLAP)
		put_request(o, what, out);
	else if (kind == DRAWING_UNFINISHED || (kind == DRAWING_MARK && *what->category))
		o->n_open++;
	o->n_marks += kind == DRAWING_MARK && !*what->category;
	o->has_loss |= kind == DRAWING_LOSS;
}

static bool end_otlp(void *state, struct diag *d)
{
	const struct otlp *o = state;
	if (o->lacks_start)
		return diag_error(d, NULL,
				  "the capture's first line, with its time and host, is missing: "
				  "record with bpftrace.sh -o FILE.json, and keep that line");
	if (o->n_open || o->n_marks || !o->n_spans)
		diag_note(d, NULL,
			  "%" PRIu64 " span%s; omitted: %" PRIu64 " without an end, %" PRIu64
			  " records that neither begin nor end one",
			  o->n_spans, o->n_spans == 1 ? "" : "s", o->n_open, o->n_marks);
	if (o->has_loss)
		diag_warning(d, NULL,
			     "events of the capture were lost: spans are missing, or end too late");
	return true;
}

const struct drawing otlp_drawing = {
    .size = sizeof(struct otlp),
    .capture = take_capture,
    .record = take_record,
    .begun = take_begun,
    .put = put,
    .end = end_otlp,
    .free = free_otlp,
};
