/** writer: what a program prints becomes text, text with heads, or JSON; lines of several records, of maps and of nobody. */
#include "record/writer.h"

#include <inttypes.h>

#include "tap.h"

static struct ctype int32 = {.kind = CTYPE_INT, .size = 4, .has_size = true, .is_signed = true};
static struct ctype int64 = {.kind = CTYPE_INT, .size = 8, .has_size = true, .is_signed = true};
static struct shape_field number[] = {
    {.name = {"n", 1},
     .before = {"n=", 2},
     .as = {.letter = 'd', .bits = 64},
     .value = {.type = &int64}},
};
static struct shape_field text[] = {{.name = {"s", 1}, .value = {.how = VALUE_TEXT}}};
static struct shape_field behind[] = {
    {.name = {"s", 1}, .before = {"\n", 1}, .value = {.how = VALUE_TEXT}},
};
static struct shape_field both[] = {
    {.name = {"n", 1}, .value = {.type = &int32}},
    {.name = {"s", 1}, .value = {.how = VALUE_STRING}},
};

enum {
	NUMBER,
	TEXT,
	TEXT_ONLY,
	TEXT_BEHIND,
	END,
	LIST,
	LIST_BARE,
	MARK_MAP,
	MARK_TEXT,
	ANY_PROBE,
	TIMER
};

static struct shape list[] = {
    [NUMBER] = {.probe = {"a:b", 3}, .fields = number, .n_fields = 1, .after = {"\n", 1}},
    [TEXT] = {.probe = {"a:b", 3}, .fields = text, .n_fields = 1, .after = {"\n", 1}},
    [TEXT_ONLY] = {.probe = {"a:b", 3}, .fields = text, .n_fields = 1},
    [TEXT_BEHIND] = {.probe = {"a:b", 3}, .fields = behind, .n_fields = 1},
    [END] = {.probe = {"a:b", 3}, .after = {"\n", 1}},
    [LIST] = {.style = SHAPE_LIST, .probe = {"a:c", 3}, .fields = both, .n_fields = 2},
    [LIST_BARE] = {.style = SHAPE_LIST, .probe = {"a:d", 3}},
    [MARK_MAP] = {.style = SHAPE_MARK, .probe = {"interval:s:1", 12}, .map = {"m", 1}},
    [MARK_TEXT] = {.style = SHAPE_MARK, .probe = {"a:e", 3}},
    [TIMER] = {.probe = {"i:s:1", 5}, .fields = text, .n_fields = 1, .after = {"\n", 1}},
    [ANY_PROBE] = {.fields = text, .n_fields = 1, .after = {"\n", 1}},
};

static struct map_shape maps[] = {{.name = {"@m", 2}}, {.name = {"@x", 2}}};

/** One run of a program, which prints what is added to `in`. */
struct run {
	struct arena arena;
	struct shapes shapes;
	struct writer_config config;
	struct strbuf in, out;
	uint64_t n_late, reported_lost;
	const char *probe; /**< of ANY_PROBE */
};

static struct run run = {.probe = "p:q"};

/** Midnight UTC, in ns since the machine was started. */
static int64_t midnight = INT64_C(10000000000);

static void begin(struct writer_config config)
{
	strbuf_clear(&run.in);
	strbuf_clear(&run.out);
	arena_fini(&run.arena);
	shapes_init(&run.shapes, &run.arena, true);
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		list[i].is_counted = true;
		vec_push(&run.arena, &run.shapes.list, list[i]);
	}
	run.config = config;
	run.config.maps = maps;
	run.config.n_maps = 2;
	run.config.render.offset = 1769817600000000000 - midnight; // 2026-01-31
}

/** What bpftrace prints itself. */
static void add(const char *lines)
{
	strbuf_addz(&run.in, lines);
}

/** A record, @ns after midnight, of thread @tid of process 7; of a text shape with @s, or numbers. */
static void record_at(int64_t ns, int cpu, int tid, int shape, const char *s)
{
	struct strbuf *b = &run.in;
	strbuf_addf(b, "%s%d,%" PRId64 ",%d,7,%d", run.shapes.start, shape, midnight + ns, cpu,
		    tid);
	if (shape == NUMBER)
		strbuf_addf(b, ",%s", s);
	if (shape == LIST)
		strbuf_addz(b, ",-1,4096");
	strbuf_addz(b, ";42;cpu \"1\"<42>");
	if (shape == ANY_PROBE)
		strbuf_addf(b, "%s<42>", run.probe);
	if (s && shape != NUMBER)
		strbuf_addf(b, "%s<42>", s);
	strbuf_addz(b, ">\n");
}

static void record(int tid, int shape, const char *s)
{
	record_at(1000, 3, tid, shape, s);
}

/** What comes out when it comes in pieces of @step bytes. */
static struct str write_all(size_t step)
{
	struct writer *w = writer_new(&run.config, &run.shapes);
	strbuf_clear(&run.out);
	for (size_t i = 0; i < run.shapes.list.n; i++)
		run.shapes.list.v[i].n_events = 0;
	for (size_t i = 0; i < run.in.n; i += step)
		writer_add(w, str_slice(strbuf_str(&run.in), i, step), &run.out);
	writer_end(w, &run.out);
	run.n_late = writer_result(w).n_late;
	run.reported_lost = writer_result(w).reported_lost;
	writer_free(w);
	return strbuf_str(&run.out);
}

static void gives(const char *want, const char *claim)
{
	bool same = true;
	for (size_t step = 1; step < 60; step += 3)
		same &= str_eq(write_all(step), str_from(want));
	is_str(write_all(run.in.n + 1), str_from(want), claim);
	if (!same)
		ok(same, "%s, in whatever pieces it comes", claim);
}

static const struct writer_config bare, timed = {.head = WRITER_TIME}, json = {.json = true},
					whole = {.head = WRITER_WHOLE},
					sorted = {.head = WRITER_WHOLE, .sorts = true};

static void check_bare(void)
{
	begin(bare);
	record(8, TEXT_ONLY, "a ");
	record(9, NUMBER, "5");
	add("\n\n@m[1]: 2\n\n");
	add("12:00:00 ");
	record(8, TEXT, "\xff@m\n\nx");
	record(8, TEXT_ONLY, "no end");
	gives("a n=5\n\n\n@m[1]: 2\n\n12:00:00 \xff@m\n\nx\nno end",
	      "bare text is what bpftrace would print");

	begin(bare);
	add("@m: 1\n\n");
	record(8, TEXT, "a");
	add("\n\n\n\n@m: 1\n\n\n@x: 2\n\n\n");
	gives("@m: 1\n\na\n\n\n\n\n@m: 1\n\n\n@x: 2\n", "empty lines between maps are bpftrace's");
	run.config.has_lost_lines = true;
	gives("@m: 1\n\na\n\n\n@m: 1\n\n@x: 2\n", "before 0.24 those of empty maps are dropped");

	struct writer *w = writer_new(&run.config, &run.shapes);
	strbuf_clear(&run.out);
	writer_add(w, STR("what a "), &run.out);
	ok(writer_is_holding(w) && !run.out.n, "the beginning of a line is held");
	writer_idle(w, &run.out);
	is_str(strbuf_str(&run.out), STR("what a "), "until there is nothing more for now");
	ok(!writer_is_holding(w), "then it is not");
	writer_add(w, STR("line\n"), &run.out);
	is_str(strbuf_str(&run.out), STR("what a line\n"), "and its end goes on where it began");
	writer_free(w);
}

static void check_lists(void)
{
	begin((struct writer_config){.head = WRITER_LIST});
	record(8, LIST, "a\n\"b");
	add("\n\nsaid \x1b[0m\n");
	record(9, LIST_BARE, NULL);
	gives("00:00:00.000001 cpu \"1\"[8] a:c n=-1 s=\"a\\n\\\"b\"\n"
	      "said \\x1b[0m\n"
	      "00:00:00.000001 cpu \"1\"[9] a:d\n",
	      "-t: a line for each event, with its time, thread and probe");
	run.config.time = WRITER_MONO;
	gives("10.000001 cpu \"1\"[8] a:c n=-1 s=\"a\\n\\\"b\"\n"
	      "said \\x1b[0m\n"
	      "10.000001 cpu \"1\"[9] a:d\n",
	      "with the time that was asked for");
	begin(json);
	record(8, LIST, "a\"b");
	gives("{\"time\": \"2026-01-31T00:00:00.000001000+00:00\", \"cpu\": 3, \"pid\": 7, "
	      "\"tid\": 8, "
	      "\"comm\": \"cpu \\\"1\\\"\", \"probe\": \"a:c\", \"text\": \"n=-1 "
	      "s=\\\"a\\\\\\\"b\\\"\", "
	      "\"fields\": {\"n\": -1, \"s\": \"a\\\"b\"}}\n",
	      "-t -f json has the same members as a script's records");
}

static void check_heads(void)
{
	begin(timed);
	record_at(1, 0, 8, NUMBER, "5");
	record_at(3723000000009, 0, 8, TEXT, "two\nlines");
	record_at(3723000000010, 0, 8, END, NULL);
	add("@m[1]: 2\n\n\n@x: 3\n");
	gives("00:00:00.000000001 n=5\n01:02:03.000000009 two\n01:02:03.000000009 lines\n"
	      "01:02:03.000000010 \n@m[1]: 2\n@x: 3\n",
	      "the time stands in front of each line of a record, and of no other");
	run.config.time = WRITER_MONO;
	gives("10.000000001 n=5\n3733.000000009 two\n3733.000000009 lines\n3733.000000010 \n"
	      "@m[1]: 2\n@x: 3\n",
	      "it may be that of the clock since the machine was started");
	run.config.time = WRITER_SINCE;
	gives("0.000000000 n=5\n3723.000000008 two\n3723.000000008 lines\n3723.000000009 \n"
	      "@m[1]: 2\n@x: 3\n",
	      "or since the first record");
	begin(timed);
	run.config.time = WRITER_SINCE;
	record_at(5000000000, 0, 8, END, NULL);
	record_at(3999999999, 1, 8, END, NULL);
	gives("0.000000000 \n-1.000000001 \n", "which another processor may precede");
	begin(whole);
	record_at(1, 127, 70000, NUMBER, "5");
	record_at(2, 1, 8, ANY_PROBE, "x");
	gives("00:00:00.000000001 [127] 7 70000 a:b: n=5\n00:00:00.000000002 [001] 7 8 p:q: x\n",
	      "with -s there are processor, process, thread and probe");
}

static void check_joining(void)
{
	begin(timed);
	record_at(1, 0, 8, TEXT_ONLY, "a ");
	record_at(2, 1, 9, TEXT_ONLY, "b ");
	record_at(3, 1, 8, TEXT, "elsewhere");
	record_at(4, 0, 8, TEXT_ONLY, "1\n2 ");
	record_at(5, 1, 9, END, NULL);
	record_at(6, 0, 8, NUMBER, "3");
	record_at(7, 0, 8, TEXT_ONLY, "no end");
	gives("00:00:00.000000003 elsewhere\n00:00:00.000000002 b \n"
	      "00:00:00.000000001 a 1\n00:00:00.000000001 2 n=3\n00:00:00.000000007 no end\n",
	      "what a thread prints on a processor is joined until its line ends, and has the time "
	      "of its beginning");
	begin(timed);
	record_at(1, 0, 8, TEXT_ONLY, "a ");
	record_at(2, 0, 8, TIMER, "t");
	record_at(3, 0, 8, TEXT, "b");
	gives("00:00:00.000000002 t\n00:00:00.000000001 a b\n",
	      "a timer that fires between two pieces has a line of its own");
	begin(timed);
	record_at(1, 0, 8, TEXT_BEHIND, "one");
	record_at(2, 0, 9, TEXT_BEHIND, "other");
	record_at(3, 0, 8, TEXT_BEHIND, "two");
	gives("00:00:00.000000001 \n00:00:00.000000001 one\n00:00:00.000000002 \n"
	      "00:00:00.000000002 other\n00:00:00.000000003 two\n",
	      "a newline in front ends the line before");

	begin(timed);
	char *longest = malloc(70001);
	memset(longest, 'x', 70000);
	longest[70000] = '\0';
	for (int i = 0; i < 70; i++) {
		struct str s = {longest, 1000};
		record_at(i, 0, 8, TEXT_ONLY, arena_strndup(&run.arena, s.p, s.n));
	}
	record(8, END, NULL);
	struct str got = write_all(4096);
	size_t n = str_find(got, '\n');
	ok(n > 65536 && n < 67000 && str_contains(got, STR("00:00:00.000000066 xxx")),
	   "a line that does not end is cut after 64 KiB (%zu)", n);
	free(longest);

	begin(timed);
	for (int i = 0; i < 300; i++)
		record_at(i, 0, i, TEXT_ONLY, "x");
	for (int i = 299; i >= 0; i--)
		record_at(300, 0, i, TEXT, "y");
	got = write_all(4096);
	ok(str_has_prefix(got, STR("00:00:00.000000000 x\n00:00:00.000000001 x\n")) &&
	       str_contains(got, STR("00:00:00.000000043 x\n00:00:00.000000299 xy\n")) &&
	       str_contains(got, STR("00:00:00.000000044 xy\n")),
	   "of 300 threads that have not ended their lines the oldest are ended for them");
}

#define HEAD(ns, tid)                                                                              \
	"{\"time\": \"2026-01-31T00:00:00." ns "+00:00\", \"cpu\": 3, \"pid\": 7, \"tid\": " tid   \
	", \"comm\": \"cpu \\\"1\\\"\", \"probe\": "

static void write_long_line(void *ctx, size_t n)
{
	struct str *out = ctx;
	begin(json);
	for (size_t i = 0; i < n; i++)
		record(1, TEXT_ONLY, "x");
	record(1, END, NULL);
	*out = write_all(SIZE_MAX);
}

/** A line of thousands of pieces: what is done for each must not grow with their number. */
static void check_long_lines(void)
{
	struct str out;
	double growth = tap_growth(write_long_line, &out, 1000);
	ok(str_contains(out, STR("\"s\": \"x\", \"s_2\": \"x\"")) &&
	       str_contains(out, STR("\"s_4000\": \"x\"}}")),
	   "of fields of one name each has a key of its own");
	ok(growth < 6, "and four times as many take at most six times as long (%.2f)", growth);
}

static void check_json(void)
{
	begin(json);
	record_at(1, 3, 8, TEXT, "a\nb\n");
	record_at(2, 3, 8, ANY_PROBE, "\xff");
	gives(HEAD("000000001", "8") "\"a:b\", \"text\": \"a\\u000ab\\u000a\", \"fields\": {\"s\": "
				     "\"a\\u000ab\\u000a\"}}\n" HEAD(
					 "000000002", "8") "\"p:q\", \"text\": {\"text\": "
							   "\"\xef\xbf\xbd\", \"hex\": \"ff\"}, "
							   "\"fields\": {\"s\": {\"text\": "
							   "\"\xef\xbf\xbd\", \"hex\": \"ff\"}}}\n",
	      "a record is an object, with all of its text but the last newline");
	begin(json);
	record_at(1, 3, 8, TEXT_ONLY, "x");
	record_at(2, 3, 9, NUMBER, "2");
	record_at(3, 3, 8, NUMBER, "3");
	gives(HEAD("000000002", "9") "\"a:b\", \"text\": \"n=2\", \"fields\": {\"n\": 2}}\n" HEAD(
		  "000000001",
		  "8") "\"a:b\", \"text\": \"xn=3\", \"fields\": {\"s\": \"x\", \"n\": 3}}\n",
	      "one of several records has the fields of all");
	begin(json);
	record_at(1, 3, 8, END, NULL);
	add("\n\nword\n\n");
	gives(HEAD("000000001",
		   "8") "\"a:b\", \"text\": \"\", \"fields\": {}}\n{\"text\": \"word\"}\n",
	      "a line that is no record is a text, an empty one is none");
	begin(json);
	record(8, NUMBER, "1");
	record(8, LIST, "s");
	size_t n = write_all(1000).n;
	strbuf_addf(&run.in, "\n\n%s[%d]: 3\n%s[%d]: 5\n%s[%d]: 2\n\n", run.shapes.counts, NUMBER,
		    run.shapes.counts, END, run.shapes.counts, LIST);
	is_str(str_from_offset(write_all(1000), n),
	       STR("{\"lost\": {\"total\": 8, \"a:b\": 7, \"a:c\": 1}}\n"),
	       "what was lost is said at the end, for each probe");
}

static void check_marks(void)
{
	begin(timed);
	record_at(1, 0, 8, MARK_MAP, NULL);
	add("@m[1]: 2\n@m[2]: 3\n\n");
	record_at(2, 1, 9, MARK_MAP, NULL);
	record_at(3, 2, 9, TEXT, "between");
	add("@m:\n[2, 4)  1 |@|\n\n");
	record_at(4, 0, 8, MARK_MAP, NULL);
	record_at(5, 0, 8, TEXT, "nothing in it");
	add("\n\n@x: 1\n\n@m: 1\n\n");
	gives("00:00:00.000000001 @m[1]: 2\n00:00:00.000000001 @m[2]: 3\n"
	      "00:00:00.000000003 between\n"
	      "00:00:00.000000002 @m:\n00:00:00.000000002 [2, 4)  1 |@|\n"
	      "00:00:00.000000005 nothing in it\n@x: 1\n@m: 1\n",
	      "a map that is printed has the time of its statement, at the end it has none");
	begin(timed);
	record_at(1, 0, 8, MARK_TEXT, NULL);
	add("12:00:00 ");
	record_at(2, 0, 8, TEXT, "x");
	record_at(3, 0, 9, MARK_TEXT, NULL);
	add("of a file\n");
	record_at(4, 1, 8, TEXT, "other");
	add("its second line\n");
	record_at(5, 0, 7, TEXT, "y");
	add("of nobody\n");
	gives("00:00:00.000000001 12:00:00 x\n00:00:00.000000003 of a file\n"
	      "00:00:00.000000004 other\n00:00:00.000000003 its second line\n"
	      "00:00:00.000000005 y\nof nobody\n",
	      "so has text that bpftrace prints for a statement, and it begins the thread's line");
	begin(json);
	record_at(1, 3, 8, MARK_TEXT, NULL);
	add("12:00:00 ");
	record_at(2, 3, 8, TEXT, "x");
	record_at(3, 3, 8, MARK_TEXT, NULL);
	add("word\n");
	gives(HEAD("000000001", "8") "\"a:e\", \"text\": \"12:00:00 x\", \"fields\": {\"s\": "
				     "\"x\"}}\n" HEAD("000000003",
						      "8") "\"a:e\", \"text\": \"word\"}\n",
	      "in JSON, too");
	begin(timed);
	record_at(1, 0, 8, MARK_TEXT, NULL);
	record_at(200000000, 1, 9, MARK_TEXT, NULL);
	add("of the second\n");
	record_at(200000001, 0, 8, MARK_TEXT, NULL);
	add("of one of them\n");
	gives("00:00:00.200000000 of the second\nof one of them\n",
	      "text has nobody's time when two processors print at once");
	begin(json);
	record_at(1, 3, 8, MARK_MAP, NULL);
	add("@m: 1\n\n");
	record_at(2, 3, 8, MARK_MAP, NULL);
	add("@m: 2\n\n\n\n@m: 3\n\n@x: 4\n\n");
	gives(HEAD("000000001", "8") "\"interval:s:1\", \"map\": \"@m\", \"entries\": [{\"value\": "
				     "1}]}\n" HEAD("000000002",
						   "8") "\"interval:s:1\", \"map\": \"@m\", "
							"\"entries\": [{\"value\": 2}]}\n"
							"{\"map\": \"@m\", \"entries\": "
							"[{\"value\": 3}]}\n{\"map\": \"@x\", "
							"\"entries\": [{\"value\": 4}]}\n",
	      "a map is an object each time it is printed");
}

/** What comes out when bpftrace waits for events for a while, after the first @n bytes. */
static struct str write_idling(size_t n)
{
	struct writer *w = writer_new(&run.config, &run.shapes);
	strbuf_clear(&run.out);
	writer_add(w, str_slice(strbuf_str(&run.in), 0, n), &run.out);
	ok(!run.out.n && writer_is_holding(w), "what an earlier line may precede is held");
	writer_idle(w, &run.out);
	writer_add(w, str_from_offset(strbuf_str(&run.in), n), &run.out);
	writer_end(w, &run.out);
	ok(!writer_is_holding(w), "at the end nothing is");
	run.n_late = writer_result(w).n_late;
	writer_free(w);
	return strbuf_str(&run.out);
}

static void check_sorting(void)
{
	begin(sorted);
	record_at(2000, 0, 8, NUMBER, "2");
	record_at(4000, 0, 8, NUMBER, "4");
	record_at(2000, 1, 9, NUMBER, "3");
	record_at(1000, 1, 9, NUMBER, "1");
	add("@x: 1\n");
	record_at(3000, 0, 8, MARK_MAP, NULL);
	add("@m: 1\n");
	record_at(5000, 0, 8, NUMBER, "5");
	gives("00:00:00.000001000 [001] 7 9 a:b: n=1\n00:00:00.000002000 [000] 7 8 a:b: n=2\n"
	      "00:00:00.000002000 [001] 7 9 a:b: n=3\n00:00:00.000003000 [000] 7 8 interval:s:1: "
	      "@m: 1\n"
	      "00:00:00.000004000 [000] 7 8 a:b: n=4\n@x: 1\n"
	      "00:00:00.000005000 [000] 7 8 a:b: n=5\n",
	      "-s: in the order of time; what has none stays behind what came before");

	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	int64_t was = midnight;
	midnight = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - 500000000;
	begin(sorted);
	record_at(2000, 0, 8, NUMBER, "1");
	record_at(600000000, 0, 8, NUMBER, "3");
	size_t n = run.in.n;
	record_at(1000, 1, 9, NUMBER, "0");
	record_at(500000000, 1, 9, NUMBER, "2");
	is_str(
	    write_idling(n),
	    STR("00:00:00.000002000 [000] 7 8 a:b: n=1\n00:00:00.000001000 [001] 7 9 late a:b: "
		"n=0\n"
		"00:00:00.500000000 [001] 7 9 a:b: n=2\n00:00:00.600000000 [000] 7 8 a:b: n=3\n"),
	    "while bpftrace waits, what is older than all that may come goes out; what is earlier "
	    "is late and says so");
	is_num((long long)run.n_late, 1, "and is counted");
	run.config.json = true;
	ok(str_contains(write_idling(n),
			STR("\"probe\": \"a:b\", \"late\": true, \"text\": \"n=0\"")),
	   "in JSON as well");
	run.config.json = false;
	run.config.head = WRITER_TIME;
	ok(str_contains(write_idling(n), STR("\n00:00:00.000001000 late n=0\n")),
	   "and behind a time");
	midnight = was;
}

/** What is kept reaches back from the first event that it is for, also while others wait to be sorted. */
static void check_triggers(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	int64_t was = midnight, ns = 0;
	midnight = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - 500000000;
	begin(sorted);
	run.config.trigger = "a:b";
	record_at(1000, 0, 8, TIMER, "x");
	record_at(2000, 0, 8, NUMBER, "1");
	record_at(500000000000, 0, 8, NUMBER, "2");
	record_at(600000000000, 0, 8, NUMBER, "3");
	struct writer *w = writer_new(&run.config, &run.shapes);
	strbuf_clear(&run.out);
	writer_add(w, strbuf_str(&run.in), &run.out);
	ok(!writer_next_trigger(w, &run.arena, &ns).n, "no trigger whose line is held");
	writer_idle(w, &run.out);
	is_str(writer_next_trigger(w, &run.arena, &ns), STR("a:b"), "one whose line is out");
	is_num((long long)(ns - midnight), 2000, "with its time");
	is_num((long long)(writer_newest(w) - midnight), 2000, "which is that of the newest line");
	ok(!writer_next_trigger(w, &run.arena, &ns).n, "others wait for their lines");
	writer_end(w, &run.out);
	is_str(writer_next_trigger(w, &run.arena, &ns), STR("a:b"), "... and are one");
	ok(ns - midnight >= 2000 && ns - midnight <= 500000000000,
	   "... that reaches back before the first of them");
	writer_free(w);
	midnight = was;
}

static void check_lost_lines(void)
{
	begin(bare);
	add("Lost 5 events\n");
	record(8, TEXT, "Lost 6 events");
	add("Lost 70 events\nLost x events\n");
	run.config.has_lost_lines = true;
	gives("Lost 6 events\nLost x events\n",
	      "what bpftrace says of loss is no data, what a script says is");
	is_num((long long)run.reported_lost, 75, "and counts");
	run.config.has_lost_lines = false;
	gives("Lost 5 events\nLost 6 events\nLost 70 events\nLost x events\n",
	      "newer ones do not say so among the data");
}

static void check_strings_of_maps(void)
{
	struct value integer = {.type = &int64}, string = {.how = VALUE_TEXT};
	struct map_shape known[] = {
	    {.name = {"@m", 2}, .keys = &integer, .n_keys = 1, .value = string},
	    {.name = {"@x", 2}, .keys = &integer, .n_keys = 1, .value = integer}};
	begin(bare);
	run.config.has_lost_lines = true;
	run.config.maps = known;
	add("Lost 5 events\n@x[1]: 2\nLost 6 events\n@m[1]: a\nLost 70 events\n@x[1]: 1\nLost 80 "
	    "events\n");
	record(8, TEXT, "b");
	add("Lost 900 events\n");
	gives("@x[1]: 2\n@m[1]: a\nLost 70 events\n@x[1]: 1\nLost 80 events\nb\n",
	      "a string in a map that says Lost 70 events is printed");
	is_num((long long)run.reported_lost, 911, "and is no loss");
}

static void check_probe_names(void)
{
	begin(whole);
	run.probe = "usdt:/proc/4/root/bin/p:spdk:state";
	record(8, ANY_PROBE, "x\n");
	run.probe = "uretprobe:/bin/p:ns::f";
	record(9, ANY_PROBE, "y\n");
	run.probe = "p:q";
	gives("00:00:00.000001000 [003] 7 8 spdk:state: x\n"
	      "00:00:00.000001000 [003] 7 9 uretprobe:ns::f: y\n",
	      "of a clause for several probes each has its name, without the path");
}

static void check_hostile_probe(void)
{
	begin(whole);
	run.probe = "uprobe:/a\033[2J\nb";
	record(8, ANY_PROBE, "x");
	run.probe = "p:q";
	gives("00:00:00.000001000 [003] 7 8 uprobe:/a\\x1b[2J\\x0ab: x\n",
	      "a probe's name does nothing to the terminal");
}

static void check_waiting_maps(void)
{
	begin(json);
	struct writer *w = writer_new(&run.config, &run.shapes);
	strbuf_clear(&run.out);
	writer_add(w, STR("@m[1]: 2\n@m[2]: 3\n"), &run.out);
	ok(writer_is_holding(w) && !run.out.n, "a map may have more entries");
	writer_idle(w, &run.out);
	is_str(strbuf_str(&run.out),
	       STR("{\"map\": \"@m\", \"entries\": [{\"key\": [1], \"value\": 2}, {\"key\": [2], "
		   "\"value\": 3}]}\n"),
	       "not when there is nothing more for now");
	ok(!writer_is_holding(w), "then nothing is held");
	writer_free(w);

	begin((struct writer_config){.json = true, .has_lost_lines = true});
	add("@m[a\nLost 5 events\nb]: 1\n");
	gives("{\"map\": \"@m\", \"entries\": [{\"key\": [\"a\\u000aLost 5 events\\u000ab\"], "
	      "\"value\": 1}]}\n",
	      "what a key says is no loss");
	is_num((long long)run.reported_lost, 0, "and is not counted");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	check_bare();
	check_lists();
	check_heads();
	check_joining();
	check_json();
	check_long_lines();
	check_waiting_maps();
	check_strings_of_maps();
	check_probe_names();
	check_hostile_probe();
	check_marks();
	check_sorting();
	check_triggers();
	check_lost_lines();
	strbuf_fini(&run.in);
	strbuf_fini(&run.out);
	arena_fini(&run.arena);
	return done();
}
