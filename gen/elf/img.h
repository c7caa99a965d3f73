/**
 * img - an ELF file and its sections.
 *
 * A hostile file gives an error with its place and never a crash, and costs a limited amount of
 * memory. Contents are read, not mapped: a file that shrinks meanwhile is an error, not a signal.
 * Debug information is debugfile.h's, symbols are imgsym.h's. Knows nothing of templates. Format: System V gABI, chapters 4
 * and 5.
 *
 * libelf (ELF_C_READ) decodes the headers of both classes and byte orders, and decompresses. As
 * measured with elfutils 0.188 it never maps a file, reads only what is asked for, and refuses what
 * has been cut off meanwhile. What it does not do is done here:
 * - elf_begin() makes 256 bytes for each section that a file claims: 4 million in a sparse file took 1 GB. They are counted
 *   before.
 * - Tables that run past the end of the file are no sections or fewer segments to it, and e_shentsize is ignored: that
 *   would be a program without probes. It is an error here.
 * - elf_rawdata() and elf_strptr() read a section of any size, 10 GiB of zeros in a hole of the file, too, and keep it until
 *   elf_end(); what notes say outlives the handle. So contents are read into the arena, with a limit for each file.
 * - elf_compress() takes room for what a section claims to be decompressed: see img_read_section().
 *
 *	struct img *img;
 *	struct img_section s;
 *	if (img_open(&arena, &diag, "/bin/ls", STR("/bin/ls"), &img) &&
 *	    img_find_section(img, ".note.stapsdt", &s)) use(s.data);
 */
#pragma once

#include "base/diag.h"
#include "base/reader.h"

struct debuginfo;
struct debug_search;
struct img;

typedef void img_close_fn(struct img *img);

struct img_section {
	unsigned index;	 /**< in the section header table, from 1 */
	struct str name; /**< a view that lives as long as the image */
	unsigned type;	 /**< SHT_* */
	uint64_t addr;	 /**< link-time address */
	uint64_t off;	 /**< file offset */
	uint64_t size;	 /**< in the file, or in memory for SHT_NOBITS */
	uint64_t flags;	 /**< SHF_* */
	unsigned link;	 /**< sh_link */
	/** Contents, decompressed; lives as long as the arena; empty for SHT_NOBITS and until it was asked for. */
	struct str data;
};

struct img {
	struct arena *arena;
	struct diag *diag;
	struct str path;	 /**< the path that was opened */
	struct str display_path; /**< the path in messages: the one the user knows */
	int fd;			 /**< open for as long as the image */
	uint64_t size;		 /**< bytes in the file */
	bool is64, big;		 /**< class and byte order */
	unsigned machine;	 /**< EM_* */
	unsigned type;		 /**< ET_* */
	uint64_t entry;		 /**< link-time address of its first instruction; 0: none */
	struct str build_id;	 /**< bytes of the GNU build-id note; empty when there is none */
	uint64_t build_id_off;	 /**< where they are in the file */

	struct str root;      /**< as img_set_root() left it; empty: our own file system */
	struct str root_path; /**< path of this file below `root` */

	bool offline; /**< servers are never asked for its debug file: somebody waits */

	struct debuginfo *debuginfo;  /**< of debugfile.c; NULL until asked for */
	struct debug_search *search;  /**< likewise */
	img_close_fn *close_debug;    /**< gives these two back; NULL: there is nothing */
	struct Elf *elf;	      /**< libelf's handle, which has the headers */
	unsigned n_sections, n_phdrs; /**< section 0 is counted */
	struct str *contents;	      /**< of sections that were read, by index; NULL: none yet */
	uint64_t n_read;	      /**< bytes in them */
	bool unpack_checked, cannot_unpack; /**< by img_check_unpacked() */
	bool dwarf_checked, has_dwarf;	    /**< by img_has_dwarf() */
	struct str names; /**< section names (.shstrtab), read when first asked for */
	size_t names_index;
	bool names_read;
};

/**
 * Opens @path and checks its headers; @display_path is the path in messages. An error (reported
 * through @d) for anything that is not an ELF file of 32 or 64 bit; never waits on a FIFO. The
 * image and what it holds live in @a.
 */
bool img_open(struct arena *a, struct diag *d, const char *path, struct str display_path,
	      struct img **ret);
/** The same for an open file, which the image then owns (also after a failure); @path for the record. */
bool img_open_fd(struct arena *a, struct diag *d, int fd, struct str path, struct str display_path,
		 struct img **ret);
/** The first digits of a build ID, to be shown. */
const char *img_short_id(struct arena *a, struct str id);
/** True when @path is a regular file that starts as ELF files do; prints nothing, never waits. */
bool img_is_elf(const char *path);
/**
 * True when @path is an ELF file of class 32. Such a file is read, but bpftrace gets nothing right of
 * the program: IMG_WHY_NOT_32BIT.
 */
bool img_is_32bit(const char *path);
#define IMG_WHY_NOT_32BIT                                                                          \
	"bpftrace takes arguments, pointers and structs for those of a 64-bit program"
/** Gives back the descriptor and the handles of libdw; NULL is fine. */
void img_close(struct img *img);
/**
 * Sets where the file's own file system is seen when that is not ours: @root e.g. "/proc/42/root",
 * and the path of the file below it. Separate debug files are then looked for there first.
 */
void img_set_root(struct img *img, struct str root, struct str path);

/** False, without a message, when there is no such section; an error is reported when it is there and broken. */
bool img_find_section(struct img *img, const char *name, struct img_section *ret);
/** The same without reading the contents: `data` stays empty until img_read_section(). */
bool img_find_header(struct img *img, const char *name, struct img_section *ret);
/** Steps through all sections from index *@i (1 at first) on; false after the last one, or when names are broken. */
bool img_next_header(struct img *img, unsigned *i, struct img_section *ret);
/** The header of section @index; false, without a message, when there is none. */
bool img_header_at(struct img *img, unsigned index, struct img_section *ret);
/** Fills in s->data; an error when it, or what was read of the file before, is too much to hold in memory. */
bool img_read_section(struct img *img, struct img_section *s);
/**
 * False, with a warning the first time, when the compressed sections are too large to be
 * decompressed by libdw, or it cannot do so.
 */
bool img_check_unpacked(struct img *img);

/**
 * What to add to a link-time address in a process that has mapped the code from file offset @offset
 * at address @start; false when no executable segment is there.
 */
bool img_load_bias(struct img *img, uint64_t start, uint64_t offset, uint64_t *ret);
/**
 * Up to @n bytes of code at @addr, and its offset in the file; returns how many there are, 0 when
 * no executable segment has it in the file.
 */
size_t img_read_code(struct img *img, uint64_t addr, void *buf, size_t n, uint64_t *off);
/** The same of any segment. *@is_constant: the program cannot change them. */
size_t img_read_bytes(struct img *img, uint64_t addr, void *buf, size_t n, bool *is_constant);
/**
 * The offset in the file of the variable at @addr; false when no segment that can be written to has
 * it from the file (.bss is not in the file).
 */
bool img_find_data(struct img *img, uint64_t addr, uint64_t *off);

/** A field whose size depends on the class: an address, an offset. */
uint64_t img_read_word(struct reader *r, const struct img *img);
/** For diag: "path:.section+0x1c4". */
struct diag_place img_place(struct img *img, struct str section, uint64_t off);
