#include "marks/codemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marks/nonce.h"

enum {
	MAX_MARK = 64,
	MAX_WIDTH = 1024
}; // bytes behind START; columns, as a misprint would make it gigabytes

void codemark_init(struct codemark *m)
{
	snprintf(m->start, sizeof(m->start), "@%016" PRIx64 "<", nonce_make());
	uint64_t positive = nonce_make() >> 2 | (uint64_t)1 << 62; // one length for all
	snprintf(m->key, sizeof(m->key), "-%" PRIu64, positive);
	strbuf_init(&m->pending);
}

void codemark_fini(struct codemark *m)
{
	strbuf_fini(&m->pending);
}

/** Takes decimal digits off the front of *s; MAX_WIDTH at most. */
static size_t take_number(struct str *s)
{
	size_t n = 0;
	for (; s->n && *s->p >= '0' && *s->p <= '9'; *s = str_from_offset(*s, 1))
		n = n < MAX_WIDTH ? n * 10 + (size_t)(*s->p - '0') : n;
	return n < MAX_WIDTH ? n : MAX_WIDTH;
}

static bool parse_hex(struct str s, uint64_t *ret)
{
	*ret = 0;
	if (!s.n || s.n > 16)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, s.p[i]);
		if (!s.p[i] || !at)
			return false;
		*ret = *ret << 4 | (uint64_t)(at - digits);
	}
	return true;
}

/** The name of the function at @addr, escaped since the traced program chose it, or the address. */
static void add_name(struct codemark *m, uint64_t addr, bool is_key, struct strbuf *out)
{
	struct str name =
	    is_key ? codename_find_distinct(m->names, addr) : codename_find(m->names, addr);
	if (name.n)
		strbuf_add_printable(out, name);
	else
		strbuf_addf(out, "0x%" PRIx64, addr);
}

/** @name as printf's %s has it with these flags, width and precision. */
static void add_laid_out(struct str how, struct str name, struct strbuf *out)
{
	bool left = str_has_prefix(how, STR("-"));
	how = str_from_offset(how, left);
	size_t width = take_number(&how);
	if (str_has_prefix(how, STR("."))) {
		how = str_from_offset(how, 1);
		name = str_slice(name, 0, take_number(&how));
	}
	size_t pad = name.n < width ? width - name.n : 0;
	for (size_t i = 0; i < pad && !left; i++)
		strbuf_addc(out, ' ');
	strbuf_adds(out, name);
	for (size_t i = 0; i < pad && left; i++)
		strbuf_addc(out, ' ');
}

/** How many of the last bytes of @s may be the beginning of START? */
static size_t count_started(struct str s, struct str start)
{
	for (size_t n = start.n - 1; n > 0; n--)
		if (n <= s.n && str_has_suffix(s, str_slice(start, 0, n)))
			return n;
	return 0;
}

/** Where START begins in @s, or where it may when more has come; s.n for neither. */
static size_t find_start(struct str s, struct str start)
{
	const char *p = memmem(s.p, s.n, start.p, start.n);
	return p ? (size_t)(p - s.p) : s.n - count_started(s, start);
}

/** What became of the mark that may be in front of the bytes. */
enum found { NONE, TAKEN, HALF };

/** A mark of printf() in *s, behind START. */
static enum found take_printed(struct codemark *m, struct str *s, struct strbuf *out)
{
	size_t end = str_find(str_slice(*s, 0, MAX_MARK), '>'), colon = str_find(*s, ':');
	uint64_t addr;
	if (end == s->n && s->n < MAX_MARK)
		return HALF;
	if (colon >= end || !parse_hex(str_slice(*s, colon + 1, end - colon - 1), &addr))
		return NONE;
	struct strbuf name;
	strbuf_init(&name);
	add_name(m, addr, false, &name);
	add_laid_out(str_slice(*s, 0, colon), strbuf_str(&name), out);
	strbuf_fini(&name);
	*s = str_from_offset(*s, end + 1);
	return TAKEN;
}

/** The rest of a key in *s, behind KEY: ", ADDRESS" and what ends it, which stays. */
static enum found take_key(struct codemark *m, struct str *s, struct strbuf *out)
{
	uint64_t addr;
	struct str rest = str_slice(*s, 0, MAX_MARK);
	bool is_negative = str_has_prefix(rest, STR(", -")); // 0.17 prints all numbers as signed
	struct str digits = str_from_offset(rest, 2 + is_negative);
	size_t n = 0;
	while (n < digits.n && digits.p[n] >= '0' && digits.p[n] <= '9')
		n++;
	if (n == digits.n && rest.n < MAX_MARK)
		return HALF;
	if (!str_has_prefix(rest, STR(", ")) || !str_to_u64(str_slice(digits, 0, n), &addr))
		return NONE;
	add_name(m, is_negative ? -addr : addr, true, out);
	*s = str_from_offset(*s, 2 + is_negative + n);
	return TAKEN;
}

void codemark_take(struct codemark *m, struct str bytes, struct strbuf *out)
{
	struct str start = str_from(m->start), key = str_from(m->key), s;
	strbuf_adds(&m->pending, bytes);
	for (s = strbuf_str(&m->pending); s.n;) {
		size_t at = find_start(s, start);
		size_t at_key = find_start(str_slice(s, 0, at + key.n - 1), key);
		bool is_key = at_key < at;
		struct str mark = is_key ? key : start;
		at = is_key ? at_key : at;
		strbuf_adds(out, str_slice(s, 0, at));
		s = str_from_offset(s, at);
		struct str rest = str_from_offset(s, mark.n);
		if (s.n < mark.n)
			break; // more is to come
		enum found found = is_key ? take_key(m, &rest, out) : take_printed(m, &rest, out);
		if (found == HALF)
			break;
		if (found == NONE)
			strbuf_adds(out, mark);
		s = rest;
	}
	struct strbuf rest;
	strbuf_init(&rest);
	strbuf_adds(&rest, s);
	strbuf_fini(&m->pending);
	m->pending = rest;
}

void codemark_end(struct codemark *m, struct strbuf *out)
{
	strbuf_adds(out, strbuf_str(&m->pending));
	strbuf_clear(&m->pending);
}
