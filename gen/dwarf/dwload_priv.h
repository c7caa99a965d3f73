/**
 * dwload_priv - reads what is inside of a struct, union or enum DIE into its ctype; dwload's other
 * half.
 */
#ifndef DWARF_DWLOAD_PRIV_H
#define DWARF_DWLOAD_PRIV_H

#include "ctype/ctype.h"
#include "dwarf/dwsrc.h"

/**
 * Fills members or values of @t from @die, which is a definition; false (reported) when the tree is
 * corrupt.
 */
bool dwmember_read(struct dwsrc *src, Dwarf_Die *die, struct ctype *t);
/** An enumerator of @die is negative: for enums that do not name their integer type. */
bool dwmember_has_negative(struct dwsrc *src, Dwarf_Die *die);

#endif
