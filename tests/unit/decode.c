/** decode: records come out of a program's output as they went in, however it is cut and whatever is in it. */
#include "record/decode.h"

#include <inttypes.h>
#include <time.h>

#include "tap.h"

// --- what is decoded, written down: texts and lines as they are, records in [ ]

static void add_record(void *ctx, const struct record *r);

static void add_line(void *ctx, struct str line)
{
	strbuf_adds(ctx, line);
	strbuf_addc(ctx, '\n');
}

static size_t n_parts;

static void add_part(void *ctx, struct str text)
{
	n_parts++;
	strbuf_adds(ctx, text);
}

static const struct decode_handler handler = {add_record, add_line, add_part};

static struct shapes shapes;

static void add_text(struct strbuf *out, struct str text)
{
	strbuf_addz(out, " {");
	strbuf_adds(out, text);
	strbuf_addc(out, '}');
}

/** [shape number... {text}...], in the order in which they travel. */
static void add_record(void *ctx, const struct record *r)
{
	size_t n_numbers, n_texts;
	struct shapes headless = shapes;
	headless.has_head = false;
	shape_count(&headless, r->shape, &n_numbers, &n_texts);
	strbuf_addf(ctx, "[%zu", (size_t)(r->shape - shapes.list.v));
	if (shapes.has_head)
		strbuf_addf(ctx, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, r->head.ns,
			    r->head.cpu, r->head.pid, r->head.tid);
	for (size_t i = 0; i < n_numbers; i++)
		strbuf_addf(ctx, " %" PRId64, r->numbers[i]);
	if (shapes.has_head)
		add_text(ctx, r->comm);
	if (shapes.has_head && !r->shape->probe.n)
		add_text(ctx, r->probe);
	else if (!str_eq(r->probe, r->shape->probe))
		strbuf_addz(ctx, " wrong probe");
	for (size_t i = 0; i < n_texts; i++)
		add_text(ctx, r->texts[i]);
	strbuf_addc(ctx, ']');
}

/** "%" in @form becomes START (not that of %ld, %lu, %s), "#" the name of the map of counts. */
static struct str fill(struct arena *a, const char *form)
{
	struct strbuf b = {0};
	for (; *form; form++)
		if (*form == '%' && !(form[1] && strchr("ls", form[1])))
			strbuf_addz(&b, shapes.start);
		else if (*form == '#')
			strbuf_addz(&b, shapes.counts);
		else
			strbuf_addc(&b, *form);
	return strbuf_take(&b, a);
}

static struct decode_sum last_sum;
static size_t most_pending;

/** Decodes @bytes, given in pieces of @step; with @idle bpftrace has a rest behind each. */
static struct str decode_in(struct arena *a, struct str bytes, size_t step, bool idle)
{
	struct decoder d;
	struct strbuf out = {0};
	for (size_t i = 0; i < shapes.list.n; i++)
		shapes.list.v[i].n_events = shapes.list.v[i].n_fired = 0;
	decode_init(&d, &shapes, &handler, &out);
	for (size_t i = 0; i < bytes.n; i += step) {
		// A copy of its own: nothing may be kept of it.
		char *piece = malloc(step);
		struct str s = str_slice(bytes, i, step);
		memcpy(piece, s.p, s.n);
		decode_add(&d, (struct str){piece, s.n});
		free(piece);
		most_pending = d.pending.n > most_pending ? d.pending.n : most_pending;
		if (idle)
			decode_idle(&d);
	}
	decode_end(&d);
	last_sum = decode_sum(&d);
	decode_fini(&d);
	return strbuf_take(&out, a);
}

/** What @form is decoded to is @want ("%" and "#" in both), in pieces of every size. */
static void is_decoded(const char *form, const char *want, const char *claim)
{
	struct arena a = {0};
	struct str bytes = fill(&a, form), all = fill(&a, want);
	bool same = is_str(decode_in(&a, bytes, bytes.n, false), all, claim);
	size_t bad = 0;
	for (size_t step = 1; same && !bad && step < bytes.n; step++)
		if (!str_eq(decode_in(&a, bytes, step, false), all) ||
		    !str_eq(decode_in(&a, bytes, step, true), all))
			bad = step;
	is_num((long long)bad, 0, "the same in pieces of every size");
	arena_fini(&a);
}

/** The record is none: it comes out as the bytes that it is. */
static void is_passed_on(const char *form, const char *claim)
{
	is_decoded(form, form, claim);
}

/** bpftrace 0.23 quotes a statement below a warning: whoever skips that line must get it whole. */
static void is_quoted_whole(struct arena *a)
{
	static const char form[] = "BEGIN { printf(\"%0>\\n\"); printf(\"%1,%ld;%lu>\\n\", 1); }\n";
	is_passed_on(form, "a statement of the program is a line");
	struct str bytes = fill(a, form);
	n_parts = 0;
	for (size_t step = 1; step <= bytes.n; step++)
		decode_in(a, bytes, step, false);
	is_num((long long)n_parts, 0, "... and never parts of one");
}

static void test_forms(struct arena *a)
{
	static struct shape_field number = {0}, text = {.value = {.how = VALUE_TEXT}};
	static struct shape_field two[] = {{.value = {.how = VALUE_STRING}},
					   {.value = {.how = VALUE_TEXT}}};
	shapes_init(&shapes, a, false);
	vec_push(a, &shapes.list, (struct shape){.is_counted = true});
	vec_push(a, &shapes.list, (struct shape){.fields = &number, .n_fields = 1});
	vec_push(a, &shapes.list, (struct shape){.fields = &text, .n_fields = 1});
	vec_push(a, &shapes.list, (struct shape){.fields = two, .n_fields = 2, .is_counted = true});

	is_decoded("%0>\n", "[0]", "a record of nothing");
	is_decoded("%1,-7>\n", "[1 -7]", "of a number");
	is_decoded("%2;99;abc<99>>\n", "[2 {abc}]", "of a text");
	is_decoded("%3,4;99;abc<99><99>>\n%0>\n", "[3 4 {abc} {}][0]", "two");
	is_decoded("%1,-9223372036854775808>\n%1,9223372036854775807>\n%1,-1>\n%1,0>\n",
		   "[1 -9223372036854775808][1 9223372036854775807][1 -1][1 0]",
		   "the smallest number and the largest");
	is_decoded("%1,18446744073709551615>\n", "[1 -1]", "one that was printed as unsigned");

	is_decoded("hello\n\n%0>\nbye\n", "hello\n\n[0]bye\n", "lines stand between records");
	is_decoded("what%0>\nends\nhere", "what[0]ends\nhere", "so do parts of lines");
	is_quoted_whole(a);
	is_decoded("\n\n@x: 1\n@@@012%0>\n@", "\n\n@x: 1\n@@@012[0]@", "@ alone begins no record");

	is_decoded("%2;18446744073709551615;%0>\n;a\n#[0]: 4\n<1><18446744073709551614>>\n<>"
		   "<18446744073709551615>>\n",
		   "[2 {%0>\n;a\n#[0]: 4\n<1><18446744073709551614>>\n<>}]",
		   "what a text contains is text: a record, a line of counts, a guess at its end");
	is_decoded("%2;-5;<<<-5<<-<-5<-5>>\n", "[2 {<<<-5<<-<-5}]", "a negative key");
	is_num((long long)last_sum.n_events, 0, "nothing of that is counted");
	is_decoded("%2;7;\xff\xfe\x01\r%s\"\\<7>>\n", "[2 {\xff\xfe\x01\r%s\"\\}]",
		   "bytes of a text stay what they are");
}

static void is_format(struct arena *a, size_t number, const char *want, const char *claim)
{
	struct strbuf b = {0};
	shape_write_format(&shapes, number, &b);
	is_str(strbuf_take(&b, a), fill(a, want), claim);
}

static void test_formats(struct arena *a)
{
	static struct shape_field bytes[] = {{.value = {.n_bytes = 9}},
					     {.value = {.how = VALUE_LITERAL}},
					     {.value = {.how = VALUE_HIDDEN}}};
	static struct value parts[] = {{.n_bytes = 9}, {.how = VALUE_TEXT}};
	static struct shape_field choice = {
	    .value = {.how = VALUE_CHOICE, .parts = parts, .n_parts = 2}};
	size_t n = shapes.list.n;
	vec_push(a, &shapes.list, (struct shape){.fields = bytes, .n_fields = 3});
	vec_push(a, &shapes.list, (struct shape){.fields = &choice, .n_fields = 1});
	is_format(a, 0, "%0>\\n", "the format of nothing");
	is_format(a, 1, "%1,%ld>\\n", "of a number");
	is_format(a, 3, "%3,%ld;%lu;%s<%lu>%s<%lu>>\\n", "of a string and a text");
	is_format(a, n, "%4,%ld,%ld,%ld>\\n",
		  "of a struct of 9 bytes, which has an address as well");
	is_format(a, n + 1, "%5,%ld,%ld,%ld,%ld;%lu;%s<%lu>>\\n", "of a choice: both of it");
	shapes.has_head = true;
	is_format(a, 0, "%0,%ld,%ld,%ld,%ld;%lu;%s<%lu>%s<%lu>>\\n",
		  "of a head with the probe's name");
	shapes.list.v[0].probe = STR("a:b");
	is_format(a, 0, "%0,%ld,%ld,%ld,%ld;%lu;%s<%lu>>\\n", "and without it, as it is known");
	shapes.list.v[0].probe = STR("");
	shapes.has_head = false;
	shapes.list.n = n;
}

static void test_broken(void)
{
	static const char *const broken[] = {
	    "%4>\n",
	    "%-1>\n",
	    "%18446744073709551615>\n",
	    "%x>\n",
	    "%>\n",
	    "%\n",
	    "%0,1>\n",
	    "%0;1;>\n",
	    "%0>x\n",
	    "%0> \n",
	    "%0\n",
	    "%1>\n",
	    "%1,>\n",
	    "%1,->\n",
	    "%1,+1>\n",
	    "%1, 1>\n",
	    "%1,1 >\n",
	    "%1,0x1>\n",
	    "%1,--1>\n",
	    "%1,1,2>\n",
	    "%1,1;5;a<5>>\n",
	    "%1,18446744073709551616>\n",
	    "%1,-9223372036854775809>\n",
	    "%1,99999999999999999999>\n",
	    "%1,100000000000000000000000000>\n",
	    "%2,1;5;a<5>>\n",
	    "%2;;a<>>\n",
	    "%2;a;a<a>>\n",
	    "%2;5,a<5>>\n",
	    "%2;5;a<5><5>>\n",
	    "%2;5;a<5>\n",
	    "%2>\n",
	    "%3;5;a<5>b<5>>\n",
	};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		is_passed_on(broken[i], broken[i]);
	is_decoded("%1,%1,5>\n%2;5%2;5;x<5>>\n", "%1,[1 5]%2;5[2 {x}]",
		   "a record behind one that was cut off counts");
	is_passed_on("%2;5;x<6>>\n%0>\n",
		     "a text that has no end at the end may not pretend to be records");
	is_passed_on("%0>", "neither is one whose last byte did not come");
}

/** A program that tells its KEY, 7, which the text between the first record and others may not know. */
static void test_key(struct arena *a)
{
	static struct shape_field text = {.value = {.how = VALUE_TEXT}};
	struct shapes others = shapes;
	shapes_init(&shapes, a, false);
	shapes_add_key(&shapes);
	vec_push(a, &shapes.list, (struct shape){.is_counted = true});
	vec_push(a, &shapes.list, (struct shape){.fields = &text, .n_fields = 1});
	is_format(a, 0, "%0;%lu>\\n", "the format of what tells KEY");
	is_format(a, 1, "%1;%lu>\\n", "of a record that has no text, and KEY all the same");
	is_decoded("hello\n%0;7>\n%1;7>\n%2;7;%1;5>\n<7>>\n@k\n", "hello\n[1][2 {%1;5>\n}]@k\n",
		   "records that have the KEY that came first");
	is_decoded("%0;7>\n%1;5>\n%0;5>\n%1;5>\n%1>\n%2;5;a<5>>\n%1;7>\n",
		   "%1;5>\n%0;5>\n%1;5>\n%1>\n%2;5;a<5>>\n[1]", "all others are text");
	is_num((long long)last_sum.n_events, 1, "and count for nothing");
	struct str map = str_printf(a, "%%0;7>\n@m: 1\n%s: 7\n%s1: 7\n", shapes.key, shapes.key);
	struct str rest = str_printf(a, "@m: 1\n%s1: 7\n", shapes.key);
	is_decoded(map.p, rest.p, "the map that has KEY is not shown");
	shapes = others;
}

static void test_counts(struct arena *a)
{
	is_decoded("%0>\n#[0]: 3\n#[3]: 18446744073709551615\n", "[0]",
		   "the map of counts is taken");
	is_num((long long)last_sum.n_fired, 2, "what the program has counted (mod 2^64)");
	shapes.first_count = 1;
	is_decoded("%0>\n\n#[0]: 3\n#[3]: 1\n@m: 4\n", "[0]\n@m: 4\n", "it may begin with 1");
	is_num((long long)last_sum.n_fired, 2, "which does not count");
	is_num((long long)last_sum.n_events, 1, "records that came");
	is_num((long long)last_sum.n_lost, 1, "and those that did not");
	shapes.first_count = 0;
	is_decoded("%0>\n%3,1;1;<1><1>>\n#[3]: 2\n#[0]: 0\n", "[0][3 1 {} {}]",
		   "of one shape more came than the program has counted");
	is_num((long long)last_sum.n_lost, 1, "which does not make up for what another one lost");
	is_passed_on("#[4]: 1\n#[0]: x\n#[0]: \n#[]: 1\n#[0] 1\n#: 1\n#[0\nx#[0]: 1\n",
		     "what is no such line is none");
	is_num((long long)last_sum.n_fired, 0, "and counts nothing");

	struct decoder d;
	struct strbuf out = {0};
	decode_init(&d, &shapes, &handler, &out);
	decode_add(&d, fill(a, "x\nhello #[0"));
	decode_idle(&d);
	is_str(strbuf_str(&out), fill(a, "x\nhello #[0"), "what waits for its end comes when idle");
	decode_add(&d, fill(a, "#[1"));
	decode_idle(&d);
	is_str(strbuf_str(&out), fill(a, "x\nhello #[0#[1"), "and so does what belongs to it");
	decode_add(&d, fill(a, "\n#[0"));
	decode_idle(&d);
	is_str(strbuf_str(&out), fill(a, "x\nhello #[0#[1\n"), "but a line of counts does not");
	decode_add(&d, fill(a, "]: 1\n%1,"));
	decode_idle(&d);
	decode_add(&d, fill(a, "3>\n"));
	is_str(strbuf_str(&out), fill(a, "x\nhello #[0#[1\n[1 3]"), "nor does half a record");
	decode_fini(&d);
	strbuf_fini(&out);
}

static struct str repeat(struct arena *a, const char *before, char c, size_t n, const char *after)
{
	struct strbuf b = {0};
	strbuf_adds(&b, fill(a, before));
	for (size_t i = 0; i < n; i++)
		strbuf_addc(&b, c);
	strbuf_adds(&b, fill(a, after));
	return strbuf_take(&b, a);
}

static void test_sizes(struct arena *a)
{
	// START, "2;5;", the text, "<5>>\n"
	size_t most = (1 << 18) - strlen(shapes.start) - 9;
	struct str largest = repeat(a, "%2;5;", '<', most, "<5>>\n");
	struct str larger = repeat(a, "%2;5;", 'x', most + 1, "<5>>\n");
	struct str passed = str_printf(a, STR_FMT "[0]", STR_ARG(larger));
	larger = str_printf(a, STR_FMT STR_FMT, STR_ARG(larger), STR_ARG(fill(a, "%0>\n")));
	struct str want = repeat(a, "[2 {", '<', most, "}]");
	struct str forever = repeat(a, "%2;5;", 'x', most + 6, "%0>\n");
	struct str rescued = repeat(a, "%2;5;", 'x', most + 6, "[0]");
	struct str line = repeat(a, "", '@', 1 << 20, "\n");
	static const size_t steps[] = {1, 4095, 1 << 18, 1 << 22};
	for (size_t i = 0; i < 4; i++) {
		ok(str_eq(decode_in(a, largest, steps[i], false), want),
		   "the largest record, in pieces of %zu", steps[i]);
		ok(str_eq(decode_in(a, larger, steps[i], false), passed),
		   "one that is larger is none, and ends nothing that comes behind it");
		ok(str_eq(decode_in(a, forever, steps[i], false), rescued),
		   "one that never ends does not take what comes behind it");
		ok(str_eq(decode_in(a, line, steps[i], i == 1), line), "a line of a megabyte");
	}
	ok(most_pending < 1 << 18, "no more than the largest record is kept (%zu)", most_pending);
}

/** Time for @n bytes of a record that comes byte by byte. */
static double time_for(struct arena *a, size_t n)
{
	struct timespec from, to;
	struct str s = repeat(a, "%2;5;", '<', n, "<5>>\n");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	decode_in(a, s, 1, false);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

// --- random records, of random shapes

static uint64_t state;

static uint64_t random_to(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 20) % n;
}

static struct value random_value(struct arena *a, unsigned depth)
{
	struct value v = {0};
	do
		v.how = (enum value_how)random_to(VALUE_HIDDEN + 1);
	while (v.how == VALUE_TUPLE || (v.how == VALUE_CHOICE && depth == 3));
	if (v.how == VALUE_PLAIN && random_to(2))
		v.n_bytes = random_to(100);
	if (v.how == VALUE_CHOICE) {
		v.n_parts = 2;
		v.parts = arena_array(a, struct value, 2);
		v.parts[0] = random_value(a, depth + 1);
		v.parts[1] = random_value(a, depth + 1);
	}
	return v;
}

static struct shape_field *random_fields(struct arena *a, size_t n)
{
	struct shape_field *fields = arena_array(a, struct shape_field, n);
	for (size_t i = 0; i < n; i++)
		fields[i] = (struct shape_field){.value = random_value(a, 0)};
	return fields;
}

static int64_t random_number(void)
{
	static const int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT32_MIN, UINT32_MAX};
	if (random_to(3) == 0)
		return extremes[random_to(7)];
	return (int64_t)((random_to(1ull << 32) << 32 | random_to(1ull << 32)) >> random_to(64));
}

/** Bytes of any value, and pieces of what records are made of. */
static struct str random_text(struct arena *a)
{
	struct strbuf b = {0};
	for (size_t n = random_to(2) ? random_to(30) : 0; n; n--) {
		switch (random_to(8)) {
		case 0:
			strbuf_addz(&b, shapes.start);
			break;
		case 1:
			strbuf_addf(&b, "<%" PRIu64 ">", random_to(99));
			break;
		case 2:
			strbuf_addz(&b, "\n");
			break;
		case 3:
			strbuf_addf(&b, "%zu,;<>\n", (size_t)random_to(30));
			break;
		default:
			strbuf_addc(&b, (char)random_to(256));
		}
	}
	return strbuf_take(&b, a);
}

/** Prints a record as bpftrace does, by its format; @want gets what it is decoded to. */
static void print_random(struct arena *a, size_t number, struct strbuf *out, struct strbuf *want)
{
	struct strbuf format = {0};
	uint64_t key = (uint64_t)random_number() | (uint64_t)1 << 63;
	shape_write_format(&shapes, number, &format);
	strbuf_addf(want, "[%zu", number);
	for (const char *p = format.p; *p; p++) {
		int64_t v = random_number();
		if (str_has_prefix(str_from(p), STR("%ld"))) {
			strbuf_addf(out, "%" PRId64, v);
			strbuf_addf(want, " %" PRId64, v);
			p += 2;
		} else if (str_has_prefix(str_from(p), STR("%lu"))) {
			strbuf_addf(out, "%" PRIu64, key);
			p += 2;
		} else if (str_has_prefix(str_from(p), STR("%s"))) {
			struct str text = random_text(a);
			strbuf_adds(out, text);
			add_text(want, text);
			p++;
		} else if (str_has_prefix(str_from(p), STR("\\n"))) {
			strbuf_addc(out, '\n');
			p++;
		} else {
			strbuf_addc(out, *p);
		}
	}
	strbuf_addc(want, ']');
	strbuf_fini(&format);
}

/** What stands between records: nothing, a part of a line, lines, the beginning of a record. */
static void print_other(struct arena *a, struct strbuf *out, struct strbuf *want)
{
	static const char *const others[] = {"", "", "", "", "@x[1]: 2\n", "\n", "part ", "#"};
	size_t from = out->n, i = random_to(9);
	if (i < 8) {
		strbuf_addz(out, others[i]);
	} else {
		struct strbuf record = {0}, unused = {0};
		print_random(a, random_to(shapes.list.n), &record, &unused);
		struct str s = strbuf_str(&record);
		// With a text begun all would be taken for it that comes then.
		s.n = random_to(str_find(s, ';') < s.n ? str_find(s, ';') : s.n - 1);
		strbuf_adds(out, s);
		strbuf_addz(out, "x");
		strbuf_fini(&record);
		strbuf_fini(&unused);
	}
	strbuf_adds(want, str_from_offset(strbuf_str(out), from));
}

/** @n records; the number of rounds whose output was not as it has to be. */
static size_t round_trips(uint64_t seed, size_t n_shapes, size_t n)
{
	struct arena a = {0};
	struct strbuf out = {0}, want = {0}, got = {0};
	struct decoder d;
	state = seed;
	shapes_init(&shapes, &a, random_to(2));
	for (size_t i = 0; i < n_shapes; i++) {
		size_t n_fields = random_to(8);
		struct shape_field *fields = random_fields(&a, n_fields);
		struct str probe = random_to(2) ? STR("a:b") : STR("");
		vec_push(&a, &shapes.list,
			 (struct shape){.fields = fields, .n_fields = n_fields, .probe = probe});
	}
	for (size_t i = 0; i < n; i++) {
		print_other(&a, &out, &want);
		print_random(&a, random_to(n_shapes), &out, &want);
	}
	decode_init(&d, &shapes, &handler, &got);
	for (struct str s = strbuf_str(&out); s.n;) {
		struct str piece = str_slice(s, 0, 1 + random_to(1 + random_to(5000)));
		s = str_from_offset(s, piece.n);
		decode_add(&d, piece);
		if (random_to(3) == 0)
			decode_idle(&d);
	}
	decode_end(&d);
	bool same = str_eq(strbuf_str(&got), strbuf_str(&want));
	size_t n_events = 0;
	for (size_t i = 0; i < n_shapes; i++)
		n_events += shapes.list.v[i].n_events;
	decode_fini(&d);
	strbuf_fini(&out);
	strbuf_fini(&want);
	strbuf_fini(&got);
	arena_fini(&a);
	return !same || n_events != n;
}

int main(void)
{
	struct arena a = {0};
	test_forms(&a);
	test_formats(&a);
	test_broken();
	test_key(&a);
	test_counts(&a);
	test_sizes(&a);
	double few = time_for(&a, 20000), many = time_for(&a, 200000);
	ok(many < few * 40 + 0.1,
	   "a long record byte by byte takes no longer for each byte: %.4f "
	   "and %.4f s",
	   few, many);

	size_t n_bad = 0, seed;
	for (seed = 1; seed <= 100 && !n_bad; seed++)
		n_bad += round_trips(seed, 20, 100);
	ok(!n_bad, "10,000 random records of 2,000 random shapes come out as they went in (%zu)",
	   seed);
	arena_fini(&a);
	return done();
}
