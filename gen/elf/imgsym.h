/** imgsym - the symbols of an image, wherever they are: in it, in its debug file, or packed (.gnu_debugdata). */
#pragma once

#include "elf/img.h"

struct img_symbol {
	struct str name;     /**< without the @VERSION that linkers add */
	uint64_t addr, size; /**< link-time address; bytes */
	bool is_local;	     /**< to its file, as far as the linker records it */
	bool is_ifunc;	     /**< the loader calls it to get the function */
	bool is_undefined;   /**< another file's; only IMG_ANY has them */
};

/** Which symbols; a mask. */
enum {
	IMG_FUNCTIONS = 0,
	IMG_VARIABLES = 1, /**< and functions */
	IMG_ANY = 2,	   /**< of any type, defined or not */
	IMG_OWN = 4,	   /**< of the image itself */
	IMG_OTHERS = 8,	   /**< none of its own: of the debug file that a stripped one has */
};

typedef bool img_symbol_fn(void *ctx, const struct img_symbol *sym);

/**
 * Calls @fn for each symbol until it returns false; the separate debug file and .gnu_debugdata are read
 * only when it was true for all of the image's own.
 */
void img_walk(struct img *img, unsigned which, img_symbol_fn *fn, void *ctx);

/** Address of the first defined function called @name; false without a message when there is none. */
bool img_find_function(struct img *img, struct str name, uint64_t *ret);
/** A function begins at link-time address @addr. */
bool img_is_function(struct img *img, uint64_t addr);
/**
 * Link-time address of a word that the loader sets to the function which the ifunc at @addr returns. False,
 * without a message, when the image has none.
 */
bool img_find_ifunc_slot(struct img *img, uint64_t addr, uint64_t *ret);
/** The symbols of the function at @addr are all local to their file, or there are none. */
bool img_is_local(struct img *img, uint64_t addr);
/** Is there a symbol @name, be it defined in another file; @undefined: that one only? */
bool img_has_symbol(struct img *img, struct str name, bool undefined);

/** Does a symbol cover @addr, in a function or variable? @own: a symbol of @img itself. */
bool img_covers(struct img *img, uint64_t addr, bool own);
