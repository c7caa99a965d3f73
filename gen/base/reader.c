#include "base/reader.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "x86-64 and aarch64 are");

void reader_init(struct reader *r, const void *p, size_t n, bool big)
{
	*r = (struct reader){p, p, (const uint8_t *)p + n, big, false};
}

static const uint8_t *read_bytes(struct reader *r, uint64_t n)
{
	if (r->err || n > (uint64_t)(r->end - r->p)) {
		r->err = true;
		return NULL;
	}
	const uint8_t *p = r->p;
	r->p += n;
	return p;
}

uint8_t reader_u8(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 1);
	return p ? *p : 0;
}

uint16_t reader_u16(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 2);
	return (uint16_t)(!p ? 0 : r->big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

uint32_t reader_u32(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 4);
	uint32_t v;
	if (!p)
		return 0;
	memcpy(&v, p, 4);
	return r->big ? __builtin_bswap32(v) : v;
}

uint64_t reader_u64(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 8);
	uint64_t v;
	if (!p)
		return 0;
	memcpy(&v, p, 8);
	return r->big ? __builtin_bswap64(v) : v;
}

struct str reader_cstr(struct reader *r)
{
	const uint8_t *nul = r->err ? NULL : memchr(r->p, 0, (size_t)(r->end - r->p));
	if (!nul) {
		r->err = true;
		return (struct str){"", 0};
	}
	struct str s = {(const char *)r->p, (size_t)(nul - r->p)};
	r->p = nul + 1;
	return s;
}

struct str reader_bytes(struct reader *r, uint64_t n)
{
	const uint8_t *p = read_bytes(r, n);
	return p ? (struct str){(const char *)p, (size_t)n} : (struct str){"", 0};
}

void reader_skip(struct reader *r, uint64_t n)
{
	read_bytes(r, n);
}

void reader_align(struct reader *r, size_t to)
{
	size_t over = (size_t)(r->p - r->start) & (to - 1);
	size_t left = (size_t)(r->end - r->p);
	if (!r->err && over)
		r->p += to - over < left ? to - over : left;
}

size_t reader_offset(const struct reader *r)
{
	return (size_t)(r->p - r->start);
}

bool reader_at_end(const struct reader *r)
{
	return r->err || r->p == r->end;
}
