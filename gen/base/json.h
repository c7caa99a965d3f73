/**
 * json - JSON (RFC 8259), written into a buffer.
 *
 * Puts the commas and escapes the strings; that what is opened is closed is the caller's to see to.
 * A member of an object has a key, an element of an array and the outermost value have NULL
 * instead.
 *
 *	struct json j = {&buf};
 *	json_open(&j, NULL, '{');
 *	json_str(&j, "name", STR("a\"b"));
 *	json_open(&j, "args", '[');
 *	json_printf(&j, NULL, "%u", 42);
 *	json_close(&j, ']');
 *	json_close(&j, '}');		// {"name": "a\"b", "args": [42]}
 */
#pragma once

#include "base/str.h"

struct json {
	struct strbuf *out;
	bool needs_comma; /**< a value comes before the next one */
};

/** A comma where one is needed. */
static inline void json_comma(struct json *j)
{
	if (j->needs_comma)
		strbuf_add(j->out, ", ", 2);
	j->needs_comma = true;
}

/**
 * A comma where one is needed, and @key, a word of ours, as it is; the caller adds a value to the
 * returned buffer.
 */
static inline struct strbuf *json_value(struct json *j, const char *key)
{
	json_comma(j);
	if (key) {
		strbuf_addc(j->out, '"');
		strbuf_addz(j->out, key);
		strbuf_addz(j->out, "\": ");
	}
	return j->out;
}
/** The same with a key from a stranger. */
struct strbuf *json_named_value(struct json *j, struct str key);
/** The same; what is added next is its value. */
void json_key(struct json *j, struct str key);

/** @bracket: [ or { */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
/** Bytes that are not UTF-8 become U+FFFD. */
void json_str(struct json *j, const char *key, struct str s);
/** Any bytes: those that are not UTF-8 are {"text": with U+FFFD, "hex": all of them}. */
void json_bytes(struct json *j, const char *key, struct str s);
/**
 * 64 bits. What is beyond 2^53 - 1 either way is a string of its digits, as many readers have doubles
 * for numbers (RFC 8259, section 6).
 */
void json_number(struct json *j, const char *key, int64_t value, bool is_signed);
/** null when @s is empty */
void json_str_or_null(struct json *j, const char *key, struct str s);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/** Written as it is: a number. */
void json_printf(struct json *j, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** An object that begins a line, after @indent. */
void json_open_line(struct json *j, const char *indent);
/** Ends an array whose elements each began a line, and the text. */
void json_close_lines(struct json *j);
