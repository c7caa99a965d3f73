#include "record/fieldjson.h"

#include "record/aggregate.h"
#include "value/valuejson.h"

static void add_time(const struct render *how, struct json *j, struct str format, int64_t ns)
{
	struct strbuf text;
	strbuf_init(&text);
	render_time(how, format, ns, &text);
	valuejson_string(j, NULL, strbuf_str(&text));
	strbuf_fini(&text);
}

static void add_number(const struct render *how, struct json *j, const struct shape_field *f,
		       int64_t v)
{
	char c = (char)v;
	bool is_single = f->kind == FIELD_FLOAT;
	bool is_address = f->kind == FIELD_NUMBER && f->letter == 'p';
	switch (is_address ? FIELD_ADDRESS : f->kind) {
	case FIELD_CHAR:
		valuejson_string(j, NULL, (struct str){&c, 1});
		break;
	case FIELD_BOOL:
		json_bool(j, NULL, render_narrow(v, f->bits, false) != 0);
		break;
	case FIELD_ADDRESS:
		valuejson_address(j, NULL, (uint64_t)render_narrow(v, f->bits, false));
		break;
	case FIELD_CODE:
		valuejson_code(how, j, NULL, (uint64_t)v);
		break;
	case FIELD_ENUM:
		valuejson_enum(j, NULL, f->names, render_narrow(v, f->bits, f->names->is_signed));
		break;
	case FIELD_FLOAT:
	case FIELD_DOUBLE:
		valuejson_double(j, NULL, render_real(v, is_single), is_single);
		break;
	case FIELD_TIME:
		add_time(how, j, f->literal, v);
		break;
	default:
		valuejson_number(j, NULL, render_narrow(v, f->bits, f->is_signed), f->is_signed);
	}
}

/** Can it be shown? */
static bool is_known(const struct render *how, const struct shape_field *f, struct record_rest rest)
{
	struct strbuf room;
	strbuf_init(&room);
	bool is = f->kind == FIELD_STRING
		      ? render_find_string(how, *rest.numbers,
					   &(struct str){rest.texts->p, rest.texts->n}, &room)
		      : f->kind != FIELD_HIDDEN;
	strbuf_fini(&room);
	return is;
}

static void add_string(const struct render *how, struct json *j, int64_t address, struct str text)
{
	struct strbuf room;
	strbuf_init(&room);
	render_find_string(how, address, &text, &room);
	if (address)
		valuejson_string(j, NULL, text);
	else
		json_null(j, NULL);
	strbuf_fini(&room);
}

/** @f is not FIELD_CHOICE. */
static void add_value(const struct render *how, struct json *j, const struct shape_field *f,
		      struct record_rest rest)
{
	switch (f->kind) {
	case FIELD_LITERAL:
		valuejson_string(j, NULL, f->literal);
		break;
	case FIELD_TEXT:
		valuejson_string(j, NULL, *rest.texts);
		break;
	case FIELD_STRING:
		add_string(how, j, *rest.numbers, *rest.texts);
		break;
	case FIELD_AGGREGATE:
		aggregate_json(how, f, rest.numbers, j, NULL);
		break;
	default:
		add_number(how, j, f, *rest.numbers);
	}
}

/** A number that is printed in two parts, the second the next field. */
static void add_joined(struct json *j, const struct shape_field *f, int64_t high,
		       struct record_rest *rest)
{
	struct record_rest low;
	record_take(f + 1, rest, &low);
	uint64_t v = (uint64_t)render_narrow(high, f->bits, f->is_signed) * (uint64_t)f->divisor;
	v += (uint64_t)render_narrow(*low.numbers, f->bits, f->is_signed);
	valuejson_number(j, NULL, (int64_t)v, f->is_signed);
}

static bool is_cut(const struct render *how, const struct shape_field *f, struct record_rest rest)
{
	bool is_string = f->kind == FIELD_STRING || (f->kind == FIELD_TEXT && f->is_string);
	return how->longest && is_string && rest.texts->n >= how->longest;
}

static void add_cut(const struct render *how, const struct record *r, struct json *j)
{
	struct record_rest rest = {r->numbers, r->texts}, at;
	json_open(j, "cut", '[');
	for (size_t i = 0; i < r->shape->n_fields; i++) {
		const struct shape_field *f = &r->shape->fields[i];
		if (is_cut(how, record_take(f, &rest, &at), at))
			json_str(j, NULL, f->key);
	}
	json_close(j, ']');
}

void fieldjson_record(const struct render *how, const struct record *r, struct json *j)
{
	struct record_rest rest = {r->numbers, r->texts}, at;
	size_t n_cut = 0;
	json_open(j, "fields", '{');
	for (size_t i = 0; i < r->shape->n_fields; i++) {
		const struct shape_field *outer = &r->shape->fields[i];
		const struct shape_field *f = record_take(outer, &rest, &at);
		if (!is_known(how, f, at))
			continue;
		json_named_value(j, outer->key);
		j->needs_comma = false;
		if (f->kind == FIELD_TEXT && r->shape->style == SHAPE_LIST)
			valuejson_stack(j, NULL, *at.texts);
		else if (f->divisor)
			i++, add_joined(j, f, *at.numbers, &rest);
		else
			add_value(how, j, f, at);
		n_cut += is_cut(how, f, at);
	}
	json_close(j, '}');
	if (n_cut)
		add_cut(how, r, j);
}
