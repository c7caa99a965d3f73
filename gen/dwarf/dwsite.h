/**
 * dwsite - what is around a code address: function, inlined functions, blocks, source line.
 *
 * A site of a probe is one instruction; the variables that its arguments can be made of are those
 * of the blocks and of the innermost function around it, which may be inlined into others. DWARF 5,
 * sections 3.3 to 3.5.
 *
 *	struct dwsite s;
 *	if (dwsite_at(src, pc, NULL, &s))
 *		for (size_t i = 0; i < s.dies.n; i++) use(&s.dies.v[i]);
 */
#pragma once

#include "dwarf/dwsrc.h"

/** Who asks for a place: that decides which of the functions around it is meant. */
struct dwasked {
	enum {
		DWASKED_ADDRESS, /**< the innermost one */
		DWASKED_LINE, /**< the one whose text the line is: of the site itself, if none is named */
		DWASKED_ENTRY /**< the one that begins there and has the code, or a copy */
	} how;
	struct str name; /**< file of a line, symbol of a copy; or empty */
	unsigned line;
};

struct dwsite {
	uint64_t pc;   /**< link-time address of the image */
	Dwarf_Addr at; /**< the same as the debug information has it */
	Dwarf_Die unit;
	/**
	 * DW_TAG_lexical_block, _inlined_subroutine, _subprogram that hold the address, innermost
	 * first.
	 */
	VEC(Dwarf_Die) dies;
	VEC(Dwarf_Die) empty; /**< inlined at the address, and nothing is left of them */
	Dwarf_Die *gone;      /**< the one of those that the line asked for is part of; or NULL */
	size_t first, end;    /**< those of the function that is meant: at first the innermost */
	struct str function;  /**< its name */
	struct str caller;    /**< the function whose code it is in, when that is another one */
	struct str file;      /**< of the line table, as recorded, or empty */
	const char
	    *full_path; /**< the same with the unit's directory before it; NULL when not known */
	unsigned line;	/**< 0: not known */
	struct {
		struct str file; /**< without directories */
		unsigned line;
	} row; /**< the line that was asked for, others may begin there, too; else that of the table */
	bool
	    is_body; /**< the line table marks the end of the prologue here: at an entry, there is none */
};

/**
 * Each place in the code costs a walk over a function or a list of units, and a file can have very many of
 * both. Once that has become too much nothing is found any more, with a warning. Call it with src->n_visits
 * as it was before the search around a place.
 */
void dwsite_spend(struct dwsrc *src, uint64_t n_visits_before);
/** libdw may be asked for lines and source files of @unit; counted as above, and false after too much. */
bool dwsite_may_read_lines(struct dwsrc *src, Dwarf_Die *unit);

/**
 * The unit that has the code at link-time address @pc, as the file itself lists it, which may be
 * the skeleton of one that is in a .dwo file. In the handle that elf/debugfile.h gives. False,
 * without a message, when there is none.
 */
bool dwsite_listed_unit(struct dwsrc *src, uint64_t pc, Dwarf_Die *ret);
/**
 * False, without a message, when no unit or function has code at link-time address @pc; the line may be known all the same.
 * @asked, or NULL for the innermost one, chooses the function that is meant. A line is part of the function that is declared
 * in its file and not after it, the last of those around: not of what has been inlined there from elsewhere, and of a lambda
 * before its function.
 */
bool dwsite_at(struct dwsrc *src, uint64_t pc, const struct dwasked *asked, struct dwsite *ret);
/** The function, inlined or not, that scope @i is of: an index of dies. */
size_t dwsite_function_of(const struct dwsite *s, size_t i);
/** Line @name of @die, DW_AT_decl_line or DW_AT_call_line; 0: not known. */
unsigned dwsite_line_of(Dwarf_Die *die, unsigned name);
/** The path of the source file that the code at @pc comes from; empty: not known. */
struct str dwsite_source(struct dwsrc *src, uint64_t pc);
/** Does the code at @pc come from a source file whose path ends with @pattern, a glob of whole names? */
bool dwsite_is_from(struct dwsrc *src, uint64_t pc, struct str pattern);
/** What compilers put of a function into those that call it, without a call. */
struct dwinlined {
	struct str name, symbol; /**< as the source and as symbol tables have it */
	struct str written;	 /**< the name with its scopes: ns::Class::name */
	VEC(uint64_t)
	entries;  /**< link-time addresses where copies begin, as far as they are known */
	size_t n; /**< such copies */
	struct str callers[3]; /**< whose code they are in by the source; the first of them */
	size_t n_callers;      /**< all of them */
};

/**
 * Copies of the function whose code is at link-time address @pc, or NULL. In large debug information
 * only those of its own unit are counted: the others would take seconds.
 */
const struct dwinlined *dwsite_inlined_at(struct dwsrc *src, uint64_t pc);
/**
 * Copies of functions that @fits, in whose name or symbol @word comes first, and of some others, one by one: *@i is 0 at
 * first; NULL: there are no more.
 */
const struct dwinlined *dwsite_inlined_next(struct dwsrc *src, struct str word,
					    bool (*fits)(void *ctx, struct dwsrc *src,
							 Dwarf_Die *function),
					    void *ctx, size_t *i);
/** Those that were looked at already. */
const struct dwinlined *dwsite_inlined_known(const struct dwsrc *src, size_t *i);
/** Has the destructor at link-time address @pc a copy of the one in it that it is there to call? */
bool dwsite_has_body(struct dwsrc *src, uint64_t pc);
/**
 * The next function whose name or symbol fits @pattern and of which there are copies, or NULL. @is_large, unless NULL: of large
 * debug information only those that are known, and it is set.
 */
const struct dwinlined *dwsite_inlined_named(struct dwsrc *src, struct str pattern, bool *is_large,
					     size_t *i);
/** ns::Class::name of the function that is meant. */
struct str dwsite_written(struct dwsrc *src, const struct dwsite *s);
/** The file that declares @die, without its directories; empty when not known. */
struct str dwsite_decl_file(struct dwsrc *src, Dwarf_Die *die);
/** A row of the line table: DWARF 5, section 6.2. */
struct dwrow {
	uint64_t pc;	 /**< link-time address of the image */
	struct str file; /**< without directories */
	unsigned line;
};

struct dwrows {
	VEC(struct dwrow) list; /**< by address */
	uint64_t entry;		/**< link-time address */
	uint64_t body; /**< after the prologue, which debuggers skip at the entry of a function */
	bool is_optimized;     /**< lines may come in any order */
	bool may_be_optimized; /**< or not known, as of rustc's */
};

/** Of the function whose code is at @s, not of what is inlined there; false, silently, when not known. */
bool dwsite_rows(struct dwsrc *src, const struct dwsite *s, struct dwrows *ret);
/**
 * From where on optimized code has stored the parameters of function @die that have one place in memory: after its
 * first call, which may read them, or where another block begins. A link-time address; UINT64_MAX: it is not known.
 */
uint64_t dwsite_stored_from(struct dwsrc *src, const struct dwsite *s, Dwarf_Die *die);
/** Where a function, inlined or not, begins to be executed; false where that is not known. */
bool dwsite_entry(Dwarf_Die *die, Dwarf_Addr *ret);
/** DW_TAG_subprogram or DW_TAG_inlined_subroutine. */
bool dwsite_is_function(Dwarf_Die *die);
