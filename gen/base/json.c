#include "base/json.h"

struct strbuf *json_named_value(struct json *j, struct str key)
{
	json_comma(j);
	strbuf_add_json(j->out, key);
	strbuf_addz(j->out, ": ");
	return j->out;
}

void json_key(struct json *j, struct str key)
{
	json_named_value(j, key);
	j->needs_comma = false;
}

void json_open(struct json *j, const char *key, char bracket)
{
	strbuf_addc(json_value(j, key), bracket);
	j->needs_comma = false;
}

void json_close(struct json *j, char bracket)
{
	strbuf_addc(j->out, bracket);
	j->needs_comma = true;
}

void json_str(struct json *j, const char *key, struct str s)
{
	strbuf_add_json(json_value(j, key), s);
}

void json_bytes(struct json *j, const char *key, struct str s)
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

void json_number(struct json *j, const char *key, int64_t value, bool is_signed)
{
	enum { ROOM = 24 };
	const uint64_t most = (UINT64_C(1) << 53) - 1;
	bool is_minus = is_signed && value < 0;
	uint64_t size = is_minus ? 0 - (uint64_t)value : (uint64_t)value;
	char room[ROOM], *end = room + ROOM, *p = end;
	if (size > most)
		*--p = '"';
	p = str_decimal(size, p);
	if (is_minus)
		*--p = '-';
	if (size > most)
		*--p = '"';
	strbuf_add(json_value(j, key), p, (size_t)(end - p));
}

void json_str_or_null(struct json *j, const char *key, struct str s)
{
	if (s.n)
		json_str(j, key, s);
	else
		json_null(j, key);
}

void json_bool(struct json *j, const char *key, bool v)
{
	strbuf_addz(json_value(j, key), v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	strbuf_addz(json_value(j, key), "null");
}

void json_printf(struct json *j, const char *key, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(json_value(j, key), fmt, ap);
	va_end(ap);
}

void json_open_line(struct json *j, const char *indent)
{
	strbuf_addf(j->out, "%s\n%s{", j->needs_comma ? "," : "", indent);
	j->needs_comma = false;
}

void json_close_lines(struct json *j)
{
	strbuf_addz(j->out, j->needs_comma ? "\n]\n" : "]\n");
	j->needs_comma = false;
}
