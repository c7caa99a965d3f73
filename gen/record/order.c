#include "record/order.h"

enum {
	/**
	 * Each processor's lines are one run, and some lines begin one of their own: those that an
	 * interrupt has overtaken, and those of several records, which have the time of the first.
	 */
	MAX_RUNS = 4096,
	PERIODS = 10,	 // of ORDER_NS
	MAX_CPUS = 8192, // of the kernel; a turn of one beyond is no turn
	CHUNK = 16384,	 // bytes, at least
};

/** In front of its bytes. */
struct piece {
	int64_t ns;
	uint64_t number; // of its coming
	size_t n;
};

/** A part of a run: consecutive pieces. */
struct chunk {
	struct chunk *next;
	size_t gone, n, cap; // bytes
	char bytes[];
};

/** Pieces none of which is earlier than the one before. */
struct run {
	struct chunk *first, *last;
	struct piece head; // of the first one
	int64_t tail;	   // time of the last one
};

struct order {
	struct run runs[MAX_RUNS]; // a heap: the first begins first
	size_t n_runs;
	size_t n_bytes; // of chunks
	uint64_t n_taken, n_late;
	int64_t newest;		      // that has come
	int64_t before[PERIODS], due; // what it was at the beginning of each of the last periods
	unsigned period;
	int64_t settled; // and at that of the earliest: nothing before it is waited for
	bool has_rounds;
	int64_t cpu;		      // whose turn it is; -1: not known
	uint64_t seen[MAX_CPUS / 64]; // those that had a turn in this round
	int64_t turned[2];	      // the newest at the beginning of this round, and of the last
	int64_t settled_by_rounds;    // and of the one before: its round is over
	int64_t gone;		      // the latest time of what has gone out
};

/** Returns the next one. */
static struct chunk *free_chunk(struct chunk *c)
{
	struct chunk *next = c->next;
	free(c);
	return next;
}

struct order *order_new(bool has_rounds)
{
	struct order *o = base_new(struct order);
	o->has_rounds = has_rounds;
	o->cpu = -1;
	return o;
}

void order_free(struct order *o)
{
	for (size_t i = 0; o && i < o->n_runs; i++)
		for (struct chunk *c = o->runs[i].first; c;)
			c = free_chunk(c);
	free(o);
}

static bool is_before(const struct run *a, const struct run *b)
{
	return a->head.ns < b->head.ns ||
	       (a->head.ns == b->head.ns && a->head.number < b->head.number);
}

/** @r takes the place of the root, and goes down to where it belongs. */
static void replace_root(struct order *o, struct run r)
{
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < o->n_runs; i = child) {
		if (child + 1 < o->n_runs && is_before(&o->runs[child + 1], &o->runs[child]))
			child++;
		if (!is_before(&o->runs[child], &r))
			break;
		o->runs[i] = o->runs[child];
	}
	o->runs[i] = r;
}

static struct chunk *add_chunk(struct order *o, size_t least)
{
	size_t cap = least < CHUNK ? CHUNK : least;
	struct chunk *c = base_zalloc(sizeof(*c) + cap);
	c->cap = cap;
	o->n_bytes += cap;
	return c;
}

/** To the end of @r, whose head it is when there is nothing in it. */
static void add_piece(struct order *o, struct run *r, const struct piece *p, const char *bytes)
{
	size_t size = sizeof(*p) + p->n;
	if (!r->first) {
		r->first = r->last = add_chunk(o, size);
		r->head = *p;
	} else if (r->last->cap - r->last->n < size) {
		r->last = r->last->next = add_chunk(o, size);
	}
	struct chunk *c = r->last;
	memcpy(c->bytes + c->n, p, sizeof(*p));
	memcpy(c->bytes + c->n + sizeof(*p), bytes, p->n);
	c->n += size;
	r->tail = p->ns;
}

static void add_run(struct order *o, const struct piece *p, const char *bytes)
{
	struct run r = {0};
	size_t i = o->n_runs++;
	add_piece(o, &r, p, bytes);
	for (; i && is_before(&r, &o->runs[(i - 1) / 2]); i = (i - 1) / 2)
		o->runs[i] = o->runs[(i - 1) / 2];
	o->runs[i] = r;
}

/** The run whose end is nearest before @ns: so there are no more than need be. NULL: there is none. */
static struct run *find_run(struct order *o, int64_t ns)
{
	struct run *best = NULL;
	list_each(struct run, r, o->runs, o->n_runs)
		if (r->tail <= ns && (!best || r->tail > best->tail))
			best = r;
	return best;
}

/** The earliest piece goes out. */
static void release(struct order *o, struct strbuf *out)
{
	struct run r = o->runs[0];
	struct chunk *c = r.first;
	strbuf_add(out, c->bytes + c->gone + sizeof(r.head), r.head.n);
	o->gone = r.head.ns;
	c->gone += sizeof(r.head) + r.head.n;
	if (c->gone == c->n) {
		o->n_bytes -= c->cap;
		r.first = free_chunk(c);
	}
	if (r.first)
		memcpy(&r.head, r.first->bytes + r.first->gone, sizeof(r.head));
	else
		r = o->runs[--o->n_runs];
	if (o->n_runs)
		replace_root(o, r);
}

static bool is_full(const struct order *o)
{
	int64_t settled = o->settled;
	if (o->has_rounds && o->settled_by_rounds < settled)
		settled = o->settled_by_rounds;
	return o->runs[0].head.ns <= settled || o->n_bytes > ORDER_BYTES || o->n_runs == MAX_RUNS;
}

void order_add(struct order *o, int64_t ns, struct str lines, struct strbuf *out)
{
	if (order_is_late(o, ns)) {
		o->n_late++;
		strbuf_adds(out, lines);
		return;
	}
	struct piece p = {.ns = ns, .number = o->n_taken++, .n = lines.n};
	struct run *r = find_run(o, ns);
	if (r)
		add_piece(o, r, &p, lines.p);
	else
		add_run(o, &p, lines.p);
	o->newest = ns > o->newest ? ns : o->newest;
	while (o->n_runs && is_full(o))
		release(o, out);
}

void order_set_clock(struct order *o, int64_t now)
{
	if (now < o->due)
		return;
	// Periods in which nothing came are none: bpftrace may have waited for who reads our output.
	o->due = now + ORDER_NS / PERIODS;
	o->settled = o->before[o->period];
	o->before[o->period] = o->newest;
	o->period = (o->period + 1) % PERIODS;
}

void order_set_cpu(struct order *o, int64_t cpu)
{
	if (cpu == o->cpu || cpu < 0 || cpu >= MAX_CPUS)
		return;
	o->cpu = cpu;
	if (o->seen[cpu / 64] >> cpu % 64 & 1) {
		o->settled_by_rounds = o->turned[1];
		o->turned[1] = o->turned[0];
		o->turned[0] = o->newest;
		memset(o->seen, 0, sizeof(o->seen));
	}
	o->seen[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

bool order_is_late(const struct order *o, int64_t ns)
{
	return ns < o->gone;
}

int64_t order_newest(const struct order *o)
{
	return o->newest;
}

int64_t order_gone(const struct order *o)
{
	return o->gone;
}

void order_flush(struct order *o, int64_t before, struct strbuf *out)
{
	while (order_holds(o, before))
		release(o, out);
}

bool order_holds(const struct order *o, int64_t ns)
{
	return o->n_runs && o->runs[0].head.ns <= ns;
}

uint64_t order_n_late(const struct order *o)
{
	return o->n_late;
}
