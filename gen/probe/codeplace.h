/**
 * codeplace - what an attach point of a program's code means: a list of places in one file.
 *
 * A function that is written once can be in a program many times: under a symbol, as clones that gcc
 * has made for some of its callers (put.isra.0, put.constprop.0), as overloads and instances of C++, as
 * static functions of several source files, and inlined into others. A line can be all of that.
 *
 *	struct codeplaces p;
 *	if (codeplace_function(a, bin, STR("acme::server::handle"), &p))
 *		for (size_t i = 0; i < p.list.n; i++) attach(p.list.v[i].addr);
 */
#pragma once

#include "dwarf/dwsite.h"
#include "elf/demangle.h"
#include "probe/binary.h"

enum codeplace_how {
	CODEPLACE_ENTRY, /**< of a function */
	CODEPLACE_CLONE, /**< of a clone: whole, but its parameters may be others */
	CODEPLACE_COPY,	 /**< where an inlined copy begins */
	CODEPLACE_LINE	 /**< of a source line */
};

struct codeplace {
	enum codeplace_how how;
	enum demangle_kind kind;
	uint64_t addr;	      /**< link-time */
	uint64_t size;	      /**< of its symbol */
	bool is_ifunc;	      /**< `addr` is that of what the loader calls to get the function */
	struct str symbol;    /**< of an entry or a clone; empty for the others */
	struct str name;      /**< of the function, as people write it; empty: not known */
	struct dwasked asked; /**< which of the functions around is meant */
};

struct codeplaces {
	VEC(struct codeplace) list; /**< each address once */
	struct str piece; /**< put.cold or put.part.0: a part of the function that was asked for */
	struct str thunk; /**< the name of one that has copies, too, but no debug information */
	const struct dwinlined *inlined; /**< the first function with copies, or NULL */
	size_t n_inlined;		 /**< copies in `list` */
};

/**
 * The functions of @bin that @name means, with their inlined copies: a symbol, or a name as the source has
 * it, with scopes and parameters or without. False: it has none.
 */
bool codeplace_function(struct arena *a, struct binary *bin, struct str name,
			struct codeplaces *ret);
/** The copies of a function that is only inlined; to be asked when no file has its symbol. False: none. */
bool codeplace_inlined(struct arena *a, struct binary *bin, struct str name,
		       struct codeplaces *ret);
enum {
	CODEPLACE_MANY_VARIANTS = 1000
}; /**< each is compared with all others, or with all symbols */
/** Does a call of @one call @other, which is the same function as it was written? It counts there. */
bool codeplace_calls_variant(struct dwsrc *src, const struct codeplace *one,
			     const struct codeplace *other);
/** `FILE:120`, or with @last `FILE:120-140`, too: the file, and the lines; false: it is no such thing. */
bool codeplace_parse_lines(struct str text, struct str *file, unsigned *first, unsigned *last);
/** `add() in work()`, or as much as is known: the function, and the one that it is inlined into; the line. */
struct str codeplace_where(struct arena *a, struct binary *bin, uint64_t addr, bool with_line);

struct codeplace_line {
	uint64_t addr; /**< link-time */
	unsigned line;
};

struct codeplace_lines {
	VEC(struct codeplace_line) list; /**< each address and line once, unit by unit */
	struct str file;  /**< whole path of the file that was meant; empty: there is none */
	struct str other; /**< another file that may be meant; empty: there is none */
	unsigned next;	  /**< the first line after those asked for that has code; 0: none */
};

/** Is another file meant as well? An error then. */
bool codeplace_is_ambiguous(struct diag *d, const struct diag_place *at, struct str file,
			    const struct codeplace_lines *s);
/**
 * Where statements of the lines @first to @last begin, of the file whose path ends in @file, at a slash. Rows of
 * the line table that follow each other in one block are one statement in several pieces: the first begins
 * it. DWARF 5, section 6.2. What costs too much is not read.
 */
void codeplace_find_lines(struct dwsrc *src, struct str file, unsigned first, unsigned last,
			  struct codeplace_lines *ret);
