/**
 * img - an ELF file, mapped, with its sections.
 *
 * Uses libelf; every size that the file claims is checked before it is used, so a hostile file gives an error
 * with its place and never a crash. Finds separate debug files. Knows nothing of templates.
 */
#ifndef IMAGE_IMG_H
#define IMAGE_IMG_H

#include <libelf.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct img_section {
	unsigned index;
	struct str name;
	uint64_t addr;	/**< link-time address */
	uint64_t off;	/**< file offset */
	uint64_t flags; /**< SHF_* */
	struct str
	    data; /**< contents, decompressed; a view that lives as long as the image; empty for SHT_NOBITS */
};

struct img {
	struct arena *arena;
	struct diag *diag;
	struct str path;  /**< the path that was opened */
	struct str shown; /**< the path in messages: the one the user knows */
	int fd;
	Elf *elf;
	bool is64, big;	     /**< class and byte order */
	unsigned machine;    /**< EM_* */
	unsigned type;	     /**< ET_* */
	struct str build_id; /**< bytes of the GNU build-id note; empty when there is none */
	void *dwfl;	     /**< types/ own handle for debug information; NULL until asked for */
};

/** Opens and checks the ELF header; an error (said through @d) for anything that is not an ELF file of 32 or 64 bit. */
bool img_open(struct arena *a, struct diag *d, const char *path, struct str shown,
	      struct img **ret);
void img_close(struct img *img);
/** False, without a message, when there is no such section; an error is said when it is there and broken. */
bool img_find_section(struct img *img, const char *name, struct img_section *ret);
/** File offset of link-time address @addr by the program headers; false when no segment holds it. */
bool img_addr_to_offset(struct img *img, uint64_t addr, uint64_t *ret);
/** Address of a defined function called @name in .symtab or .dynsym (those of the separate debug file too). */
bool img_find_function(struct img *img, struct str name, uint64_t *ret);

#endif
