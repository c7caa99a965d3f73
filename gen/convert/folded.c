#include "convert/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "convert/jsonread.h"

/** What a thread has open. */
struct open_calls {
	struct strbuf path; // "main;work", and where each of the functions ends in it
	VEC(size_t) ends;
};

struct folded {
	struct arena arena;
	const char *wanted;
	struct map stacks; /**< int64_t: the sum */
	struct map maps;   /**< those that they are of; "" of records */
	bool has_loss;
	bool has_calls;	    /**< the capture is of --calls */
	struct map threads; /**< of that: what they have open */
	struct strbuf line;
	VEC(struct str) frames; /**< of one stack */
};

static void *begin_folded(const struct convert_format *format, const char *map)
{
	(void)format;
	struct folded *f = base_new(struct folded);
	f->wanted = map;
	return f;
}

static void free_folded(void *state)
{
	struct folded *f = state;
	for (struct map_entry *e = NULL; (e = map_next(&f->threads, e));)
		strbuf_fini(&((struct open_calls *)e->value)->path);
	strbuf_fini(&f->line);
	arena_fini(&f->arena);
	free(f);
}

/** A frame: semicolons and control characters would be the format's, and read+35 is read. */
static void add_frame(struct strbuf *out, struct str inside)
{
	struct strbuf name = {0};
	jsonread_add_text(inside, &name);
	size_t n = name.n;
	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	if (n > 1 && n < name.n && name.p[n - 1] == '+')
		name.n = n - 1;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == ';')
			name.p[i] = ':';
		else if ((unsigned char)name.p[i] < ' ' || name.p[i] == 127)
			name.p[i] = ' ';
	strbuf_addz(out, out->n ? ";" : "");
	strbuf_add_printable(out, strbuf_str(&name));
	strbuf_fini(&name);
}

/** @stack: an array, the innermost function first. */
static void add_stack(struct folded *f, struct str stack)
{
	struct jsonread r = jsonread_of(stack);
	struct str frame;
	f->frames.n = 0;
	jsonread_open(&r, '[');
	while (jsonread_element(&r, &frame))
		vec_push(&f->arena, &f->frames, frame);
	while (f->frames.n)
		add_frame(&f->line, capture_words(f->frames.v[--f->frames.n]));
}

/** What is in f->line counts so much more. */
static void count(struct folded *f, struct str map, int64_t n)
{
	int64_t *sum = map_get(&f->stacks, strbuf_str(&f->line));
	if (!sum) {
		sum = arena_new(&f->arena, int64_t);
		map_put(&f->arena, &f->stacks, str_copy(&f->arena, strbuf_str(&f->line)), sum);
	}
	*sum = *sum > INT64_MAX - n ? INT64_MAX : *sum + n;
	if (!map_get(&f->maps, map))
		map_put(&f->arena, &f->maps, str_copy(&f->arena, map), f);
}

/** A key with a stack in it goes into f->line. */
static bool read_key(struct folded *f, struct str parts)
{
	struct jsonread r = jsonread_of(parts);
	struct str part, stack = {0};
	strbuf_clear(&f->line);
	jsonread_open(&r, '[');
	while (jsonread_element(&r, &part))
		if (part.p[0] == '[')
			stack = part;
		else
			add_frame(&f->line, capture_words(part));
	if (stack.n)
		add_stack(f, stack);
	return stack.n && f->line.n;
}

static void take_entry(struct folded *f, struct str map, struct str entry)
{
	struct str stats = jsonread_get(entry, "stats");
	struct str number = stats.n ? jsonread_get(stats, "total") : jsonread_get(entry, "value");
	int64_t n;
	if (read_key(f, jsonread_get(entry, "key")) && jsonread_integer(number, &n) && n > 0)
		count(f, map, n);
}

static struct open_calls *calls_of(struct folded *f, int64_t tid)
{
	struct open_calls *calls = map_get_u64(&f->threads, (uint64_t)tid);
	if (!calls) {
		calls = arena_new(&f->arena, struct open_calls);
		map_put_u64(&f->arena, &f->threads, (uint64_t)tid, calls);
	}
	return calls;
}

/** An entry says how deep it is; a return also how long the function itself took. */
static void take_call(struct folded *f, const struct capture_line *l)
{
	struct open_calls *calls = calls_of(f, l->tid);
	struct str name = jsonread_inside(jsonread_get(l->fields, "function"));
	int64_t depth = -1, self = -1;
	jsonread_integer(jsonread_get(l->fields, "depth"), &depth);
	jsonread_integer(jsonread_get(l->fields, "self_ns"), &self);
	if (depth < 0 || (uint64_t)depth > calls->ends.n)
		return;
	calls->ends.n = (size_t)depth;
	calls->path.n = depth ? calls->ends.v[depth - 1] : 0;
	add_frame(&calls->path, name);
	vec_push(&f->arena, &calls->ends, calls->path.n);
	if (self < 0)
		return;
	strbuf_clear(&f->line);
	strbuf_adds(&f->line, strbuf_str(&calls->path));
	count(f, STR(""), self);
	calls->ends.n--;
}

static bool take_line(void *state, const struct capture_line *l, struct strbuf *out)
{
	struct folded *f = state;
	(void)out; // all of it comes at the end
	struct jsonread entries = jsonread_of(l->entries);
	struct str entry;
	f->has_loss |= l->lost.n > 0;
	if (l->capture.n)
		f->has_calls = str_contains(l->capture, STR("\"script\": \"--calls\""));
	if (f->wanted && !str_eqz(l->map, f->wanted))
		return true;
	if (l->map.n) {
		jsonread_open(&entries, '[');
		while (jsonread_element(&entries, &entry))
			take_entry(f, l->map, entry);
		return true;
	}
	if (f->has_calls && l->fields.n)
		take_call(f, l);
	strbuf_clear(&f->line);
	add_stack(f, jsonread_get(l->fields, "ustack"));
	if (f->line.n)
		count(f, STR(""), 1);
	return true;
}

static bool end_folded(void *state, struct diag *d, struct strbuf *out)
{
	struct folded *f = state;
	struct strbuf names = {0};
	for (struct map_entry *e = NULL; (e = map_next(&f->maps, e));) {
		strbuf_addz(&names, names.n ? ", " : "");
		strbuf_add_printable(&names, e->key.n ? e->key : STR("the records of --stack"));
	}
	bool good = true;
	if (f->maps.n > 1)
		good = diag_error(
		    d, NULL, "more than one map has stacks (" STR_FMT "): choose one with --map",
		    STR_ARG(strbuf_str(&names)));
	else if (!f->maps.n && f->wanted)
		good =
		    diag_error(d, NULL, "%s has no stacks with counts in this capture", f->wanted);
	else if (!f->maps.n)
		good = diag_error(d, NULL,
				  "no stacks with counts in the capture: key a map by ustack or "
				  "kstack, or use -t --stack");
	strbuf_fini(&names);
	if (good && f->has_loss && map_get(&f->maps, STR("")))
		diag_warning(d, NULL,
			     "events of the capture were lost: their stacks are not counted");
	for (struct map_entry *e = NULL; good && (e = map_next(&f->stacks, e));) {
		strbuf_adds(out, e->key);
		strbuf_addf(out, " %" PRId64 "\n", *(int64_t *)e->value);
	}
	return good;
}

const struct convert_format folded_format = {
    .name = "folded",
    .takes_map = true,
    .begin = begin_folded,
    .line = take_line,
    .end = end_folded,
    .free = free_folded,
};
