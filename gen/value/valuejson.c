#include "value/valuejson.h"

#include <string.h>

void valuejson_string(struct json *j, const char *key, struct str s)
{
	struct strbuf *out = json_value(j, key);
	if (strbuf_add_json_utf8(out, s))
		return;
	strbuf_addc(out, '{');
	j->needs_comma = false;
	json_str(j, "text", s);
	json_value(j, "hex");
	strbuf_addc(out, '"');
	for (size_t i = 0; i < s.n; i++)
		strbuf_addf(out, "%02x", (unsigned char)s.p[i]);
	strbuf_addc(out, '"');
	json_close(j, '}');
}

/** Numbers up to there are exact in a double (RFC 8259, section 6). */
static bool is_exact(int64_t value, bool is_signed)
{
	const int64_t most = (INT64_C(1) << 53) - 1;
	return value <= most && value >= (is_signed ? -most : 0);
}

void valuejson_number(struct json *j, const char *key, int64_t value, bool is_signed)
{
	struct strbuf *out = json_value(j, key);
	bool is_quoted = !is_exact(value, is_signed);
	if (is_quoted)
		strbuf_addc(out, '"');
	render_number((struct str){0}, is_signed ? 'd' : 'u', 64, value, out);
	if (is_quoted)
		strbuf_addc(out, '"');
}

void valuejson_enum(struct json *j, const char *key, const struct enumtab *names, int64_t value)
{
	value = render_narrow(value, names->size * 8, names->is_signed);
	const struct enumtab_item *item = enumtab_get(names, value);
	json_open(j, key, '{');
	if (item) {
		json_str(j, "name", item->text);
	} else {
		struct strbuf text; // of flags, or the number
		strbuf_init(&text);
		bool has_name = render_enum(names, value, &text);
		json_str_or_null(j, "name", has_name ? strbuf_str(&text) : (struct str){0});
		strbuf_fini(&text);
	}
	valuejson_number(j, "value", value, names->is_signed);
	json_close(j, '}');
}

void valuejson_address(struct json *j, const char *key, uint64_t address)
{
	if (!address) {
		json_null(j, key);
		return;
	}
	struct strbuf *out = json_value(j, key);
	strbuf_addz(out, "\"0x");
	render_number((struct str){0}, 'x', 64, (int64_t)address, out);
	strbuf_addc(out, '"');
}

void valuejson_stack(struct json *j, const char *key, struct str s)
{
	json_open(j, key, '[');
	while (s.n) {
		struct str frame = str_trim(str_take_line(&s));
		if (frame.n)
			valuejson_string(j, NULL, frame);
	}
	json_close(j, ']');
}
