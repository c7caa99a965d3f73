/**
 * src - the text of templates, and places in it.
 *
 * A src_file is one file (or -e text) as it was read. A place in it is (file, byte offset); lines
 * and columns are worked out only when somebody wants to print them. Files live as long as the
 * arena.
 *
 *	struct src_file *f;
 *	if (!src_load(arena, diag, "bpf/nvmf.bt", STR("bpf/nvmf.bt"), &f))
 *		return false;
 *	diag_error(diag, &(struct diag_place){...} or src_place() of a place in f, ...);
 */
#pragma once

#include "base/diag.h"

#define SRC_MAX_SIZE (16u << 20) /**< bytes in one file; larger ones are refused */

struct src_file {
	struct str name;   /**< as the user wrote it, for messages and __FILE__ */
	struct str dir;	   /**< where #include "..." starts; "." when the name has none */
	struct str text;   /**< its bytes; NUL-terminated */
	uint32_t *lines;   /**< offset of the start of each line */
	uint32_t n_lines;  /**< at least 1 */
	uint64_t dev, ino; /**< which file on disk; both 0 for text that is none */
	const struct src_quote *quotes; /**< of a text that btgen made: what is the user's in it */
	size_t n_quotes;
};

/** In 12 bytes: a token has two. */
struct src_loc {
	const struct src_file *file; /**< NULL: made by btgen, no place in a template */
	uint32_t off;		     /**< byte offset into file->text */
} __attribute__((packed, aligned(4)));

/** A piece of a text that the user wrote in another: messages have the place there. */
struct src_quote {
	uint32_t off, n;   /**< the piece */
	struct src_loc of; /**< where the user wrote it */
	uint32_t of_n;	   /**< how many bytes */
	bool is_same;	   /**< it is not respelled: what is inside has its place there, too */
};

/**
 * Reads the file @path that the user named. Refused with an error: missing, a directory, unreadable,
 * larger than 16 MiB, a NUL byte in it.
 */
bool src_load(struct arena *a, struct diag *d, const char *path, struct str name,
	      struct src_file **ret);
/**
 * The same for one that a file names, at @at (may be NULL): no FIFO, whose open might block for ever, and
 * no device, which opening may change.
 */
bool src_include(struct arena *a, struct diag *d, const char *path, struct str name,
		 const struct diag_place *at, struct src_file **ret);
/** A file made of @text (copied), e.g. of -e. */
struct src_file *src_from_text(struct arena *a, struct str name, struct str text);

/** Line and column, both from 1; the column in bytes. Both 0 for a place in no file. */
void src_position(struct src_loc loc, unsigned *line, unsigned *col);
/** The line alone, 0 for a place in no file. */
unsigned src_line(struct src_loc loc);
/** For diag: the place, underlining @len bytes. */
struct diag_place src_place(struct src_loc loc, size_t len);
