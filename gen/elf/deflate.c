#include "elf/deflate.h"

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

#include "base/arena.h"

bool deflate_unpack(const uint8_t *p, size_t size, uint8_t *to, size_t n)
{
#ifdef HAVE_LIBDEFLATE
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		base_oom();
	bool good = libdeflate_zlib_decompress(d, p, size, to, n, NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(d);
	return good;
#else
	uLongf got = n;
	return uncompress(to, &got, p, size) == Z_OK && got == n;
#endif
}

uint32_t deflate_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
#ifdef HAVE_LIBDEFLATE
	return libdeflate_crc32(crc, p, n);
#else
	return (uint32_t)crc32_z(crc, p, n);
#endif
}
