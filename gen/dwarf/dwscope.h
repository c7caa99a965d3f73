/**
 * dwscope - the scopes around a DIE, "ns::Outer", without walking from the top for each one.
 *
 * DIEs do not know their parents. The first question about a unit lists the places where its
 * namespaces and classes begin and end; after that an answer is a binary search. C has no scopes:
 * there the answer is empty at once.
 */
#ifndef DWARF_DWSCOPE_H
#define DWARF_DWSCOPE_H

#include "dwarf/dwsrc.h"

/**
 * Names of the scopes that @die stands in, joined by ::, or empty. Follows no DW_AT_specification
 * of @die itself.
 */
struct str dwscope_of(struct dwsrc *src, Dwarf_Die *die);

#endif
