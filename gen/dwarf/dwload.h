/**
 * dwload - turns a DIE into a ctype.
 *
 * Each DIE becomes one node, remembered by its place, so that a type seen twice is the same
 * pointer. Structs, unions and enums begin as shells; ctype_complete() reads their members. A
 * declaration is completed from the definition that has its name (or its type signature) anywhere
 * in the image.
 *
 * DWARF 2 to 5 (sections 5.1 to 5.14 of DWARF 5): what it can say and C cannot (variant parts,
 * virtual bases, dynamic arrays) is left out or opaque, with the size it has.
 */
#pragma once

#include "ctype/ctype.h"
#include "dwarf/dwsrc.h"

/**
 * The type that @die describes; NULL for void. A corrupt DIE becomes an opaque type without a size.
 */
struct ctype *dwload_type(struct dwsrc *src, Dwarf_Die *die);
/** The type that DW_AT_type of @die names (a variable, parameter, member); NULL for void. */
struct ctype *dwload_type_of(struct dwsrc *src, Dwarf_Die *die);
/**
 * The first definition of @name among @kinds in @src; without one, a declaration, or NULL. With @unit its
 * own, else the others' if they are the same. For who has no context (context.h).
 */
struct ctype *dwload_first(struct dwsrc *src, struct str name, unsigned kinds,
			   const Dwarf_Die *unit);
/** DW_AT_const_value of the enumerator @die; false when it has none that fits 64 bits. */
bool dwload_enumerator_value(Dwarf_Die *die, const struct ctype *of, int64_t *ret);

/**
 * Finds the definition of a declaration that @src has, there or elsewhere, or NULL; without it the
 * first in @src is taken.
 */
typedef struct ctype *dwload_elsewhere_fn(void *ctx, struct dwsrc *src, struct ctype *decl);
void dwload_set_elsewhere(struct dwsrc *src, dwload_elsewhere_fn *fn, void *ctx);
