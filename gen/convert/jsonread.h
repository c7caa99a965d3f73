/**
 * jsonread - JSON (RFC 8259) that is read where it stands: each value is a view of its text, which
 * is known to be well-formed.
 *
 *	struct jsonread r = jsonread_of(line);
 *	struct str key, value;
 *	if (jsonread_open(&r, '{'))
 *		while (jsonread_member(&r, &key, &value))
 *			use(key, value);	// "a\n" is the key a\n, and 5, "x" and [1, 2] are values
 *	if (!jsonread_is_done(&r)) complain();
 *
 * Strings are looked at for their form alone: that the text is UTF-8 is the caller's to check.
 */
#ifndef CONVERT_JSONREAD_H
#define CONVERT_JSONREAD_H

#include "base/str.h"

struct jsonread {
	const char *p, *end;
	bool is_bad;   /**< it is no JSON; nothing more is read */
	bool is_first; /**< what was opened last has not been looked into */
};

struct jsonread jsonread_of(struct str text);
/** Into an object, {, or an array, [. */
bool jsonread_open(struct jsonread *r, char bracket);
/** The next member: its key as it is spelled between the quotes. False behind the last one. */
bool jsonread_member(struct jsonread *r, struct str *key, struct str *value);
/** The next element, false behind the last one. */
bool jsonread_element(struct jsonread *r, struct str *value);
/** The last member of @object that is called @key; empty where there is none. */
struct str jsonread_get(struct str object, const char *key);
/** All was read, and was right. */
bool jsonread_is_done(struct jsonread *r);

/** What stands between the quotes of @value; empty where it is no string. */
struct str jsonread_inside(struct str value);
/** Adds what @inside, of a string, stands for; halves of surrogates become U+FFFD. */
void jsonread_add_text(struct str inside, struct strbuf *out);
/** An integer, or a string that has the digits of one. */
bool jsonread_integer(struct str value, int64_t *ret);

#endif
