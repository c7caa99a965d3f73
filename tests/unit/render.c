/** render: conversions against C's printf(), doubles against strtod(), names, whole records. */
#include "record/render.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "tap.h"

#define FUNCTION "f(\"\x1b\")"
#include "fakenames.h"

// --- numbers and strings

static const int64_t values[] = {
    0,		 1,	    -1,		7,	    8,
    9,		 10,	    42,		-42,	    63,
    64,		 99,	    100,	127,	    128,
    -128,	 -129,	    255,	256,	    511,
    512,	 4095,	    4096,	32767,	    32768,
    -32768,	 -32769,    65535,	65536,	    1000000,
    INT32_MAX,	 INT32_MIN, UINT32_MAX, 0xdeadbeef, 1ll << 32,
    INT64_MAX,	 INT64_MIN, 077777,	'A',	    1234567890123456789,
    -1000000000,
};
enum { N_VALUES = sizeof(values) / sizeof(values[0]) };

/** What C's printf() makes of it, in @room. */
static struct str in_c(const char *how, char letter, unsigned bits, int64_t v, char *room, size_t n)
{
	char format[64];
	bool is_plain = letter == 'c' || letter == 'p';
	snprintf(format, sizeof(format), "%%%s%s%c", how,
		 is_plain     ? ""
		 : bits == 8  ? "hh"
		 : bits == 16 ? "h"
		 : bits == 32 ? ""
			      : "l",
		 letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	int len = is_plain && letter == 'p' ? snprintf(room, n, format, (void *)v)
		  : is_plain || bits < 64   ? snprintf(room, n, format, (int)v)
					    : snprintf(room, n, format, (long)v);
#pragma GCC diagnostic pop
	return (struct str){room, (size_t)len};
}

static size_t n_compared;

/** Says what differs; silent when equal. */
static bool agrees(const char *how, char letter, unsigned bits, int64_t v)
{
	char room[512];
	struct strbuf got = {0};
	strbuf_addz(&got, "<");
	render_number(str_from(how), letter, bits, v, &got);
	struct str want = in_c(how, letter, bits, v, room, sizeof(room));
	bool good = str_eq(str_from_offset(strbuf_str(&got), 1), want);
	if (!good) {
		printf("# %%%s %c of %u bits, %" PRId64 "\n", how, letter, bits, v);
		tap_show("got ", strbuf_str(&got));
		tap_show("want", want);
	}
	strbuf_fini(&got);
	n_compared++;
	return good;
}

static void test_conversions(void)
{
	static const char *const hows[] = {"",	   "5",	  "-5",	 "05",	 "+",	" ",	"#",
					   ".0",   ".1",  ".5",	 "12",	 "-12", "012",	"+12",
					   "-+12", " 12", "#12", "#012", "8.3", "-8.3", "08.3",
					   "#.0",  "#.3", "+.0", " 012", "+ 5", "20.19"};
	static const char letters[] = "diuxXo";
	static const unsigned widths[] = {8, 16, 32, 64};
	for (size_t l = 0; letters[l]; l++) {
		size_t n_bad = 0;
		for (size_t h = 0; h < sizeof(hows) / sizeof(hows[0]); h++)
			for (size_t w = 0; w < 4; w++)
				for (size_t i = 0; i < N_VALUES; i++)
					n_bad += !agrees(hows[h], letters[l], widths[w], values[i]);
		ok(!n_bad, "%%%c is C's with each flag, width and precision, of 8 to 64 bits",
		   letters[l]);
	}
	size_t n_bad = 0;
	for (size_t i = 0; i < N_VALUES; i++) {
		static const char *const of_c[] = {"", "1", "4", "-4"};
		for (size_t h = 0; h < 4; h++)
			n_bad += !agrees(of_c[h], 'c', 8, values[i]);
	}
	ok(!n_bad, "%%c is C's, byte 0 too");
	n_bad = 0;
	for (size_t i = 0; i < N_VALUES; i++) {
		static const char *const of_p[] = {"", "20", "-20", "3", ".20", "30.18"};
		for (size_t h = 0; h < sizeof(of_p) / sizeof(of_p[0]); h++)
			n_bad += !agrees(of_p[h], 'p', 64, values[i]);
	}
	ok(!n_bad, "%%p is C's");
}

static void test_random_conversions(void)
{
	static const unsigned widths[] = {8, 16, 32, 64};
	size_t n_bad = 0;
	n_compared = 0;
	srand(1);
	while (n_compared < 20000) {
		char how[32];
		size_t n = 0;
		for (int i = rand() % 4; i > 0; i--)
			how[n++] = "-+ #0"[rand() % 5];
		how[n] = '\0';
		if (rand() % 2)
			n += (size_t)sprintf(how + n, "%d", 1 + rand() % 30);
		if (rand() % 2)
			n += (size_t)sprintf(how + n, ".%d", rand() % 25);
		int64_t v =
		    rand() % 2
			? values[rand() % N_VALUES]
			: (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 2) >> rand() % 64;
		n_bad += !agrees(how, "diuxXo"[rand() % 6], widths[rand() % 4], v);
	}
	ok(!n_bad, "20000 combinations of flags, width, precision and letter are C's");
}

static void test_strings(void)
{
	static const char *const hows[] = {"",	 "1",  "8",   "-8",   "20",  "-20", ".0",
					   ".3", ".9", "8.2", "-8.2", "-.2", ".",   "100"};
	static const char *const texts[] = {"", "a", "abcdefgh", "abcdefghijklm",
					    "\xc3\xa9t\xc3\xa9"};
	size_t n_bad = 0;
	for (size_t h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
			char format[32], want[256];
			struct strbuf got = {0};
			snprintf(format, sizeof(format), "<%%%ss", hows[h]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(want, sizeof(want), format, texts[t]);
#pragma GCC diagnostic pop
			strbuf_addz(&got, "<");
			strbuf_addz(&got, texts[t]);
			render_lay_out(str_from(hows[h]), 1, &got);
			n_bad += !str_eqz(strbuf_str(&got), want);
			strbuf_fini(&got);
		}
	}
	ok(!n_bad, "%%s is C's with each flag, width and precision");
	struct strbuf b = {0};
	render_quoted(STR("a\"b\\c\n\t\x01\xff\xc3\xa9"), &b);
	is_str(strbuf_str(&b), STR("\"a\\\"b\\\\c\\n\\t\\x01\\xff\xc3\xa9\""),
	       "a quoted string has escapes for quotes, control bytes and what is not UTF-8");
	strbuf_clear(&b);
	render_number(STR("99999999999999999999"), 'd', 64, 1, &b);
	is_num((long long)b.n, 1 << 20, "a width beyond all measure is a megabyte");
	strbuf_fini(&b);
}

// --- doubles

static const char *double_text(struct strbuf *b, double v, bool is_single)
{
	strbuf_clear(b);
	render_real(v, is_single ? sizeof(float) : sizeof(double), b);
	return b->p;
}

static int count_digits(const char *text)
{
	int n = 0, zeros = 0;
	for (const char *p = text; *p && *p != 'e'; p++) {
		if (*p == '0')
			zeros += n > 0;
		else if (*p > '0' && *p <= '9')
			n += 1 + zeros, zeros = 0;
	}
	return n;
}

/** Reads back, and no text of fewer digits that printf() makes does. */
static bool is_shortest(struct strbuf *b, double v, bool is_single)
{
	const char *text = double_text(b, v, is_single);
	double back = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
	if (memcmp(&back, &v, sizeof(v)) != 0)
		return false;
	for (int n = 1; n < count_digits(text); n++) {
		char shorter[64];
		snprintf(shorter, sizeof(shorter), "%.*e", n - 1, v);
		if ((is_single ? (double)strtof(shorter, NULL) : strtod(shorter, NULL)) == v)
			return false;
	}
	return true;
}

static void test_doubles(void)
{
	static const struct {
		double v;
		const char *text;
	} known[] = {// as python 3's repr() has them, but for its ".0"
		     {9.99, "9.99"},
		     {0.1, "0.1"},
		     {-0.0, "-0"},
		     {0, "0"},
		     {2, "2"},
		     {-1.5, "-1.5"},
		     {1e15, "1000000000000000"},
		     {1e16, "1e+16"},
		     {123456789012345680, "1.2345678901234568e+17"},
		     {9007199254740993.0, "9007199254740992"},
		     {0.0001, "0.0001"},
		     {0.00001, "1e-05"},
		     {0.00012345, "0.00012345"},
		     {1.0 / 3, "0.3333333333333333"},
		     {100.25, "100.25"},
		     {5e-324, "5e-324"},
		     {DBL_MAX, "1.7976931348623157e+308"},
		     {DBL_MIN, "2.2250738585072014e-308"},
		     {INFINITY, "inf"},
		     {-INFINITY, "-inf"},
		     {(double)NAN, "nan"}};
	struct strbuf b = {0};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		is_str(str_from(double_text(&b, known[i].v, false)), str_from(known[i].text),
		       known[i].text);
	is_str(str_from(double_text(&b, -(double)NAN, false)), STR("-nan"), "-nan");
	is_str(str_from(double_text(&b, (double)0.1f, true)), STR("0.1"), "0.1 of a float");
	is_str(str_from(double_text(&b, (double)0.1f, false)), STR("0.10000000149011612"),
	       "the same as a double");
	is_str(str_from(double_text(&b, (double)16777216.0f, true)), STR("16777216"),
	       "an integer of a float");
	is_str(str_from(double_text(&b, (double)FLT_MAX, true)), STR("3.4028235e+38"),
	       "the largest float");
	is_str(str_from(double_text(&b, (double)1e-45f, true)), STR("1e-45"), "the smallest float");
	size_t n_bad = 0, n_bad_singles = 0;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
		uint32_t half = (uint32_t)bits;
		double v = (rand() % 2000001 - 1000000) / 100.0;
		float f;
		if (i % 2)
			memcpy(&v, &bits, sizeof(v));
		memcpy(&f, &half, sizeof(f));
		n_bad += isfinite(v) && !is_shortest(&b, v, false);
		n_bad_singles += isfinite(f) && !is_shortest(&b, (double)f, true);
	}
	ok(!n_bad, "random doubles read back, and shorter texts do not");
	ok(!n_bad_singles, "random floats, too");
	strbuf_fini(&b);
}

// --- enums

#define TABLE(items_, size_, sign)                                                                 \
	{                                                                                          \
		.items = (items_), .n_items = sizeof(items_) / sizeof((items_)[0]),                \
		.size = (size_), .is_signed = (sign)                                               \
	}
#define ITEM(name_, value_)                                                                        \
	{                                                                                          \
		.name = STR(name_), .text = STR(name_), .value = (value_)                          \
	}

static struct enumtab_item state_items[] = {ITEM("OFF", 0), ITEM("ON", 1), ITEM("STUCK", 2),
					    ITEM("BAD\n", -1)};
static struct enumtab_item flag_items[] = {ITEM("NONE", 0), ITEM("R", 1), ITEM("W", 2),
					   ITEM("X", 4), ITEM("TOP", INT32_MIN)};
static struct enumtab_item bit_items[] = {ITEM("LOW", 1), ITEM("HIGH", INT64_MIN)};
static struct enumtab_item pair_items[] = {ITEM("A", 1), ITEM("B", 2)};
static struct enumtab_item mask_items[] = {ITEM("A", 1), ITEM("B", 2), ITEM("C", 4), ITEM("AB", 3)};
static const struct enumtab states = TABLE(state_items, 4, true),
			    flags = TABLE(flag_items, 4, true), bits = TABLE(bit_items, 8, false),
			    pair = TABLE(pair_items, 4, false), mask = TABLE(mask_items, 4, false);

static void is_enum(const struct enumtab *t, int64_t value, const char *want, const char *claim)
{
	struct strbuf b = {0};
	render_enum(t, value, &b);
	is_str(strbuf_str(&b), str_from(want), claim);
	strbuf_fini(&b);
}

static void test_enums(void)
{
	is_enum(&states, 2, "STUCK", "an enumerator has its name");
	is_enum(&states, -1, "BAD\\x0a", "a name cannot move the cursor");
	is_enum(&states, UINT32_MAX, "BAD\\x0a", "a negative one is found however it was extended");
	is_enum(&states, 3, "3", "three states in a row are no flags");
	is_enum(&states, -7, "-7", "a number of a signed enum");
	is_enum(&flags, 0, "NONE", "flags: none of them has a name");
	is_enum(&flags, 5, "R|X", "flags: two");
	is_enum(&flags, 0x45, "R|X|0x40", "flags: a rest");
	is_enum(&flags, 0x40, "64", "flags: no known bit is a number");
	is_enum(&flags, -7, "-7", "flags: a negative number is one");
	is_enum(&flags, INT32_MIN, "TOP", "flags: the sign bit");
	is_enum(&bits, INT64_MIN + 1, "LOW|HIGH", "flags of 64 bits");
	is_enum(&bits, 2, "2", "a number of an unsigned enum");
	is_enum(&pair, 3, "3", "1 and 2 may be two states");
	is_enum(&mask, 6, "6", "an enum with other values than powers of two is none of flags");
	is_enum(&pair, -1, "4294967295", "an unsigned enum of 32 bits");
}

/** As many look-ups in an enum of @n names. */
static void look_up(void *ctx, size_t n)
{
	bool *good = ctx;
	struct arena a = {0};
	struct ctype t = {.kind = CTYPE_ENUM,
			  .size = 4,
			  .has_size = true,
			  .is_complete = true,
			  .n_values = (unsigned)n,
			  .name = STR("big")};
	t.values = arena_array(&a, struct ctype_value, t.n_values);
	for (size_t i = 0; i < n; i++)
		t.values[i] = (struct ctype_value){.name = str_printf(&a, "E%zu", i),
						   .value = (int64_t)i * 7};
	struct enumtab tab;
	*good &= enumtab_from_type(&a, &t, &tab);
	struct strbuf b = {0};
	for (size_t i = 0; i < 300000; i++) {
		strbuf_clear(&b);
		render_enum(&tab, (int64_t)(i % n) * 7, &b);
		*good &= b.n >= 2 && b.p[0] == 'E' && (size_t)atoi(b.p + 1) == i % n;
	}
	strbuf_fini(&b);
	arena_fini(&a);
}

static void test_many_names(void)
{
	bool good = true;
	double growth = tap_growth(look_up, &good, 500);
	ok(good, "each of 500 names, and of 2000, is found");
	ok(growth < 3,
	   "in four times as many names a look-up does not take three times as long (%.2f)",
	   growth);
}

// --- records

static struct codename names;

static void is_record(const struct shape *s, const int64_t *numbers, const struct str *texts,
		      const char *want, const char *claim)
{
	struct render how = {.names = &names, .longest = 8, .offset = 1000000000};
	struct shape shape = *s;
	struct record r = {.shape = &shape, .numbers = numbers, .texts = texts};
	struct strbuf b = {0};
	render_record(&how, &r, &b);
	is_str(strbuf_str(&b), str_from(want), claim);
	strbuf_fini(&b);
}

#define FIELDS(...)                                                                                \
	.fields = (struct shape_field[]){__VA_ARGS__},                                             \
	.n_fields = sizeof((struct shape_field[]){__VA_ARGS__}) / sizeof(struct shape_field)
#define FORMAT(before_, how_, letter_, ...)                                                        \
	{                                                                                          \
		.before = STR(before_), .as = {STR(how_), (letter_), 64}, .value = { __VA_ARGS__ } \
	}
#define LISTED(name_, ...)                                                                         \
	{                                                                                          \
		.name = STR(name_), .value = { __VA_ARGS__ }                                       \
	}
#define NUMBER .type = value_integer(64, true)
#define STATE .type = value_integer(32, true), .names = &states
static struct ctype bytes = {.kind = CTYPE_ARRAY, .of = &value_bool, .count = 4, .has_count = true};

static int64_t bits_of(double v)
{
	int64_t n;
	memcpy(&n, &v, sizeof(n));
	return n;
}

static int64_t bits_of_single(float v)
{
	int32_t n;
	memcpy(&n, &v, sizeof(n));
	return n;
}

static void test_formats(void)
{
	struct shape numbers = {FIELDS(FORMAT("a ", "5", 'd', NUMBER),
				       FORMAT(" b ", "-4", 'x', NUMBER),
				       FORMAT("|", "", 'c', .type = &value_char),
				       FORMAT(" ", "6", 's', .type = &value_bool),
				       FORMAT(" ", "", 'd', .type = &value_bool),
				       FORMAT(" ", "", 'p', .type = &value_address),
				       FORMAT(" ", "6", 's', .type = &value_address)),
				.after = STR(" end\n")};
	is_record(&numbers, (int64_t[]){-3, 255, 'Q', 1, 1, 0, 16}, NULL,
		  "a    -3 b ff  |Q   true 1 (nil)   0x10 end\n", "a format is filled in");
	struct shape named = {FIELDS(FORMAT("", "-8.2", 's', STATE), FORMAT("|", "", 'd', STATE),
				     FORMAT(" ", "4", 's', STATE),
				     FORMAT(" ", "", 's', .type = &value_code),
				     FORMAT(" ", "6", 's', .type = &value_code),
				     FORMAT(" ", "8", 's', .type = &value_double),
				     FORMAT(" ", "", 's', .type = &value_float))};
	is_record(&named, (int64_t[]){2, 2, 9, 77, 78, bits_of(9.99), bits_of_single(0.1f)}, NULL,
		  "ST      |2    9 f(\"\\x1b\")   0x4e     9.99 0.1",
		  "names, functions and doubles are laid out as strings");
	struct shape texts = {FIELDS(
	    FORMAT("<", "", 's', .how = VALUE_TEXT), FORMAT("> <", "-6", 's', .how = VALUE_STRING),
	    FORMAT("> <", "3", 's', .how = VALUE_STRING),
	    FORMAT("> ", ".1", 's', .how = VALUE_LITERAL, .literal = STR("lit")),
	    FORMAT(" ", "", 's', .how = VALUE_HIDDEN),
	    FORMAT(" ", "20", 's', .type = &bytes, .n_bytes = 12), FORMAT(" ", "", 'u', NUMBER))};
	is_record(&texts, (int64_t[]){99, 0, 5, 6, 7, -1},
		  (struct str[]){STR("a\nb\xff"), STR("text"), STR("")},
		  "<a\nb\xff> <text  > <   > l ?                {...} 18446744073709551615",
		  "texts are passed on byte by byte, a null string is empty");
	struct shape cut = {FIELDS(FORMAT("<", "", 's', .how = VALUE_TEXT, .can_be_cut = true),
				   FORMAT("> <", "10", 's', .how = VALUE_TEXT, .can_be_cut = true),
				   FORMAT("> <", ".7", 's', .how = VALUE_TEXT, .can_be_cut = true),
				   FORMAT("> <", "", 's', .how = VALUE_TEXT, .can_be_cut = true),
				   FORMAT("> <", "", 's', .how = VALUE_TEXT)),
			    .after = STR(">\n")};
	is_record(
	    &cut, NULL,
	    (struct str[]){STR("12345678"), STR("12345678"), STR("12345678"), STR("1234567"),
			   STR("123456789")},
	    "<12345678...> <  12345678...> <1234567> <1234567> <123456789>\n",
	    "dots follow a string that bpftrace may have cut, where all that it has is shown");
}

static void test_choices(void)
{
	struct value inner[] = {{STATE}, {.how = VALUE_LITERAL, .literal = STR("none")}};
	struct value outer[] = {{.how = VALUE_STRING},
				{.how = VALUE_CHOICE, .parts = inner, .n_parts = 2}};
	struct shape s = {
	    FIELDS(FORMAT("", "6", 's', .how = VALUE_CHOICE, .parts = outer, .n_parts = 2),
		   FORMAT(" ", "", 'd', NUMBER))};
	struct str texts[] = {STR("abc")};
	is_record(&s, (int64_t[]){1, 99, 1, 2, 42}, texts, "   abc 42", "a choice: yes");
	is_record(&s, (int64_t[]){0, 99, 1, 2, 42}, texts, " STUCK 42", "a choice in a choice");
	is_record(&s, (int64_t[]){0, 99, 0, 2, 42}, texts, "  none 42", "a choice of literals");
	s.style = SHAPE_MARK;
	is_record(&s, (int64_t[]){0, 99, 0, 2, 42}, texts, "", "a mark has no text");
}

static void test_list(void)
{
	struct shape s = {
	    .style = SHAPE_LIST,
	    FIELDS(LISTED("s", .how = VALUE_STRING), LISTED("null", .how = VALUE_STRING),
		   LISTED("long", .how = VALUE_STRING),
		   LISTED("i", .type = value_integer(16, true)),
		   LISTED("u", .type = value_integer(32, false)), LISTED("c", .type = &value_char),
		   LISTED("b", .type = &value_bool), LISTED("p", .type = &value_address),
		   LISTED("fn", .type = &value_code), LISTED("e", STATE),
		   LISTED("f", .type = &value_float), LISTED("x", .how = VALUE_HIDDEN),
		   LISTED("ustack", .how = VALUE_STACK))};
	is_record(
	    &s, (int64_t[]){1, 0, 1, 65535, -1, '\n', 256, 0, 77, UINT32_MAX, bits_of_single(2.5f)},
	    (struct str[]){STR("a\"\n"), STR(""), STR("12345678"),
			   STR("\n        f+1\n        main+16\n")},
	    " s=\"a\\\"\\n\" null=(null) long=\"12345678\"... i=-1 u=4294967295 c='\\n' b=false"
	    " p=0x0 fn=f(\"\\x1b\") e=BAD\\x0a f=2.5 x=?"
	    "\n        f+1\n        main+16\n",
	    "a list, as -t has it");
}

static void test_strings_in_files(void)
{
	struct shape s = {.style = SHAPE_LIST,
			  FIELDS(LISTED("a", .how = VALUE_STRING), LISTED("b", .how = VALUE_STRING),
				 LISTED("c", .how = VALUE_STRING), LISTED("d", .how = VALUE_STRING),
				 LISTED("e", .how = VALUE_STRING),
				 LISTED("n", .type = value_integer(64, false)))};
	s.fields[5].value.type = value_untyped(64);
	is_record(&s, (int64_t[]){0x5000, 0x5000, 0x6000, 1, 0x7000, 0},
		  (struct str[]){STR(""), STR("x"), STR(""), STR(""), STR("")},
		  " a=\"literal\" b=\"x\" c=? d=? e=\"\" n=0x0",
		  "what came as an empty string is a literal, or not known, or empty");
}

static void test_times(void)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	int64_t ns = INT64_C(1767225599) * 1000000000 + 123456789; // a second is added
	struct shape s = {FIELDS(
	    FORMAT("", "", 's', .how = VALUE_TIME, .literal = STR("%Y-%m-%d %H:%M:%S.%f %z %%f")),
	    FORMAT("|", "12", 's', .how = VALUE_TIME, .literal = STR("%H:%M:%S")),
	    FORMAT("|", "", 's', .how = VALUE_TIME, .literal = STR("")))};
	is_record(&s, (int64_t[]){ns, ns, ns}, NULL,
		  "2026-01-01 01:00:00.123456 +0100 %f|    01:00:00|",
		  "times are those of the clock on the wall, with microseconds");
	s.n_fields = 1;
	is_record(&s, (int64_t[]){-1000000001}, NULL, "1970-01-01 00:59:59.999999 +0100 %f",
		  "a time before all others");
}

int main(void)
{
	test_conversions();
	test_random_conversions();
	test_strings();
	test_doubles();
	test_enums();
	test_many_names();
	test_formats();
	test_choices();
	test_list();
	test_strings_in_files();
	test_times();
	return done();
}
