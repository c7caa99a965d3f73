/**
 * sdt - the USDT probes of an ELF file, out of its .note.stapsdt section.
 *
 * Each note is one *site*: an address with a nop, the provider and name of its probe, where its arguments are
 * at that address, and the address of a semaphore (0: none). One probe has as many sites as the compiler made
 * of its macro. Format: systemtap's <sys/sdt.h>, "note layout"; addresses are link-time ones and are moved by the
 * difference between the .stapsdt.base section and the base that the note recorded (prelink).
 */
#ifndef IMAGE_SDT_H
#define IMAGE_SDT_H

#include "image/img.h"

struct sdt_site {
	uint64_t pc;	    /**< address of the nop, moved to where the section is now */
	uint64_t off;	    /**< the same as a file offset */
	uint64_t semaphore; /**< address of the counter, moved likewise, or 0 */
	struct str args;    /**< argument string as in the note, e.g. "-4@%ebx 8@16(%rsp)" */
};

struct sdt_probe {
	struct str provider, name;
	struct sdt_site *sites; /**< in the order of the notes */
	size_t n_sites;
};

struct sdt_list {
	struct sdt_probe *probes; /**< in order of first appearance */
	size_t n_probes;
};

/**
 * All probes of @img; an empty list when it has no such section. A broken note is reported with its place and
 * skipped; false only when nothing could be read.
 */
bool sdt_read(struct img *img, struct sdt_list *ret);

#endif
