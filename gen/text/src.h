/**
 * src - the text of templates, and places in it.
 *
 * A src_file is one file (or -e text) as it was read. A place in it is (file, byte offset); lines and columns
 * are worked out only when somebody wants to print them. Files live as long as the arena.
 */
#ifndef TEXT_SRC_H
#define TEXT_SRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct src_file {
	struct str name; /**< as the user wrote it, for messages and __FILE__ */
	struct str dir;	 /**< folder that #include "..." starts from */
	struct str text; /**< its bytes; NUL-terminated */
	uint32_t *lines; /**< offset of the start of each line */
	uint32_t n_lines;
};

struct src_loc {
	const struct src_file *file; /**< NULL: made by btgen, no place in a template */
	uint32_t off;		     /**< byte offset into file->text */
};

/**
 * Reads the file @path. Refused with an error at @at (may be NULL): missing, a folder, unreadable, larger than
 * 16 MiB, a NUL byte in it.
 */
bool src_load(struct arena *a, struct diag *d, const char *path, struct str name,
	      const struct diag_place *at, struct src_file **ret);
/** A file made of @text, e.g. of -e. */
struct src_file *src_from_text(struct arena *a, struct str name, struct str text);

/** Line and column, both from 1; the column in bytes. */
void src_position(struct src_loc loc, unsigned *line, unsigned *col);
/** For diag: the place, underlining @len bytes. */
struct diag_place src_place(struct src_loc loc, size_t len);

#endif
