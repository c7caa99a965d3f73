// What it costs to turn what a program prints into what the user gets: records of four numbers and a text of 30 bytes, as a
// printf() of that makes them.
//
//	relay text|json|sorted LINES
//
// Prints lines for each second of CPU time, and the peak memory in MB after a quarter of the lines, after all of them (which
// is the same when memory does not grow with the length of a trace) and at the end, when what was held for sorting goes out at
// once. The records come in pieces of 64 KiB, as from a pipe.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "record/writer.h"

enum { N_LINES = 10000, BLOCK = 500, PIECE = 65536, NS_DIGITS = 15 };

static struct enumtab_item items[] = {
    {.name = {"STATE_INIT", 10}, .text = {"INIT", 4}, .value = 0},
    {.name = {"STATE_RUN", 9}, .text = {"RUN", 3}, .value = 1},
    {.name = {"STATE_STOP", 10}, .text = {"STOP", 4}, .value = 2}};
static struct enumtab states = {.name = {"state", 5}, .size = 4, .items = items, .n_items = 3};

// printf("%d %s %u %lx %s\n", args.qid, enum_name(state, args.state), args.len, args.req, str(args.subnqn))
static struct ctype int32 = {.kind = CTYPE_INT, .size = 4, .has_size = true, .is_signed = true};
static struct ctype uint32 = {.kind = CTYPE_INT, .size = 4, .has_size = true};
static struct shape_field fields[] = {
    {.name = {"qid", 3}, .as = {.letter = 'd', .bits = 32}, .value = {.type = &int32}},
    {.name = {"state", 5},
     .before = {" ", 1},
     .as = {.letter = 's'},
     .value = {.type = &uint32, .names = &states}},
    {.name = {"len", 3},
     .before = {" ", 1},
     .as = {.letter = 'u', .bits = 32},
     .value = {.type = &uint32}},
    {.name = {"req", 3},
     .before = {" ", 1},
     .as = {.letter = 'x', .bits = 64},
     .value = {.type = &value_address}},
    {.name = {"subnqn", 6}, .before = {" ", 1}, .value = {.how = VALUE_TEXT}},
};

/** N_LINES records of the same length; *at is where the time stands in each. */
static struct str make_records(const struct shapes *shapes, size_t *at)
{
	struct strbuf b = {0};
	for (size_t i = 0; i < N_LINES; i++) {
		size_t start = b.n;
		uint64_t key = 10000000000000000000u + (uint64_t)i * 123456789012345u;
		strbuf_addf(&b, "%s0,", shapes->start);
		*at = b.n - start;
		strbuf_addf(&b, "%0*d,%zu,12345,%zu,%zu,%zu,%zu,%zu;%" PRIu64 ";", NS_DIGITS, 0,
			    i % 4, 12345 + i % 8, 10 + i % 64, i % 3, 4096 + i % 512 * 8,
			    (size_t)140000000000000 + i * 64, key);
		strbuf_addf(
		    &b, "reactor_%zu<%" PRIu64 ">nqn.2016-06.io.spdk:cnode%05zu<%" PRIu64 ">>\n",
		    i % 4, key, i, key);
	}
	return strbuf_str(&b);
}

/**
 * Sets the times of the records, a microsecond apart from @ns on. As from four processors, whose events
 * bpftrace reads one after the other, BLOCK of each.
 */
static void set_times(struct str records, size_t at, uint64_t ns)
{
	size_t size = records.n / N_LINES;
	for (size_t i = 0; i < N_LINES; i++) {
		size_t block = i / BLOCK, nth = block / 4 * 4 * BLOCK + i % BLOCK * 4 + block % 4;
		uint64_t v = ns + nth * 1000;
		char *p = (char *)records.p + i * size + at;
		for (int k = NS_DIGITS; k-- > 0; v /= 10)
			p[k] = (char)('0' + v % 10);
	}
}

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/** Counts lines and forgets them. */
static uint64_t flush(struct strbuf *out)
{
	uint64_t n = 0;
	struct str s = strbuf_str(out);
	for (const char *p; s.n && (p = memchr(s.p, '\n', s.n)); n++)
		s = str_from_offset(s, (size_t)(p + 1 - s.p));
	strbuf_clear(out);
	return n;
}

static long peak_memory(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

/** Where a writer's lines go, and what they have cost. */
struct sink {
	struct writer *writer;
	struct strbuf out;
	uint64_t n, ns; // lines that came out; time of the next record
	double seconds; // of CPU time
};

static void take(struct sink *s, struct str records, size_t at, uint64_t n_lines)
{
	for (; n_lines >= N_LINES; n_lines -= N_LINES, s->ns += N_LINES * 1000) {
		set_times(records, at, s->ns);
		for (size_t i = 0; i < records.n; i += PIECE) {
			double from = cpu_seconds();
			writer_set_clock(s->writer, (int64_t)(from * 1e9));
			writer_add(s->writer, str_slice(records, i, PIECE), &s->out);
			s->seconds += cpu_seconds() - from;
			s->n += flush(&s->out);
		}
	}
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	struct shapes shapes;
	struct writer_config config = {.json = argc == 3 && strcmp(argv[1], "json") == 0,
				       .sorts = argc == 3 && strcmp(argv[1], "sorted") == 0,
				       .has_rounds = true};
	uint64_t n_lines = argc == 3 ? strtoull(argv[2], NULL, 10) / N_LINES * N_LINES : 0;
	size_t at;
	if (!n_lines)
		return 2;
	config.head = config.sorts ? WRITER_WHOLE : WRITER_BARE;
	shapes_init(&shapes, &a, true);
	vec_push(&a, &shapes.list,
		 (struct shape){.probe = STR("spdk:nvmf_state"),
				.fields = fields,
				.n_fields = sizeof(fields) / sizeof(fields[0]),
				.after = STR("\n")});
	struct str records = make_records(&shapes, &at);
	struct sink sink = {.writer = writer_new(&config, &shapes), .ns = 100000000000000};
	take(&sink, records, at, n_lines / 4);
	long early = peak_memory();
	take(&sink, records, at, n_lines - n_lines / 4);
	long late = peak_memory();
	writer_end(sink.writer, &sink.out);
	sink.n += flush(&sink.out);
	printf("%.0f %ld %ld %ld\n", (double)sink.n / sink.seconds, early, late, peak_memory());
	return sink.n != n_lines;
}
