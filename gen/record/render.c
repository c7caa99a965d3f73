#include "record/render.h"

#include <stdint.h>

#include <string.h>
#include <time.h>

#include "record/aggregate.h"

// --- times

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // the format is the script's
static size_t format_time(char *to, size_t room, const char *format, const struct tm *tm)
{
	return strftime(to, room, format, tm);
}
#pragma GCC diagnostic pop

/** One conversion of strftime(), or %f, which it does not have: six digits of a second. */
static void add_time_part(struct str conversion, const struct tm *tm, int micro, struct strbuf *out)
{
	char format[16], text[256];
	if (str_eq(conversion, STR("%f"))) {
		strbuf_addf(out, "%06d", micro);
	} else if (conversion.n < sizeof(format)) {
		memcpy(format, conversion.p, conversion.n);
		format[conversion.n] = '\0';
		strbuf_add(out, text, format_time(text, sizeof(text), format, tm));
	}
}

void render_time(const struct render *how, struct str format, int64_t ns, struct strbuf *out)
{
	int64_t wall = ns + how->offset;
	int64_t in_second = wall % 1000000000 + (wall % 1000000000 < 0 ? 1000000000 : 0);
	time_t seconds = (time_t)((wall - in_second) / 1000000000);
	struct tm tm;
	localtime_r(&seconds, &tm);
	while (format.n) {
		struct str plain = str_slice(format, 0, str_find(format, '%'));
		strbuf_adds(out, plain);
		format = str_from_offset(format, plain.n);
		size_t n = format.n ? 1 : 0;
		while (n < format.n && strchr("_-0^#EO123456789", format.p[n]))
			n++;
		add_time_part(str_slice(format, 0, n + 1), &tm, (int)(in_second / 1000), out);
		format = str_from_offset(format, n + 1);
	}
}

// --- values

/**
 * A number as print() and %s have it: what it is, rather than its digits; false where it is nothing
 * but a number.
 */
static bool add_meaning(const struct render *how, const struct shape_field *f, int64_t v,
			struct strbuf *out)
{
	switch (f->kind) {
	case FIELD_BOOL:
		strbuf_addz(out, render_narrow(v, f->bits, false) ? "true" : "false");
		return true;
	case FIELD_ADDRESS:
		render_address((uint64_t)render_narrow(v, f->bits, false), out);
		return true;
	case FIELD_CODE:
		render_code(how, v, out);
		return true;
	case FIELD_ENUM:
		render_enum(f->names, render_narrow(v, f->bits, f->names->is_signed), out);
		return true;
	case FIELD_TIME:
		render_time(how, f->literal, v, out);
		return true;
	case FIELD_FLOAT:
	case FIELD_DOUBLE:
		render_double(render_real(v, f->kind == FIELD_FLOAT), f->kind == FIELD_FLOAT, out);
		return true;
	default:
		return false;
	}
}

/** A number in a format: %d of an enum is its number, %s its name. */
static void add_number(const struct render *how, const struct shape_field *conversion,
		       const struct shape_field *f, int64_t v, struct strbuf *out)
{
	size_t start = out->n;
	char letter = conversion->letter;
	bool is_real = f->kind == FIELD_FLOAT || f->kind == FIELD_DOUBLE;
	if (!is_real && letter && strchr("diuxXocp", letter)) {
		render_number(conversion->how, letter, f->bits, v, out);
		return;
	}
	if (!add_meaning(how, f, v, out))
		render_number((struct str){0}, f->is_signed ? 'd' : 'u', f->bits, v, out);
	render_lay_out(conversion->how, start, out);
}

/** A value in a format: @conversion is @f, or the choice that it is one of. */
static void add_converted(const struct render *how, const struct shape_field *conversion,
			  const struct shape_field *f, struct record_rest rest, struct strbuf *out)
{
	size_t start = out->n;
	switch (f->kind) {
	case FIELD_STRING:
	case FIELD_TEXT:
		render_laid_out(conversion->how, *rest.texts, out);
		break;
	case FIELD_AGGREGATE:
		aggregate_text(how, f, rest.numbers, out);
		render_lay_out(conversion->how, start, out);
		break;
	case FIELD_LITERAL:
		render_laid_out(conversion->how, f->literal, out);
		break;
	case FIELD_HIDDEN:
		render_laid_out(conversion->how, STR("?"), out);
		break;
	default:
		add_number(how, conversion, f, *rest.numbers, out);
	}
}

// --- the list of -t

enum { FIRST_PAGE = 4096 }; // no program has anything below

/** A string that is as long as bpftrace can hold has more to it. */
static void add_string(const struct render *how, struct str s, struct strbuf *out)
{
	render_quoted(s, out);
	if (how->longest && s.n >= how->longest)
		strbuf_addz(out, "...");
}

bool render_find_string(const struct render *how, int64_t address, struct str *text,
			struct strbuf *room)
{
	if (text->n || !address)
		return true;
	if ((uint64_t)address < FIRST_PAGE)
		return false;
	if (!how->names)
		return true;
	size_t most = how->longest ? how->longest : SIZE_MAX;
	enum codename_text found = codename_find_text(how->names, (uint64_t)address, most, room);
	if (found == CODENAME_LITERAL)
		*text = strbuf_str(room);
	return found != CODENAME_VARIABLE;
}

static void add_address_and_string(const struct render *how, int64_t address, struct str text,
				   struct strbuf *out)
{
	struct strbuf room;
	strbuf_init(&room);
	if (!address)
		strbuf_addz(out, "(null)");
	else if (render_find_string(how, address, &text, &room))
		add_string(how, text, out);
	else
		strbuf_addc(out, '?');
	strbuf_fini(&room);
}

static void add_quoted_char(char c, struct strbuf *out)
{
	strbuf_addc(out, '\'');
	strbuf_add_printable(out, (struct str){&c, 1});
	strbuf_addc(out, '\'');
}

/** A value as -t shows it. */
static void add_listed(const struct render *how, const struct shape_field *f,
		       struct record_rest rest, struct strbuf *out)
{
	static const struct shape_field plain = {0};
	int64_t v;
	switch (f->kind) {
	case FIELD_STRING:
		add_address_and_string(how, *rest.numbers, *rest.texts, out);
		break;
	case FIELD_NUMBER:
		v = render_narrow(*rest.numbers, f->bits, f->is_signed);
		if (f->letter == 'x')
			render_address((uint64_t)v, out);
		else
			render_number(plain.how, f->is_signed ? 'd' : 'u', 64, v, out);
		break;
	case FIELD_CHAR:
		add_quoted_char((char)*rest.numbers, out);
		break;
	default:
		add_converted(how, &plain, f, rest, out);
	}
}

/** On lines of its own; a function may have any name. */
static void add_stack(struct str s, struct strbuf *out)
{
	while (s.n) {
		struct str line = str_slice(s, 0, str_find(s, '\n'));
		strbuf_add_printable(out, line);
		strbuf_addz(out, line.n < s.n ? "\n" : "");
		s = str_from_offset(s, line.n + 1);
	}
}

void render_record(const struct render *how, const struct record *r, struct strbuf *out)
{
	const struct shape *s = r->shape;
	struct record_rest rest = {r->numbers, r->texts}, at;
	for (size_t i = 0; i < s->n_fields && s->style != SHAPE_MARK; i++) {
		const struct shape_field *f = &s->fields[i], *value = record_take(f, &rest, &at);
		if (s->style == SHAPE_FORMAT) {
			strbuf_adds(out, f->before);
			add_converted(how, f, value, at, out);
			continue;
		}
		if (f->kind == FIELD_TEXT) {
			add_stack(*at.texts, out);
			continue;
		}
		strbuf_addc(out, ' ');
		strbuf_adds(out, f->name);
		strbuf_addc(out, '=');
		add_listed(how, value, at, out);
	}
	if (s->style == SHAPE_FORMAT)
		strbuf_adds(out, s->after);
}
