/** imgpriv - what img.c and imgsec.c share: the header tables as they are in the file. */
#ifndef ELF_IMGPRIV_H
#define ELF_IMGPRIV_H

#include "base/reader.h"
#include "elf/img.h"

struct phdr {
	unsigned type, flags;
	uint64_t off, vaddr, filesz;
};

/** Says what is wrong with the file as a whole; returns false. */
bool img_bad_file(struct img *img, const char *what);
/** The file has @size bytes from @off on. */
bool img_has_bytes(const struct img *img, uint64_t off, uint64_t size);
/** A field whose size depends on the class: an address, an offset. */
uint64_t img_read_word(struct reader *r, const struct img *img);
/** Entry @index of the section headers, its name as an offset; false past the end of the table. */
bool img_decode_section(const struct img *img, unsigned index, struct img_section *ret,
			uint32_t *name);
/** Entry @index of the program headers, all zero past the end of the table. */
struct phdr img_decode_phdr(const struct img *img, unsigned index);

#endif
