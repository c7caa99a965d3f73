/**
 * fieldjson: values of each kind as JSON. `fieldjson.t random SEED N` prints N random records as the
 * writer makes JSON of them, each behind what it was made of: tests/cli/records.py compares the two.
 */
#include "record/render.h"

#include <inttypes.h>

#include "record/writer.h"
#include "tap.h"

#define FUNCTION "f(\"\x1b\")"
#include "fakenames.h"

static struct enumtab_item state_items[] = {{.text = {"OFF", 3}},
					    {.text = {"ON", 2}, .value = 1},
					    {.text = {"BAD", 3}, .value = -1},
					    {.text = {"ns::LOW", 7}, .value = INT32_MIN}};
static struct enumtab_item flag_items[] = {{.text = {"A", 1}, .value = 1},
					   {.text = {"B", 1}, .value = 2},
					   {.text = {"TOP", 3}, .value = INT64_MIN}};
static const struct enumtab states = {
    .size = 4, .is_signed = true, .items = state_items, .n_items = 4};
static const struct enumtab flags = {.size = 8, .items = flag_items, .n_items = 3};

/** The JSON of one record of one field, without what is around its value. */
static struct str shown(struct arena *a, struct value v, int64_t number, struct str text)
{
	struct strbuf out = {0};
	struct json j = {.out = &out};
	struct render how = {.names = arena_new(a, struct codename)};
	struct shape_field f = {.name = STR("x"), .value = v};
	struct shape shape = {.fields = &f, .n_fields = 1};
	shape_make_keys(a, &shape);
	render_record_json(
	    &how, &(struct record){.shape = &shape, .numbers = &number, .texts = &text}, &j);
	struct str all = strbuf_take(&out, a), before = STR("\"fields\": {\"x\": ");
	return str_slice(all, before.n, all.n - before.n - 1);
}

static void is_number(struct arena *a, struct ctype *t, int64_t number, const char *want,
		      const char *claim)
{
	is_str(shown(a, (struct value){.type = t}, number, (struct str){0}), str_from(want), claim);
}

static void is_text(struct arena *a, enum value_how how, struct str text, const char *want,
		    const char *claim)
{
	is_str(shown(a, (struct value){.how = how}, 4096, text), str_from(want), claim);
}

/** What random records do not have: their numbers, enumerators and texts are python's to judge. */
static void test_values(struct arena *a)
{
	is_number(a, &value_code, 77, "\"f(\\\"\\u001b\\\")\"", "a function");
	is_number(a, &value_code, 78, "\"0x4e\"", "one without a name");
	is_number(a, &value_code, 79, "{\"text\": \"a\xef\xbf\xbd\", \"hex\": \"61ff\"}",
		  "one whose name is not UTF-8: programs write their perf maps themselves");
	is_number(a, &value_code, 0, "null", "none");
	is_number(a, &value_double, INT64_MIN, "-0.0", "the sign of 0 stays");
	is_text(a, VALUE_STRING, STR(""), "\"\"", "an empty string");
	is_str(shown(a, (struct value){.how = VALUE_STRING}, 0, STR("")), STR("null"),
	       "a null string");
	is_str(shown(a, (struct value){.how = VALUE_STRING}, 0x5000, STR("")), STR("\"literal\""),
	       "a string whose page was not in memory");
	is_str(shown(a, (struct value){.how = VALUE_STRING}, 0x6000, STR("")), STR(""),
	       "one that is not known is omitted");
	is_text(a, VALUE_LITERAL, STR(""), "\"\"", "a literal");
	struct value hour = {.how = VALUE_TIME, .literal = {"%Y", 2}};
	is_str(shown(a, hour, INT64_C(86400000000000) * 400, (struct str){0}), STR("\"1971\""),
	       "a time");
}

static void test_records(struct arena *a)
{
	struct value inner[] = {{.how = VALUE_STRING}, {.how = VALUE_HIDDEN}};
	struct value outer[] = {{.how = VALUE_CHOICE, .parts = inner, .n_parts = 2},
				{.how = VALUE_STRING}};
	struct ctype *u64 = value_integer(64, false);
	struct shape_field fields[] = {
	    {.name = {"a", 1}, .value = {.how = VALUE_TEXT, .can_be_cut = true}},
	    {.name = {"c\xff", 2}, .value = {.how = VALUE_CHOICE, .parts = outer, .n_parts = 2}},
	    {.name = {"a", 1}, .value = {.how = VALUE_TEXT}},
	    {.name = {"a_2", 3}, .value = {.type = u64}},
	    {.name = {"a", 1}, .value = {.how = VALUE_HIDDEN}},
	    {.name = {"a", 1}, .value = {.type = u64}},
	};
	struct shape shape = {.fields = fields, .n_fields = sizeof(fields) / sizeof(fields[0])};
	int64_t numbers[] = {0, 1, 0, 4096, 1, 2};
	struct str texts[] = {STR("abc"), STR("yes"), STR("no"), STR("stack")};
	struct record r = {.shape = &shape, .numbers = numbers, .texts = texts};
	struct render how = {.longest = 3};
	struct strbuf out = {0};
	struct json j = {.out = &out};
	shape_make_keys(a, &shape);
	render_record_json(&how, &r, &j);
	is_str(
	    strbuf_str(&out),
	    STR("\"fields\": {\"a\": \"abc\", \"c\xef\xbf\xbd\": \"no\", \"a_3\": \"stack\", "
		"\"a_2\": 1, \"a_5\": 2}, \"cut\": [\"a\"]"),
	    "names that are taken get numbers; a choice is what was chosen; long strings are cut");
	numbers[0] = numbers[1] = numbers[2] = 1;
	how.longest = 0;
	strbuf_clear(&out);
	j.needs_comma = false;
	render_record_json(&how, &r, &j);
	is_str(strbuf_str(&out),
	       STR("\"fields\": {\"a\": \"abc\", \"c\xef\xbf\xbd\": \"yes\", \"a_3\": \"stack\", "
		   "\"a_2\": 1, \"a_5\": 2}"),
	       "a choice in a choice; nothing is cut where the length is not known");
	numbers[1] = 0;
	strbuf_clear(&out);
	j.needs_comma = false;
	render_record_json(&how, &r, &j);
	ok(!str_contains(strbuf_str(&out), STR("\"c")), "what cannot be read is omitted");
	strbuf_fini(&out);
	(void)a;
}

// --- random records

static uint64_t random_state;

/** xorshift64* */
static uint64_t random_bits(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t random_below(size_t n)
{
	return (size_t)(random_bits() >> 16) % n;
}

/** Small ones, those around powers of two, and any. */
static int64_t random_number(void)
{
	uint64_t power = UINT64_C(1) << random_below(64);
	uint64_t near = power - 2 + random_below(4);
	switch (random_below(4)) {
	case 0:
		return (int64_t)random_below(6) - 2;
	case 1:
		return (int64_t)near;
	case 2:
		return (int64_t)(0 - near);
	default:
		return (int64_t)random_bits();
	}
}

enum { LONGEST = 60 };

static struct str random_text(struct arena *a)
{
	size_t n = random_below(LONGEST + 1);
	bool is_ascii = random_below(2);
	char *p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(1 + random_below(is_ascii ? 127 : 255));
	return (struct str){p, n};
}

/** With a text of every byte among them. */
static struct str every_byte(struct arena *a)
{
	char *p = arena_alloc(a, 255);
	for (size_t i = 0; i < 255; i++)
		p[i] = (char)(i + 1);
	return (struct str){p, 255};
}

/** What tests/cli/records.py calls it. */
enum kind { NUMBER, CHAR, BOOL, ADDRESS, ENUM, FLOAT, DOUBLE, TEXT, STRING, HIDDEN, CHOICE };

static struct value random_value(struct arena *a, bool is_inner)
{
	struct value v = {0};
	unsigned bits = 8u << random_below(4);
	switch ((enum kind)random_below(is_inner ? CHOICE : CHOICE + 1)) {
	case NUMBER:
		v.type = value_integer(bits, random_below(2));
		break;
	case CHAR:
		v.type = &value_char;
		break;
	case BOOL:
		v.type = &value_bool;
		break;
	case ADDRESS:
		v.type = &value_address;
		break;
	case ENUM:
		v.names = random_below(2) ? &states : &flags;
		v.type = value_integer(v.names->size * 8, v.names->is_signed);
		break;
	case FLOAT:
		v.type = &value_float;
		break;
	case DOUBLE:
		v.type = &value_double;
		break;
	case TEXT:
		v.how = VALUE_TEXT;
		v.can_be_cut = true;
		break;
	case STRING:
		v.how = VALUE_STRING;
		break;
	case HIDDEN:
		v.how = VALUE_HIDDEN;
		break;
	case CHOICE:
		v = (struct value){.how = VALUE_CHOICE, .n_parts = 2};
		v.parts = arena_array(a, struct value, 2);
		v.parts[0] = random_value(a, true);
		v.parts[1] = random_value(a, true);
		break;
	}
	return v;
}

static enum kind kind_of(const struct value *v)
{
	return v->how == VALUE_TEXT	   ? TEXT
	       : v->how == VALUE_STRING	   ? STRING
	       : v->how == VALUE_HIDDEN	   ? HIDDEN
	       : v->names		   ? ENUM
	       : v->type == &value_char	   ? CHAR
	       : v->type == &value_bool	   ? BOOL
	       : v->type == &value_address ? ADDRESS
	       : v->type == &value_float   ? FLOAT
	       : v->type == &value_double  ? DOUBLE
					   : NUMBER;
}

static struct shape_field random_field(struct arena *a)
{
	static const struct str names[] = {STR("a"), STR("b"), STR("a_2"), STR("pid / 2"),
					   STR("\"\\\n\xc3\xa9")};
	struct value v = random_value(a, false);
	return (struct shape_field){
	    .name = names[random_below(5)],
	    .as = {.letter = v.type && kind_of(&v) == NUMBER ? 'd' : 's', .bits = 64},
	    .value = v};
}

static struct shape random_shape(struct arena *a)
{
	struct shape s = {.probe = STR("a:b"), .after = STR("\n"), .n_fields = random_below(9)};
	s.fields = arena_array(a, struct shape_field, s.n_fields + 1);
	for (size_t i = 0; i < s.n_fields; i++)
		s.fields[i] = random_field(a);
	return s;
}

/** What is sent of a record. */
struct sent {
	struct strbuf numbers, texts;
};

static void print_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		printf("%02x", (unsigned char)s.p[i]);
}

static int64_t send_number(struct sent *to)
{
	int64_t v = random_number();
	strbuf_addf(&to->numbers, ",%" PRId64, v);
	return v;
}

static struct str send_text(struct arena *a, struct sent *to)
{
	struct str s = random_below(40) ? random_text(a) : every_byte(a);
	strbuf_adds(&to->texts, s);
	strbuf_addz(&to->texts, "<42>");
	return s;
}

/** Sends a random value of @f, and says what it is unless it @is_hidden. */
static void send_field(struct arena *a, const struct value *f, struct sent *to, bool is_hidden)
{
	int64_t v = 0;
	struct str s = {0};
	if (f->how == VALUE_CHOICE) {
		v = send_number(to);
		send_field(a, &f->parts[0], to, is_hidden || !v);
		send_field(a, &f->parts[1], to, is_hidden || v);
		return;
	}
	if (f->how != VALUE_TEXT && f->how != VALUE_HIDDEN)
		v = send_number(to);
	if (f->how == VALUE_STRING || f->how == VALUE_TEXT)
		s = send_text(a, to);
	if (is_hidden)
		return;
	printf("%d %d %d %d %" PRId64 " ", kind_of(f), f->type ? (int)f->type->size * 8 : 0,
	       f->type && f->type->is_signed, f->names == &flags, v);
	print_text(s);
	putchar('\n');
}

static void print_random(struct arena *a, size_t n)
{
	struct shapes shapes;
	struct strbuf out = {0};
	struct writer_config config = {.json = true, .render = {.longest = LONGEST}};
	shapes_init(&shapes, a, true);
	for (size_t i = 0; i < n; i++)
		vec_push(a, &shapes.list, random_shape(a));
	struct writer *w = writer_new(&config, &shapes);
	for (size_t i = 0; i < n; i++) {
		struct sent sent = {0};
		const struct shape *s = &shapes.list.v[i];
		int64_t ns = (int64_t)(random_bits() >> 3);
		printf("record %" PRId64 " %zu\n", ns, s->n_fields);
		for (size_t k = 0; k < s->n_fields; k++) {
			print_text(s->fields[k].name);
			putchar(' ');
			send_field(a, &s->fields[k].value, &sent, false);
		}
		struct str comm = random_text(a);
		print_text(comm);
		putchar('\n');
		struct str start = str_printf(a, "%s%zu,%" PRId64 ",3,7,8", shapes.start, i, ns);
		struct str head = str_printf(a, ";42;" STR_FMT "<42>", STR_ARG(comm));
		writer_add(w, start, &out);
		writer_add(w, strbuf_str(&sent.numbers), &out);
		writer_add(w, head, &out);
		writer_add(w, strbuf_str(&sent.texts), &out);
		writer_add(w, STR(">\n"), &out);
		printf(STR_FMT, STR_ARG(strbuf_str(&out)));
		strbuf_clear(&out);
		strbuf_fini(&sent.numbers);
		strbuf_fini(&sent.texts);
	}
	writer_end(w, &out);
	printf(STR_FMT, STR_ARG(strbuf_str(&out)));
	writer_free(w);
	strbuf_fini(&out);
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	if (argc == 4 && !strcmp(argv[1], "random")) {
		random_state = strtoull(argv[2], NULL, 10) * 2 + 1;
		print_random(&a, (size_t)atoi(argv[3]));
		arena_fini(&a);
		return 0;
	}
	setenv("TZ", "UTC", 1);
	test_values(&a);
	test_records(&a);
	arena_fini(&a);
	return done();
}
