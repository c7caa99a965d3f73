// libFuzzer entry: any bytes as what a program prints, through the whole writer. The first byte chooses text, JSON, -s and what
// stands in front of lines. Whatever comes, each line of JSON must be an object of UTF-8 without control characters, and
// -t must print nothing that a terminal acts on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctype int32 = {.kind = CTYPE_INT, .has_size = true, .size = 4, .is_signed = true};
static struct ctype uint64 = {.kind = CTYPE_INT, .has_size = true, .size = 8};
static struct ctype letter = {.kind = CTYPE_INT, .has_size = true, .size = 1, .is_char = true};
static struct ctype letters = {.kind = CTYPE_ARRAY, .of = &letter, .has_count = true, .count = 9};
static struct ctype pair = {.kind = CTYPE_ARRAY, .of = &int32, .has_count = true, .count = 2};
static struct enumtab_item items[] = {
    {.name = {"ONE", 3}, .text = {"ONE", 3}, .value = 1},
    {.name = {"TWO", 3}, .text = {"TWO", 3}, .value = 2},
};
static const struct enumtab names = {.size = 4, .items = items, .n_items = 2};

static struct value key_parts[] = {{.how = VALUE_TEXT}, {.type = &int32, .names = &names}};
static struct value tuple[] = {{.type = &uint64}, {.how = VALUE_TEXT}};
static struct map_shape maps[] = {
    {.name = {"@m", 2}, .keys = key_parts, .n_keys = 2, .value = {.type = &int32}},
    {.name = {"@t", 2}, .keys = key_parts, .n_keys = 1, .value = {.how = VALUE_TEXT}},
    {.name = {"@u", 2}, .value = {.how = VALUE_TUPLE, .parts = tuple, .n_parts = 2}},
    {.name = {"@h", 2}, .keys = key_parts + 1, .n_keys = 1},
    {.name = {"@a", 2}},
};

static struct value choice[] = {{.how = VALUE_LITERAL, .literal = {"a\n\"", 3}},
				{.how = VALUE_TEXT}};
static struct shape_field fields[] = {
    {.name = {"a", 1}, .as = {.letter = 'd', .bits = 32}, .value = {.type = &int32}},
    {.name = {"s", 1},
     .as = {.how = {"-5", 2}},
     .before = {" ", 1},
     .value = {.how = VALUE_STRING}},
    {.name = {"a", 1}, .as = {.letter = 'c', .bits = 8}, .value = {.type = &letter}},
    {.name = {"e", 1}, .value = {.type = &int32, .names = &names}},
    {.name = {"d", 1}, .value = {.type = &value_double}},
    {.name = {"t", 1}, .value = {.how = VALUE_TIME, .literal = {"%H:%f", 5}}},
    {.name = {"c", 1}, .value = {.how = VALUE_CHOICE, .parts = choice, .n_parts = 2}},
    {.name = {"g", 1}, .value = {.type = &letters, .n_bytes = 9}},
    {.name = {"i", 1}, .value = {.type = &pair, .n_bytes = 4}},
    {.name = {"h", 1}, .value = {.how = VALUE_HIDDEN}},
    {.name = {"b", 1}, .before = {"\n", 1}, .value = {.type = &value_bool}},
    {.name = {"p", 1}, .as = {.letter = 'p', .bits = 64}, .value = {.type = &value_address}},
};

static void add_shapes(struct arena *a, struct shapes *s, enum shape_style style)
{
	struct str end = STR("\n");
	bool is_list = style == SHAPE_LIST;
	// What -t lists are arguments: no choice between texts.
	choice[1].how = is_list ? VALUE_HIDDEN : VALUE_TEXT;
	vec_push(a, &s->list,
		 (struct shape){.style = style,
				.fields = fields,
				.n_fields = 1,
				.probe = {"p", 1},
				.after = end,
				.is_counted = true});
	vec_push(a, &s->list,
		 (struct shape){.style = style,
				.fields = fields + 1,
				.n_fields = 1,
				.after = is_list ? end : STR("")});
	vec_push(a, &s->list,
		 (struct shape){.style = style,
				.fields = fields + 2,
				.n_fields = 10,
				.after = end,
				.is_counted = true});
	vec_push(a, &s->list, (struct shape){.style = SHAPE_MARK, .probe = {"p", 1}});
	vec_push(a, &s->list, (struct shape){.style = SHAPE_MARK, .map = {"m", 1}});
}

static void fail(const char *what, struct str line)
{
	fprintf(stderr, "%s: " STR_FMT "\n", what, STR_ARG(line));
	abort();
}

/** Strings and brackets are closed, and commas are where they belong: json.t asks python for more. */
static void check_object(struct str line)
{
	bool in_string = false;
	char open[64];
	size_t depth = 0;
	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];
		if ((unsigned char)c < 32)
			fail("control character", line);
		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			open[depth++ % 64] = c == '{' ? '}' : ']';
		} else if (c == '}' || c == ']') {
			if (!depth || open[--depth % 64] != c)
				fail("bracket", line);
			if (!depth && i + 1 < line.n)
				fail("two objects", line);
		} else if (c == ',' && strchr("}],", line.p[i + 1])) {
			fail("comma", line);
		}
	}
	if (in_string || depth || !str_has_prefix(line, STR("{")) || !str_is_utf8(line))
		fail("no object", line);
}

static void check(const struct writer_config *c, struct str out)
{
	while (out.n) {
		struct str line = str_slice(out, 0, str_find(out, '\n'));
		out = str_from_offset(out, line.n + 1);
		if (c->json)
			check_object(line);
		for (size_t i = 0; c->head == WRITER_LIST && !c->json && i < line.n; i++)
			if ((unsigned char)line.p[i] < 32 || line.p[i] == 127)
				fail("control character", line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct str bytes = {(const char *)data, size};
	unsigned char how = size ? data[0] : 0;
	struct writer_config config = {.json = how & 1,
				       .sorts = how & 2,
				       .has_rounds = how & 4,
				       .head = (enum writer_head)(how >> 2 & 3),
				       .has_lost_lines = how & 16,
				       .has_percentiles = how & 32,
				       .max_keys = 2,
				       .limit = how & 32 ? 3 : 0,
				       .maps = maps,
				       .n_maps = how & 64 ? sizeof(maps) / sizeof(*maps) : 0,
				       .time = (enum writer_time)(how >> 7),
				       .render = {.longest = 4}};
	bool has_head = config.json || config.sorts || config.head != WRITER_BARE;
	struct shapes shapes = {.arena = &a, .has_head = has_head, .start = "@0<", .counts = "@c"};
	add_shapes(&a, &shapes, config.head == WRITER_LIST ? SHAPE_LIST : SHAPE_FORMAT);
	struct writer *w = writer_new(&config, &shapes);
	struct strbuf out = {0};
	for (size_t i = 1, n; i < bytes.n; i += n) {
		n = 1 + (size_t)data[i] % 64 * (data[i] % 5);
		writer_add(w, str_slice(bytes, i, n), &out);
		if (data[i] % 7 == 0)
			writer_idle(w, &out);
	}
	writer_end(w, &out);
	check(&config, strbuf_str(&out));
	strbuf_fini(&out);
	writer_free(w);
	arena_fini(&a);
	return 0;
}

#ifdef FUZZ_MUTATE
#include "cut.h"
#endif
