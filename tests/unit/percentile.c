/** percentile: histograms with percentiles, from the lines of a map of buckets. */
#include "record/percentile.h"

#include <inttypes.h>

#include "tap.h"

static uint64_t state = 88172645463325252u;

/** Xorshift: the same numbers in every run. */
static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static void take(struct percentile *p, const char *lines)
{
	for (struct str s = str_from(lines); s.n;) {
		struct str line = str_slice(s, 0, str_find(s, '\n'));
		s = str_from_offset(s, line.n + 1);
		if (!percentile_add(p, line))
			ok(false, "it takes " STR_FMT, STR_ARG(line));
	}
}

static void test_text(void)
{
	struct percentile p = {0};
	struct strbuf out = {0};
	take(&p, "@us_buckets[128, 136]: 2\n@us_buckets[0, 1]: 1\n@us_buckets[64, 68]: 900\n"
		 "@us_buckets[68, 72]: 97\n");
	percentile_text(&p, &out);
	is_str(
	    strbuf_str(&out),
	    STR("@us: count 1000, p50 64-67, p90 64-67, p99 68-71, p99.9 128-135\n"
		"[0]                     1 |                                                    |\n"
		"[1]                     0 |                                                    |\n"
		"[2, 4)                  0 |                                                    |\n"
		"[4, 8)                  0 |                                                    |\n"
		"[8, 16)                 0 |                                                    |\n"
		"[16, 32)                0 |                                                    |\n"
		"[32, 64)                0 |                                                    |\n"
		"[64, 128)             997 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[128, 256)              2 |                                                    "
		"|\n"),
	    "percentiles, and bars of powers of 2, whatever the order of the lines");
	ok(!percentile_has(&p), "what was written is forgotten");
	strbuf_clear(&out);
	take(&p, "@us_buckets[5, 6]: 1\n@us_buckets[1015808, 1048576]: 1\n");
	percentile_text(&p, &out);
	is_str(str_slice(strbuf_str(&out), 0, str_find(strbuf_str(&out), '\n')),
	       STR("@us: count 2, p50 5, p90 1015808-1048575, p99 1015808-1048575, "
		   "p99.9 1015808-1048575"),
	       "a bucket of one value is that value");
	ok(strstr(out.p, "\n[512K, 1M) ") != NULL, "large powers are K and M");
	strbuf_fini(&out);
	percentile_fini(&p);
}

static void test_json(void)
{
	struct percentile p = {0};
	struct strbuf out = {0};
	take(&p, "@us_buckets[7, 8]: 3\n@us_buckets[64, 68]: 1\n");
	struct json j = {.out = &out};
	json_open(&j, NULL, '{');
	percentile_json(&p, &j);
	json_close(&j, '}');
	is_str(strbuf_str(&out),
	       STR("{\"map\": \"@us\", \"entries\": [{\"histogram\": [{\"min\": 7, \"max\": 7, "
		   "\"count\": "
		   "3}, {\"min\": 64, \"max\": 67, \"count\": 1}], \"percentiles\": {\"p50\": "
		   "{\"min\": 7, "
		   "\"max\": 7}, \"p90\": {\"min\": 64, \"max\": 67}, \"p99\": {\"min\": 64, "
		   "\"max\": 67}, "
		   "\"p99.9\": {\"min\": 64, \"max\": 67}}}]}"),
	       "JSON");
	strbuf_fini(&out);
	percentile_fini(&p);
}

static void test_others(void)
{
	static const char *const lines[] = {
	    "",
	    "@us_buckets: 5",
	    "@us_buckets[64, 68]: ",
	    "@us_buckets[64, 68]: 5 ",
	    "@us_buckets[68, 64]: 5",
	    "@us_buckets[-4, 8]: 5",
	    "@us_buckets[64]: 5",
	    "@us_buckets[1, 64, 68]: 5",
	    "@us_buckets[99999999999999999999, 68]: 5",
	    "@us_max: 5",
	};
	struct percentile p = {0};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ok(!percentile_add(&p, str_from(lines[i])), "'%s' is none", lines[i]);
	ok(!percentile_has(&p), "none was taken");
	percentile_fini(&p);
}

enum { MOST = 2000 };

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/** The bucket of @v, as bpf/buckets.bt has it. */
static struct percentile_bucket bucket_of(uint64_t v)
{
	unsigned width = 0;
	while (v >> width >= 32)
		width++;
	uint64_t low = v >> width << width;
	return (struct percentile_bucket){low, low + ((uint64_t)1 << width), 1};
}

/** Random values in buckets: each percentile has the value of that rank in it. */
static void test_ranks(void)
{
	static const struct {
		const char *name;
		size_t thousandths;
	} points[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}};
	static uint64_t values[MOST];
	unsigned wrong = 0;
	for (unsigned run = 0; run < 300; run++) {
		struct percentile p = {0};
		struct strbuf out = {0}, line = {0};
		size_t n = 1 + chance(run % 3 ? MOST : 20);
		for (size_t i = 0; i < n; i++) {
			values[i] = chance(UINT64_C(1) << (1 + chance(40)));
			struct percentile_bucket b = bucket_of(values[i]);
			strbuf_clear(&line);
			strbuf_addf(&line, "@us_buckets[%" PRIu64 ", %" PRIu64 "]: 1", b.low,
				    b.high);
			wrong += !percentile_add(&p, strbuf_str(&line));
		}
		qsort(values, n, sizeof(*values), compare);
		percentile_text(&p, &out);
		for (size_t k = 0; k < 4; k++) {
			const char *at = strstr(out.p, points[k].name);
			char *end = NULL;
			uint64_t low = at ? strtoull(at + strlen(points[k].name), &end, 10) : 1,
				 high = low;
			if (end && *end == '-')
				high = strtoull(end + 1, NULL, 10);
			uint64_t exact = values[(n * points[k].thousandths + 999) / 1000 - 1];
			wrong += low > exact || exact > high || (high - low) * 16 > high;
		}
		percentile_fini(&p);
		strbuf_fini(&line);
		strbuf_fini(&out);
	}
	ok(wrong == 0, "percentiles of random values enclose the exact ones within 1/16");
}

int main(void)
{
	test_text();
	test_json();
	test_others();
	test_ranks();
	return done();
}
