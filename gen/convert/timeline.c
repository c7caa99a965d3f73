#include "convert/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "convert/jsonread.h"
#include "convert/rules.h"
#include "lang/vocabulary.h"

/** Above all PIDs (PID_MAX_LIMIT is 4194304): the process whose threads are the lines of objects. */
enum { OBJECTS = 5000000 };

/** Of one thread: what is open beyond that was begun by probes that have no end. */
enum { MAX_CALLS = 1000 };

/** Of one track: slices that have ended whose places are known. */
enum { MAX_ENDED = 16 };

enum verb { VERB_NONE, VERB_START, VERB_END };

/** What a pair of probes stands for. */
struct call {
	struct str name;
	bool has_ended; /**< once at least: the other probe is traced, too */
};

/** What is known of a probe by its name. */
struct probe {
	struct str name; /**< without the provider */
	enum verb verb;
	struct call *call; /**< of which that is the start or the end */
	VEC(size_t) rules; /**< indices of those that it has */
};

/** What has begun. */
struct open {
	struct drawing_what what; /**< its texts are in these: */
	struct strbuf name, args;
	struct call *call; /**< or NULL */
	bool is_again;	   /**< another call of that kind is open on the thread, or was */
};

/** A thread's, or that of an object. */
struct track {
	struct drawing_line line;
	bool is_named; /**< something is drawn on it */
	struct open open;
	bool is_open;
	struct {
		int64_t from, to;
	} ended[MAX_ENDED]; /**< its outermost slices, which lie apart, the last one last */
	size_t n_ended;
	int64_t forgotten; /**< others have ended up to here */
	VEC(struct open)
	calls; /**< a thread's, the innermost last; those behind `n_calls` are used again */
	size_t n_calls;
};

enum { OF_THREADS, OF_OBJECTS, N_OF };

struct timeline {
	struct arena arena;
	const struct drawing *to;
	void *drawn; /**< its state */
	struct rules rules;
	struct map probes;	 /**< by provider:name; forgotten with each capture line */
	struct map calls;	 /**< by name */
	struct map processes;	 /**< those that have a name */
	struct map tracks[N_OF]; /**< by TID, and by name */
	int64_t last;		 /**< time of the last record */
	uint64_t n_late;
	struct strbuf name, by, args;
	struct strbuf trigger; /**< of --keep: why the capture ends where it does; mostly empty */
};

static void *begin_timeline(const struct convert_format *format, const char *map)
{
	(void)map;
	struct timeline *t = base_new(struct timeline);
	t->to = format->drawing;
	t->drawn = t->to->size ? base_zalloc(t->to->size) : NULL;
	return t;
}

static void free_open(struct open *o)
{
	strbuf_fini(&o->args);
	strbuf_fini(&o->name);
}

static void free_timeline(void *state)
{
	struct timeline *t = state;
	for (size_t of = 0; of < N_OF; of++)
		for (struct map_entry *e = NULL; (e = map_next(&t->tracks[of], e));) {
			struct track *track = e->value;
			vec_each(struct open, o, &track->calls)
				free_open(o);
			free_open(&track->open);
		}
	strbuf_fini(&t->name);
	strbuf_fini(&t->trigger);
	strbuf_fini(&t->by);
	strbuf_fini(&t->args);
	arena_fini(&t->arena);
	if (t->to->free)
		t->to->free(t->drawn);
	free(t->drawn);
	free(t);
}

// --- probes

static enum verb verb_of(struct str word)
{
	static const char *const starts[] = {"start", "begin", "entry", "enter", NULL},
				 *const ends[] = {"done", "end", "return", "exit", "stop", NULL};
	return str_is_any(word, starts) ? VERB_START
	       : str_is_any(word, ends) ? VERB_END
					: VERB_NONE;
}

/** sys_enter_read and sys_exit_read, gc__start and gc__done: what is left in *ret is sys_read, gc. */
static enum verb find_verb(struct arena *a, struct str name, struct str *ret)
{
	for (size_t at = 0, n; at < name.n; at += n + 1) {
		struct str rest = str_from_offset(name, at);
		n = str_find(rest, '_');
		enum verb verb = verb_of(str_slice(rest, 0, n));
		if (verb == VERB_NONE)
			continue;
		struct str before = str_slice(name, 0, at), after = str_from_offset(rest, n);
		while (str_has_suffix(before, STR("_")))
			before.n--;
		while (!before.n && str_take(&after, STR("_")))
			;
		*ret = str_printf(a, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(after));
		return verb;
	}
	return VERB_NONE;
}

/** The probe's name without its provider: ns::f of uprobe:ns::f, query of app:query. */
static struct str short_name(struct str probe)
{
	for (size_t i = probe.n; i > 1; i--)
		if (probe.p[i - 1] == ':' && probe.p[i - 2] != ':' &&
		    (i == probe.n || probe.p[i] != ':'))
			return str_from_offset(probe, i);
	return probe;
}

/** @of: where both probes of it are, as others may have some of that name. */
static struct call *call_of(struct timeline *t, struct str of, struct str name)
{
	struct str key = str_printf(&t->arena, STR_FMT ":" STR_FMT, STR_ARG(of), STR_ARG(name));
	struct call *call = map_get(&t->calls, key);
	if (!call) {
		call = arena_new(&t->arena, struct call);
		call->name = name;
		map_put(&t->arena, &t->calls, key, call);
	}
	return call;
}

static struct probe *probe_of(struct timeline *t, struct str name)
{
	struct probe *probe = map_get(&t->probes, name);
	if (probe)
		return probe;
	probe = arena_new(&t->arena, struct probe);
	name = str_copy(&t->arena, name);
	probe->name = short_name(name);
	struct str of = STR(""), call = probe->name; // one function is not two providers'
	enum provider_place place =
	    vocabulary_provider(str_slice(name, 0, str_find(name, ':')))->place;
	probe->verb = place == PLACE_ENTRY    ? VERB_START
		      : place == PLACE_RETURN ? VERB_END
					      : VERB_NONE;
	if (probe->verb == VERB_NONE) {
		of = str_slice(name, 0, name.n - probe->name.n);
		probe->verb = find_verb(&t->arena, probe->name, &call);
	}
	if (probe->verb != VERB_NONE)
		probe->call = call_of(t, of, call);
	for (size_t i = 0; i < t->rules.list.n; i++) {
		struct str wanted = t->rules.list.v[i].probe;
		if (str_glob(wanted, probe->name) || str_glob(wanted, name))
			vec_push(&t->arena, &probe->rules, i);
	}
	map_put(&t->arena, &t->probes, name, probe);
	return probe;
}

// --- lines

static const struct drawing_line objects = {OBJECTS, OBJECTS};

static struct drawing_line thread_line(const struct capture_line *l)
{
	return (struct drawing_line){l->pid, l->tid};
}

static void put(struct timeline *t, enum drawing_kind kind, const struct drawing_what *what,
		struct strbuf *out)
{
	t->to->put(t->drawn, kind, what, out);
}

static void put_unfinished(struct timeline *t, struct track *track, struct strbuf *out)
{
	for (size_t i = 0; i < track->n_calls; i++) { // a mark, of a probe that is traced alone
		const struct open *o = &track->calls.v[i];
		put(t, o->call->has_ended ? DRAWING_UNFINISHED : DRAWING_MARK, &o->what, out);
	}
	track->n_calls = 0;
	if (track->is_open)
		put(t, DRAWING_UNFINISHED, &track->open.what, out);
	track->is_open = false;
}

static struct track *thread_of(struct timeline *t, const struct capture_line *l, struct strbuf *out)
{
	struct track *thread = map_get_u64(&t->tracks[OF_THREADS], (uint64_t)l->tid);
	if (!thread) {
		thread = arena_new(&t->arena, struct track);
		map_put_u64(&t->arena, &t->tracks[OF_THREADS], (uint64_t)l->tid, thread);
	} else if (thread->line.pid != l->pid) { // another process, which had that TID before
		put_unfinished(t, thread, out);
		thread->is_named = false;
	}
	thread->line = thread_line(l);
	return thread;
}

static void put_name(struct timeline *t, enum drawing_kind kind, struct drawing_line at,
		     struct str name, struct strbuf *out)
{
	put(t, kind, &(struct drawing_what){.at = at, .name = name}, out);
}

/** Something is to be drawn there. */
static void name_thread(struct timeline *t, struct track *thread, struct str comm,
			struct strbuf *out)
{
	int64_t pid = thread->line.pid;
	if (thread->is_named)
		return;
	thread->is_named = true;
	if (map_add_u64(&t->arena, &t->processes, (uint64_t)pid))
		put_name(t, DRAWING_PROCESS, (struct drawing_line){pid, pid}, comm, out);
	put_name(t, DRAWING_THREAD, thread->line, comm, out);
}

static struct track *track_of(struct timeline *t, struct str name, struct strbuf *out)
{
	struct map *all = &t->tracks[OF_OBJECTS];
	struct track *track = map_get(all, name);
	if (track)
		return track;
	if (!all->n)
		put_name(t, DRAWING_PROCESS, objects, STR("objects"), out);
	track = arena_new(&t->arena, struct track);
	map_put(&t->arena, all, str_copy(&t->arena, name), track);
	track->line = (struct drawing_line){OBJECTS, OBJECTS + (int64_t)all->n};
	put_name(t, DRAWING_THREAD, track->line, name, out);
	return track;
}

/** It begins: @n calls of the track have begun before, if it is drawn among them. */
static void give_ids(struct timeline *t, const struct track *track, size_t n,
		     struct drawing_what *what)
{
	if (!t->to->begun)
		return;
	// One that begins again and again, and never ends, is a probe that is traced alone
	while (n && track->calls.v[n - 1].is_again && !track->calls.v[n - 1].call->has_ended)
		n--;
	t->to->begun(t->drawn, n ? &track->calls.v[n - 1].what.ids : NULL, what);
}

static void begin(struct open *o, const struct track *track, struct str name, const char *category,
		  const struct capture_line *l, struct str args)
{
	strbuf_clear(&o->name);
	strbuf_adds(&o->name, name);
	strbuf_clear(&o->args);
	strbuf_adds(&o->args, args);
	o->what = (struct drawing_what){.at = track->line,
					.name = strbuf_str(&o->name),
					.category = category,
					.ns = l->ns,
					.args = strbuf_str(&o->args),
					.by = thread_line(l)};
}

/** What ends at what.end: around what ended before it, behind that, or, where they overlap, beside it. */
static void put_ended(struct timeline *t, struct track *track, struct drawing_what what,
		      bool overlaps, struct strbuf *out)
{
	size_t n = track->n_ended;
	overlaps |= what.ns < track->forgotten || (n && track->ended[n - 1].to > what.end);
	while (n && track->ended[n - 1].from >= what.ns)
		n--;
	overlaps |= n && track->ended[n - 1].to > what.ns;
	put(t, overlaps ? DRAWING_OVERLAP : DRAWING_SLICE, &what, out);
	if (overlaps)
		return;
	if (n == MAX_ENDED) {
		track->forgotten = track->ended[0].to;
		memmove(&track->ended[0], &track->ended[1], --n * sizeof(track->ended[0]));
	}
	track->ended[n].from = what.ns;
	track->ended[n].to = what.end;
	track->n_ended = n + 1;
}

/** A call on the track, which goes on, began behind @from. */
static bool is_calling(const struct track *track, int64_t from)
{
	return track->n_calls && track->calls.v[track->n_calls - 1].what.ns > from;
}

// --- what the script says of its records

/** What was open on the track gives way to something else, at @ns. */
static void close_track(struct timeline *t, struct track *track, int64_t ns, bool is_end,
			struct strbuf *out)
{
	if (!track->is_open)
		return;
	track->is_open = false;
	struct drawing_what what = track->open.what;
	what.end = ns;
	bool is_change = strcmp(what.category, "change") == 0;
	if (is_change && !is_end) // its end was not seen: nobody knows how long it took
		put(t, DRAWING_MARK, &what, out);
	else
		put_ended(t, track, what, is_calling(track, what.ns), out);
}

/** False: the record has not all that the rule names. */
static bool follow(struct timeline *t, const struct rule *rule, const struct capture_line *l,
		   struct track *thread, struct str args, struct strbuf *out)
{
	int64_t lasted = 0;
	strbuf_clear(&t->by);
	strbuf_clear(&t->name);
	if (!rules_expand(rule->by, l, &t->by) || !rules_expand(rule->name, l, &t->name) ||
	    (rule->kind == RULE_SLICE && !rules_duration(rule, l, &lasted)))
		return false;
	if (rule->kind == RULE_CALL)
		return true;
	// "{name} {more}" of a record whose `more` is empty
	struct str by = str_trim(strbuf_str(&t->by));
	struct track *track = rule->by.n ? track_of(t, by, out) : thread;
	struct str name = strbuf_str(&t->name);
	if (!rule->by.n)
		name_thread(t, thread, l->comm, out);
	if (rule->kind == RULE_SLICE) {
		struct drawing_what what = {.at = track->line,
					    .name = name,
					    .category = "slice",
					    .ns = l->ns - lasted,
					    .end = l->ns,
					    .args = args,
					    .by = thread_line(l)};
		size_t n = track->n_calls;
		while (n && track->calls.v[n - 1].what.ns > what.ns)
			n--;
		give_ids(t, track, n, &what);
		put_ended(t, track, what, is_calling(track, what.ns), out);
		return true;
	}
	close_track(t, track, l->ns, rule->kind == RULE_END, out);
	track->is_open = rule->kind != RULE_END;
	if (track->is_open) {
		begin(&track->open, track, name, rule->kind == RULE_STATE ? "state" : "change", l,
		      args);
		give_ids(t, track, 0, &track->open.what);
	}
	return true;
}

// --- pairs of probes

/** Call @i of the thread has gone; its buffers are used again. */
static void remove_call(struct track *thread, size_t i)
{
	struct open gone = thread->calls.v[i];
	memmove(&thread->calls.v[i], &thread->calls.v[i + 1],
		(--thread->n_calls - i) * sizeof(gone));
	thread->calls.v[thread->n_calls] = gone;
}

static void start_call(struct timeline *t, struct track *thread, struct call *call, struct str name,
		       const struct capture_line *l, struct str args, struct strbuf *out)
{
	if (thread->n_calls == MAX_CALLS) { // the oldest one is taken for a mark
		put(t, DRAWING_MARK, &thread->calls.v[0].what, out);
		remove_call(thread, 0);
	}
	if (thread->n_calls == thread->calls.n)
		vec_push(&t->arena, &thread->calls, (struct open){0});
	struct open *o = &thread->calls.v[thread->n_calls++];
	begin(o, thread, name, "call", l, args);
	o->call = call;
	give_ids(t, thread, thread->n_calls - 1, &o->what);
	o->is_again = false;
	for (size_t i = thread->n_calls - 1; i-- && !call->has_ended && !o->is_again;)
		if (thread->calls.v[i].call == call)
			o->is_again = thread->calls.v[i].is_again = true;
}

/** False: its start was not seen. @is_shown: it is on a track already, and so its start was one. */
static bool end_call(struct timeline *t, struct track *thread, struct call *call,
		     const struct capture_line *l, bool is_shown, struct strbuf *out)
{
	size_t i = thread->n_calls;
	call->has_ended = true;
	while (i > 0 && thread->calls.v[i - 1].call != call)
		i--;
	if (!i--)
		return false;
	struct open *ended = &thread->calls.v[i];
	ended->what.end = l->ns;
	if (str_contains(l->fields, STR("\"end\": \""))) { // of --calls: it is not known
		strbuf_addf(&ended->args, "%s\"end\":" STR_FMT, ended->args.n ? "," : "",
			    STR_ARG(l->fields));
		ended->what.args = strbuf_str(&ended->args);
	}
	if (!is_shown)
		put_ended(t, thread, ended->what, i != thread->n_calls - 1, out);
	remove_call(thread, i);
	return true;
}

// --- lines of a capture

/** "text": ..., where no field is called so, and the fields, as members. */
static struct str args_of(struct timeline *t, const struct capture_line *l)
{
	struct strbuf *args = &t->args;
	strbuf_clear(args);
	bool has_text = l->text.n && !(str_contains(l->fields, STR("\"text\":")) &&
				       jsonread_get(l->fields, "text").n);
	if (has_text) {
		strbuf_addz(args, "\"text\":");
		strbuf_adds(args, l->text);
	}
	struct str inside =
	    str_trim(str_slice(l->fields, 1, l->fields.n > 2 ? l->fields.n - 2 : 0));
	if (inside.n) {
		strbuf_addz(args, has_text ? "," : "");
		strbuf_adds(args, inside);
	}
	return strbuf_str(args);
}

static void take_record(struct timeline *t, const struct capture_line *l, struct strbuf *out)
{
	struct probe *probe = probe_of(t, l->probe);
	struct track *thread = thread_of(t, l, out);
	struct str args = args_of(t, l), name = probe->call ? probe->call->name : probe->name;
	bool is_shown = false, is_end = probe->verb == VERB_END;
	for (size_t i = 0; i < probe->rules.n; i++) {
		struct rule *rule = &t->rules.list.v[probe->rules.v[i]];
		bool has = follow(t, rule, l, thread, args, out);
		rule->is_used |= has;
		rule->is_missed |= !has;
		if (rule->kind != RULE_CALL)
			is_shown |= has;
		else if (has)
			name = strbuf_str(&t->name);
	}
	if (is_end && end_call(t, thread, probe->call, l, is_shown, out))
		return;
	if (!is_shown)
		name_thread(t, thread, l->comm, out);
	if (probe->verb == VERB_START && !is_shown)
		start_call(t, thread, probe->call, name, l, args, out);
	else if (!is_shown)
		put(t, DRAWING_MARK,
		    &(struct drawing_what){.at = thread->line,
					   .name = probe->name,
					   .category = "",
					   .ns = l->ns,
					   .args = args},
		    out);
}

/** A number, beyond 2^53 a string of its digits; empty: @value is none. */
static struct str digits_of(struct str value)
{
	int64_t number;
	uint64_t large;
	struct str inside = jsonread_inside(value);
	if (value.n && (value.p[0] == '-' || (value.p[0] >= '0' && value.p[0] <= '9')))
		return value;
	bool is_digits = inside.n && inside.p[0] != '0' && inside.p[0] != ' ' &&
			 inside.p[0] != '+' &&
			 (jsonread_integer(value, &number) || str_to_u64(inside, &large));
	return is_digits ? inside : STR("");
}

/** The name and the number of a map's entry, empty where it has none: {"key": ["a", 4], "value": 17}. */
static struct str read_entry(struct timeline *t, struct str entry)
{
	struct jsonread parts = jsonread_of(jsonread_get(entry, "key"));
	struct str part;
	strbuf_clear(&t->name);
	jsonread_open(&parts, '[');
	while (jsonread_element(&parts, &part)) {
		strbuf_addz(&t->name, t->name.n ? ", " : "");
		strbuf_adds(&t->name, capture_words(part));
	}
	return digits_of(jsonread_get(entry, "value"));
}

/** A map that was printed on the way, where it is of numbers. */
static void take_map(struct timeline *t, const struct capture_line *l, struct strbuf *out)
{
	struct jsonread list = jsonread_of(l->entries);
	struct str entry;
	strbuf_clear(&t->args);
	jsonread_open(&list, '[');
	while (jsonread_element(&list, &entry)) {
		struct str number = read_entry(t, entry);
		if (!number.n)
			continue;
		strbuf_addz(&t->args, t->args.n ? ",\"" : "\"");
		strbuf_adds(&t->args, t->name.n ? strbuf_str(&t->name) : l->map);
		strbuf_addz(&t->args, "\":");
		strbuf_adds(&t->args, number);
	}
	struct drawing_what what = {
	    .at = thread_line(l), .name = l->map, .ns = l->ns, .args = strbuf_str(&t->args)};
	if (t->args.n)
		put(t, DRAWING_COUNTER, &what, out);
}

/** {"total": 12, "a:b": 12}: at the end, as nobody knows when. */
static void put_lost(struct timeline *t, struct str lost, struct strbuf *out)
{
	strbuf_clear(&t->name);
	strbuf_addz(&t->name, "lost: ");
	strbuf_adds(&t->name, capture_words(jsonread_get(lost, "total")));
	struct drawing_what what = {.at = objects,
				    .name = strbuf_str(&t->name),
				    .ns = t->last,
				    .args = str_trim(str_slice(lost, 1, lost.n - 2))};
	put(t, DRAWING_LOSS, &what, out);
}

/** What was kept was wanted when its last record came. */
static void put_trigger(struct timeline *t, struct strbuf *out)
{
	struct drawing_what what = {.at = objects, .name = strbuf_str(&t->trigger), .ns = t->last};
	if (t->trigger.n && t->last)
		put(t, DRAWING_TRIGGER, &what, out);
	strbuf_clear(&t->trigger);
}

/** Another capture follows, maybe of another host: nothing lasts from the one into the other. */
static void end_capture(struct timeline *t, struct strbuf *out)
{
	put_trigger(t, out);
	for (size_t of = 0; of < N_OF; of++)
		for (struct map_entry *e = NULL; (e = map_next(&t->tracks[of], e));) {
			struct track *track = e->value;
			for (size_t i = 0; i < track->n_calls; i++)
				put(t, DRAWING_MARK, &track->calls.v[i].what, out);
			track->n_calls = 0;
			close_track(t, track, t->last, false, out);
		}
	t->last = 0;
}

static bool take_line(void *state, const struct capture_line *l, struct strbuf *out)
{
	struct timeline *t = state;
	if (l->capture.n) {
		end_capture(t, out);
		struct str trigger = jsonread_get(l->capture, "trigger");
		strbuf_addz(&t->trigger, trigger.n ? "trigger: " : "");
		strbuf_adds(&t->trigger, capture_words(trigger));
		t->probes = (struct map){0};
		if (t->to->capture)
			t->to->capture(t->drawn, l->capture);
		return rules_read(&t->arena, l->capture, &t->rules);
	}
	if (l->has_time) {
		if (t->to->record)
			t->to->record(t->drawn, l);
		t->n_late += l->ns < t->last;
		t->last = l->ns;
	}
	if (l->lost.n)
		put_lost(t, l->lost, out);
	else if (l->has_time && l->map.n)
		take_map(t, l, out);
	else if (l->has_time)
		take_record(t, l, out);
	return true;
}

static void put_tail(const void *state, struct strbuf *out)
{
	traceevent_tail(((const struct timeline *)state)->drawn, out);
}

static void note_missed(const struct timeline *t, struct diag *d)
{
	vec_each(const struct rule, rule, &t->rules.list) {
		if (rule->is_missed && !rule->is_used)
			diag_note(d, NULL,
				  "no record of " STR_FMT " has the fields of its track: \"" STR_FMT
				  "\", \"" STR_FMT "\"%s" STR_FMT,
				  STR_ARG(rule->probe), STR_ARG(rule->by), STR_ARG(rule->name),
				  rule->lasting.n ? ", lasting " : "", STR_ARG(rule->lasting));
	}
}

/** What is still open. Tells of tracks that no record was right for, and of records out of order. */
static bool end_timeline(void *state, struct diag *d, struct strbuf *out)
{
	struct timeline *t = state;
	put_trigger(t, out);
	for (size_t of = 0; of < N_OF; of++)
		for (struct map_entry *e = NULL; (e = map_next(&t->tracks[of], e));)
			put_unfinished(t, e->value, out);
	note_missed(t, d);
	if (t->n_late)
		diag_warning(d, NULL,
			     "%" PRIu64 " records are out of order, and durations between records "
			     "may be wrong: capture with -s",
			     t->n_late);
	return !t->to->end || t->to->end(t->drawn, d);
}

/** All that a format drawn as a timeline has but its name. */
#define TIMELINE(to)                                                                               \
	.drawing = &(to), .begin = begin_timeline, .line = take_line, .end = end_timeline,         \
	.free = free_timeline

const struct convert_format otlp_format = {
    .name = "otlp",
    .is_of_events = true,
    TIMELINE(otlp_drawing),
};

const struct convert_format slow_format = {TIMELINE(slow_drawing)};

const struct convert_format timeline_format = {
    .name = "perfetto",
    .is_of_events = true,
    .tail = put_tail,
    TIMELINE(traceevent_drawing),
};
