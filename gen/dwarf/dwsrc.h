/**
 * dwsrc - the debug information of one image: every unit it has, wherever it is stored.
 *
 * DWARF is spread over more places than one section: partial units, type units (.debug_types or in
 * .debug_info), split units in .dwo files, and a file shared by several programs (dwz). This module
 * hides that: dwsrc_next_unit() gives the top DIE of each unit once, file after file. libdw
 * decodes; names are looked up by dwfind and turned into types by dwload.
 *
 *	struct dwsrc *src = dwsrc_new(img);
 *	if (!dwsrc_open(src))
 *		return debugfile_report_missing(img, NULL, "enum color");
 *	struct dwunit u = {0};
 *	while (dwsrc_next_unit(src, &u))
 *		use(&u.die);
 *
 * libdw trusts DW_AT_sibling, so a corrupt file could send a walk in circles. Walk with dwsrc_next_child():
 * in a sound file each DIE lies after all those visited before it, and it insists on that.
 *
 *	for (Dwarf_Die die = {0}; dwsrc_next_child(src, &walk, &parent, &die);)
 *		use(&die);
 */
#pragma once

#include <elfutils/libdw.h>

#include "elf/img.h"

/** How deep scopes and types may nest; deeper is damage, not a program. */
#define DWSRC_MAX_DEPTH 64

struct dwunit {
	Dwarf_Die
	    die; /**< the top DIE: compile, partial or type unit; that of the .dwo for a skeleton */
	size_t file;	  /**< which of src->files is being read */
	Dwarf_CU *cursor; /**< libdw's position in that file */
};

/** An offset in .debug_info. */
struct dwplace {
	uint64_t at;
};
struct dwplaces {
	VEC(struct dwplace) list; /**< in order */
};

/**
 * A walk's memory: the place of the last DIE seen. Zero it before each unit or list of children.
 */
struct dwwalk {
	const void *last;
	const struct dwplaces *only; /**< DIEs around none of these are skipped; NULL: none is */
};

struct dwloader;

struct dwsrc {
	struct img *img;
	struct arena *arena;
	struct diag *diag;
	Dwarf *dbg;		 /**< the main handle; owned by the image */
	VEC(Dwarf *) files;	 /**< main, alternate (dwz), then split units as they are met */
	bool corrupt;		 /**< it is corrupt, which was reported */
	struct map splits;	 /**< dwsplit's: which skeletons' files libdw may look for */
	struct map missing;	 /**< dwsplit's: names of .dwo files that cannot be read */
	struct map lines;	 /**< dwline's: tables that were counted */
	struct map line_parts;	 /**< dwline's: libdw's handle -> struct str */
	struct map scopes;	 /**< dwname's memory: place of a unit's top DIE -> its scopes */
	struct dwloader *loader; /**< dwload's memory; NULL until used */
	struct dwindex *index;	 /**< dwfilter's; NULL until it is asked */
	struct dwnames *names;	 /**< dwfind's, of all names; NULL until it is worth its cost */
	unsigned depth;		 /**< nesting of dwload at this moment */
	struct map sources;	 /**< defines's: path of a source file -> struct source */
	struct map macros;	 /**< defines's: unit and source file -> struct defines_unit */
	uint64_t n_read;	 /**< defines's: bytes of source files */
	uint64_t n_visits;	 /**< DIEs that walks have come to */
	uint64_t n_spent;	 /**< dwsite's: what it took to look around places in the code */
	bool is_spent;		 /**< that was too much, which was reported */
	struct map written;	 /**< dwsite's: place of a unit's top DIE -> struct dwwritten */
	struct dwcopies *copies; /**< dwsite's: of inlined functions; NULL until it is asked */
	/** For tests, before anything is asked: dwfind takes it for large debug information. */
	bool acts_large;
};

/** For the debug information of @img, which is not looked for yet. Lives in the image's arena. */
struct dwsrc *dwsrc_new(struct img *img);
/**
 * Opens the image's own debug information or that of a separate file, once. False, silently, when there is
 * none: debugfile_report_missing() reports why.
 */
bool dwsrc_open(struct dwsrc *src);

/** The next unit's top DIE into *@u (zeroed before the first call); false at the end. */
bool dwsrc_next_unit(struct dwsrc *src, struct dwunit *u);
/**
 * From one child of @parent to the next, to the first from a *@die that is all zero; false at the end,
 * or, with an error, when the tree is corrupt.
 */
bool dwsrc_next_child(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Die *die);

/**
 * The DIE's name, NULL when it has none: its own, that of the declaration it completes, or, for the
 * stand-in of a type that lives in a type unit, that of the type.
 */
const char *dwsrc_name(Dwarf_Die *die);
/** The identifier that @name begins with. */
struct str dwsrc_word(struct str name);
/** What symbol tables call it; empty where it has no name but that of the source. */
const char *dwsrc_symbol(Dwarf_Die *die);
/** Goes from @die to what its attribute @name refers to; false, and it stays, where that is nothing. */
bool dwsrc_follow(Dwarf_Die *die, unsigned name);
/** The function as it was written: that of an instance or an inlined copy; in LTO one refers to the other. */
Dwarf_Die dwsrc_origin(Dwarf_Die die);
/** The attribute @name of @die itself, a text; NULL: there is none. */
const char *dwsrc_string(Dwarf_Die *die, unsigned name);
/** The same for a number; false where there is none. */
bool dwsrc_number(Dwarf_Die *die, unsigned name, uint64_t *ret);
/** The attribute @name is there and true. */
bool dwsrc_flag(Dwarf_Die *die, unsigned name);
/**
 * True when @die is a stand-in for a type in a type unit (DW_AT_signature); *@ret is that type, or
 * all zero when its unit is not there.
 */
bool dwsrc_signature(Dwarf_Die *die, Dwarf_Die *ret);
/**
 * The unit with top DIE @unit is C (or assembler): it has no scopes, and no types inside of types.
 */
bool dwsrc_is_c(Dwarf_Die *unit);
/** DW_AT_name of the unit that holds @die, or "?". */
struct str dwsrc_unit_name(Dwarf_Die *die);
/** Where a DIE is, for messages: "path:.debug_info+0x1c4". */
struct diag_place dwsrc_place(struct dwsrc *src, Dwarf_Die *die);
