/**
 * img_priv - what the files share that make an image: its headers, and its sections.
 */
#ifndef ELF_IMG_PRIV_H
#define ELF_IMG_PRIV_H

#include "elf/img.h"

/** Says what is wrong with the file as a whole; returns false. */
bool img_bad_file(struct img *img, const char *what);
/** The file has @size bytes from @off on. */
bool img_has_bytes(const struct img *img, uint64_t off, uint64_t size);
/** The header of section @index, its name as an offset; false past the end of the table. */
bool img_decode_section(const struct img *img, unsigned index, struct img_section *ret,
			uint32_t *name);

#endif
