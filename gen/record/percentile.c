#include "record/percentile.h"

struct point {
	const char *name;
	unsigned thousandths;
};

static const struct point points[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}};
static const struct point live_points[] = {{"p50", 500}, {"p99", 990}, {"max", 1000}};

enum { N_POINTS = sizeof(points) / sizeof(points[0]), N_LIVE = 3, BAR = 52 };

void percentile_fini(struct percentile *p)
{
	arena_fini(&p->arena);
	*p = (struct percentile){0};
}

bool percentile_has(const struct percentile *p)
{
	return p->list.n;
}

bool percentile_add(struct percentile *p, struct str line)
{
	struct percentile_bucket b;
	if (!str_take(&line, STR("@us_buckets[")) || !str_take_number(&line, &b.low) ||
	    !str_take(&line, STR(", ")) || !str_take_number(&line, &b.high) ||
	    !str_take(&line, STR("]: ")) || !str_take_number(&line, &b.n) || line.n ||
	    b.high <= b.low)
		return false;
	vec_push(&p->arena, &p->list, b);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct percentile_bucket *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

/** Sorts the buckets and returns how many values are in them. */
static uint64_t add_up(struct percentile *p)
{
	uint64_t n = 0;
	qsort(p->list.v, p->list.n, sizeof(*p->list.v), compare);
	for (size_t i = 0; i < p->list.n; i++)
		n += p->list.v[i].n;
	return n;
}

/** The bucket of the smallest value that so many of all @total do not exceed. */
static const struct percentile_bucket *find_bucket(const struct percentile *p, uint64_t total,
						   unsigned thousandths)
{
	// Rounded up: the 999th of 1000 is p99.9.
	uint64_t rank = (uint64_t)(((unsigned __int128)total * thousandths + 999) / 1000);
	uint64_t seen = 0;
	for (size_t i = 0; i < p->list.n; i++) {
		seen += p->list.v[i].n;
		if (seen >= rank && seen)
			return &p->list.v[i];
	}
	return &p->list.v[p->list.n - 1];
}

/** 2^@log as bpftrace has it: 512, 1K, 64M */
static void add_power(unsigned log, struct strbuf *out)
{
	strbuf_addf(out, "%u", 1u << log % 10);
	if (log >= 10)
		strbuf_addc(out, "KMGTPE"[log / 10 - 1]);
}

/** The lower end of a bar: 0, 1, then powers of 2. */
static unsigned bar_of(uint64_t v)
{
	unsigned bar = 0;
	for (; v; v >>= 1)
		bar++;
	return bar;
}

static void add_bar(unsigned bar, uint64_t n, uint64_t most, struct strbuf *out)
{
	struct strbuf span = {0};
	strbuf_addc(&span, '[');
	if (bar < 2) {
		strbuf_addf(&span, "%u]", bar);
	} else {
		add_power(bar - 1, &span);
		strbuf_addz(&span, ", ");
		add_power(bar, &span);
		strbuf_addc(&span, ')');
	}
	int length = (int)((unsigned __int128)n * BAR / most);
	strbuf_addf(out, "%-16.*s %8" PRIu64 " |", (int)span.n, span.p, n);
	for (int i = 0; i < BAR; i++)
		strbuf_addc(out, i < length ? '@' : ' ');
	strbuf_addz(out, "|\n");
	strbuf_fini(&span);
}

static void add_bars(const struct percentile *p, struct strbuf *out)
{
	uint64_t n[66] = {0}, most = 1;
	unsigned last = 0, bar = bar_of(p->list.v[0].low);
	for (size_t i = 0; i < p->list.n; i++) {
		last = bar_of(p->list.v[i].low);
		n[last] += p->list.v[i].n;
		most = n[last] > most ? n[last] : most;
	}
	for (; bar <= last; bar++)
		add_bar(bar, n[bar], most, out);
}

static void add_line(struct percentile *p, const struct point *of, size_t n, struct strbuf *out)
{
	uint64_t total = add_up(p);
	strbuf_addf(out, "@us: count %" PRIu64, total);
	for (size_t i = 0; i < n && total; i++) {
		const struct percentile_bucket *b = find_bucket(p, total, of[i].thousandths);
		strbuf_addf(out, ", %s %" PRIu64, of[i].name, b->low);
		if (b->high - b->low > 1)
			strbuf_addf(out, "-%" PRIu64, b->high - 1);
	}
	strbuf_addc(out, '\n');
}

void percentile_text(struct percentile *p, struct strbuf *out)
{
	add_line(p, points, N_POINTS, out);
	add_bars(p, out);
	percentile_fini(p);
}

void percentile_live(struct percentile *p, struct percentile *before, struct strbuf *out)
{
	struct percentile since = {0};
	size_t k = 0;
	add_up(p); // sorted
	for (size_t i = 0; i < p->list.n; i++) {
		struct percentile_bucket b = p->list.v[i];
		while (k < before->list.n && before->list.v[k].low < b.low)
			k++;
		if (k < before->list.n && before->list.v[k].low == b.low)
			b.n -= before->list.v[k].n;
		if (b.n)
			vec_push(&since.arena, &since.list, b);
	}
	add_line(&since, live_points, N_LIVE, out);
	percentile_fini(&since);
	percentile_fini(before);
	*before = *p;
	*p = (struct percentile){0};
}

static void add_range(const struct percentile_bucket *b, const char *name, struct json *j)
{
	json_open(j, name, '{');
	json_printf(j, "min", "%" PRIu64, b->low);
	json_printf(j, "max", "%" PRIu64, b->high - 1);
}

void percentile_json(struct percentile *p, struct json *j)
{
	uint64_t total = add_up(p);
	json_str(j, "map", STR("@us"));
	json_open(j, "entries", '[');
	json_open(j, NULL, '{');
	json_open(j, "histogram", '[');
	for (size_t i = 0; i < p->list.n; i++) {
		add_range(&p->list.v[i], NULL, j);
		json_printf(j, "count", "%" PRIu64, p->list.v[i].n);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "percentiles", '{');
	for (size_t i = 0; i < N_POINTS; i++) {
		add_range(find_bucket(p, total, points[i].thousandths), points[i].name, j);
		json_close(j, '}');
	}
	json_close(j, '}');
	json_close(j, '}');
	json_close(j, ']');
	percentile_fini(p);
}
