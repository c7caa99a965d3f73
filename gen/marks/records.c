#include "marks/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "marks/nonce.h"

/** A record is shorter: 12 strings of 1024 bytes and some numbers. What is longer is none. */
enum { MAX_RECORD = 1 << 18, MAX_FIELDS = 32, N_FIXED = 5 };

void records_init(struct records *r, struct record_probe *probes, size_t n, bool json)
{
	*r = (struct records){.probes = probes, .n_probes = n, .json = json};
	uint64_t nonce = nonce_make();
	struct timespec real, mono;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	snprintf(r->start, sizeof(r->start), "@%016" PRIx64 "<", nonce);
	snprintf(r->sep, sizeof(r->sep), "@%016" PRIx64 ",", nonce);
	snprintf(r->end, sizeof(r->end), "@%016" PRIx64 ">", nonce);
	snprintf(r->counts, sizeof(r->counts), "@fired_%016" PRIx64, nonce);
	r->offset = (int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + real.tv_nsec - mono.tv_nsec;
	strbuf_init(&r->pending);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < probes[i].n_fields; k++)
			r->has_code |= probes[i].fields[k].kind == RECORD_CODE;
}

void records_fini(struct records *r)
{
	strbuf_fini(&r->pending);
}

/** Offset of @what in @s from @from on, or s.n. */
static size_t find(struct str s, size_t from, const char *what)
{
	size_t n = strlen(what);
	if (from > s.n)
		return s.n;
	const char *hit = memmem(s.p + from, s.n - from, what, n);
	return hit ? (size_t)(hit - s.p) : s.n;
}

static size_t split(const struct records *r, struct str body, struct str *ret)
{
	size_t n = 0, at = 0, skip = strlen(r->sep);
	while (n < MAX_FIELDS) {
		size_t end = find(body, at, r->sep);
		ret[n++] = str_slice(body, at, end - at);
		if (end == body.n)
			return n;
		at = end + skip;
	}
	return MAX_FIELDS + 1;
}

static bool to_i64(struct str s, int64_t *ret)
{
	uint64_t v;
	bool minus = str_has_prefix(s, STR("-"));
	if (minus)
		s = str_from_offset(s, 1);
	if (!str_to_u64(s, &v))
		return false;
	*ret = (int64_t)(minus ? 0 - v : v);
	return true;
}

// --- values

static void add_quoted(struct strbuf *out, struct str s)
{
	strbuf_addc(out, '"');
	while (s.n) {
		size_t n = 0;
		while (n < s.n && s.p[n] != '"' && s.p[n] != '\\' && s.p[n] != '\n' &&
		       s.p[n] != '\t')
			n++;
		strbuf_add_printable(out, str_slice(s, 0, n));
		if (n < s.n)
			strbuf_addz(out, s.p[n] == '"'	  ? "\\\""
					 : s.p[n] == '\\' ? "\\\\"
					 : s.p[n] == '\n' ? "\\n"
							  : "\\t");
		s = str_from_offset(s, n + 1);
	}
	strbuf_addc(out, '"');
}

static bool is_cut(const struct records *r, struct str s)
{
	return r->longest && s.n >= r->longest;
}

static void add_string(const struct records *r, struct strbuf *out, int64_t address, struct str s)
{
	if (!address)
		strbuf_addz(out, r->json ? "null" : "(null)");
	else if (r->json)
		strbuf_add_json(out, s);
	else
		add_quoted(out, s);
	if (!r->json && is_cut(r, s))
		strbuf_addz(out, "...");
}

/** The value of @size bytes in @v: bpftrace versions differ in how they extend it. */
static int64_t narrow(const struct record_field *f, int64_t v)
{
	unsigned bits = f->size * 8;
	if (!bits || bits >= 64)
		return v;
	uint64_t low = (uint64_t)v & ((1ull << bits) - 1);
	if (f->is_signed && low >> (bits - 1))
		low |= ~0ull << bits;
	return (int64_t)low;
}

static void add_enum(const struct records *r, struct strbuf *out, const struct record_field *f,
		     int64_t v)
{
	v = narrow(f, v);
	for (size_t i = 0; i < f->n_names; i++) {
		if (narrow(f, f->names[i].value) != v)
			continue;
		if (r->json)
			strbuf_add_json(out, f->names[i].name);
		else
			strbuf_add_printable(out, f->names[i].name);
		return;
	}
	strbuf_addf(out, "%" PRId64, v);
}

static void add_address(const struct records *r, struct strbuf *out, const struct record_field *f,
			int64_t v)
{
	if (r->json && f->is_pointer && !v)
		strbuf_addz(out, "null");
	else
		strbuf_addf(out, r->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64,
			    (uint64_t)narrow(f, v));
}

static void add_code(const struct records *r, struct strbuf *out, const struct record_field *f,
		     int64_t v)
{
	struct str name = r->names ? codename_find(r->names, (uint64_t)v) : (struct str){0};
	if (!name.n)
		add_address(r, out, f, v);
	else if (r->json)
		strbuf_add_json(out, name);
	else
		strbuf_add_printable(out, name);
}

/** JSON has no word for what is not a number. */
static void add_double(const struct records *r, struct strbuf *out, double v, int digits)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*g", digits, v);
	bool quote = r->json && (text[strlen(text) - 1] == 'f' || text[strlen(text) - 1] == 'n');
	strbuf_addf(out, quote ? "\"%s\"" : "%s", text);
}

static void add_value(const struct records *r, struct strbuf *out, const struct record_field *f,
		      int64_t v, struct str text)
{
	uint64_t bits = (uint64_t)v;
	uint32_t half = (uint32_t)v;
	float single;
	double full;
	char c = (char)v;
	switch (f->kind) {
	case RECORD_SIGNED:
		strbuf_addf(out, "%" PRId64, narrow(f, v));
		break;
	case RECORD_UNSIGNED:
		strbuf_addf(out, "%" PRIu64, (uint64_t)narrow(f, v));
		break;
	case RECORD_HEX:
		add_address(r, out, f, v);
		break;
	case RECORD_CODE:
		add_code(r, out, f, v);
		break;
	case RECORD_BOOL:
		strbuf_addz(out, (v & 0xff) ? "true" : "false");
		break;
	case RECORD_CHAR:
		if (r->json) {
			strbuf_add_json(out, (struct str){&c, 1});
		} else {
			strbuf_addc(out, '\'');
			strbuf_add_printable(out, (struct str){&c, 1});
			strbuf_addc(out, '\'');
		}
		break;
	case RECORD_STRING:
		add_string(r, out, v, text);
		break;
	case RECORD_ENUM:
		add_enum(r, out, f, v);
		break;
	case RECORD_FLOAT:
		memcpy(&single, &half, sizeof(single));
		add_double(r, out, single, 9);
		break;
	case RECORD_DOUBLE:
		memcpy(&full, &bits, sizeof(full));
		add_double(r, out, full, 17);
		break;
	case RECORD_HIDDEN:
		strbuf_addz(out, "?");
		break;
	}
}

// --- events

static void add_time(const struct records *r, struct strbuf *out, int64_t ns)
{
	int64_t wall = ns + r->offset;
	time_t seconds = (time_t)(wall / 1000000000);
	int micro = (int)(wall % 1000000000 / 1000);
	char text[64], zone[16] = "";
	struct tm tm;
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), r->json ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &tm);
	if (!r->json) {
		strbuf_addf(out, "%s.%06d", text, micro);
		return;
	}
	strftime(zone, sizeof(zone), "%z", &tm); // +0100; RFC 3339 wants a colon
	strbuf_addf(out, "\"%s.%06d%.3s:%s\"", text, micro, zone, zone[0] ? zone + 3 : "00");
}

/** What each record begins with: the number of its probe, ns, PID, TID; the name of the thread. */
struct head {
	int64_t probe, ns, pid, tid;
	struct str comm;
};

static bool take_head(const struct records *r, const struct str fields[N_FIXED], struct head *ret)
{
	ret->comm = fields[4];
	return to_i64(fields[0], &ret->probe) && to_i64(fields[1], &ret->ns) &&
	       to_i64(fields[2], &ret->pid) && to_i64(fields[3], &ret->tid) && ret->probe >= 0 &&
	       ret->probe < (int64_t)r->n_probes;
}

static void add_head(const struct records *r, struct json *j, const struct head *h,
		     struct str probe)
{
	struct strbuf *out = j->out;
	if (r->json) {
		json_open(j, NULL, '{');
		add_time(r, json_value(j, "time"), h->ns);
		json_printf(j, "ns", "%" PRId64, h->ns);
		json_printf(j, "pid", "%" PRId64, h->pid);
		json_printf(j, "tid", "%" PRId64, h->tid);
		json_str(j, "comm", h->comm);
		json_str(j, "probe", probe);
		json_open(j, "args", '{');
	} else {
		add_time(r, out, h->ns);
		strbuf_addc(out, ' ');
		strbuf_add_printable(out, h->comm);
		strbuf_addf(out, "[%" PRId64 "] ", h->tid);
		strbuf_adds(out, probe);
	}
}

static bool add_event(struct records *r, struct str body, struct strbuf *out)
{
	struct str fields[MAX_FIELDS];
	struct head head;
	int64_t v;
	size_t n = split(r, body, fields);
	if (n < N_FIXED || n > MAX_FIELDS || !take_head(r, fields, &head))
		return false;
	struct record_probe *p = &r->probes[head.probe];
	struct json j = {.out = out};
	add_head(r, &j, &head, p->name);
	size_t at = N_FIXED, n_cut = 0;
	struct str cut[MAX_FIELDS];
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct record_field *f = &p->fields[i];
		size_t needed = f->kind == RECORD_HIDDEN ? 0 : f->kind == RECORD_STRING ? 2 : 1;
		if (at + needed > n || (needed && !to_i64(fields[at], &v)))
			return false;
		struct str text = needed == 2 ? fields[at + 1] : (struct str){0};
		if (needed == 2 && is_cut(r, text))
			cut[n_cut++] = f->name;
		if (r->json && !needed)
			continue;
		if (r->json)
			json_named_value(&j, f->name);
		else
			strbuf_addf(out, " " STR_FMT "=", STR_ARG(f->name));
		add_value(r, out, f, needed ? v : 0, text);
		at += needed;
	}
	if (r->json) {
		json_close(&j, '}');
		if (n_cut)
			json_open(&j, "cut", '[');
		for (size_t i = 0; i < n_cut; i++)
			json_str(&j, NULL, cut[i]);
		if (n_cut)
			json_close(&j, ']');
		json_close(&j, '}');
	}
	strbuf_addc(out, '\n');
	p->n_events += at == n;
	return at == n;
}

/** @counts[3]: 42 */
static bool take_count(struct records *r, struct str line)
{
	unsigned long long i, n;
	char text[96];
	size_t skip = strlen(r->counts);
	if (!str_has_prefix(line, str_from(r->counts)) || line.n >= sizeof(text))
		return false;
	memcpy(text, line.p, line.n);
	text[line.n] = '\0';
	if (sscanf(text + skip, "[%llu]: %llu", &i, &n) != 2 || i >= r->n_probes)
		return false;
	r->probes[i].n_fired = n > r->first_count ? n - r->first_count : 0;
	r->is_counted = true;
	return true;
}

/** bpftrace before 0.24: "Lost 42 events" */
static bool take_lost(struct records *r, struct str line)
{
	struct str lost = STR("Lost "), events = STR(" events");
	uint64_t n;
	if (!str_has_prefix(line, lost) || !str_has_suffix(line, events) ||
	    line.n <= lost.n + events.n ||
	    !str_to_u64(str_slice(line, lost.n, line.n - lost.n - events.n), &n))
		return false;
	r->reported_lost += n;
	return true;
}

/** What is no event: bpftrace's own words. The empty lines that it ends with are left out. */
static void add_other(struct records *r, struct str s, struct strbuf *out)
{
	while (s.n) {
		struct str line = str_slice(s, 0, str_find(s, '\n'));
		s = str_from_offset(s, line.n + 1);
		if (!str_trim(line).n || take_count(r, line) || take_lost(r, line))
			continue;
		if (r->json) {
			struct json j = {.out = out};
			json_open(&j, NULL, '{');
			json_str(&j, "text", line);
			json_close(&j, '}');
			strbuf_addc(out, '\n');
		} else {
			strbuf_add_printable(out, line);
			strbuf_addc(out, '\n');
		}
	}
}

/**
 * Decodes the record at the start of @s; 0 when it is not complete, else the bytes that are done.
 */
static size_t take_record(struct records *r, struct str s, struct strbuf *out)
{
	size_t from = strlen(r->start), end = find(s, from, r->end);
	if (end == s.n)
		return s.n > MAX_RECORD ? from : 0;
	size_t done = end + strlen(r->end), before = out->n;
	if (done == s.n)
		return 0; // its newline
	if (!add_event(r, str_slice(s, from, end - from), out)) {
		out->n = before;
		if (out->p)
			out->p[before] = '\0';
		add_other(r, str_slice(s, 0, done + 1), out);
	}
	return done + (s.p[done] == '\n');
}

void records_take(struct records *r, struct str bytes, struct strbuf *out)
{
	strbuf_adds(&r->pending, bytes);
	struct str s = strbuf_str(&r->pending);
	size_t done = 0;
	while (done < s.n) {
		struct str rest = str_from_offset(s, done);
		size_t start = find(rest, 0, r->start);
		if (start == 0) {
			size_t taken = take_record(r, rest, out);
			if (!taken)
				break;
			done += taken;
			continue;
		}
		// Whole lines only: the start of a marker may be at the end.
		size_t n = start;
		if (start == rest.n)
			for (n = rest.n; n && rest.p[n - 1] != '\n';)
				n--;
		if (!n && rest.n <= MAX_RECORD)
			break;
		n = n ? n : rest.n;
		add_other(r, str_slice(rest, 0, n), out);
		done += n;
	}
	if (!done)
		return;
	memmove(r->pending.p, r->pending.p + done, r->pending.n - done);
	r->pending.n -= done;
	r->pending.p[r->pending.n] = '\0';
}

struct records_sum records_sum(const struct records *r)
{
	struct records_sum sum = {0};
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct record_probe *p = &r->probes[i];
		sum.n_fired += p->n_fired;
		sum.n_events += p->n_events;
		sum.n_lost += p->n_fired > p->n_events ? p->n_fired - p->n_events : 0;
	}
	return sum;
}

static void add_lost(const struct records *r, struct strbuf *out)
{
	struct json j = {.out = out};
	json_open(&j, NULL, '{');
	json_open(&j, "lost", '{');
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct record_probe *p = &r->probes[i];
		if (p->n_fired > p->n_events)
			strbuf_addf(json_named_value(&j, p->name), "%" PRIu64,
				    p->n_fired - p->n_events);
	}
	json_close(&j, '}');
	json_close(&j, '}');
	strbuf_addc(out, '\n');
}

void records_end(struct records *r, struct strbuf *out)
{
	add_other(r, strbuf_str(&r->pending), out);
	strbuf_clear(&r->pending);
	if (r->json && records_sum(r).n_lost)
		add_lost(r, out);
}
