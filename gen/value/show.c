#include "value/show_priv.h"

#include "elf/demangle.h"

/** The first page is never mapped: a null pointer and its members are read as zeros. */
enum { NO_MEMORY = 4096 };
/** Types come from strangers' files: what has more in it is not shown. */
enum { MAX_VALUES = 10000 };

/** A struct or array: its address, then its bytes; of a std::string its text, too. */
static void show_memory(struct walk *w, struct value_data d)
{
	w->addr = (uint64_t)d.numbers[0];
	w->bytes = (struct str){(const char *)(d.numbers + 1),
				w->addr < NO_MEMORY ? 0 : w->value->n_bytes};
	w->text = w->value->has_text ? *d.texts : STR("");
	w->left = MAX_VALUES;
	w->style = VALUE_MEMBER;
	if (w->addr)
		showtype_at(w, &(struct ctype_place){.type = w->value->type});
	else if (w->j)
		json_null(w->j, NULL);
	else
		strbuf_addz(w->out, "0x0");
}

/** Of the process of the record; NULL: it is not known. */
static struct codename *names_of(const struct render *how)
{
	return how->texts ? filetext_names(how->texts, how->pid, how->ns) : how->names;
}

/** An empty string may be a literal of the program's file, in @room. False: it is not known. */
static bool find_string(const struct render *how, int64_t address, struct str *text,
			struct strbuf *room)
{
	if (text->n || !address)
		return true;
	if ((uint64_t)address < NO_MEMORY)
		return false;
	size_t most = how->longest ? how->longest : SIZE_MAX;
	struct codename *names = names_of(how);
	if (how->texts && !names)
		return false;
	enum codename_text found =
	    names ? codename_find_text(names, (uint64_t)address, most, room) : CODENAME_NOTHING;
	if (found == CODENAME_LITERAL)
		*text = strbuf_str(room);
	return found != CODENAME_VARIABLE;
}

static void show_string(struct walk *w, int64_t address, struct str text)
{
	struct strbuf room = {0};
	if (!w->j && w->style != VALUE_LISTED) {
		strbuf_adds(w->out, text);
		return;
	}
	bool is_known = find_string(w->how, address, &text, &room);
	if (w->j && address)
		json_bytes(w->j, NULL, text);
	else if (w->j)
		json_null(w->j, NULL);
	else if (!address || !is_known)
		strbuf_addz(w->out, is_known ? "(null)" : "?");
	else
		showtype_string(w, text, w->how->longest && text.n >= w->how->longest);
	strbuf_fini(&room);
}

/** As it is. */
static void show_text(struct walk *w, struct str s)
{
	if (w->j)
		json_bytes(w->j, NULL, s);
	else
		strbuf_adds(w->out, s);
}

static void add_json_stack(struct json *j, struct str s)
{
	json_open(j, NULL, '[');
	while (s.n) {
		struct str frame = str_trim(str_take_line(&s));
		if (frame.n)
			json_bytes(j, NULL, frame);
	}
	json_close(j, ']');
}

/** Adds the first @n frames of @s, on lines of their own, with the one at @caller as the second. */
static void insert_caller(struct codename *names, uint64_t caller, unsigned n, struct str s,
			  struct strbuf *out)
{
	for (unsigned i = 0; s.n && i < n;) {
		struct str line = str_take_line(&s), frame = str_trim(line);
		strbuf_adds(out, line);
		strbuf_addc(out, '\n');
		i += frame.n > 0;
		if (!frame.n || i != 1 || n < 2)
			continue;
		strbuf_add(out, line.p, (size_t)(frame.p - line.p));
		codename_add_frame(names, caller, true, out);
		strbuf_addc(out, '\n');
		i++;
	}
}

/** Adds @s with names for the addresses that bpftrace could not name, as the process had ended. */
static void name_frames(struct codename *names, struct str s, struct strbuf *out)
{
	for (bool is_caller = false; s.n;) {
		struct str line = str_slice(s, 0, str_find(s, '\n')), frame = str_trim(line);
		uint64_t address;
		bool is_bare = str_has_prefix(frame, STR("0x")) && str_to_u64(frame, &address);
		strbuf_add(out, line.p, is_bare ? (size_t)(frame.p - line.p) : line.n);
		if (is_bare)
			codename_add_frame(names, address, is_caller, out);
		strbuf_addz(out, line.n < s.n ? "\n" : "");
		s = str_from_offset(s, line.n + 1);
		is_caller |= frame.n > 0;
	}
}

/** On lines of its own; a function may have any name. */
static void show_frames(struct walk *w, struct str s)
{
	if (w->j) {
		add_json_stack(w->j, s);
		return;
	}
	while (s.n) {
		struct str line = str_slice(s, 0, str_find(s, '\n')), frame = str_trim(line);
		strbuf_add(w->out, line.p, (size_t)(frame.p - line.p)); // a tab in mode perf
		strbuf_add_printable(w->out, frame);
		strbuf_addz(w->out, line.n < s.n ? "\n" : "");
		s = str_from_offset(s, line.n + 1);
	}
}

/** bpftrace has no name for an address when the process has ended before it prints. */
static void show_symbol(struct walk *w, struct str s)
{
	uint64_t address;
	struct str name = {0};
	if (str_has_prefix(s, STR("0x")) && str_to_u64(s, &address))
		name = showtype_name(w, &value_code, address, NULL);
	struct arena arena = {0};
	if (name.n && !w->j)
		strbuf_add_printable(w->out, name);
	else
		show_text(w, name.n ? name : demangle_shorten(&arena, s));
	arena_fini(&arena);
}

static void show_stack(struct walk *w, struct value_data d)
{
	struct strbuf whole = {0}, named = {0};
	struct arena arena = {0};
	struct str s = demangle_shorten(&arena, *d.texts);
	struct codename *names =
	    w->value->n_frames || str_contains(s, STR(" 0x")) ? names_of(w->how) : NULL;
	// What the first function of a thread returns to is no code.
	if (names && w->value->n_frames && (uint64_t)d.numbers[1] >= NO_MEMORY &&
	    codename_misses_caller(names, (uint64_t)d.numbers[0])) {
		insert_caller(names, (uint64_t)d.numbers[1], w->value->n_frames, s, &whole);
		s = strbuf_str(&whole);
	}
	if (names && str_contains(s, STR(" 0x"))) {
		name_frames(names, s, &named);
		s = strbuf_str(&named);
	}
	show_frames(w, s);
	strbuf_fini(&named);
	strbuf_fini(&whole);
	arena_fini(&arena);
}

static void show_data(struct walk *w, struct value_data d)
{
	struct ctype *t = w->value->how == VALUE_PLAIN ? ctype_strip(w->value->type) : NULL;
	struct strbuf text = {0};
	switch (w->value->how) {
	case VALUE_PLAIN:
		if (!t)
			showtype_missing(w);
		else if (value_has_parts(w->value))
			show_memory(w, d);
		else { // its low bytes are those that a variable of its type has
			w->bytes = (struct str){(const char *)d.numbers, sizeof(*d.numbers)};
			showtype_value(w, &(struct ctype_place){.type = t});
		}
		break;
	case VALUE_STRING:
		show_string(w, *d.numbers, *d.texts);
		break;
	case VALUE_TEXT:
		show_text(w, *d.texts);
		break;
	case VALUE_SYMBOL:
		show_symbol(w, *d.texts);
		break;
	case VALUE_STACK:
		show_stack(w, d);
		break;
	case VALUE_TIME:
		render_time(w->how, w->value->literal, *d.numbers, &text);
		show_text(w, strbuf_str(&text));
		strbuf_fini(&text);
		break;
	case VALUE_LITERAL:
		show_text(w, w->value->literal);
		break;
	default:
		show_text(w, STR("?"));
	}
}

void value_text(const struct render *how, const struct value *v, struct value_data d,
		enum value_style style, struct strbuf *out)
{
	show_data(&(struct walk){.how = how, .value = v, .style = style, .out = out}, d);
}

void value_json(const struct render *how, const struct value *v, struct value_data d,
		enum value_style style, struct json *j)
{
	show_data(&(struct walk){.how = how, .value = v, .style = style, .out = j->out, .j = j}, d);
}

/** What a value is that the program has, not the script: a terminal would obey what is in it. */
static void escape(const struct render *how, const struct value *v, size_t start,
		   struct strbuf *out)
{
	struct strbuf text = {0};
	if (!how->is_for_terminal || v->how == VALUE_LITERAL || v->how == VALUE_TIME)
		return;
	strbuf_add_printable_lines(&text, str_from_offset(strbuf_str(out), start));
	out->n = start;
	strbuf_adds(out, strbuf_str(&text));
	strbuf_fini(&text);
}

void value_format(const struct render *how, const struct value_conversion *c, const struct value *v,
		  struct value_data d, struct strbuf *out)
{
	size_t start = out->n;
	bool is_digits = c->letter && c->letter != 's' && c->letter != 'r';
	if (is_digits && value_is_number(v) && !value_is_real(v)) {
		render_number(c->how, c->letter, c->bits, *d.numbers, out);
		if (c->letter == 'c')
			escape(how, v, start, out);
		return;
	}
	value_text(how, v, d, VALUE_RAW, out);
	render_lay_out(c->how, start, out);
	bool is_cut = value_is_cut(how, v, d) && out->n - start >= d.texts->n; // no %.8s
	escape(how, v, start, out);
	if (is_cut)
		strbuf_addz(out, "...");
}

bool value_is_known(const struct render *how, const struct value *v, struct value_data d)
{
	struct strbuf room = {0};
	if (v->how != VALUE_STRING)
		return v->how != VALUE_HIDDEN;
	struct str text = *d.texts;
	bool is = find_string(how, *d.numbers, &text, &room);
	strbuf_fini(&room);
	return is;
}

bool value_is_cut(const struct render *how, const struct value *v, struct value_data d)
{
	bool is_string = v->how == VALUE_STRING || (v->how == VALUE_TEXT && v->can_be_cut);
	return how->longest && is_string && d.texts->n >= how->longest;
}
