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

void json_line(struct json *j, const char *indent)
{
	strbuf_addz(j->out, j->needs_comma ? ",\n" : "\n");
	strbuf_addz(j->out, indent);
	j->needs_comma = false;
}

void json_close_lines(struct json *j)
{
	strbuf_addz(j->out, j->needs_comma ? "\n]\n" : "]\n");
	j->needs_comma = false;
}
