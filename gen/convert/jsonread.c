#include "convert/jsonread.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_DEPTH = 128 };

struct jsonread jsonread_of(struct str text)
{
	// NULL + 0 is undefined in C11
	return (struct jsonread){.p = text.p, .end = text.n ? text.p + text.n : text.p};
}

static bool fail(struct jsonread *r)
{
	r->is_bad = true;
	return false;
}

static void skip_blanks(struct jsonread *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static char peek(struct jsonread *r)
{
	skip_blanks(r);
	return r->p < r->end ? *r->p : '\0';
}

static bool take(struct jsonread *r, char c)
{
	if (peek(r) != c || !c)
		return false;
	r->p++;
	return true;
}

/** Behind one of @chars, if that comes next. */
static bool skip_one(struct jsonread *r, const char *chars)
{
	bool is = r->p < r->end && *r->p && strchr(chars, *r->p);
	r->p += is;
	return is;
}

static bool skip_digits(struct jsonread *r)
{
	const char *from = r->p;
	while (skip_one(r, "0123456789"))
		;
	return r->p > from || fail(r);
}

static bool skip_number(struct jsonread *r)
{
	skip_one(r, "-");
	if (!skip_one(r, "0") && !skip_digits(r))
		return false;
	if (skip_one(r, ".") && !skip_digits(r))
		return false;
	if (!skip_one(r, "eE"))
		return true;
	skip_one(r, "+-");
	return skip_digits(r);
}

/** The four digits of \u at @p, or -1. */
static int hex4(const char *p, const char *end)
{
	int v = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *at = p + i < end && p[i] ? strchr(digits, p[i]) : NULL;
		if (!at)
			return -1;
		v = v * 16 + (int)(at - digits) - (at - digits > 15 ? 6 : 0);
	}
	return v;
}

static bool skip_escape(struct jsonread *r)
{
	char c = r->p < r->end ? *r->p++ : '\0';
	if (c == 'u' && hex4(r->p, r->end) >= 0)
		r->p += 4;
	else if (!c || !strchr("\"\\/bfnrt", c))
		return fail(r);
	return true;
}

static bool skip_string(struct jsonread *r)
{
	r->p++;
	while (r->p < r->end) {
		unsigned char c = (unsigned char)*r->p++;
		if (c == '"')
			return true;
		if (c < 0x20)
			break;
		if (c == '\\' && !skip_escape(r))
			return false;
	}
	return fail(r);
}

static bool skip_word(struct jsonread *r, struct str word)
{
	struct str rest = {r->p, (size_t)(r->end - r->p)};
	if (!str_has_prefix(rest, word))
		return fail(r);
	r->p += word.n;
	return true;
}

static bool skip_value(struct jsonread *r, unsigned depth);

/** From the bracket on. */
static bool skip_list(struct jsonread *r, unsigned depth)
{
	bool is_object = *r->p++ == '{';
	char closing = is_object ? '}' : ']';
	if (take(r, closing))
		return true;
	do {
		if (is_object && (peek(r) != '"' || !skip_string(r) || !take(r, ':')))
			return fail(r);
		if (!skip_value(r, depth + 1))
			return false;
	} while (take(r, ','));
	return take(r, closing) || fail(r);
}

static bool skip_value(struct jsonread *r, unsigned depth)
{
	char c = peek(r);
	switch (depth < MAX_DEPTH ? c : '\0') {
	case '"':
		return skip_string(r);
	case '{':
	case '[':
		return skip_list(r, depth);
	case 't':
		return skip_word(r, STR("true"));
	case 'f':
		return skip_word(r, STR("false"));
	case 'n':
		return skip_word(r, STR("null"));
	default:
		return (c == '-' || (c >= '0' && c <= '9')) && depth < MAX_DEPTH ? skip_number(r)
										 : fail(r);
	}
}

bool jsonread_open(struct jsonread *r, char bracket)
{
	r->is_first = true;
	return take(r, bracket) || fail(r);
}

/** Before the next one: false behind the last. */
static bool has_next(struct jsonread *r, char closing)
{
	bool is_first = r->is_first;
	r->is_first = false;
	if (r->is_bad || take(r, closing))
		return false;
	return is_first || take(r, ',') || fail(r);
}

static bool take_value(struct jsonread *r, struct str *value)
{
	skip_blanks(r);
	value->p = r->p;
	if (!skip_value(r, 0))
		return false;
	value->n = (size_t)(r->p - value->p);
	return true;
}

bool jsonread_element(struct jsonread *r, struct str *value)
{
	return has_next(r, ']') && take_value(r, value);
}

bool jsonread_member(struct jsonread *r, struct str *key, struct str *value)
{
	if (!has_next(r, '}'))
		return false;
	if (peek(r) != '"')
		return fail(r);
	key->p = r->p + 1;
	if (!skip_string(r))
		return false;
	key->n = (size_t)(r->p - 1 - key->p);
	return take(r, ':') ? take_value(r, value) : fail(r);
}

struct str jsonread_get(struct str object, const char *key)
{
	struct jsonread r = jsonread_of(object);
	struct str name, value, found = {0};
	jsonread_open(&r, '{');
	while (jsonread_member(&r, &name, &value))
		if (str_eqz(name, key))
			found = value;
	return found;
}

bool jsonread_is_done(struct jsonread *r)
{
	skip_blanks(r);
	return !r->is_bad && r->p == r->end;
}

struct str jsonread_inside(struct str value)
{
	bool is_string = value.n >= 2 && value.p[0] == '"';
	return is_string ? str_slice(value, 1, value.n - 2) : STR("");
}

static void add_utf8(unsigned long c, struct strbuf *out)
{
	static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
	unsigned n = c < 0x80	   ? 0
		     : c < 0x800   ? 1
		     : c < 0x10000 ? 2
				   : 3; // more bytes, of 6 bits each
	strbuf_addc(out, (char)(first[n] | c >> 6 * n));
	while (n--)
		strbuf_addc(out, (char)(0x80 | (c >> 6 * n & 0x3f)));
}

/** What stands behind \u at @p; two halves of a surrogate pair are one. Returns where it ends. */
static const char *add_unicode(const char *p, const char *end, struct strbuf *out)
{
	int c = hex4(p, end), low = -1;
	p += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u')
		low = hex4(p + 2, end);
	if (low >= 0xdc00 && low < 0xe000) {
		add_utf8(0x10000ul + ((unsigned long)(c - 0xd800) << 10) +
			     (unsigned long)(low - 0xdc00),
			 out);
		return p + 6;
	}
	add_utf8(c >= 0xd800 && c < 0xe000 ? 0xfffd : (unsigned long)c, out);
	return p;
}

void jsonread_add_text(struct str inside, struct strbuf *out)
{
	static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	const char *p = inside.p, *end = inside.n ? p + inside.n : p;
	while (p < end) {
		const char *escape = memchr(p, '\\', (size_t)(end - p));
		const char *stop = escape ? escape : end;
		strbuf_add(out, p, (size_t)(stop - p));
		if (!escape)
			return;
		char c = escape[1];
		const char *letter = strchr(letters, c);
		p = escape + 2;
		if (c == 'u')
			p = add_unicode(p, end, out);
		else
			strbuf_addc(out, letter ? bytes[letter - letters] : c);
	}
}

bool jsonread_integer(struct str value, int64_t *ret)
{
	char digits[24], *rest;
	struct str text = value.n && value.p[0] == '"' ? jsonread_inside(value) : value;
	if (!text.n || text.n >= sizeof(digits))
		return false;
	memcpy(digits, text.p, text.n);
	digits[text.n] = '\0';
	errno = 0;
	*ret = strtoll(digits, &rest, 10);
	return !*rest && errno == 0;
}
