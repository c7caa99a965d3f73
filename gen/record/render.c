#include "record/render.h"

#include "value/show.h"

struct render render_of(const struct render *how, const struct record *r)
{
	struct render own = *how;
	own.pid = r->head.pid;
	own.ns = r->head.ns;
	return own;
}

void render_record(const struct render *all, const struct record *r, struct strbuf *out)
{
	const struct shape *s = r->shape;
	const struct render own = render_of(all, r), *how = &own;
	struct value_data rest = {r->numbers, r->texts}, at;
	for (size_t i = 0; i < s->n_fields && s->style != SHAPE_MARK; i++) {
		const struct shape_field *f = &s->fields[i];
		const struct value *v = value_next(&f->value, &rest, &at);
		if (s->style == SHAPE_FORMAT) {
			strbuf_adds(out, f->before);
			value_format(how, &f->as, v, at, out);
			continue;
		}
		if (v->how != VALUE_STACK) {
			strbuf_addc(out, ' ');
			strbuf_add_printable(out, f->name);
			strbuf_addc(out, '=');
		}
		value_text(how, v, at, VALUE_LISTED, out);
	}
	if (s->style == SHAPE_FORMAT)
		strbuf_adds(out, s->after);
}

/** A number that is printed in two parts, the second the next field. */
static void add_joined(struct json *j, const struct shape_field *f, int64_t high, int64_t low)
{
	uint64_t size = f->value.type->size * 8;
	bool is_signed = f->value.type->is_signed;
	uint64_t v =
	    (uint64_t)render_narrow(high, (unsigned)size, is_signed) * (uint64_t)f->divisor;
	v += (uint64_t)render_narrow(low, (unsigned)size, is_signed);
	json_number(j, NULL, (int64_t)v, is_signed);
}

void render_key(const struct shape_field *f, struct json *j)
{
	strbuf_adds(json_value(j, NULL), f->key);
	strbuf_addz(j->out, ": ");
	j->needs_comma = false;
}

void render_record_json(const struct render *all, const struct record *r, struct json *j)
{
	const struct render own = render_of(all, r), *how = &own;
	struct value_data rest = {r->numbers, r->texts}, at;
	struct strbuf cut = {0}; // names
	json_open(j, "fields", '{');
	for (size_t i = 0; i < r->shape->n_fields; i++) {
		const struct shape_field *f = &r->shape->fields[i];
		const struct value *v = value_next(&f->value, &rest, &at);
		if (f->is_filler || !value_is_known(how, v, at))
			continue;
		render_key(f, j);
		if (f->divisor) {
			struct value_data low;
			value_next(&f[1].value, &rest, &low);
			add_joined(j, f, *at.numbers, *low.numbers);
			i++;
		} else {
			value_json(how, v, at, VALUE_RAW, j);
		}
		j->needs_comma = true;
		if (value_is_cut(how, v, at)) {
			strbuf_addz(&cut, cut.n ? ", " : "");
			strbuf_adds(&cut, f->key);
		}
	}
	json_close(j, '}');
	if (cut.n)
		strbuf_addf(json_value(j, "cut"), "[" STR_FMT "]", STR_ARG(strbuf_str(&cut)));
	strbuf_fini(&cut);
}
