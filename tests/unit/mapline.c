/**
 * mapline: maps as bpftrace 0.17, 0.23 and 0.27 print them come out as JSON, and what cannot be told
 * apart in the text is not told apart. The texts are what these versions printed, shortened.
 */
#include "record/mapline.h"

#include "tap.h"

#define FUNCTION "f(int, \"\x1b\")"
#include "fakenames.h"

static struct enumtab_item items[] = {
    {.text = {"OFF", 3}}, {.text = {"ON", 2}, .value = 1}, {.text = {"BAD", 3}, .value = -1}};
static const struct enumtab states = {.size = 4, .is_signed = true, .items = items, .n_items = 3};

static struct ctype int64 = {.kind = CTYPE_INT, .size = 8, .has_size = true, .is_signed = true};
static struct ctype uint64 = {.kind = CTYPE_INT, .size = 8, .has_size = true};
#define NUMBER                                                                                     \
	{                                                                                          \
		.type = &int64                                                                     \
	}
#define TEXT                                                                                       \
	{                                                                                          \
		.how = VALUE_TEXT                                                                  \
	}
#define UNSIGNED                                                                                   \
	{                                                                                          \
		.type = &uint64                                                                    \
	}
#define ADDRESS                                                                                    \
	{                                                                                          \
		.type = &value_address                                                             \
	}
#define VARIABLE                                                                                   \
	{                                                                                          \
		.type = &value_address, .has_variable = true                                       \
	}
#define ANY                                                                                        \
	{                                                                                          \
		.how = VALUE_PLAIN                                                                 \
	}
#define RAISED                                                                                     \
	{                                                                                          \
		.type = &int64, .shift = VALUE_RAISED                                              \
	}
#define MIRRORED                                                                                   \
	{                                                                                          \
		.type = &int64, .shift = VALUE_MIRRORED                                            \
	}
#define AVERAGE                                                                                    \
	{                                                                                          \
		.shift = VALUE_AVERAGE                                                             \
	}
#define CODE                                                                                       \
	{                                                                                          \
		.type = &value_code                                                                \
	}
#define ENUM                                                                                       \
	{                                                                                          \
		.type = &int64, .names = &states                                                   \
	}
#define TUPLE(parts_)                                                                              \
	{                                                                                          \
		.how = VALUE_TUPLE, .parts = parts_, .n_parts = sizeof(parts_) / sizeof(parts_[0]) \
	}
#define MAP(z, keys_, ...)                                                                         \
	{                                                                                          \
		.name = {z, sizeof(z) - 1}, .keys = keys_,                                         \
		.n_keys = sizeof(keys_) / sizeof(keys_[0]), .value = __VA_ARGS__                   \
	}
#define SCALAR(z, ...)                                                                             \
	{                                                                                          \
		.name = {z, sizeof(z) - 1}, .value = __VA_ARGS__                                   \
	}

static struct value number[] = {NUMBER}, text[] = {TEXT}, any[] = {ANY}, code[] = {CODE},
		    number_text[] = {NUMBER, TEXT}, texts[] = {TEXT, TEXT},
		    text_number_text[] = {TEXT, NUMBER, TEXT}, any_number[] = {ANY, NUMBER},
		    enum_code[] = {ENUM, CODE}, enum_text[] = {ENUM, TEXT},
		    inner[] = {NUMBER, TEXT}, outer[] = {NUMBER, TUPLE(inner)},
		    nested[] = {TUPLE(outer), NUMBER}, pair[] = {TUPLE(number_text)},
		    numbers[] = {NUMBER, NUMBER}, address[] = {ADDRESS},
		    variable_text[] = {VARIABLE, TEXT};
static const struct map_shape maps[] = {
    SCALAR("@", NUMBER),
    SCALAR("@n", NUMBER),
    SCALAR("@s", TEXT),
    SCALAR("@x", ANY),
    SCALAR("@u", UNSIGNED),
    SCALAR("@a", ADDRESS),
    SCALAR("@fn", CODE),
    SCALAR("@st", ENUM),
    SCALAR("@tup", TUPLE(outer)),
    MAP("@kn", number, NUMBER),
    MAP("@kt", text, NUMBER),
    MAP("@ks", text, TEXT),
    MAP("@kns", number, TEXT),
    MAP("@knt", number_text, NUMBER),
    MAP("@ktt", texts, NUMBER),
    MAP("@ktnt", text_number_text, NUMBER),
    MAP("@kx", any, ANY),
    MAP("@kxn", any_number, NUMBER),
    MAP("@kec", enum_code, ENUM),
    MAP("@kets", enum_text, TEXT),
    MAP("@kc", code, ANY),
    MAP("@knest", nested, NUMBER),
    MAP("@kpair", pair, NUMBER),
    MAP("@knn", numbers, ANY),
    MAP("@ka", address, ANY),
    MAP("@kvt", variable_text, ADDRESS),
    SCALAR("@unknown", ANY),
    SCALAR("@max", RAISED),
    MAP("@kmin", texts, MIRRORED),
    MAP("@kavg", number, AVERAGE),
};

/** A line of JSON for each map, and TEXT: for each line of something else. */
static struct str read_maps(struct arena *a, const char *z)
{
	struct mapline *m = mapline_new(maps, sizeof(maps) / sizeof(maps[0]));
	struct codename *names = arena_new(a, struct codename);
	struct render how = {.names = names};
	struct strbuf out = {0};
	struct str rest = str_from(z);
	for (bool more = true, is_open = false; more;) {
		struct str line = str_slice(rest, 0, str_find(rest, '\n'));
		more = rest.n > 0;
		if (more && mapline_add(m, line)) {
			rest = str_from_offset(rest, line.n + 1);
			is_open = true;
			continue;
		}
		if (is_open) {
			struct json j = {.out = &out};
			mapline_json(m, &how, &j);
			strbuf_addc(&out, '\n');
			is_open = false;
			continue;
		}
		rest = str_from_offset(rest, line.n + 1);
		if (line.n)
			strbuf_addf(&out, "TEXT: " STR_FMT "\n", STR_ARG(line));
	}
	mapline_free(m);
	return strbuf_take(&out, a);
}

static struct str read_name(struct arena *a, const char *line)
{
	struct mapline *m = mapline_new(maps, sizeof(maps) / sizeof(maps[0]));
	struct render how = {.names = arena_new(a, struct codename)};
	struct strbuf out = {0};
	mapline_name(m, &how, str_from(line), &out);
	mapline_free(m);
	return strbuf_take(&out, a);
}

struct test {
	const char *claim, *text, *json;
};

#define BAR "|@@@@@@@@@@@@@@                                      |\n"
#define ENTRY(map, entry) "\"map\": \"" map "\", \"entries\": [{" entry "}]\n"

static const struct test plain[] = {
    {"a number", "@n: 5\n", ENTRY("@n", "\"value\": 5")},
    {"a negative one, of the map without a name", "@: -7\n", ENTRY("@", "\"value\": -7")},
    {"2^53 - 1 is a number", "@n: 9007199254740991\n", ENTRY("@n", "\"value\": 9007199254740991")},
    {"2^53 is a string", "@n: 9007199254740992\n", ENTRY("@n", "\"value\": \"9007199254740992\"")},
    {"the largest", "@n: 18446744073709551615\n",
     ENTRY("@n", "\"value\": \"18446744073709551615\"")},
    {"the least", "@n: -9223372036854775808\n", ENTRY("@n", "\"value\": \"-9223372036854775808\"")},
    {"max() that has been kept as x + 2^62",
     "@max: 4611686018427387899\n@max: 4611686018427387904\n",
     ENTRY("@max", "\"value\": -5") ENTRY("@max", "\"value\": 0")},
    {"the largest and least of those", "@max: 9223372036854775806\n@max: 2\n",
     ENTRY("@max", "\"value\": \"4611686018427387902\"")
	 ENTRY("@max", "\"value\": \"-4611686018427387902\"")},
    {"what is more, what is less, and what zero() leaves",
     "@max: 9223372036854775807\n@max: 1\n@max: 0\n",
     ENTRY("@max", "\"value\": \">= 4611686018427387903\"")
	 ENTRY("@max", "\"value\": \"<= -4611686018427387903\"") ENTRY("@max", "\"value\": 0")},
    {"a bool of 0.27", "@n: true\n", ENTRY("@n", "\"value\": true")},
    {"an address", "@n: 0x1000\n", ENTRY("@n", "\"value\": \"0x1000\"")},
    {"0.17 prints an unsigned number as a signed one", "@u: -1\n",
     ENTRY("@u", "\"value\": \"18446744073709551615\"")},
    {"an address is one, whatever prints it", "@a: 4096\n@a: 0x1000\n@a: 0\n",
     ENTRY("@a", "\"value\": \"0x1000\"") ENTRY("@a", "\"value\": \"0x1000\"")
	 ENTRY("@a", "\"value\": null")},
    {"a string that looks like a number", "@s: 17\n", ENTRY("@s", "\"value\": \"17\"")},
    {"what looks like a number, and nobody knows", "@x: 17\n", ENTRY("@x", "\"value\": 17")},
    {"no number", "@x: 017\n", ENTRY("@x", "\"value\": \"017\"")},
    {"a string of several lines, an empty one among them", "@s: two\n\nlines\n@n: 1\n",
     ENTRY("@s", "\"value\": \"two\\u000a\\u000alines\"") ENTRY("@n", "\"value\": 1")},
    {"an empty string", "@s: \n", ENTRY("@s", "\"value\": \"\"")},
    {"a string that is not UTF-8", "@s: \xff\xc3\xa9\n",
     ENTRY("@s", "\"value\": {\"text\": \"\xef\xbf\xbd\xc3\xa9\", \"hex\": \"ffc3a9\"}")},
    {"a string that is like a histogram", "@s: \n[2, 4)                 1 " BAR,
     ENTRY("@s", "\"value\": \"\\u000a[2, 4)                 1 "
		 "|@@@@@@@@@@@@@@                                      |\"")},
    {"stats before 0.24", "@x: count 2, average 4, total 8\n\n",
     ENTRY("@x", "\"stats\": {\"count\": 2, \"average\": 4, \"total\": 8}")},
    {"and since", "@x: { .count = 1, .average = -6, .total = -6 }\n",
     ENTRY("@x", "\"stats\": {\"count\": 1, \"average\": -6, \"total\": -6}")},
    {"a stack is its frames", "@x: \n        main+16\n        f(int, char)+3\n\n@n: 1\n",
     ENTRY("@x", "\"value\": [\"main+16\", \"f(int, char)+3\"]") ENTRY("@n", "\"value\": 1")},
    {"a function, and what is none", "@fn: 77\n@fn: 78\n@fn: 0\n",
     ENTRY("@fn", "\"value\": \"f(int, \\\"\\u001b\\\")\"") ENTRY("@fn", "\"value\": \"0x4e\"")
	 ENTRY("@fn", "\"value\": null")},
    {"an enumerator, a negative one that is read unsigned, and what is none",
     "@st: 1\n@st: 4294967295\n@st: 7\n",
     ENTRY("@st", "\"value\": {\"name\": \"ON\", \"value\": 1}")
	 ENTRY("@st", "\"value\": {\"name\": \"BAD\", \"value\": -1}")
	     ENTRY("@st", "\"value\": {\"name\": null, \"value\": 7}")},
    {"a tuple in a tuple, a comma in its text", "@tup: (1, (2, a, b))\n",
     ENTRY("@tup", "\"value\": [1, [2, \"a, b\"]]")},
    {"a tuple that nobody knows", "@x: (1, two)\n", ENTRY("@x", "\"value\": \"(1, two)\"")},
    {"a record of 0.27", "@x: { .a = 1, .b = x }\n",
     ENTRY("@x", "\"value\": \"{ .a = 1, .b = x }\"")},
};

static const struct test keyed[] = {
    {"a string ends in a newline, where another follows", "@kns[1]: a\n\n@kns[2]: b\n\n",
     ENTRY("@kns", "\"key\": [1], \"value\": \"a\\u000a\"}, {\"key\": [2], \"value\": \"b\"")},
    {"several entries are one map's", "@kn[1]: 2\n@kn[-3]: 4\n",
     ENTRY("@kn", "\"key\": [1], \"value\": 2}, {\"key\": [-3], \"value\": 4")},
    {"empty lines between them, too", "\n\n@kn[1]: 2\n\n@kn[2]: 4\n\n@n: 0\n",
     ENTRY("@kn", "\"key\": [1], \"value\": 2}, {\"key\": [2], \"value\": 4")
	 ENTRY("@n", "\"value\": 0")},
    {"a key that looks like a number, and is none", "@kt[5]: 1\n",
     ENTRY("@kt", "\"key\": [\"5\"], \"value\": 1")},
    {"an empty key", "@kt[]: 1\n", ENTRY("@kt", "\"key\": [\"\"], \"value\": 1")},
    {"one key with a comma", "@kt[a, b]: 1\n", ENTRY("@kt", "\"key\": [\"a, b\"], \"value\": 1")},
    {"min() that has been kept as 2^62 - x, of two keys",
     "@kmin[a, 1]: 1\n@kmin[b, 4611686018427387909]: 4611686018427387909\n"
     "@kmin[, ]: 9223372036854775807\n",
     ENTRY("@kmin", "\"key\": [\"a\", \"1\"], \"value\": \">= 4611686018427387903\"}, "
		    "{\"key\": [\"b\", \"4611686018427387909\"], \"value\": -5}, "
		    "{\"key\": [\"\", \"\"], \"value\": \"<= -4611686018427387903\"")},
    {"averages of unsigned numbers", "@kavg[1]: count 2, average -1, total -2\n@kavg[2]: -1\n",
     ENTRY(
	 "@kavg",
	 "\"key\": [1], \"stats\": {\"count\": 2, \"average\": \"9223372036854775807\", \"total\": "
	 "\"18446744073709551614\"}}, {\"key\": [2], \"value\": \"overflow\"")},
    {"one with newlines", "@kt[a\n\nb]: 1\n",
     ENTRY("@kt", "\"key\": [\"a\\u000a\\u000ab\"], \"value\": 1")},
    {"one that has the end of a key in it", "@kt[x]: 3]: 2\n@kt[x]: 3\ny]: 2\n",
     ENTRY("@kt",
	   "\"key\": [\"x]: 3\"], \"value\": 2}, {\"key\": [\"x]: 3\\u000ay\"], \"value\": 2")},
    {"one that has another map's line in it", "@kt[a\n@n: 4\nb]: 1\n",
     ENTRY("@kt", "\"key\": [\"a\\u000a@n: 4\\u000ab\"], \"value\": 1")},
    {"a number and a text with commas", "@knt[1, a, b]: 3\n",
     ENTRY("@knt", "\"key\": [1, \"a, b\"], \"value\": 3")},
    {"an empty text", "@knt[1, ]: 3\n", ENTRY("@knt", "\"key\": [1, \"\"], \"value\": 3")},
    {"two texts without commas", "@ktt[a, b]: 3\n",
     ENTRY("@ktt", "\"key\": [\"a\", \"b\"], \"value\": 3")},
    {"two texts with a comma are not split", "@ktt[a, b, c]: 3\n",
     ENTRY("@ktt", "\"key\": [\"a, b, c\"], \"unsplit\": true, \"value\": 3")},
    {"a number between texts splits them", "@ktnt[a, b, 5, c]: 3\n",
     ENTRY("@ktnt", "\"key\": [\"a, b\", 5, \"c\"], \"value\": 3")},
    {"two numbers between them do not", "@ktnt[a, 5, 6, c]: 3\n",
     ENTRY("@ktnt", "\"key\": [\"a, 5, 6, c\"], \"unsplit\": true, \"value\": 3")},
    {"a number's key ends at its end, whatever the value has", "@kns[1]: x]: 2\n",
     ENTRY("@kns", "\"key\": [1], \"value\": \"x]: 2\"")},
    {"a text's key and value may not be told apart", "@ks[a]: b]: c\n",
     ENTRY("@ks", "\"key\": [\"a]: b\"], \"unsplit\": true, \"value\": \"c\"")},
    {"a key that is not known", "@unknown[5]: 2\n",
     ENTRY("@unknown", "\"key\": [5], \"value\": 2")},
    {"one with a comma", "@unknown[1, a]: 2\n",
     ENTRY("@unknown", "\"key\": [\"1, a\"], \"unsplit\": true, \"value\": 2")},
    {"a stack as a key, as 0.17 has it", "@kxn[\n    main+16\n    f(int, char)+3\n, 5]: 1\n",
     ENTRY("@kxn", "\"key\": [[\"main+16\", \"f(int, char)+3\"], 5], \"value\": 1")},
    {"an enumerator and a function", "@kec[1, 77]: 0\n@kec[7, 78]: 9\n",
     ENTRY("@kec",
	   "\"key\": [\"ON\", \"f(int, \\\"\\u001b\\\")\"], \"value\": {\"name\": \"OFF\", "
	   "\"value\": 0}}, {\"key\": [7, \"0x4e\"], \"value\": {\"name\": null, \"value\": 9}")},
    {"an enumerator that bpftrace has named", "@kec[ON, 78]: 0\n",
     ENTRY("@kec", "\"key\": [\"ON\", \"0x4e\"], \"value\": {\"name\": \"OFF\", \"value\": 0}")},
    {"a variable, and the inside of one, whose name is not UTF-8",
     "@kvt[24576, a, b]: 0\n@kvt[0x6010, ]: 0\n",
     ENTRY("@kvt", "\"key\": [\"lock\", \"a, b\"], \"value\": null}, {\"key\": [{\"text\": "
		   "\"a\xef\xbf\xbd+16\", "
		   "\"hex\": \"61ff2b3136\"}, \"\"], \"value\": null")},
    {"what is none, a value, and an address that is not to be named",
     "@kvt[24577, a]: 24576\n@ka[24576]: 1\n",
     ENTRY("@kvt", "\"key\": [\"0x6001\", \"a\"], \"value\": \"0x6000\"")
	 ENTRY("@ka", "\"key\": [\"0x6000\"], \"value\": 1")},
    {"a tuple in a key", "@knest[(1, (2, a), b)), 4]: 1\n",
     ENTRY("@knest", "\"key\": [[1, [2, \"a), b\"]], 4], \"value\": 1")},
    {"a key that is a tuple", "@kpair[1, b]: 4\n",
     ENTRY("@kpair", "\"key\": [1, \"b\"], \"value\": 4")},
};

static const struct test buckets[] = {
    {"a histogram",
     "@x:\n(..., 0)               1 " BAR "[0]                    2 " BAR
     "[1]                    0 " BAR "[2, 4)                 3 " BAR "[64K, 128K)            4 " BAR
     "\n@n: 1\n",
     ENTRY("@x", "\"histogram\": [{\"min\": null, \"max\": -1, \"count\": 1}, "
		 "{\"min\": 0, \"max\": 0, \"count\": 2}, {\"min\": 1, \"max\": 1, \"count\": 0}, "
		 "{\"min\": 2, \"max\": 3, \"count\": 3}, "
		 "{\"min\": 65536, \"max\": 131071, \"count\": 4}]") ENTRY("@n", "\"value\": 1")},
    {"large ones",
     "@x:\n[512G, 1T)             1 " BAR "[4E, 8E)               1 " BAR
     "[8E, 16E)              1 " BAR,
     ENTRY("@x",
	   "\"histogram\": [{\"min\": 549755813888, \"max\": 1099511627775, \"count\": 1}, "
	   "{\"min\": \"4611686018427387904\", \"max\": \"9223372036854775807\", \"count\": 1}, "
	   "{\"min\": \"9223372036854775808\", \"max\": \"18446744073709551615\", \"count\": 1}]")},
    {"0.17 has a blank in front, and puts all that is large into one bucket",
     "@x: \n[1G, 2G)               1 " BAR "[2G, 4G)               3 " BAR,
     ENTRY("@x", "\"histogram\": [{\"min\": 1073741824, \"max\": 2147483647, \"count\": 1}, "
		 "{\"min\": 2147483648, \"max\": null, \"count\": 3}]")},
    {"of 0.23 the same bucket ends", "@x:\n[2G, 4G)               3 " BAR,
     ENTRY("@x", "\"histogram\": [{\"min\": 2147483648, \"max\": 4294967295, \"count\": 3}]")},
    {"a linear one",
     "@x:\n(..., -5)              1 " BAR "[-5, 0)                1 " BAR
     "[1000000, 2000000)12345678 " BAR "[5K, ...)              7 " BAR,
     ENTRY("@x", "\"histogram\": [{\"min\": null, \"max\": -6, \"count\": 1}, "
		 "{\"min\": -5, \"max\": -1, \"count\": 1}, "
		 "{\"min\": 1000000, \"max\": 1999999, \"count\": 12345678}, "
		 "{\"min\": 5120, \"max\": null, \"count\": 7}]")},
    {"histograms of one map, the key of several lines",
     "@kx[a\nb]:\n[1]                    1 " BAR "\n@kx[read]:\n[4, 8)                 2 " BAR
     "\nbye\n",
     ENTRY(
	 "@kx",
	 "\"key\": [\"a\\u000ab\"], \"histogram\": [{\"min\": 1, \"max\": 1, \"count\": 1}]}, "
	 "{\"key\": [\"read\"], \"histogram\": [{\"min\": 4, \"max\": 7, \"count\": 2}]") "TEXT: "
											  "bye\n"},
    {"a function whose name is not UTF-8", "@kec[1, 79]: 0\n",
     ENTRY("@kec", "\"key\": [\"ON\", {\"text\": \"a\xef\xbf\xbd\", \"hex\": \"61ff\"}], "
		   "\"value\": {\"name\": \"OFF\", \"value\": 0}")},
    {"one whose key is a function", "@kc[77]:\n[1]                    1 " BAR,
     ENTRY("@kc",
	   "\"key\": [\"f(int, \\\"\\u001b\\\")\"], \"histogram\": [{\"min\": 1, \"max\": 1, "
	   "\"count\": 1}]")},
    {"one that was cleared", "@x:\n\n@n: 1\n",
     ENTRY("@x", "\"histogram\": []") ENTRY("@n", "\"value\": 1")},
    {"a time series",
     "@x:\n         3                 9\nhh:mm:ss |_________________|\n15:10:09 *                 "
     "| 3\n"
     "15:10:10 |                 |\n15:10:11 |                 * 18446744073709551615\n"
     "         v_________________v\n         3                 9\n\n",
     ENTRY("@x",
	   "\"series\": [{\"time\": \"15:10:09\", \"value\": 3}, {\"time\": \"15:10:10\", "
	   "\"value\": null}, {\"time\": \"15:10:11\", \"value\": \"18446744073709551615\"}]")},
    {"one with a key and nanoseconds",
     "@knn[1, -2]:\n                   -98                -96\nhh:mm:ss.ns        |__________|\n"
     "15:10:10.900000000 |    *     | -97\n                   v__________v\n                   -98 "
     "  -96\n",
     ENTRY("@knn",
	   "\"key\": [1, -2], \"series\": [{\"time\": \"15:10:10.900000000\", \"value\": -97}]")},
};

static const struct test others[] = {
    {"a map that the script does not have", "@other: 5\n@n5: 6\n@n 7\n",
     "TEXT: @other: 5\nTEXT: @n5: 6\nTEXT: @n 7\n"},
    {"text behind a map", "@n: 5\nhello\n", ENTRY("@n", "\"value\": 5") "TEXT: hello\n"},
    {"a scalar that is printed twice is two", "@n: 5\n@n: 6\n",
     ENTRY("@n", "\"value\": 5") ENTRY("@n", "\"value\": 6")},
    {"text behind a keyed map", "@kt[a]: 5\nhello\n",
     ENTRY("@kt", "\"key\": [\"a\"], \"value\": 5") "TEXT: hello\n"},
    {"what is no bucket ends a histogram", "@x:\n[1]                    1 " BAR "[2] x\n",
     ENTRY("@x", "\"histogram\": [{\"min\": 1, \"max\": 1, \"count\": 1}]") "TEXT: [2] x\n"},
    {"a key that never ends", "@kt[abc",
     ENTRY("@kt", "\"key\": [\"abc\"], \"unsplit\": true, \"value\": \"\"")},
};

static const struct test named[] = {
    {"a line of no names stays", "@kn[77]: 1", "@kn[77]: 1"},
    {"a function and an enumerator", "@kec[1, 77]: -1", "@kec[ON, f(int, \"\\x1b\")]: BAD"},
    {"an enumerator before a text that may be two", "@kets[1, a]: b]: c", "@kets[ON, a]: b]: c"},
    {"what has no name stays", "@kec[7, 78]: 9", "@kec[7, 78]: 9"},
    {"a variable", "@kvt[24576, a]: 24576", "@kvt[lock, a]: 24576"},
    {"in hexadecimal", "@kvt[0x6000, a]: 0", "@kvt[lock, a]: 0"},
    {"the inside of one, with a control byte in its name", "@kvt[24592, a]: 0",
     "@kvt[a\\xff+16, a]: 0"},
    {"what is none stays as bpftrace has it", "@kvt[24577, a]: 0", "@kvt[24577, a]: 0"},
    {"... in hexadecimal, too", "@kvt[0x6001, a]: 0", "@kvt[0x6001, a]: 0"},
    {"an address that is not to be named", "@ka[24576]: 1", "@ka[24576]: 1"},
    {"in front of a histogram", "@kc[77]:", "@kc[f(int, \"\\x1b\")]:"},
    {"a value", "@fn: 77", "@fn: f(int, \"\\x1b\")"},
    {"max() as it was", "@max: 4611686018427387899", "@max: -5"},
    {"max() of a number that is too large", "@max: 9223372036854775807",
     "@max: >= 4611686018427387903"},
    {"min() beside its keys", "@kmin[4611686018427387899, a]: 4611686018427387899",
     "@kmin[4611686018427387899, a]: 5"},
    {"stats() of unsigned numbers, divided as signed ones",
     "@kavg[-1]: count 2, average -1, total -2",
     "@kavg[-1]: count 2, average 9223372036854775807, total 18446744073709551614"},
    {"avg() of them, of which nobody knows the count", "@kavg[-1]: -1", "@kavg[-1]: overflow"},
    {"one that is right", "@kavg[-1]: 7", "@kavg[-1]: 7"},
    {"another map's", "@kecx[1, 77]: 1", "@kecx[1, 77]: 1"},
    {"a key that is not whole", "@kec[1, 77", "@kec[1, 77"},
};

static void run(struct arena *a, const struct test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is_str(read_maps(a, tests[i].text), str_from(tests[i].json), tests[i].claim);
}

// --- random entries

static unsigned random_state = 1;

static unsigned random_below(unsigned n)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 16) % n;
}

/** Of what is around keys and values; too short to be an end of one entry and the start of another. */
static struct str random_text(struct arena *a)
{
	static const char *const pieces[] = {
	    "a", "5", ", ", "]", ": ", "]: ", "\n", "@n", "(", ")", "["};
	struct strbuf b = {0};
	for (unsigned n = random_below(4); n; n--)
		strbuf_addz(&b, pieces[random_below(sizeof(pieces) / sizeof(pieces[0]))]);
	strbuf_addz(&b, random_below(3) ? "" : "x");
	return strbuf_take(&b, a);
}

/** Adds a random part as bpftrace prints it, and as it is in JSON. */
static void add_part(struct arena *a, const struct value *part, bool is_outer, struct strbuf *out,
		     struct json *j, const char *key)
{
	struct str s = random_text(a);
	if (value_is_integer(part)) {
		int n = (int)random_below(20) - 5;
		strbuf_addf(out, "%d", n);
		json_printf(j, key, "%d", n);
	} else if (part->how == VALUE_TEXT) {
		// docs/records.md says what cannot be told: these.
		while (key && str_has_suffix(s, STR("\n")))
			s.n--;
		if (key && str_contains(s, STR("\n@n")))
			s.n = 0;
		strbuf_adds(out, s);
		json_str(j, key, s);
	} else {
		strbuf_addz(out, is_outer ? "" : "(");
		if (!is_outer)
			json_open(j, key, '[');
		for (size_t i = 0; i < part->n_parts; i++) {
			strbuf_addz(out, i ? ", " : "");
			add_part(a, &part->parts[i], false, out, j, NULL);
		}
		if (!is_outer)
			json_close(j, ']');
		strbuf_addz(out, is_outer ? "" : ")");
	}
}

static void add_random_map(struct arena *a, const struct map_shape *map, struct strbuf *out,
			   struct json *j)
{
	json_str(j, "map", map->name);
	json_open(j, "entries", '[');
	for (unsigned n = 1 + random_below(3); n; n--) {
		strbuf_adds(out, map->name);
		strbuf_addc(out, '[');
		json_open(j, NULL, '{');
		json_open(j, "key", '[');
		struct value keys = {
		    .how = VALUE_TUPLE, .parts = map->keys, .n_parts = map->n_keys};
		add_part(a, map->n_keys == 1 ? map->keys : &keys, true, out, j, NULL);
		json_close(j, ']');
		strbuf_addz(out, "]: ");
		add_part(a, &map->value, false, out, j, "value");
		json_close(j, '}');
		strbuf_addc(out, '\n');
	}
	json_close(j, ']');
}

/** Is it in JSON as it is in text? */
static bool is_exact(const struct value *v)
{
	return (v->how != VALUE_PLAIN || v->type) && !v->names && !v->shift;
}

static void test_random(struct arena *a)
{
	unsigned n_exact = 0, n_unsplit = 0, n_wrong = 0;
	for (unsigned i = 0; i < 50000; i++) {
		const struct map_shape *map = &maps[random_below(sizeof(maps) / sizeof(maps[0]))];
		bool is_fit = map->n_keys && is_exact(&map->value);
		for (size_t k = 0; k < map->n_keys; k++)
			is_fit &= is_exact(&map->keys[k]);
		if (!is_fit)
			continue;
		struct strbuf printed = {0}, want = {0};
		struct json j = {.out = &want};
		add_random_map(a, map, &printed, &j);
		strbuf_addc(&want, '\n');
		struct str got = read_maps(a, printed.p);
		bool is_same = str_eq(got, strbuf_str(&want)),
		     is_said = str_contains(got, STR("\"unsplit\": true"));
		n_exact += is_same && !is_said;
		n_unsplit += is_said;
		if (!is_same && !is_said && n_wrong++ < 3)
			printf("# %s# %s# " STR_FMT, printed.p, want.p, STR_ARG(got));
		strbuf_fini(&printed);
		strbuf_fini(&want);
	}
	ok(!n_wrong, "random entries are read as they were, or said to be unsplit");
	ok(n_exact > n_unsplit, "most are read (%u, not %u)", n_exact, n_unsplit);
}

/** What never ends, and ends over and over, @n times. */
static void read_endless(void *ctx, size_t n)
{
	bool *good = ctx;
	struct arena a = {0};
	struct strbuf b = {0};
	strbuf_addz(&b, "@ks[");
	for (size_t i = 0; i < n; i++)
		strbuf_addz(&b, "]: , ]: \n");
	*good &= read_maps(&a, b.p).n > b.n;
	strbuf_fini(&b);
	arena_fini(&a);
}

static void test_endless(void)
{
	bool good = true;
	double growth = tap_growth(read_endless, &good, 25000);
	ok(good && growth < 6,
	   "four times as many ends of a key take at most six times as long (%.2f)", growth);
}

#define RUN(tests) run(&a, tests, sizeof(tests) / sizeof(tests[0]))

int main(void)
{
	struct arena a = {0};
	RUN(plain);
	RUN(keyed);
	RUN(buckets);
	RUN(others);
	test_random(&a);
	test_endless();
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		is_str(read_name(&a, named[i].text), str_from(named[i].json), named[i].claim);
	arena_fini(&a);
	return done();
}
