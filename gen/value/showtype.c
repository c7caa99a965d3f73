// Memory as its type says: numbers, text, classes of the C++ library, arrays, structs.
#include "value/show_priv.h"

#include <float.h>
#include <math.h>

#include "ctype/cxxclass.h"
#include "elf/demangle.h"

/** Types come from strangers' files: what is nested deeper is not shown. */
enum { MAX_DEPTH = 32 };
/** Elements of one array; gdb's `set print elements`. */
enum { MAX_ELEMENTS = 200 };

// --- what both outputs have in common

static void separate(struct walk *w)
{
	if (!w->j && w->needs_comma)
		strbuf_addz(w->out, ", ");
	w->needs_comma = false;
}

/** A member's name; the value comes next. */
static void begin(struct walk *w, struct str name)
{
	separate(w);
	if (w->j) {
		json_key(w->j, name);
	} else {
		strbuf_add_printable(w->out, name);
		strbuf_addz(w->out, " = ");
	}
}

static void open_bracket(struct walk *w, char bracket)
{
	if (w->j)
		json_open(w->j, NULL, bracket);
	else
		strbuf_addc(w->out, '{');
	w->needs_comma = false;
}

static void close_bracket(struct walk *w, char bracket)
{
	if (w->j)
		json_close(w->j, bracket);
	else
		strbuf_addc(w->out, '}');
}

/** The rest of an object that is open is not there. */
static void add_rest(struct walk *w)
{
	separate(w);
	if (w->j)
		json_bool(w->j, "...", true);
	else
		strbuf_addz(w->out, "...");
}

/** A value that is not there. */
void showtype_missing(struct walk *w)
{
	open_bracket(w, '{');
	add_rest(w);
	close_bracket(w, '}');
}

static bool is_there(const struct walk *w, uint64_t off, uint64_t n)
{
	return off <= w->bytes.n && n <= w->bytes.n - off;
}

// --- numbers

/** A bitfield is counted from the least significant bit. */
static unsigned __int128 read_bits(struct str bytes, uint64_t bit_off, unsigned n)
{
	unsigned __int128 v = 0;
	if (bit_off % 8 == 0 && n % 8 == 0) {
		memcpy(&v, bytes.p + bit_off / 8, n / 8);
		return v;
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = bit_off + i;
		unsigned char byte = (unsigned char)bytes.p[at / 8];
		v |= (unsigned __int128)(byte >> at % 8 & 1) << i;
	}
	return v;
}

/** The integer at @p, extended to 128 bits by the sign of its type; false when it is not there. */
static bool read_integer(const struct walk *w, const struct ctype_place *p, bool is_signed,
			 unsigned __int128 *ret)
{
	const struct ctype *t = p->type;
	uint64_t size = t && t->has_size ? t->size : 0;
	if (size == 0 || size > 16)
		return false;
	unsigned bits = p->bit_size ? p->bit_size : (unsigned)size * 8;
	uint64_t at = p->bit_size ? p->bit_off : p->off * 8;
	if (!is_there(w, at / 8, (at % 8 + bits + 7) / 8))
		return false;
	unsigned __int128 v = read_bits(w->bytes, at, bits);
	if (is_signed && bits < 128 && v >> (bits - 1) & 1)
		v |= ~(unsigned __int128)0 << bits;
	*ret = v;
	return true;
}

static void add_number(struct walk *w, int64_t v, bool is_signed)
{
	if (w->j)
		json_number(w->j, NULL, v, is_signed);
	else
		render_number((struct str){0}, is_signed ? 'd' : 'u', 64, v, w->out);
}

/** More digits than printf() has. */
static struct str huge_digits(unsigned __int128 v, bool is_signed, char room[48])
{
	bool is_minus = is_signed && v >> 127;
	char *p = room + 48;
	if (is_minus)
		v = 0 - v;
	do
		*--p = (char)('0' + (unsigned)(v % 10));
	while (v /= 10);
	if (is_minus)
		*--p = '-';
	return (struct str){p, (size_t)(room + 48 - p)};
}

/** 'a', with the escapes of a string. */
static void add_char(struct walk *w, char c)
{
	struct strbuf text = {0};
	render_quoted((struct str){&c, 1}, &text);
	struct str inner = str_slice(strbuf_str(&text), 1, text.n - 2);
	strbuf_addf(w->out, "'%s" STR_FMT "'", c == '\'' ? "\\" : "", STR_ARG(inner));
	strbuf_fini(&text);
}

static void show_integer(struct walk *w, const struct ctype *t, unsigned __int128 v)
{
	char room[48], c = (char)v;
	if (w->j && t->is_char) {
		json_bytes(w->j, NULL, (struct str){&c, 1});
	} else if (t->is_char && w->style == VALUE_LISTED) {
		add_char(w, c);
	} else if (t->size <= 8) {
		add_number(w, (int64_t)v, t->is_signed);
		if (t->size == 1 && !w->j && w->style == VALUE_MEMBER) {
			strbuf_addc(w->out, ' ');
			add_char(w, c);
		}
	} else if (w->j) {
		json_str(w->j, NULL, huge_digits(v, t->is_signed, room));
	} else {
		strbuf_adds(w->out, huge_digits(v, t->is_signed, room));
	}
}

/** A number that may be an address. */
static void add_quoted_address(struct walk *w, uint64_t v)
{
	strbuf_addc(json_value(w->j, NULL), '"');
	render_address(v, w->j->out);
	strbuf_addc(w->j->out, '"');
}

static void show_untyped(struct walk *w, const struct ctype *t, uint64_t v)
{
	if (w->style == VALUE_MEMBER)
		showtype_missing(w);
	else if (w->j && t->is_signed)
		add_quoted_address(w, v);
	else if (w->j)
		json_number(w->j, NULL, (int64_t)v, false);
	else
		render_address(v, w->out);
}

static void show_bool(struct walk *w, uint64_t v)
{
	if (v > 1 && w->style == VALUE_MEMBER)
		add_number(w, (int64_t)v, false); // a value that no bool has
	else if (w->j)
		json_bool(w->j, NULL, v);
	else
		strbuf_addz(w->out, v ? "true" : "false");
}

/** The names of @t that @v needs: its own; where it has none it may be several flags. */
static void make_names(struct arena *a, struct ctype *t, int64_t v, struct enumtab *ret)
{
	for (size_t i = 0; ctype_complete(t) && i < t->n_values; i++) {
		struct str name = t->values[i].name;
		if (t->values[i].value != v)
			continue;
		*ret->items = (struct enumtab_item){
		    .name = name, .text = enumtab_scoped(a, t, name), .value = v};
		ret->n_items = 1;
		return;
	}
	enumtab_from_type(a, t, ret);
}

/** The one function that exec() may have moved to @v, by whole pages; @v if there are several, or none. */
static int64_t find_moved(const struct enumtab *functions, int64_t v)
{
	enum { PAGE = 4096 }; // smaller numbers are no addresses
	int64_t found = 0;
	for (size_t i = 0; i < functions->n_items && v >= PAGE; i++) {
		int64_t one = functions->items[i].value;
		if (one < PAGE || (one - v) % PAGE)
			continue;
		if (found)
			return v;
		found = one;
	}
	return found ? found : v;
}

/** An enumerator in a key is nothing but its name. */
static void add_enumerator(struct walk *w, const struct enumtab *names, int64_t v)
{
	struct strbuf text = {0}; // the name, of flags, or the number
	bool is_unknown = names->of_code.n && !enumtab_get(names, v);
	struct codename *code = is_unknown ? w->how->names : NULL;
	struct str function = code ? codename_find(code, (uint64_t)v) : STR("");
	if (function.n) { // the process has called exec() since the table was made
		const struct enumtab_item *item = names->items, *end = item + names->n_items;
		while (item < end && !str_eq(item->name, function))
			item++;
		strbuf_adds(&text, item < end ? item->text : names->of_code);
		strbuf_adds(&text, item < end ? STR("") : function);
		if (w->j)
			json_bytes(w->j, NULL, strbuf_str(&text));
		else
			strbuf_add_printable(w->out, strbuf_str(&text));
		strbuf_fini(&text);
		return;
	}
	if (is_unknown) // and has ended
		v = find_moved(names, v);
	if (!w->j) {
		render_enum(names, v, w->out);
		return;
	}
	v = render_narrow(v, names->size * 8, names->is_signed);
	const struct enumtab_item *item = enumtab_get(names, v);
	bool has_name = render_enum(names, v, &text);
	struct str name = item ? item->text : has_name ? strbuf_str(&text) : (struct str){0};
	if (w->style == VALUE_KEY && has_name) {
		json_bytes(w->j, NULL, strbuf_str(&text));
	} else if (w->style == VALUE_KEY) {
		add_number(w, v, names->is_signed);
	} else {
		json_open(w->j, NULL, '{');
		json_str_or_null(w->j, "name", name);
		json_number(w->j, "value", v, names->is_signed);
		json_close(w->j, '}');
	}
	strbuf_fini(&text);
}

static void show_enum(struct walk *w, struct ctype *t, int64_t v)
{
	struct arena arena = {0};
	struct enumtab_item first;
	struct enumtab names = {
	    .size = (unsigned)t->size, .is_signed = t->is_signed, .items = &first};
	if (w->value->names) {
		add_enumerator(w, w->value->names, v);
		return;
	}
	make_names(&arena, t, v, &names);
	add_enumerator(w, &names, v);
	arena_fini(&arena);
}

struct str showtype_name(const struct walk *w, const struct ctype *t, uint64_t v,
			 struct strbuf *room)
{
	struct codename *names = v ? w->how->names : NULL;
	struct ctype *to = ctype_strip(t->of);
	bool is_code = to && to->kind == CTYPE_FUNC, is_key = w->style == VALUE_KEY;
	if (names && is_code)
		return is_key ? codename_find_distinct(names, v) : codename_find(names, v);
	if (names && is_key && w->value->has_variable)
		codename_add_variable(names, v, room);
	return room ? strbuf_str(room) : STR("");
}

static void show_pointer(struct walk *w, const struct ctype *t, uint64_t v)
{
	struct strbuf room = {0};
	struct str name = showtype_name(w, t, v, &room);
	bool is_member = w->style == VALUE_MEMBER;
	if (w->j && name.n) {
		json_bytes(w->j, NULL, name);
	} else if (w->j && !v) {
		json_null(w->j, NULL);
	} else if (w->j) {
		add_quoted_address(w, v);
	} else {
		if (is_member || (!name.n && w->style != VALUE_KEY))
			render_address(v, w->out);
		strbuf_addz(w->out, name.n && is_member ? " <" : "");
		strbuf_add_printable(w->out, name);
		strbuf_addz(w->out, name.n && is_member ? ">" : "");
	}
	strbuf_fini(&room);
}

/** x87: the integer bit of a denormal number is 0, that of others 1; what is not so is none. */
static bool is_long_double(const char *at)
{
#if LDBL_MANT_DIG == 64
	uint64_t fraction;
	uint16_t exponent;
	memcpy(&fraction, at, sizeof(fraction));
	memcpy(&exponent, at + sizeof(fraction), sizeof(exponent));
	return !(exponent & 0x7fff) == !(fraction >> 63);
#else
	(void)at;
	return true;
#endif
}

/** Is it an IEEE float, by its name? Complex and decimal numbers are not. */
static bool is_plain_float(const struct ctype *t, const char *at)
{
	static const char *const others[] = {"omplex", "maginary", "ecimal"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (str_contains(t->name, str_from(others[i])))
			return false;
	return t->size == sizeof(float) || t->size == sizeof(double) ||
	       (t->size == sizeof(long double) && str_eq(t->name, STR("long double")) &&
		is_long_double(at));
}

static void add_float(const char *at, size_t size, struct strbuf *out)
{
	union {
		float single;
		double full;
		long double wide;
	} v;
	memcpy(&v, at, size);
	render_real(size == sizeof(v.single) ? v.single
		    : size == sizeof(v.full) ? v.full
					     : v.wide,
		    size, out);
}

static void show_float(struct walk *w, const struct ctype_place *p, const struct ctype *t)
{
	const char *at = w->bytes.p + p->off;
	if (p->bit_size || !is_there(w, p->off, t->size) || !is_plain_float(t, at)) {
		showtype_missing(w);
		return;
	}
	if (!w->j) {
		add_float(at, t->size, w->out);
		return;
	}
	struct strbuf text = {0};
	add_float(at, t->size, &text);
	// Readers that have integers read -0 as one, which has no sign; a long double may be more
	// than they can hold.
	if (!isfinite(strtod(text.p, NULL)))
		json_str(w->j, NULL, strbuf_str(&text));
	else
		json_printf(w->j, NULL, "%s%s", text.p, strcmp(text.p, "-0") == 0 ? ".0" : "");
	strbuf_fini(&text);
}

// --- strings

void showtype_string(struct walk *w, struct str s, bool is_cut)
{
	if (!w->j) {
		render_quoted(s, w->out);
		strbuf_addz(w->out, is_cut ? "..." : "");
	} else if (!is_cut) {
		json_bytes(w->j, NULL, s);
	} else {
		open_bracket(w, '{');
		json_bytes(w->j, "text", s);
		add_rest(w);
		close_bracket(w, '}');
	}
}

/** A char array is a string up to its NUL; of one of other bytes the NULs at the end are omitted. */
static void show_bytes(struct walk *w, const struct ctype_place *p, const struct ctype *t)
{
	struct str s = str_slice(w->bytes, p->off, t->count);
	size_t end = str_find(s, '\0');
	bool is_text = ctype_strip(t->of)->is_char, is_cut = s.n < t->count;
	if (is_text && end < s.n) {
		s.n = end;
		is_cut = false;
	}
	while (!is_cut && s.n && !s.p[s.n - 1])
		s.n--;
	showtype_string(w, s, is_cut);
}

// --- classes of the C++ library

/** Where @member of the class at @p is. */
static struct ctype_place place_in(const struct ctype_place *p, const struct ctype_place *member)
{
	return (struct ctype_place){.type = ctype_strip(member->type), .off = p->off + member->off};
}

static bool read_word(const struct walk *w, const struct ctype_place *p,
		      const struct ctype_place *member, uint64_t *ret)
{
	struct ctype_place at = place_in(p, member);
	unsigned __int128 v;
	if (!read_integer(w, &at, false, &v))
		return false;
	*ret = (uint64_t)v;
	return true;
}

static void show_size(struct walk *w, uint64_t n)
{
	open_bracket(w, '{');
	begin(w, STR("size"));
	add_number(w, (int64_t)n, false);
	w->needs_comma = true;
	add_rest(w);
	close_bracket(w, '}');
}

/**
 * The text is known where it lies in the bytes, as that of a short string does, or has travelled; of another
 * one its length is. What travels ends at a NUL, which a std::string may contain.
 */
static bool show_cxx_text(struct walk *w, const struct ctype_place *p, const struct cxxclass *c)
{
	uint64_t at, n;
	if (!read_word(w, p, &c->first, &at) || !read_word(w, p, &c->second, &n))
		return false;
	uint64_t off = at - w->addr;
	bool has_text = w->text.n && p->off == 0 && w->text.n <= n;
	if (n == 0 || (at >= w->addr && is_there(w, off, n)))
		showtype_string(w, str_slice(w->bytes, n ? off : 0, n), false);
	else if (has_text)
		showtype_string(w, w->text, w->text.n < n);
	else
		show_size(w, n);
	return true;
}

static bool show_vector(struct walk *w, const struct ctype_place *p, const struct cxxclass *c)
{
	uint64_t from, to;
	if (!read_word(w, p, &c->first, &from) || !read_word(w, p, &c->second, &to) || from > to ||
	    (to - from) % c->element)
		return false;
	show_size(w, (to - from) / c->element);
	return true;
}

static bool show_optional(struct walk *w, const struct ctype_place *p, const struct cxxclass *c)
{
	struct ctype_place value = place_in(p, &c->first), engaged = place_in(p, &c->second);
	unsigned __int128 v;
	if (!read_integer(w, &engaged, false, &v) || v > 1)
		return false;
	if (v)
		showtype_at(w, &value);
	else if (w->j)
		json_null(w->j, NULL);
	else
		strbuf_addz(w->out, "nullopt");
	return true;
}

/** False: it is none, or not all of it is there, or its members have values that it never has. */
static bool show_cxx_class(struct walk *w, const struct ctype_place *p, struct ctype *t)
{
	struct cxxclass c;
	if (!cxxclass_read(t, &c))
		return false;
	struct ctype_place first = place_in(p, &c.first);
	uint64_t n;
	switch (c.kind) {
	case CXXCLASS_COUNTED:
		if (!read_word(w, p, &c.first, &n))
			return false;
		show_size(w, n);
		return true;
	case CXXCLASS_TEXT:
		return show_cxx_text(w, p, &c);
	case CXXCLASS_VECTOR:
		return show_vector(w, p, &c);
	case CXXCLASS_OPTIONAL:
		return show_optional(w, p, &c);
	default:
		showtype_at(w, &first);
		return true;
	}
}

// --- what has parts

/** Where element @i of the array at @p is; false when nothing of it is there. */
static bool find_element(const struct walk *w, const struct ctype_place *p, const struct ctype *t,
			 uint64_t i, uint64_t size, struct ctype_place *ret)
{
	uint64_t at;
	if (__builtin_mul_overflow(i, size, &at) || __builtin_add_overflow(at, p->off, &at))
		return false;
	*ret = (struct ctype_place){.type = t->of, .off = at};
	return is_there(w, at, size ? 1 : 0);
}

static void show_array(struct walk *w, const struct ctype_place *p, const struct ctype *t)
{
	uint64_t size, n = 0;
	struct ctype_place element;
	if (!t->has_count || !t->count || !ctype_size(t->of, &size)) {
		showtype_missing(w); // its length is known to the program only
		return;
	}
	const struct ctype *of = ctype_strip(t->of);
	if (of && of->kind == CTYPE_INT && of->has_size && of->size == 1) {
		show_bytes(w, p, t);
		return;
	}
	open_bracket(w, '[');
	while (n < t->count && n < MAX_ELEMENTS && w->left &&
	       find_element(w, p, t, n, size, &element)) {
		separate(w);
		showtype_at(w, &element);
		n++;
	}
	if (n < t->count && w->j)
		showtype_missing(w);
	else if (n < t->count)
		strbuf_addz(w->out, "...");
	close_bracket(w, ']');
}

/** Where a member of the struct at @p is; false when nothing of it is there. */
static bool find_member(const struct walk *w, const struct ctype_place *p,
			const struct ctype_member *m, struct ctype_place *ret)
{
	uint64_t size;
	if (m->off > w->bytes.n || m->bit_off > w->bytes.n * 8)
		return false;
	*ret = (struct ctype_place){m->type, p->off + m->off, p->off * 8 + m->bit_off, m->bit_size,
				    NULL};
	// A member without a size shows itself that it is missing.
	return !ctype_size(m->type, &size) || is_there(w, ret->off, size ? 1 : 0);
}

static bool show_members(struct walk *w, const struct ctype_place *p, const struct ctype *t);

/** A base that has nothing but such bases: an allocator, a function to compare with. */
static bool is_empty(struct ctype *t, unsigned depth)
{
	t = ctype_strip(t);
	if (depth > MAX_DEPTH || !t || !ctype_is_aggregate(t) || !ctype_complete(t))
		return false;
	for (size_t i = 0; i < t->n_members; i++)
		if (!t->members[i].is_base || !is_empty(t->members[i].type, depth + 1))
			return false;
	return true;
}

/** False: some of what belongs to the struct around it is not there. */
static bool show_member(struct walk *w, const struct ctype_member *m, const struct ctype_place *at)
{
	struct ctype *t = ctype_strip(m->type);
	if (m->is_base && is_empty(t, 0))
		return true;
	if (m->is_base && t) {
		struct strbuf name = {0};
		struct arena arena = {0};
		strbuf_addf(&name, "<" STR_FMT ">", STR_ARG(demangle_shorten(&arena, t->name)));
		begin(w, strbuf_str(&name));
		strbuf_fini(&name);
		arena_fini(&arena);
	} else if (m->name.n || !t || !ctype_is_aggregate(t) || !ctype_complete(t)) {
		begin(w, m->name);
	} else if (!w->j) {
		separate(w);
	} else if (w->depth < MAX_DEPTH) {
		// In JSON the members of a nameless one are the outer struct's, as in C.
		w->left--;
		w->depth++;
		bool is_whole = show_members(w, at, t);
		w->depth--;
		return is_whole;
	} else {
		return false;
	}
	showtype_at(w, at);
	return true;
}

/** False: some are not there. */
static bool show_members(struct walk *w, const struct ctype_place *p, const struct ctype *t)
{
	bool is_whole = true;
	for (size_t i = 0; i < t->n_members; i++) {
		struct ctype_place at;
		if (!w->left)
			return false;
		if (find_member(w, p, &t->members[i], &at))
			is_whole &= show_member(w, &t->members[i], &at);
		else
			is_whole = false;
	}
	return is_whole;
}

/** 6a3ba1d7-1d5f-4b5c-a7a3-29e6ab2f4be5 (RFC 9562): a struct NAMEuuid of 16 unsigned bytes and nothing else. */
static bool show_uuid(struct walk *w, const struct ctype_place *p, struct ctype *t)
{
	char text[37], *at = text;
	if (!str_has_suffix(t->name, STR("uuid")) || t->size != 16 || !is_there(w, p->off, 16))
		return false;
	for (unsigned i = 0;
	     i < MAX_DEPTH && t && ctype_is_aggregate(t) && ctype_complete(t) && t->n_members == 1;
	     i++)
		t = ctype_strip(t->members[0].type);
	struct ctype *of =
	    t && t->kind == CTYPE_ARRAY && t->count == 16 ? ctype_strip(t->of) : NULL;
	if (!of || of->kind != CTYPE_INT || of->size != 1 || of->is_signed)
		return false;
	for (unsigned i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      (unsigned char)w->bytes.p[p->off + i]);
	if (w->j)
		json_str(w->j, NULL, str_from(text));
	else
		strbuf_addz(w->out, text);
	return true;
}

static void show_struct(struct walk *w, const struct ctype_place *p, struct ctype *t)
{
	if (!ctype_complete(t)) {
		showtype_missing(w);
		return;
	}
	if (show_cxx_class(w, p, t) || show_uuid(w, p, t))
		return;
	open_bracket(w, '{');
	if (!show_members(w, p, t))
		add_rest(w);
	else if (!w->j && !t->n_members)
		strbuf_addz(w->out, "<No data fields>");
	close_bracket(w, '}');
}

/** A value that is one number. */
static void show_scalar(struct walk *w, const struct ctype_place *p)
{
	struct ctype *t = p->type;
	unsigned __int128 v;
	bool is_signed = t->is_signed && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM);
	if (!read_integer(w, p, is_signed, &v))
		showtype_missing(w);
	else if (w->value->names || t->kind == CTYPE_ENUM)
		show_enum(w, t, (int64_t)v);
	else if (t->kind == CTYPE_INT)
		show_integer(w, t, v);
	else if (t->kind == CTYPE_BOOL)
		show_bool(w, (uint64_t)v);
	else if (t->kind == CTYPE_OPAQUE)
		show_untyped(w, t, (uint64_t)v);
	else
		show_pointer(w, t, (uint64_t)v);
}

void showtype_value(struct walk *w, const struct ctype_place *p)
{
	struct ctype *t = p->type;
	switch (t->kind) {
	case CTYPE_STRUCT:
	case CTYPE_UNION:
		show_struct(w, p, t);
		break;
	case CTYPE_ARRAY:
		show_array(w, p, t);
		break;
	case CTYPE_FLOAT:
		show_float(w, p, t);
		break;
	case CTYPE_INT:
	case CTYPE_BOOL:
	case CTYPE_ENUM:
	case CTYPE_POINTER:
	case CTYPE_REFERENCE:
	case CTYPE_OPAQUE:
		show_scalar(w, p);
		break;
	default:
		showtype_missing(w);
	}
}

void showtype_at(struct walk *w, const struct ctype_place *p)
{
	struct ctype_place bare = *p;
	bare.type = ctype_strip(p->type);
	if (bare.type && w->left && w->depth < MAX_DEPTH) {
		w->left--;
		w->depth++;
		showtype_value(w, &bare);
		w->depth--;
	} else {
		showtype_missing(w);
	}
	w->needs_comma = true;
}
