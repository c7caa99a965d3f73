/**
 * reader - bytes of a file that may lie, read one field at a time.
 *
 * Every read is checked against the end. The first one that does not fit sets `err` and from then
 * on each read returns 0 and moves nothing: a parser reads a whole record and asks once, at its
 * end.
 *
 *	struct reader r;
 *	reader_init(&r, bytes, size, big_endian);
 *	uint32_t namesz = reader_u32(&r);
 *	if (r.err) ...
 */
#pragma once

#include "base/str.h"

struct reader {
	const uint8_t *start, *p, *end;
	bool big; /**< the bytes are in big-endian order */
	bool err; /**< a read went past the end; sticky */
};

void reader_init(struct reader *r, const void *p, size_t n, bool big);
uint8_t reader_u8(struct reader *r);
uint16_t reader_u16(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
/** The string up to a NUL, which is skipped and not counted; no NUL is an error. */
struct str reader_cstr(struct reader *r);
/** @n bytes as a view. */
struct str reader_bytes(struct reader *r, uint64_t n);
void reader_skip(struct reader *r, uint64_t n);
/** Skips to the next multiple of @to (a power of two) from the start; padding cut off by the end is no error. */
void reader_align(struct reader *r, size_t to);
size_t reader_offset(const struct reader *r);
bool reader_at_end(const struct reader *r);
