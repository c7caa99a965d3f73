/**
 * defines - which definitions of a macro reach a line of a source file.
 *
 * It reads the unit's source file and the headers that this includes. It decides no condition,
 * as it does not know -D and the compiler's own macros: a name can have several definitions, and
 * one that is defined only under an #if may be no macro.
 *
 * A header is the file beside the one that includes it, else a file of the unit, else the only one
 * below the include folders. Those are the unit's own folder, and what is left of a file's path
 * without the name in an #include: /src/include/spdk/nvme.h and "spdk/nvme.h" give /src/include.
 * Nothing elsewhere is opened. Of a file that is newer than the program nothing is known, and no
 * other is taken for it.
 *
 *	struct defines at;
 *	struct str *texts;
 *	if (defines_open(src, &site, &at) && defines_find(&at, STR("PROBE1"), &texts) == 1) ...
 */
#pragma once

#include "dwarf/dwsite.h"

/** A line, and what was read for it. */
struct defines {
	const struct defines_unit *unit;
	const struct source_file *file;
	struct str text; /**< of the line's file */
	unsigned line;
	bool is_start; /**< the unit was read from this file on */
};

/** False, without a message, if the source of the site is missing or too large. */
bool defines_open(struct dwsrc *src, const struct dwsite *site, struct defines *ret);
enum { DEFINES_MAX = 64 };

/**
 * The definitions that @name can have at the line, without `#define`, DEFINES_MAX at most; one is empty
 * if it may be no macro. They are all if defines_spend() agrees afterwards.
 */
size_t defines_find(const struct defines *at, struct str name, struct str **ret);
/**
 * Bytes of the logical line at the start of @s, which goes into *@ret (may be NULL) without its
 * comments and newlines; adds the parentheses that it opens to *@depth.
 */
size_t defines_line(struct str s, int *depth, struct strbuf *ret);
/**
 * The text of file @name in the folder of @path, a source file of @unit, or else in the unit's; empty
 * if it is missing, or newer than the program.
 */
struct str defines_beside(struct dwsrc *src, const char *path, Dwarf_Die *unit, struct str name);
enum { DEFINES_PATH = 4096 };

/**
 * The path of @name in folder @dir without . and .., in @buf; empty when it is too long. With @is_absolute it begins at the
 * root; else it may begin with .., too.
 */
struct str defines_path(char buf[DEFINES_PATH], struct str dir, struct str name, bool is_absolute);
/** Counts other work, in bytes; false after too much of it: defines_open() fails then, too. */
bool defines_spend(const struct defines *at, size_t n);
