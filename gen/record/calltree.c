#include "record/calltree.h"

#include "record/order.h"
#include "record/render.h"
#include "elf/demangle.h"
#include "value/show.h"

enum {
	BUCKETS = 1024,
	MAX_OPEN = 65536,     // of a thread
	MAX_DEPTH = 64,	      // that is seen in the text: beyond, lines go no further to the right
	MAX_RETURNS = 64,     // of a thread that the kernel traces, MAX_URETPROBE_DEPTH
	STACK_SIZE = 1 << 30, // more than that no stack has, mostly
	PAGE = 4096,	      // or more: the trampoline is at the beginning of one
	WAIT_NS = 500000000,  // a call is printed as open when it has not ended by then
#ifdef __x86_64__
	POPPED = 8, // a return has taken the return address off the stack
#else
	POPPED = 0,
#endif
};

static const char left_by_longjmp[] = "left by longjmp";

/** A record that waits for its turn, followed by comm and its arguments or result. */
struct event {
	const struct shape *shape;
	struct head head;
	uint64_t frame, caller;
	size_t n_comm, n_args;
};

/** What has been entered and has not returned. */
struct call {
	const struct shape *shape; // of its entry
	uint64_t frame;
	int64_t ns, inner; // what calls within it took of its time
	bool is_tail, is_shown, is_deep;
	struct strbuf args;
};

/** A thread that has something open, or had. */
struct thread {
	struct thread *next; // in its bucket, or idle
	struct head head;    // of its newest event
	int64_t last;	     // time of the one before, until that is handled
	struct strbuf comm;
	VEC(struct call) calls; // the innermost last; those after `n` are reused
	size_t n;
};

struct calltree {
	struct calltree_config config;
	const struct shapes *shapes;
	calltree_put *put;
	void *ctx;
	struct order *order;
	struct arena arena;
	struct map names; // by shape: how functions are shown
	struct map
	    merged; // function -> the shapes of its entry and return, which all share in the program
	struct thread *threads[BUCKETS], *idle;
	size_t n_hidden; // calls that wait for what comes next
	size_t width;	 // of the threads' column
	uint64_t n_late;
	int64_t last, looked;
	struct strbuf piece, ready, line, fields, label;
};

struct calltree *calltree_new(const struct calltree_config *config, const struct shapes *shapes,
			      calltree_put *put, void *ctx)
{
	struct calltree *t = base_new(struct calltree);
	t->config = *config;
	t->shapes = shapes;
	t->put = put;
	t->ctx = ctx;
	t->order = order_new(config->has_rounds);
	t->width = 16;
	return t;
}

// --- threads

static struct thread **thread_at(struct calltree *t, int64_t tid)
{
	struct thread **at = &t->threads[(uint64_t)tid % BUCKETS];
	while (*at && (*at)->head.tid != tid)
		at = &(*at)->next;
	return at;
}

/** It has nothing open any more. */
static void drop_thread(struct calltree *t, struct thread **at)
{
	struct thread *thread = *at;
	*at = thread->next;
	thread->next = t->idle;
	t->idle = thread;
}

static struct thread *add_thread(struct calltree *t, struct thread **at)
{
	struct thread *thread = t->idle ? t->idle : arena_new(&t->arena, struct thread);
	if (t->idle)
		t->idle = thread->next;
	thread->next = NULL;
	thread->last = 0;
	return *at = thread;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (t->threads[i])
			drop_thread(t, &t->threads[i]);
	for (struct thread *thread = t->idle; thread; thread = thread->next) {
		for (size_t i = 0; i < thread->calls.n; i++)
			strbuf_fini(&thread->calls.v[i].args);
		strbuf_fini(&thread->comm);
	}
	order_free(t->order);
	strbuf_fini(&t->piece);
	strbuf_fini(&t->ready);
	strbuf_fini(&t->line);
	strbuf_fini(&t->fields);
	strbuf_fini(&t->label);
	arena_fini(&t->arena);
	free(t);
}

static struct call *push_call(struct calltree *t, struct thread *thread)
{
	if (thread->n == thread->calls.n)
		vec_push(&t->arena, &thread->calls, (struct call){0});
	struct call *call = &thread->calls.v[thread->n++];
	*call = (struct call){.args = call->args};
	strbuf_clear(&call->args);
	return call;
}

// --- lines

/** The function of a shape, as C++ has it. */
static struct str function_name(struct calltree *t, const struct shape *s)
{
	struct str *name = map_get_ptr(&t->names, s);
	if (!name) {
		name = arena_new(&t->arena, struct str);
		*name = str_from_offset(s->probe, str_find(s->probe, ':') + 1);
		*name = demangle_written(&t->arena, *name);
		map_put_ptr(&t->arena, &t->names, s, name);
	}
	return *name;
}

/** f(), f(1, 2), ns::f(int) */
static void add_name(struct calltree *t, const struct shape *s, struct str args)
{
	struct str name = function_name(t, s);
	strbuf_add_printable(&t->line, name);
	if (t->config.json) // which has them as fields
		args = STR("");
	if (!demangle_has_parameters(name))
		strbuf_addf(&t->line, "(" STR_FMT ")", STR_ARG(args));
	else if (args.n)
		strbuf_addf(&t->line, " (" STR_FMT ")", STR_ARG(args));
}

/** Of @thread, at @depth; a negative @ns is not known. */
static void begin_line(struct calltree *t, const struct thread *thread, size_t depth, int64_t ns)
{
	static const char *const units[] = {"us", "ms", "s "};
	struct strbuf *out = &t->line;
	double n = (double)ns / 1000;
	size_t unit = 0;
	while (unit < 2 && n >= 999.9995) {
		n /= 1000;
		unit++;
	}
	strbuf_clear(out);
	if (t->config.json)
		return;
	if (ns < 0)
		strbuf_addf(out, "%10s  ", "");
	else
		strbuf_addf(out, "%7.3f %s  ", n, units[unit]);
	size_t from = out->n;
	strbuf_add_printable(out, strbuf_str(&thread->comm));
	strbuf_addf(out, "[%" PRId64 "]", thread->head.tid);
	size_t width = out->n - from;
	t->width = width > t->width ? width : t->width;
	depth = depth < MAX_DEPTH ? depth : MAX_DEPTH;
	strbuf_addf(out, "%*s", (int)(t->width - width + 2 + 2 * depth), "");
}

/** t->line goes out, and of JSON what json_open() has begun in t->fields. */
static void end_line(struct calltree *t, const struct thread *thread, const struct shape *s,
		     int64_t ns)
{
	strbuf_clear(&t->label);
	strbuf_adds(&t->label, str_slice(s->probe, 0, str_find(s->probe, ':') + 1));
	strbuf_adds(&t->label, function_name(t, s));
	struct record line = {.head = thread->head,
			      .comm = strbuf_str(&thread->comm),
			      .probe = strbuf_str(&t->label)};
	line.head.ns = ns;
	t->put(t->ctx, &line, strbuf_str(&t->line), strbuf_str(&t->fields));
}

/** What JSON has of each line: fields; who calls it closes them. */
static struct json begin_fields(struct calltree *t, const struct shape *s, size_t depth)
{
	struct json j = {.out = &t->fields};
	strbuf_clear(&t->fields);
	json_open(&j, NULL, '{');
	json_bytes(&j, "function", function_name(t, s));
	json_printf(&j, "depth", "%zu", depth);
	return j;
}

static void add_mark(struct calltree *t, const char *mark)
{
	if (*mark)
		strbuf_addf(&t->line, " /* %s */", mark);
}

/** Whose end it is, and @why it is not known, or NULL. */
static void add_end(struct calltree *t, const struct shape *s, const char *why)
{
	strbuf_addz(&t->line, " /* ");
	strbuf_add_printable(&t->line, function_name(t, s));
	strbuf_addf(&t->line, "%s%s */", why ? ": " : "", why ? why : "");
}

/** The innermost call as one that others are in. */
static void show_open(struct calltree *t, const struct thread *thread)
{
	size_t i = thread->n - 1;
	struct call *call = &thread->calls.v[i];
	if (call->is_shown)
		return;
	call->is_shown = true;
	t->n_hidden--;
	begin_line(t, thread, i, -1);
	add_name(t, call->shape, strbuf_str(&call->args));
	strbuf_addz(&t->line, " {");
	add_mark(t, call->is_tail ? "tail call" : "");
	struct json j = begin_fields(t, call->shape, i);
	if (call->is_tail)
		json_bool(&j, "tail_call", true);
	if (call->args.n)
		strbuf_adds(json_value(&j, "args"), strbuf_str(&call->args));
	json_close(&j, '}');
	end_line(t, thread, call->shape, call->ns);
}

/**
 * The innermost call ends by @ns. @why: the mark of one that does not return, or NULL; if the end was not
 * seen, it lasted until @thread->last at least. @result: or empty.
 */
static void close_call(struct calltree *t, struct thread *thread, int64_t ns, const char *why,
		       struct str result)
{
	struct call *call = &thread->calls.v[--thread->n];
	bool is_timed = !why || why == left_by_longjmp, is_leaf = !call->is_shown;
	int64_t took = (is_timed ? ns : thread->last) - call->ns;
	begin_line(t, thread, thread->n, is_timed ? took : -1);
	if (is_leaf)
		add_name(t, call->shape, strbuf_str(&call->args));
	else
		strbuf_addz(&t->line, "}");
	bool has_result = result.n && !t->config.json;
	if (has_result)
		strbuf_addf(&t->line, " = " STR_FMT, STR_ARG(result));
	if (is_leaf || has_result)
		strbuf_addc(&t->line, ';');
	t->n_hidden -= is_leaf;
	if (is_leaf) {
		add_mark(t, call->is_tail ? "tail call" : "");
		add_mark(t, why ? why : "");
	} else {
		add_end(t, call->shape, why);
	}
	struct json j = begin_fields(t, call->shape, thread->n);
	if (is_timed)
		json_printf(&j, "duration_ns", "%" PRId64, took);
	json_printf(&j, "self_ns", "%" PRId64, took > call->inner ? took - call->inner : 0);
	if (why)
		json_str(&j, "end", str_from(why));
	if (result.n)
		strbuf_adds(json_value(&j, "result"), result);
	json_close(&j, '}');
	end_line(t, thread, call->shape + 1, is_leaf && !t->config.json ? call->ns : ns);
	if (thread->n)
		thread->calls.v[thread->n - 1].inner += took;
}

/** The innermost call has gone; @why, if that is known, else NULL */
static void drop_call(struct calltree *t, struct thread *thread, int64_t ns, const char *why)
{
	bool is_deep = thread->calls.v[thread->n - 1].is_deep;
	why = why ? why : is_deep ? "return not traced: too deep" : "no return seen";
	close_call(t, thread, ns, why, STR(""));
}

/** What is open below @frame has gone; also at it, if @is_reused. */
static void close_below(struct calltree *t, struct thread *thread, uint64_t frame, bool is_reused,
			int64_t ns, const char *why)
{
	while (thread->n && (thread->calls.v[thread->n - 1].frame < frame ||
			     (is_reused && thread->calls.v[thread->n - 1].frame == frame)))
		drop_call(t, thread, ns, why);
}

// --- records

static void enter(struct calltree *t, struct thread *thread, const struct event *e, struct str args)
{
	bool has_trampoline = e->caller % PAGE == 0;
	close_below(t, thread, e->frame, !has_trampoline, e->head.ns, NULL);
	if (thread->n == MAX_OPEN)
		return;
	if (thread->n)
		show_open(t, thread);
	bool is_tail = thread->n && thread->calls.v[thread->n - 1].frame == e->frame;
	struct call *call = push_call(t, thread);
	call->shape = e->shape;
	call->frame = e->frame;
	call->ns = e->head.ns;
	call->is_tail = is_tail;
	call->is_deep = thread->n > MAX_RETURNS;
	strbuf_adds(&call->args, args);
	t->n_hidden++;
	if (t->config.json)
		show_open(t, thread);
}

static void leave(struct calltree *t, struct thread *thread, const struct event *e,
		  struct str result)
{
	uint64_t frame = e->frame - POPPED;
	const struct shape *entry = e->shape - 1;
	size_t i = thread->n;
	while (i &&
	       (thread->calls.v[i - 1].frame != frame || thread->calls.v[i - 1].shape != entry))
		i--;
	while (i && thread->n > i)
		drop_call(t, thread, e->head.ns, NULL);
	if (i) {
		close_call(t, thread, e->head.ns, NULL, result);
		return;
	}
	close_below(t, thread, frame, false, e->head.ns, NULL);
	if (t->config.has_filter || t->config.json)
		return;
	if (thread->n)
		show_open(t, thread);
	begin_line(t, thread, thread->n, -1);
	strbuf_addc(&t->line, '}');
	add_end(t, entry, "entry not seen");
	strbuf_clear(&t->fields);
	end_line(t, thread, e->shape, e->head.ns);
}

/** Calls that have been open for long are shown as that, though nothing came within them. */
static void show_old(struct calltree *t, int64_t now)
{
	t->looked = now;
	for (size_t i = 0; i < BUCKETS && t->n_hidden; i++)
		for (struct thread *thread = t->threads[i]; thread; thread = thread->next)
			if (thread->n && thread->calls.v[thread->n - 1].ns < now - WAIT_NS)
				show_open(t, thread);
}

static void handle_event(struct calltree *t, const struct event *e, const char *texts)
{
	struct thread **at = thread_at(t, e->head.tid), *thread = *at;
	struct str args = {texts + e->n_comm, e->n_args};
	if (thread && thread->head.pid != e->head.pid) { // another process, which got that TID
		close_below(t, thread, UINT64_MAX, true, thread->last, NULL);
		drop_thread(t, at);
		thread = *(at = thread_at(t, e->head.tid));
	}
	if (thread && e->head.ns < thread->last) {
		t->n_late++;
		return;
	}
	if (!thread)
		thread = add_thread(t, at);
	thread->head = e->head;
	strbuf_clear(&thread->comm);
	strbuf_add(&thread->comm, texts, e->n_comm);
	if (e->shape->style == SHAPE_ENTRY)
		enter(t, thread, e, args);
	else if (e->shape->style != SHAPE_JUMP)
		leave(t, thread, e, args);
	else if (thread->n && e->frame - thread->calls.v[thread->n - 1].frame < STACK_SIZE)
		close_below(t, thread, e->frame, false, e->head.ns, left_by_longjmp);
	// else a jump that is farther, to another stack
	thread->last = e->head.ns;
	t->last = e->head.ns > t->last ? e->head.ns : t->last;
	if (!thread->n)
		drop_thread(t, at);
	if (t->last > t->looked + WAIT_NS)
		show_old(t, t->last);
}

/** Takes what order has let go. */
static void handle_ready(struct calltree *t)
{
	struct str rest = strbuf_str(&t->ready);
	struct event e;
	while (rest.n) {
		memcpy(&e, rest.p, sizeof(e));
		handle_event(t, &e, rest.p + sizeof(e));
		rest = str_from_offset(rest, sizeof(e) + e.n_comm + e.n_args);
	}
	strbuf_clear(&t->ready);
}

/** The fields of @r from @first on: of an entry names and values, in JSON an object; of a return the value. */
static void add_args(struct calltree *t, const struct record *r, size_t first, struct strbuf *out)
{
	struct value_data rest = {r->numbers, r->texts}, at;
	struct json j = {.out = out};
	struct render how = render_of(t->config.render, r);
	bool is_json = t->config.json, is_entry = r->shape->style == SHAPE_ENTRY;
	if (is_json && is_entry)
		json_open(&j, NULL, '{');
	for (size_t i = 0; i < r->shape->n_fields; i++) {
		const struct shape_field *f = &r->shape->fields[i];
		const struct value *v = value_next(&f->value, &rest, &at);
		if (i < first || (is_json && !value_is_known(&how, v, at)))
			continue;
		if (is_json && is_entry) {
			render_key(f, &j);
		} else if (is_entry) {
			strbuf_addz(out, i > first ? ", " : "");
			strbuf_add_printable(out, f->name);
			strbuf_addc(out, '=');
		}
		if (is_json)
			value_json(&how, v, at, VALUE_RAW, &j);
		else
			value_text(&how, v, at, VALUE_LISTED, out);
		j.needs_comma = true;
	}
	if (is_json && is_entry)
		json_close(&j, '}');
}

/** Of @r, a record whose function travels, as bpftrace's func: its name, or the address if the process has ended. */
static const struct shape *function_shape(struct calltree *t, const struct record *r)
{
	bool is_entry = r->shape->style == SHAPE_ENTRY;
	struct str name = r->probe;
	uint64_t addr = 0;
	const struct enumtab_item *known = NULL;
	if (str_has_prefix(name, STR("0x")) && str_to_u64(name, &addr))
		known = enumtab_get(&t->shapes->functions, (int64_t)addr);
	name = known ? known->name : name;
	if (addr && !known && t->config.render->names) // the process has called exec()
		name = codename_find(t->config.render->names, addr);
	name = name.n ? name : r->probe;
	struct shape *both = map_get(&t->merged, name);
	if (!both) {
		const struct shape *of_all = is_entry ? r->shape : r->shape - 1;
		both = arena_array(&t->arena, struct shape, 2);
		both[0] = of_all[0];
		both[1] = of_all[1];
		for (unsigned i = 0; i < 2; i++)
			both[i].probe = str_printf(&t->arena, STR_FMT ":" STR_FMT,
						   STR_ARG(of_all[i].kind), STR_ARG(name));
		map_put(&t->arena, &t->merged, str_copy(&t->arena, name), both);
	}
	return both + !is_entry;
}

void calltree_add(struct calltree *t, const struct record *r)
{
	bool is_entry = r->shape->style == SHAPE_ENTRY;
	bool is_merged = r->shape->style != SHAPE_JUMP && !r->shape->probe.n;
	size_t first = is_entry ? 2 : 1;
	struct event e = {.shape = is_merged ? function_shape(t, r) : r->shape,
			  .head = r->head,
			  .frame = (uint64_t)r->numbers[0],
			  .caller = is_entry ? (uint64_t)r->numbers[1] : 0,
			  .n_comm = r->comm.n};
	e.head.ns = r->head.ns > 0 ? r->head.ns : 0;
	strbuf_clear(&t->piece);
	strbuf_add(&t->piece, &e, sizeof(e));
	strbuf_adds(&t->piece, r->comm);
	if (r->shape->n_fields > first)
		add_args(t, r, first, &t->piece);
	e.n_args = t->piece.n - sizeof(e) - e.n_comm;
	memcpy(t->piece.p, &e, sizeof(e));
	order_set_cpu(t->order, r->head.cpu);
	order_add(t->order, e.head.ns, strbuf_str(&t->piece), &t->ready);
	handle_ready(t);
}

void calltree_set_clock(struct calltree *t, int64_t now)
{
	order_set_clock(t->order, now);
}

void calltree_idle(struct calltree *t, int64_t before)
{
	order_flush(t->order, before, &t->ready);
	handle_ready(t);
	show_old(t, before);
}

bool calltree_holds(const struct calltree *t, int64_t ns)
{
	return t->n_hidden || order_holds(t->order, ns);
}

void calltree_end(struct calltree *t)
{
	order_flush(t->order, INT64_MAX, &t->ready);
	handle_ready(t);
	for (size_t i = 0; i < BUCKETS; i++)
		while (t->threads[i]) {
			struct thread *thread = t->threads[i];
			thread->last = t->last;
			while (thread->n)
				close_call(t, thread, t->last, "open at the end", STR(""));
			drop_thread(t, &t->threads[i]);
		}
}

uint64_t calltree_n_late(const struct calltree *t)
{
	return t->n_late;
}
