#include "record/mapline.h"

#include "value/show.h"

struct mapline {
	struct arena arena;
	struct map_known *maps;
	size_t n;
	const struct map_known *open; // NULL: none
	struct strbuf text;	      // its lines, each with its newline
	VEC(size_t) starts;	      // of its entries: where they begin in the text

	// Of the last entry, as far as it has come:
	unsigned n_open_lines; // so many lines may still tell more
	bool is_whole;	       // its key has an end
	bool is_number;	       // so is its value
	bool has_value;
	bool is_parted; // the last line was empty
	enum map_form form;

	// Of the stack in a key that is shown as text:
	const struct value *stack; // NULL: this is none
	int64_t stack_numbers[2];
	const struct map_known *stack_of;
	size_t after_stack;   // the column
	struct strbuf frames; // that have come
	struct strbuf part;   // lines of an entry that is shown as text, up to the last of its key
};

/** One that is larger is written in several pieces; an entry that is larger is none. */
enum { MAX_TEXT = 64 << 20, MAX_ENTRY = 1 << 16 };

static bool is_unknown(const struct value *v)
{
	return v->how == VALUE_PLAIN && !v->type;
}

struct mapline *mapline_new(const struct map_shape *maps, size_t n)
{
	struct mapline *m = base_new(struct mapline);
	m->maps = arena_array(&m->arena, struct map_known, n);
	m->n = n;
	for (size_t i = 0; i < n; i++)
		mapentry_learn(&m->arena, &maps[i], &m->maps[i]);
	return m;
}

void mapline_free(struct mapline *m)
{
	strbuf_fini(&m->text);
	strbuf_fini(&m->frames);
	strbuf_fini(&m->part);
	arena_fini(&m->arena);
	free(m);
}

/** The map that an entry on this line is of: @name: or @name[ */
static const struct map_known *map_of(const struct mapline *m, struct str line)
{
	if (!str_has_prefix(line, STR("@")))
		return NULL;
	for (size_t i = 0; i < m->n; i++) {
		struct str name = m->maps[i].shape->name;
		if (str_has_prefix(line, name) && line.n > name.n &&
		    (line.p[name.n] == ':' || line.p[name.n] == '['))
			return &m->maps[i];
	}
	return NULL;
}

bool mapline_has_text(const struct mapline *m, struct str line)
{
	const struct map_known *map = map_of(m, line);
	bool has_key = map && line.p[map->shape->name.n] == '[';
	return !map || map->has_text_value || (has_key && map->has_text_key);
}

// --- lines

/** The text of an entry; empty lines after it are bpftrace's, except between strings. */
static struct str entry_text(const struct mapline *m, size_t i)
{
	struct str all = strbuf_str(&m->text);
	bool is_last = i + 1 == m->starts.n;
	bool is_exact = !is_last && m->open->shape->value.how == VALUE_TEXT;
	size_t start = m->starts.v[i], end = is_last ? all.n : m->starts.v[i + 1];
	do
		end--;
	while (!is_exact && end > start && all.p[end - 1] == '\n');
	return str_slice(all, start, end - start);
}

/** What the lines of the last entry tell by now. */
static void look_again(struct mapline *m)
{
	struct mapentry e;
	struct map_integer number;
	m->is_whole = mapentry_split(m->open, entry_text(m, m->starts.n - 1), &e);
	m->form = mapentry_form(m->open, &e);
	m->has_value = e.value.n;
	m->is_number =
	    m->form == MAP_STATS || value_is_number(&m->open->shape->value) ||
	    m->open->shape->value.how == VALUE_SYMBOL ||
	    (is_unknown(&m->open->shape->value) && mapentry_to_integer(e.value, &number));
}

static void add_line(struct mapline *m, struct str line)
{
	bool ends_key = mapentry_find_key_end(line, 0) < line.n;
	strbuf_adds(&m->text, line);
	strbuf_addc(&m->text, '\n');
	m->is_parted = !line.n;
	// The line of the key and two more decide the form.
	if (ends_key && !m->is_whole)
		m->n_open_lines = 3;
	if (m->n_open_lines) {
		m->n_open_lines--;
		look_again(m);
	}
}

static void add_entry(struct mapline *m, struct str line)
{
	vec_push(&m->arena, &m->starts, m->text.n);
	m->n_open_lines = 3;
	m->is_whole = false;
	add_line(m, line);
}

/** Does a line that begins no entry belong to the last one, whose key has an end? */
static bool is_continued(const struct mapline *m, struct str line)
{
	struct map_bucket b;
	if (m->open->shape->value.how == VALUE_TEXT || !line.n)
		return true;
	if (m->is_number)
		return m->open->has_text_key && mapentry_find_key_end(line, 0) < line.n;
	if (m->is_parted)
		return false;
	if (m->form == MAP_HISTOGRAM && m->has_value)
		return mapentry_to_bucket(line, &b);
	return m->form != MAP_STACK || str_has_prefix(line, STR("    "));
}

bool mapline_add(struct mapline *m, struct str line)
{
	const struct map_known *map = map_of(m, line);
	if (!m->open) {
		m->open = map;
		if (map)
			add_entry(m, line);
		return map;
	}
	if (m->text.n > MAX_TEXT)
		return false;
	if (m->is_whole && map) {
		// What has no key is printed once.
		if (map != m->open || line.p[map->shape->name.n] == ':')
			return false;
		add_entry(m, line);
		return true;
	}
	if (m->text.n - m->starts.v[m->starts.n - 1] > MAX_ENTRY ||
	    (m->is_whole && !is_continued(m, line)))
		return false;
	add_line(m, line);
	return true;
}

// --- JSON

static void add_integer(struct json *j, const char *key, struct map_integer i)
{
	json_number(j, key, i.value, i.is_signed);
}

static void add_stack(struct json *j, const struct render *how, struct str s)
{
	static const struct value stack = {.how = VALUE_STACK};
	value_json(how, &stack, (struct value_data){NULL, &s}, VALUE_RAW, j);
}

/** "[1,-2]", and such in one another. */
static bool is_array(struct str s)
{
	unsigned depth = 0;
	bool wants_item = true;
	size_t i = 0;
	do {
		size_t digits = i + (s.p[i] == '-');
		while (digits < s.n && isdigit((unsigned char)s.p[digits]))
			digits++;
		if (wants_item && digits > i && isdigit((unsigned char)s.p[digits - 1])) {
			i = digits - 1;
			wants_item = false;
		} else if (wants_item && s.p[i] == '[') {
			depth++;
		} else if (!wants_item && s.p[i] == ',') {
			wants_item = true;
		} else if (!wants_item && s.p[i] == ']') {
			depth--;
		} else {
			return false;
		}
	} while (++i < s.n && depth);
	return i == s.n && !depth && s.p[0] == '[';
}

/** It is_array(). */
static void add_array(struct json *j, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		struct map_integer number;
		size_t end = i;
		while (s.p[end] == '-' || isdigit((unsigned char)s.p[end]))
			end++;
		if (s.p[i] == '[')
			json_open(j, NULL, '[');
		else if (s.p[i] == ']')
			json_close(j, ']');
		else if (end > i && mapentry_to_integer(str_slice(s, i, end - i), &number))
			json_number(j, NULL, number.value, number.is_signed);
		i = end > i ? end - 1 : i;
	}
}

/** As it is spelled. */
static void add_plain(struct json *j, const struct render *how, const struct value *v, struct str s)
{
	struct map_integer i;
	if (v->how == VALUE_PLAIN && mapentry_to_integer(s, &i))
		json_number(j, NULL, i.value, i.is_signed && !value_is_unsigned(v));
	else if (value_is_integer(v) && mapentry_is_bool(s))
		json_bool(j, NULL, str_eq(s, STR("true")));
	else if (is_unknown(v) && mapentry_is_stack(s))
		add_stack(j, how, s);
	else if (is_unknown(v) && s.n && is_array(s))
		add_array(j, s);
	else
		json_bytes(j, NULL, s);
}

/** Where leaves go: text, or JSON where @j is not NULL. */
struct leaf_sink {
	const struct render *how;
	enum value_style style;
	struct json *j;
	struct strbuf *out;
	int64_t numbers[2]; // of the stack that follows
};

static void add_leaf(void *ctx, const struct map_leaf *leaf, struct str s, bool is_last)
{
	struct leaf_sink *to = ctx;
	const struct value *v = leaf->value;
	int64_t bits;
	char text[96];
	(void)is_last;
	if (leaf->is_frame) { // a number of the stack that follows is not shown
		to->numbers[0] = to->numbers[1];
		if (mapentry_to_bits(s, &to->numbers[1]))
			return;
	}
	s = mapentry_unshift(v, s, text, sizeof(text));
	for (unsigned i = 0; i < leaf->n_open; i++)
		json_open(to->j, NULL, '[');
	bool is_shown = (v->names || value_is_address(v) || value_is_code(v));
	if (v->how == VALUE_SYMBOL)
		value_json(to->how, v, (struct value_data){NULL, &s}, to->style, to->j);
	else if (v->how == VALUE_STACK)
		value_json(to->how, v, (struct value_data){to->numbers, &s}, to->style, to->j);
	else if (is_shown && mapentry_to_bits(s, &bits))
		value_json(to->how, v, (struct value_data){&bits, NULL}, to->style, to->j);
	else
		add_plain(to->j, to->how, v, s);
	for (unsigned i = 0; i < leaf->n_close; i++)
		json_close(to->j, ']');
}

static void add_key(struct mapline *m, const struct render *how, struct json *j,
		    const struct mapentry *e)
{
	static const struct value unknown = {0};
	struct leaf_sink to = {.how = how, .j = j, .style = VALUE_KEY};
	const struct map_leaves *keys = &m->open->keys;
	bool is_split = e->is_sure;
	json_open(j, "key", '[');
	if (is_split && keys->list.n)
		is_split = mapentry_walk(keys, e->key, add_leaf, &to);
	else if ((is_split &= !str_contains(e->key, STR(", "))))
		add_plain(j, how, &unknown, e->key);
	if (!is_split)
		json_bytes(j, NULL, e->key);
	json_close(j, ']');
	if (!is_split)
		json_bool(j, "unsplit", true);
}

static void add_bound(struct json *j, const char *key, bool has, __int128 v)
{
	if (has)
		json_number(j, key, (int64_t)v, v < 0);
	else
		json_null(j, key);
}

static void add_histogram(struct json *j, const struct mapentry *e)
{
	struct str rest = e->value;
	struct map_bucket b;
	json_open(j, "histogram", '[');
	while (rest.n) {
		if (!mapentry_to_bucket(str_take_line(&rest), &b))
			continue;
		// bpftrace 0.17, with a blank after the colon, counts all larger values there.
		b.has_max &=
		    e->is_header || b.min != (__int128)1 << 31 || b.max != ((__int128)1 << 32) - 1;
		json_open(j, NULL, '{');
		add_bound(j, "min", b.has_min, b.min);
		add_bound(j, "max", b.has_max, b.max);
		add_integer(j, "count", b.count);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/** 15:10:09 |          *      | 3 */
static void add_series(struct json *j, struct str rest)
{
	json_open(j, "series", '[');
	while (rest.n) {
		struct str line = str_take_line(&rest),
			   time = str_slice(line, 0, str_find(line, ' '));
		struct map_integer i;
		if (!time.n || time.p[0] < '0' || time.p[0] > '9')
			continue;
		json_open(j, NULL, '{');
		json_str(j, "time", time);
		if (mapentry_to_integer(str_last(line, ' '), &i))
			add_integer(j, "value", i);
		else
			json_null(j, "value");
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_stats(struct json *j, const struct value *v, struct str s)
{
	struct map_stats stats;
	mapentry_to_stats(s, &stats);
	if (v->shift)
		mapentry_fix_stats(&stats);
	json_open(j, "stats", '{');
	add_integer(j, "count", stats.count);
	add_integer(j, "average", stats.average);
	add_integer(j, "total", stats.total);
	json_close(j, '}');
}

static void add_value(struct mapline *m, const struct render *how, struct json *j,
		      const struct mapentry *e)
{
	struct leaf_sink to = {.how = how, .j = j, .style = VALUE_RAW};
	switch (mapentry_form(m->open, e)) {
	case MAP_HISTOGRAM:
		add_histogram(j, e);
		break;
	case MAP_SERIES:
		add_series(j, e->value);
		break;
	case MAP_STATS:
		add_stats(j, &m->open->shape->value, e->value);
		break;
	case MAP_STACK:
		json_key(j, STR("value"));
		add_stack(j, how, e->value);
		break;
	case MAP_PLAIN:
		json_key(j, STR("value"));
		if (!mapentry_walk(&m->open->value, e->value, add_leaf, &to))
			json_bytes(j, NULL, e->value);
		break;
	}
}

void mapline_json(struct mapline *m, const struct render *how, struct json *j)
{
	json_str(j, "map", m->open->shape->name);
	json_open(j, "entries", '[');
	for (size_t i = 0; i < m->starts.n; i++) {
		struct mapentry e;
		struct str text = entry_text(m, i);
		// Without an end it is all there is.
		if (!mapentry_split(m->open, text, &e))
			e.key = str_from_offset(text, m->open->shape->name.n + 1);
		json_open(j, NULL, '{');
		if (e.has_key)
			add_key(m, how, j, &e);
		add_value(m, how, j, &e);
		json_close(j, '}');
	}
	json_close(j, ']');
	strbuf_clear(&m->text);
	m->starts.n = 0;
	m->open = NULL;
}

// --- text

static void name_leaf(void *ctx, const struct map_leaf *leaf, struct str s, bool is_last)
{
	struct leaf_sink *to = ctx;
	int64_t bits;
	char text[96];
	s = mapentry_unshift(leaf->value, s, text, sizeof(text));
	for (unsigned i = 0; i < leaf->n_open; i++)
		strbuf_addc(to->out, '(');
	size_t before = to->out->n;
	if (leaf->value->how == VALUE_SYMBOL || leaf->value->how == VALUE_STACK)
		value_text(to->how, leaf->value, (struct value_data){NULL, &s}, VALUE_KEY, to->out);
	else if (!leaf->value->shift && mapentry_is_named(leaf->value) &&
		 mapentry_to_bits(s, &bits))
		value_text(to->how, leaf->value, (struct value_data){&bits, NULL}, VALUE_KEY,
			   to->out);
	if (to->out->n == before)
		strbuf_adds(to->out, s);
	for (unsigned i = 0; i < leaf->n_close; i++)
		strbuf_addc(to->out, ')');
	if (!is_last)
		strbuf_addz(to->out, ", ");
}

/** The stack in the key of @map that begins after @line: its numbers, which are cut off. */
static void begin_stack(struct mapline *m, const struct map_known *map, struct str *line)
{
	struct str rest = *line;
	size_t n = map->keys.list.n;
	for (size_t i = 0; i < n && !m->stack; i++)
		if (map->keys.list.v[i].value->n_frames)
			m->stack = map->keys.list.v[i].value;
	bool good = m->stack && str_has_suffix(rest, STR(", "));
	for (size_t i = 2; i-- > 0 && good;) {
		rest.n -= 2;
		size_t at = rest.n;
		while (at && rest.p[at - 1] != ' ' && rest.p[at - 1] != '[')
			at--;
		good = at && mapentry_to_bits(str_from_offset(rest, at), &m->stack_numbers[i]);
		rest.n = at;
		good = good && (i == 0 || str_has_suffix(rest, STR(", ")));
	}
	if (good)
		*line = rest;
	else
		m->stack = NULL;
}

/** Keeps the frames that come, and shows them with the first line after them. Is @line a frame? */
static bool keep_frame(struct mapline *m, const struct render *how, struct str line,
		       struct strbuf *out)
{
	bool is_frame = m->stack && str_has_prefix(line, STR("    "));
	if (is_frame) {
		strbuf_adds(&m->frames, line);
		strbuf_addc(&m->frames, '\n');
	} else if (m->stack) {
		struct str text = strbuf_str(&m->frames);
		value_text(how, m->stack, (struct value_data){m->stack_numbers, &text}, VALUE_RAW,
			   out);
		strbuf_clear(&m->frames);
		m->stack = NULL;
	}
	return is_frame;
}

/** Numbers of a key from column *@i on, up to what has lines of its own, as a stack, or to the end. */
static bool name_numbers(const struct map_known *map, size_t *i, struct str *rest,
			 struct leaf_sink *to)
{
	for (; *i < map->keys.list.n && rest->n && rest->p[0] != ']'; ++*i) {
		const struct map_leaf *leaf = &map->keys.list.v[*i];
		size_t n = 0;
		int64_t bits;
		while (n < rest->n && rest->p[n] != ',' && rest->p[n] != ']')
			n++;
		if (leaf->is_frame) // cut off
			continue;
		if (!value_is_number(leaf->value) ||
		    !mapentry_to_bits(str_slice(*rest, 0, n), &bits))
			return false;
		bool is_last = n < rest->n && rest->p[n] == ']';
		name_leaf(to, leaf, str_slice(*rest, 0, n), is_last);
		*rest = str_from_offset(*rest, n + (is_last ? 0 : 2));
	}
	while (*i < map->keys.list.n && map->keys.list.v[*i].is_frame)
		++*i;
	return true;
}

/** `@m[1, ` in front of a stack, or after the one in column @i - 1 `, 1]: 3`. */
static bool name_partly(struct mapline *m, const struct map_known *map, size_t i, struct str line,
			struct leaf_sink *to)
{
	struct str rest = line;
	size_t before = to->out->n;
	bool good = i ? str_take(&rest, STR(", "))
		      : str_take(&rest, map->shape->name) && str_take(&rest, STR("["));
	strbuf_add(to->out, line.p, line.n - rest.n);
	good = good && map->has_names && name_numbers(map, &i, &rest, to) &&
	       (!rest.n || rest.p[0] == ']');
	if (!good) {
		to->out->n = before;
		return false;
	}
	strbuf_adds(to->out, rest);
	m->stack_of = map;
	m->after_stack = rest.n ? 0 : i + 1;
	return true;
}

/** Is @text an entry whose key, with a string in it, goes on in the next line? */
static bool is_part(const struct mapline *m, struct str text)
{
	const struct map_known *map = map_of(m, text);
	bool yes = map && map->has_text_key && text.n < MAX_ENTRY &&
		   text.p[map->shape->name.n] == '[' && mapentry_find_key_end(text, 0) == text.n;
	for (size_t i = 0; yes && i < map->keys.list.n; i++)
		yes = !map->keys.list.v[i].value->n_frames;
	return yes;
}

bool mapline_has_part(const struct mapline *m)
{
	return m->part.n;
}

void mapline_take_part(struct mapline *m, struct strbuf *out)
{
	strbuf_adds(out, strbuf_str(&m->part));
	strbuf_clear(&m->part);
}

static void name_entry(struct mapline *m, const struct render *how, struct str line,
		       struct strbuf *out)
{
	const struct map_known *map = map_of(m, line);
	struct leaf_sink to = {.how = how, .out = out};
	struct mapentry e;
	if (keep_frame(m, how, line, out))
		return;
	if (m->after_stack && !str_has_prefix(line, STR("    "))) {
		size_t after = m->after_stack;
		m->after_stack = 0;
		if (name_partly(m, m->stack_of, after, line, &to))
			return;
	}
	if (map)
		begin_stack(m, map, &line);
	bool is_partial = str_has_suffix(line, STR(", ")) || str_has_suffix(line, STR("["));
	if (map && is_partial && name_partly(m, map, 0, line, &to))
		return;
	bool is_entry = map && mapentry_split(map, line, &e);
	bool is_stats = is_entry && mapentry_form(map, &e) == MAP_STATS;
	is_entry = is_entry && (map->has_names || is_stats);
	if (is_entry && e.has_key && !e.is_sure) { // a text has "]: ": what is before it is sure
		size_t i = 0, n = map->shape->name.n + 1;
		strbuf_adds(out, str_slice(line, 0, n));
		line = str_from_offset(line, n);
		name_numbers(map, &i, &line, &to);
	}
	if (!is_entry || !e.is_sure) {
		strbuf_adds(out, line);
		return;
	}
	strbuf_adds(out, map->shape->name);
	if (e.has_key) {
		strbuf_addc(out, '[');
		if (!mapentry_walk(&map->keys, e.key, name_leaf, &to))
			strbuf_adds(out, e.key);
		strbuf_addc(out, ']');
	}
	strbuf_addz(out, e.is_header ? ":" : ": ");
	bool is_text = map->has_text_value && !map->shape->value.shift; // stats() are parts
	struct map_stats stats;
	char text[96];
	if (is_stats && !map->shape->value.shift && mapentry_to_stats(e.value, &stats))
		strbuf_adds(out, mapentry_stats_text(&stats, text, sizeof(text)));
	else if (is_text || !mapentry_walk(&map->value, e.value, name_leaf, &to))
		strbuf_adds(out, e.value);
}

void mapline_name(struct mapline *m, const struct render *how, struct str line, struct strbuf *out)
{
	if (m->part.n && map_of(m, line)) { // what came before was none
		mapline_take_part(m, out);
		strbuf_addc(out, '\n');
	}
	if (m->part.n)
		strbuf_addc(&m->part, '\n');
	strbuf_adds(&m->part, line);
	if (is_part(m, strbuf_str(&m->part))) {
		out->n -= out->n > 0; // the newline
		return;
	}
	name_entry(m, how, strbuf_str(&m->part), out);
	strbuf_clear(&m->part);
}
