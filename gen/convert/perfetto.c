#include "convert/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/jsonread.h"
#include "base/map.h"
#include "convert/rules.h"
#include "record/stamp.h"

/** Above all PIDs (PID_MAX_LIMIT is 4194304): the process whose threads are the tracks of objects. */
enum { OBJECTS = 5000000 };

enum verb { VERB_NONE, VERB_START, VERB_END };

/** What has begun. */
struct open {
	struct str name; /**< of `own` */
	struct str call; /**< of a call: what its end has, too */
	const char *category;
	int64_t ns;
	struct strbuf own;
	struct strbuf args; /**< members of an object */
};

/** What is known of a probe by its name. */
struct probe {
	struct str name; /**< without the provider */
	struct str call; /**< name without the verb: that of the pair */
	enum verb verb;
	VEC(size_t) rules; /**< indices of those that it has */
};

/** A thread's, or that of an object. */
struct track {
	int64_t pid, tid;
	struct open open;
	bool is_open;
	int64_t from, to; /**< of its last slice that has ended */
};

struct thread {
	struct track track;
	VEC(struct open) calls; /**< the innermost last; those behind `n_calls` are used again */
	size_t n_calls;
};

struct perfetto {
	struct arena arena;
	struct rules rules;
	struct map probes;    /**< by provider:name; forgotten with each capture line */
	struct map processes; /**< those that have a name */
	struct map threads;   /**< by TID */
	struct map tracks;    /**< by name */
	int64_t start, last;  /**< times of the first and the last record, ns since 1970 */
	bool has_start, has_any;
	int64_t n_tracks;
	uint64_t n_pairs, n_late;
	struct fields fields;
	struct strbuf name, by, args;
};

struct perfetto *perfetto_new(void)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	if (!p)
		base_oom();
	arena_init(&p->arena);
	return p;
}

static void free_open(struct open *o)
{
	strbuf_fini(&o->args);
	strbuf_fini(&o->own);
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&p->threads, e));) {
		struct thread *t = e->value;
		for (size_t i = 0; i < t->calls.n; i++)
			free_open(&t->calls.v[i]);
		free_open(&t->track.open);
	}
	for (struct map_entry *e = NULL; (e = map_next(&p->tracks, e));)
		free_open(&((struct track *)e->value)->open);
	strbuf_fini(&p->name);
	strbuf_fini(&p->by);
	strbuf_fini(&p->args);
	arena_fini(&p->arena);
	free(p);
}

// --- events of the format

static void add_number(int64_t v, struct strbuf *out)
{
	if (v < 0)
		strbuf_addc(out, '-');
	stamp_number(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 1, out);
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

/** An event up to its time; what it has beside that, and close_event(), must follow. */
static void open_event(struct perfetto *p, char phase, struct str name, const struct track *t,
		       int64_t ns, struct strbuf *out)
{
	strbuf_addz(out, p->has_any ? ",\n{\"ph\":\"" : "{\"traceEvents\":[\n{\"ph\":\"");
	p->has_any = true;
	strbuf_addc(out, phase);
	strbuf_addz(out, "\",\"name\":\"");
	strbuf_adds(out, name);
	strbuf_addz(out, "\",\"pid\":");
	add_number(t->pid, out);
	strbuf_addz(out, ",\"tid\":");
	add_number(t->tid, out);
	strbuf_addz(out, ",\"ts\":");
	add_us(ns - p->start, out);
}

/** @args: members of an object. */
static void close_event(struct str args, struct strbuf *out)
{
	strbuf_addz(out, ",\"args\":{");
	strbuf_adds(out, args);
	strbuf_addz(out, "}}");
}

/** @what: process_name or thread_name */
static void put_name(struct perfetto *p, const char *what, const struct track *t, struct str name,
		     struct strbuf *out)
{
	open_event(p, 'M', str_from(what), t, p->start, out);
	strbuf_addz(out, ",\"args\":{\"name\":\"");
	strbuf_adds(out, name);
	strbuf_addz(out, "\"}}");
}

static void put_slice(struct perfetto *p, const struct open *o, const struct track *t, int64_t end,
		      struct strbuf *out)
{
	open_event(p, 'X', o->name, t, o->ns, out);
	strbuf_addz(out, ",\"dur\":");
	add_us(end > o->ns ? end - o->ns : 0, out);
	strbuf_addf(out, ",\"cat\":\"%s\"", o->category);
	close_event(strbuf_str(&o->args), out);
}

/** One that overlaps with another of its track: it gets a line of its own. */
static void put_pair(struct perfetto *p, const struct open *o, const struct track *t, int64_t end,
		     struct strbuf *out)
{
	p->n_pairs++;
	for (int i = 0; i < 2; i++) {
		open_event(p, i ? 'e' : 'b', o->name, t, i ? end : o->ns, out);
		strbuf_addf(out, ",\"cat\":\"%s\",\"id\":%" PRIu64, o->category, p->n_pairs);
		close_event(i ? STR("") : strbuf_str(&o->args), out);
	}
}

/** @scope: t, of its track, or g, of all */
static void put_instant(struct perfetto *p, struct str name, const char *scope,
			const struct track *t, int64_t ns, struct str args, struct strbuf *out)
{
	open_event(p, 'i', name, t, ns, out);
	strbuf_addf(out, ",\"s\":\"%s\"", scope);
	close_event(args, out);
}

/** What never ended: nothing of its track comes behind it. */
static void put_unfinished(struct perfetto *p, const struct open *o, const struct track *t,
			   struct strbuf *out)
{
	open_event(p, 'B', o->name, t, o->ns, out);
	strbuf_addf(out, ",\"cat\":\"%s\"", o->category);
	close_event(strbuf_str(&o->args), out);
}

// --- what the records are

/** "text": ..., and the fields, as members. */
static struct str args_of(struct perfetto *p, const struct capture_line *l)
{
	struct strbuf *args = &p->args;
	strbuf_clear(args);
	if (l->text.n) {
		strbuf_addz(args, "\"text\":");
		strbuf_adds(args, l->text);
	}
	struct str inside =
	    str_trim(str_slice(l->fields, 1, l->fields.n > 2 ? l->fields.n - 2 : 0));
	if (inside.n) {
		strbuf_addz(args, l->text.n ? "," : "");
		strbuf_adds(args, inside);
	}
	return strbuf_str(args);
}

static enum verb verb_of(struct str word)
{
	static const char *const starts[] = {"start", "begin", "entry", "enter", NULL},
				 *const ends[] = {"done", "end", "return", "exit", "stop", NULL};
	return str_is_any(word, starts) ? VERB_START
	       : str_is_any(word, ends) ? VERB_END
					: VERB_NONE;
}

/** sys_enter_read and sys_exit_read, gc__start and gc__done: what is left is sys_read, gc. */
static void find_verb(struct arena *a, struct probe *probe)
{
	struct str rest = probe->name;
	size_t at = 0;
	while (rest.n) {
		size_t n = str_find(rest, '_');
		probe->verb = verb_of(str_slice(rest, 0, n));
		if (probe->verb != VERB_NONE) {
			struct str before = str_slice(probe->name, 0, at);
			struct str after = str_from_offset(probe->name, at + n);
			while (str_has_suffix(before, STR("_")))
				before.n--;
			if (!before.n)
				while (str_take(&after, STR("_")))
					;
			probe->call =
			    str_printf(a, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(after));
			return;
		}
		at += n + 1;
		rest = str_from_offset(rest, n + 1);
	}
	probe->call = probe->name;
}

/** The probe's name without its provider: f of uprobe:f, query of app:query. */
static struct str short_name(struct str probe)
{
	for (size_t i = probe.n; i > 0; i--)
		if (probe.p[i - 1] == ':')
			return str_from_offset(probe, i);
	return probe;
}

static struct probe *probe_of(struct perfetto *p, struct str name)
{
	struct probe *probe = map_get(&p->probes, name);
	if (probe)
		return probe;
	probe = arena_new(&p->arena, struct probe);
	name = str_copy(&p->arena, name);
	probe->name = short_name(name);
	if (str_has_prefix(name, STR("uprobe:")) || str_has_prefix(name, STR("kprobe:")) ||
	    str_has_prefix(name, STR("uretprobe:")) || str_has_prefix(name, STR("kretprobe:"))) {
		bool is_return = name.p[1] == 'r';
		probe->verb = is_return ? VERB_END : VERB_START;
		probe->call = probe->name;
	} else {
		find_verb(&p->arena, probe);
	}
	for (size_t i = 0; i < p->rules.list.n; i++)
		if (str_glob(p->rules.list.v[i].probe, probe->name) ||
		    str_glob(p->rules.list.v[i].probe, name))
			vec_push(&p->arena, &probe->rules, i);
	map_put(&p->arena, &p->probes, name, probe);
	return probe;
}

static struct thread *thread_of(struct perfetto *p, const struct capture_line *l,
				struct strbuf *out)
{
	struct thread *t = map_get_u64(&p->threads, (uint64_t)l->tid);
	struct track process = {.pid = l->pid, .tid = l->pid};
	if (t && t->track.pid == l->pid)
		return t;
	if (!t) {
		t = arena_new(&p->arena, struct thread);
		map_put_u64(&p->arena, &p->threads, (uint64_t)l->tid, t);
	}
	t->track.pid = l->pid;
	t->track.tid = l->tid;
	t->track.is_open = false; // of another process, which had that TID before
	t->n_calls = 0;
	if (map_add_u64(&p->arena, &p->processes, (uint64_t)l->pid))
		put_name(p, "process_name", &process, l->comm, out);
	put_name(p, "thread_name", &t->track, l->comm, out);
	return t;
}

static const struct track objects = {.pid = OBJECTS, .tid = OBJECTS};

static struct track *track_of(struct perfetto *p, struct str name, struct strbuf *out)
{
	struct track *t = map_get(&p->tracks, name);
	if (t)
		return t;
	if (!p->n_tracks)
		put_name(p, "process_name", &objects, STR("objects"), out);
	t = arena_new(&p->arena, struct track);
	t->pid = OBJECTS;
	t->tid = OBJECTS + ++p->n_tracks;
	map_put(&p->arena, &p->tracks, str_copy(&p->arena, name), t);
	put_name(p, "thread_name", t, name, out);
	return t;
}

static void begin(struct open *o, struct str name, const char *category, int64_t ns,
		  struct str args)
{
	strbuf_clear(&o->own);
	strbuf_adds(&o->own, name);
	o->name = strbuf_str(&o->own);
	o->category = category;
	o->ns = ns;
	strbuf_clear(&o->args);
	strbuf_adds(&o->args, args);
}

/** What was open on the track gives way to something else, at @ns. */
static void close_track(struct perfetto *p, struct track *t, int64_t ns, bool is_end,
			struct strbuf *out)
{
	if (!t->is_open)
		return;
	t->is_open = false;
	bool is_change = strcmp(t->open.category, "change") == 0;
	if (is_change && !is_end) // its end was not seen: nobody knows how long it took
		put_instant(p, t->open.name, "t", t, t->open.ns, strbuf_str(&t->open.args), out);
	else
		put_slice(p, &t->open, t, ns, out);
}

/** What has taken until @to; around what ended before it, behind that, or beside it. */
static void put_lasted(struct perfetto *p, struct track *t, struct str name, int64_t from,
		       int64_t to, struct str args, struct strbuf *out)
{
	struct open o = {0};
	begin(&o, name, "slice", from, args);
	if (from > t->from && from < t->to) {
		put_pair(p, &o, t, to, out);
	} else {
		put_slice(p, &o, t, to, out);
		t->from = from;
		t->to = to;
	}
	free_open(&o);
}

/** False: the record has not all that the rule names. */
static bool follow(struct perfetto *p, const struct rule *rule, const struct capture_line *l,
		   struct thread *thread, struct str args, struct strbuf *out)
{
	int64_t lasted = 0;
	strbuf_clear(&p->by);
	strbuf_clear(&p->name);
	if (!rules_expand(rule->by, &p->fields, l, &p->by) ||
	    !rules_expand(rule->name, &p->fields, l, &p->name) ||
	    (rule->kind == RULE_SLICE && !rules_duration(rule, &p->fields, &lasted)))
		return false;
	if (rule->kind == RULE_CALL)
		return true;
	struct track *t = rule->by.n ? track_of(p, strbuf_str(&p->by), out) : &thread->track;
	struct str name = strbuf_str(&p->name);
	if (rule->kind == RULE_SLICE) {
		put_lasted(p, t, name, l->ns - lasted, l->ns, args, out);
		return true;
	}
	close_track(p, t, l->ns, rule->kind == RULE_END, out);
	if (rule->kind != RULE_END) {
		begin(&t->open, name, rule->kind == RULE_STATE ? "state" : "change", l->ns, args);
		t->is_open = true;
	}
	return true;
}

static void start_call(struct perfetto *p, struct thread *t, const struct probe *probe,
		       struct str name, int64_t ns, struct str args)
{
	if (t->n_calls == t->calls.n)
		vec_push(&p->arena, &t->calls, (struct open){0});
	struct open *o = &t->calls.v[t->n_calls++];
	begin(o, name, "call", ns, args);
	o->call = probe->call;
}

/** False: its start was not seen. @is_shown: it is on a track already, and so its start was one. */
static bool end_call(struct perfetto *p, struct thread *t, const struct probe *probe, int64_t ns,
		     bool is_shown, struct strbuf *out)
{
	size_t i = t->n_calls;
	while (i > 0 && !str_eq(t->calls.v[i - 1].call, probe->call))
		i--;
	if (!i--)
		return false;
	struct open ended = t->calls.v[i];
	if (!is_shown && i == t->n_calls - 1)
		put_slice(p, &ended, &t->track, ns, out);
	else if (!is_shown)
		put_pair(p, &ended, &t->track, ns, out);
	t->n_calls--;
	memmove(&t->calls.v[i], &t->calls.v[i + 1], (t->n_calls - i) * sizeof(ended));
	t->calls.v[t->n_calls] = ended;
	return true;
}

static void take_record(struct perfetto *p, const struct capture_line *l, struct strbuf *out)
{
	struct probe *probe = probe_of(p, l->probe);
	struct thread *t = thread_of(p, l, out);
	struct str args = args_of(p, l), call = probe->call;
	bool is_shown = false;
	if (probe->rules.n)
		fields_read(l->fields, &p->fields);
	for (size_t i = 0; i < probe->rules.n; i++) {
		struct rule *rule = &p->rules.list.v[probe->rules.v[i]];
		bool has = follow(p, rule, l, t, args, out);
		rule->is_used |= has;
		rule->is_missed |= !has;
		if (rule->kind != RULE_CALL)
			is_shown |= has;
		else if (has)
			call = strbuf_str(&p->name);
	}
	if (probe->verb == VERB_START && !is_shown)
		start_call(p, t, probe, call, l->ns, args);
	else if (!(probe->verb == VERB_END && end_call(p, t, probe, l->ns, is_shown, out)) &&
		 !is_shown)
		put_instant(p, probe->name, "t", &t->track, l->ns, args, out);
}

/** A map that was printed on the way, where it is of numbers: {"key": 5} of each key. */
static void take_map(struct perfetto *p, const struct capture_line *l, struct strbuf *out)
{
	struct jsonread list = jsonread_of(l->entries), r;
	struct str entry, key, value, part;
	strbuf_clear(&p->args);
	jsonread_open(&list, '[');
	while (jsonread_element(&list, &entry)) {
		struct str number = {0};
		strbuf_clear(&p->name);
		r = jsonread_of(entry);
		jsonread_open(&r, '{');
		while (jsonread_member(&r, &key, &value)) {
			struct jsonread parts = jsonread_of(value);
			if (str_eqz(key, "value") &&
			    (value.p[0] == '-' || (value.p[0] >= '0' && value.p[0] <= '9')))
				number = value;
			if (!str_eqz(key, "key") || !jsonread_open(&parts, '['))
				continue;
			while (jsonread_element(&parts, &part)) {
				strbuf_addz(&p->name, p->name.n ? ", " : "");
				strbuf_adds(&p->name, capture_words(part));
			}
		}
		if (!number.n)
			continue;
		strbuf_addz(&p->args, p->args.n ? ",\"" : "\"");
		strbuf_adds(&p->args, p->name.n ? strbuf_str(&p->name) : l->map);
		strbuf_addz(&p->args, "\":");
		strbuf_adds(&p->args, number);
	}
	if (!p->args.n)
		return;
	struct track t = {.pid = l->pid, .tid = l->tid};
	open_event(p, 'C', l->map, &t, l->ns, out);
	close_event(strbuf_str(&p->args), out);
}

/** {"total": 12, "a:b": 12}: at the end, as nobody knows when. */
static void put_lost(struct perfetto *p, struct str lost, struct strbuf *out)
{
	struct jsonread r = jsonread_of(lost);
	struct str key, total = {0};
	jsonread_open(&r, '{');
	jsonread_member(&r, &key, &total);
	strbuf_clear(&p->name);
	strbuf_addz(&p->name, "lost: ");
	strbuf_adds(&p->name, capture_words(total));
	put_instant(p, strbuf_str(&p->name), "g", &objects, p->last,
		    str_trim(str_slice(lost, 1, lost.n - 2)), out);
}

bool perfetto_line(struct perfetto *p, const struct capture_line *l, struct strbuf *out)
{
	if (l->capture.n) {
		p->probes = (struct map){0};
		p->has_start |= capture_start(l->capture, p->has_start ? &(int64_t){0} : &p->start);
		return rules_read(&p->arena, l->capture, &p->rules);
	}
	if (l->has_time && !p->has_start) {
		p->start = l->ns;
		p->has_start = true;
	}
	if (l->has_time) {
		p->n_late += l->ns < p->last;
		p->last = l->ns;
	}
	if (l->lost.n)
		put_lost(p, l->lost, out);
	else if (l->has_time && l->map.n)
		take_map(p, l, out);
	else if (l->has_time)
		take_record(p, l, out);
	return true;
}

static void note_missed(const struct perfetto *p, struct diag *d)
{
	for (size_t i = 0; i < p->rules.list.n; i++) {
		const struct rule *rule = &p->rules.list.v[i];
		if (rule->is_missed && !rule->is_used)
			diag_note(d, NULL,
				  "no record of " STR_FMT " has what its track says: \"" STR_FMT
				  "\", \"" STR_FMT "\"%s" STR_FMT,
				  STR_ARG(rule->probe), STR_ARG(rule->by), STR_ARG(rule->name),
				  rule->lasting.n ? ", lasting " : "", STR_ARG(rule->lasting));
	}
}

void perfetto_end(struct perfetto *p, struct diag *d, struct strbuf *out)
{
	for (struct map_entry *e = NULL; (e = map_next(&p->threads, e));) {
		struct thread *t = e->value;
		for (size_t i = 0; i < t->n_calls; i++)
			put_unfinished(p, &t->calls.v[i], &t->track, out);
		if (t->track.is_open)
			put_unfinished(p, &t->track.open, &t->track, out);
	}
	for (struct map_entry *e = NULL; (e = map_next(&p->tracks, e));) {
		struct track *t = e->value;
		if (t->is_open)
			put_unfinished(p, &t->open, t, out);
	}
	time_t start = (time_t)(p->start / 1000000000);
	struct tm tm;
	char text[32] = "";
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&start, &tm));
	strbuf_addz(out, p->has_any ? "\n]" : "{\"traceEvents\":[]");
	strbuf_addf(out, ",\"otherData\":{\"start\":\"%s.%09" PRId64 "Z\"}}\n", text,
		    p->start % 1000000000);
	note_missed(p, d);
	if (p->n_late)
		diag_warning(d, NULL,
			     "%" PRIu64
			     " records are older than the one before them, and what lasts "
			     "from one to another may be wrong: capture with -s",
			     p->n_late);
}
