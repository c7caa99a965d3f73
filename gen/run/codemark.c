#include "run/codemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/nonce.h"

enum {
	MAX_MARK = 64,
	MAX_WIDTH = 1024
}; // bytes behind START; columns, as a misprint would make it gigabytes

void codemark_init(struct codemark *m)
{
	snprintf(m->start, sizeof(m->start), "@%016" PRIx64 "<", nonce_make());
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
static void add_name(struct codemark *m, uint64_t addr, struct strbuf *out)
{
	struct str name = m->name(m->ctx, addr);
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

void codemark_take(struct codemark *m, struct str bytes, struct strbuf *out)
{
	struct str start = str_from(m->start), s;
	strbuf_adds(&m->pending, bytes);
	for (s = strbuf_str(&m->pending); s.n;) {
		size_t at = find_start(s, start);
		strbuf_adds(out, str_slice(s, 0, at));
		s = str_from_offset(s, at);
		struct str mark = str_from_offset(s, start.n);
		size_t end = str_find(str_slice(mark, 0, MAX_MARK), '>');
		if (s.n < start.n || (end == mark.n && mark.n < MAX_MARK))
			break; // more is to come
		size_t colon = str_find(mark, ':');
		uint64_t addr;
		if (colon < end && parse_hex(str_slice(mark, colon + 1, end - colon - 1), &addr)) {
			struct strbuf name;
			strbuf_init(&name);
			add_name(m, addr, &name);
			add_laid_out(str_slice(mark, 0, colon), strbuf_str(&name), out);
			strbuf_fini(&name);
			s = str_from_offset(mark, end + 1);
		} else {
			strbuf_adds(out, start);
			s = mark;
		}
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
