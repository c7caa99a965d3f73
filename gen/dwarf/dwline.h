/**
 * dwline - what it costs to read the line table of a unit.
 *
 * libdw reads such a table whole, and needs 100 bytes of memory for each row. A row can be one byte,
 * and a compressed section has a thousand of these for each byte of the file: who wants a line asks
 * here first.
 *
 *	if (dwline_rows(src, &unit) >= DWLINE_MOST) return; // no dwarf_getsrc_die(), no dwarf_getsrcfiles()
 *
 * Format: DWARF 5, section 6.2.
 */
#pragma once

#include "dwarf/dwsrc.h"

enum { DWLINE_MOST = 1 << 23 };

/**
 * Rows and bytes of the header of @unit's table, counted up to DWLINE_MOST; UINT64_MAX where lengths in it contradict
 * each other.
 * 0 when there is none, or when it was asked for before: then libdw has it.
 */
uint64_t dwline_rows(struct dwsrc *src, Dwarf_Die *unit);
