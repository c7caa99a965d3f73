/** deflate - zlib's format and its CRC, by libdeflate, which is twice as fast, or by zlib. */
#ifndef ELF_DEFLATE_H
#define ELF_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * All of @n bytes at @to out of the zlib stream at @p; false when it has fewer or more, or is
 * corrupt.
 */
bool deflate_unpack(const uint8_t *p, size_t size, uint8_t *to, size_t n);
/** Goes on with @crc (0 at first) over the @n bytes at @p: the one of ITU-T V.42. */
uint32_t deflate_crc32(uint32_t crc, const uint8_t *p, size_t n);

#endif
