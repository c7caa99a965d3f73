/** order: lines of several processors come out in the order of time, as a stable sort has them. */
#include "record/order.h"

#include <inttypes.h>
#include <malloc.h>

#include "base/arena.h"
#include "tap.h"

/** One line, as it came. */
struct event {
	int64_t ns;
	size_t number;
	int64_t now; // when it came
};

static uint64_t state = 88172645463325252u;

/** Xorshift: the same numbers in every run. */
static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/**
 * @n events of 16 processors, each sorted, in the order in which bpftrace drains its buffers: bursts
 * of one after the other, each of what it has done in the last @round ns. Many have the same time.
 */
static void make_events(struct event *ret, size_t n, int64_t round)
{
	int64_t clock[16] = {0}, until = 0;
	for (size_t i = 0; i < n;) {
		until += round;
		for (unsigned cpu = 0; cpu < 16; cpu++) {
			while (i < n && clock[cpu] < until && chance(200)) {
				ret[i] = (struct event){clock[cpu] >> 20 << 20, i, until};
				i++;
				clock[cpu] += (int64_t)chance((uint64_t)round / 20);
			}
			clock[cpu] = until;
		}
	}
}

static void add_event(struct strbuf *out, const struct event *e)
{
	strbuf_addf(out, "%" PRId64 " %zu\n", e->ns, e->number);
}

/** A random stream against qsort(). */
static void check_stream(size_t n, int64_t round)
{
	struct event *events = calloc(n, sizeof(*events));
	struct strbuf got = {0}, want = {0}, line = {0};
	make_events(events, n, round);
	struct order *o = order_new(false);
	size_t n_inverted = 0, before_end = 0;
	for (size_t i = 0; i < n; i++) {
		n_inverted += i && events[i].ns < events[i - 1].ns;
		strbuf_clear(&line);
		add_event(&line, &events[i]);
		order_set_clock(o, events[i].now);
		order_add(o, events[i].ns, strbuf_str(&line), &got);
	}
	before_end = got.n;
	order_flush(o, INT64_MAX, &got);
	qsort(events, n, sizeof(*events), compare);
	for (size_t i = 0; i < n; i++)
		add_event(&want, &events[i]);
	ok(n_inverted > 100 && str_eq(strbuf_str(&got), strbuf_str(&want)) && !order_n_late(o),
	   "%zu events of 16 processors, drained every %" PRId64
	   " ms, with %zu steps back, are sorted",
	   n, round / 1000000, n_inverted);
	ok(before_end > got.n / 2 && !order_holds(o, INT64_MAX), "most of them before the end");
	order_free(o);
	strbuf_fini(&got);
	strbuf_fini(&want);
	strbuf_fini(&line);
	free(events);
}

/** @n events whose times are anywhere in half a window: nothing is late. */
static void check_disorder(size_t n)
{
	struct event *events = calloc(n, sizeof(*events));
	struct strbuf got = {0}, want = {0}, line = {0};
	struct order *o = order_new(false);
	for (size_t i = 0; i < n; i++) {
		events[i] = (struct event){(int64_t)(i * 20000 + chance(ORDER_NS / 2)), i,
					   (int64_t)i * 20000};
		strbuf_clear(&line);
		add_event(&line, &events[i]);
		order_set_clock(o, events[i].now);
		order_add(o, events[i].ns, strbuf_str(&line), &got);
	}
	order_flush(o, INT64_MAX, &got);
	qsort(events, n, sizeof(*events), compare);
	for (size_t i = 0; i < n; i++)
		add_event(&want, &events[i]);
	ok(str_eq(strbuf_str(&got), strbuf_str(&want)) && !order_n_late(o),
	   "%zu events in no order at all are sorted", n);
	order_free(o);
	strbuf_fini(&got);
	strbuf_fini(&want);
	strbuf_fini(&line);
	free(events);
}

/** Each line is earlier than the one before: more runs than are kept. */
static void check_reverse(size_t n)
{
	struct strbuf out = {0};
	struct order *o = order_new(false);
	size_t n_late = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t ns = (int64_t)(n - i);
		n_late += order_is_late(o, ns);
		order_add(o, ns, STR("x\n"), &out);
	}
	order_flush(o, INT64_MAX, &out);
	is_num((long long)out.n, (long long)(2 * n), "of lines in reverse none is dropped");
	ok(n_late && n_late < n - 4000 && n_late == order_n_late(o),
	   "and what comes too late is counted (%zu of %zu)", n_late, n);
	order_free(o);
	strbuf_fini(&out);
}

/**
 * @n events of two processors, of which bpftrace 0.17 drains one for as long as there is something in its
 * buffer: turns that take it many times ORDER_NS.
 */
static void check_long_turns(size_t n)
{
	struct event *events = calloc(n, sizeof(*events));
	struct strbuf got = {0}, want = {0}, line = {0};
	struct order *o = order_new(true);
	size_t next[2] = {0, 1}, taken = 0, before_end = 0;
	for (unsigned cpu = 0; taken < n; cpu = !cpu) {
		// all that has happened by now, and half as much that happens meanwhile
		size_t until = (next[!cpu] > next[cpu] ? next[!cpu] : next[cpu]) + chance(n / 20);
		for (; next[cpu] < n && next[cpu] <= until; next[cpu] += 2) {
			events[taken] = (struct event){(int64_t)next[cpu] * 1000, taken, 0};
			strbuf_clear(&line);
			add_event(&line, &events[taken]);
			order_set_clock(o, (int64_t)taken++ * ORDER_NS / 100);
			order_set_cpu(o, cpu);
			order_add(o, events[taken - 1].ns, strbuf_str(&line), &got);
		}
	}
	before_end = got.n;
	order_flush(o, INT64_MAX, &got);
	qsort(events, n, sizeof(*events), compare);
	for (size_t i = 0; i < n; i++)
		add_event(&want, &events[i]);
	ok(str_eq(strbuf_str(&got), strbuf_str(&want)) && !order_n_late(o),
	   "turns of processors may take any time");
	ok(before_end > got.n / 2, "and lines go out before the end (%zu of %zu bytes)", before_end,
	   got.n);
	order_free(o);
	strbuf_fini(&got);
	strbuf_fini(&want);
	strbuf_fini(&line);
	free(events);
}

/** Takes a line of @ns that says so, and what comes out is appended to @out. */
static void take(struct order *o, int64_t ns, const char *line, struct strbuf *out)
{
	order_add(o, ns, str_from(line), out);
}

static void check_window(void)
{
	struct strbuf out = {0};
	struct order *o = order_new(false);
	is_num(order_newest(o), 0, "before the first line there is no newest");
	order_set_clock(o, 7);
	take(o, 5000, "a\n", &out);
	take(o, 6000, "c\n", &out);
	take(o, 5001, "b\n", &out);
	for (int i = 1; i < 10; i++)
		order_set_clock(o, 7 + i * ORDER_NS / 10);
	take(o, 6001, "e\n", &out);
	is_str(strbuf_str(&out), STR(""), "a line is held as long as an earlier one may come");
	order_set_clock(o, 7 + 3600 * ORDER_NS);
	order_set_clock(o, 8 + 3600 * ORDER_NS);
	take(o, 5999, "b2\n", &out);
	is_str(strbuf_str(&out), STR(""),
	       "also when nothing has come for long: bpftrace may have been stopped");
	order_set_clock(o, 7 + 3601 * ORDER_NS);
	take(o, 6000, "d\n", &out);
	is_str(strbuf_str(&out), STR("a\nb\nb2\nc\nd\n"),
	       "then all go out that are not later than the latest of that time");
	ok(!order_is_late(o, 6000), "a line of the time of the last one gone is not late");
	ok(order_is_late(o, 5999), "an earlier one is");
	strbuf_clear(&out);
	take(o, 5999, "late\n", &out);
	is_str(strbuf_str(&out), STR("late\n"), "and goes out at once");
	is_num((long long)order_n_late(o), 1, "and is counted");
	is_num(order_newest(o), 6001, "the newest is that of the highest time");
	strbuf_clear(&out);
	take(o, order_newest(o), "map 1\nmap 2\n", &out);
	take(o, order_newest(o), "map 3\n", &out);
	take(o, 7000, "f\n", &out);
	order_flush(o, 6001, &out);
	is_str(strbuf_str(&out), STR("e\nmap 1\nmap 2\nmap 3\n"),
	       "what has no time is behind what came before it, in its own order");
	ok(order_holds(o, INT64_MAX), "a flush leaves what is newer than it says");
	order_flush(o, INT64_MAX, &out);
	ok(str_has_suffix(strbuf_str(&out), STR("f\n")) && !order_holds(o, INT64_MAX),
	   "then nothing is held");
	order_free(o);
	strbuf_fini(&out);
}

/** Ten times ORDER_BYTES within the window: the oldest go out, and in order. */
static void check_bytes(void)
{
	static char line[100000];
	struct strbuf out = {0};
	size_t n_in = 10 * ORDER_BYTES / sizeof(line), most = 0, sum = 0;
	bool sorted = true;
	int64_t last = 0;
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	struct order *o = order_new(false);
	size_t in_use = mallinfo2().uordblks;
	for (size_t i = 0; i < n_in + 1; i++) {
		int64_t ns = i < n_in ? (int64_t)(i ^ 1) + 1 : 0; // each two are swapped
		if (i < n_in) {
			memcpy(line, &ns, sizeof(ns));
			order_add(o, ns, (struct str){line, sizeof(line)}, &out);
		} else {
			order_flush(o, INT64_MAX, &out);
		}
		for (size_t at = 0; at < out.n; at += sizeof(line)) {
			memcpy(&ns, out.p + at, sizeof(ns));
			sorted &= ns > last;
			last = ns;
		}
		sum += out.n;
		strbuf_clear(&out);
		size_t held = (i + 1) * sizeof(line) - sum;
		most = i < n_in && held > most ? held : most;
	}
	ok(sorted && sum == n_in * sizeof(line), "lines beyond what may be held come out in order");
	ok(most <= ORDER_BYTES && most > ORDER_BYTES / 2, "no more is held than ORDER_BYTES (%zu)",
	   most);
	strbuf_fini(&out);
	ok(mallinfo2().uordblks < in_use + 100000, "and the memory is given back");
	order_free(o);
}

int main(void)
{
	check_stream(300000, 100000000);
	check_stream(300000, 10000000000);
	check_disorder(200000);
	check_long_turns(100000);
	check_reverse(10000);
	check_window();
	check_bytes();
	struct order *o = order_new(false);
	struct strbuf out = {0};
	for (int i = 0; i < 5000; i++)
		take(o, 1 + (int64_t)chance(1000), "x\n", &out);
	order_free(o);
	ok(!out.n, "what is held can be given up");
	strbuf_fini(&out);
	return done();
}
