/**
 * dwslim - compressed debug information, opened without decompressing all of it.
 *
 * libdw inflates every debug section when it opens a file, and inflating is most of the time on
 * Debian's compressed debug files. Types need .debug_info, .debug_abbrev and the strings, about
 * half of the bytes. So those are inflated into a small ELF image in memory, and libdw opens that.
 * Offsets are those of the file: a DIE can be looked up again in the handle that elf/debugfile.h
 * gives, where its locations are needed.
 */
#ifndef DWARF_DWSLIM_H
#define DWARF_DWSLIM_H

#include <elfutils/libdw.h>

#include "elf/img.h"

/**
 * A handle for types only; NULL, silently, when @file (which has the debug information) is not
 * compressed, or is of a kind that needs more of libdw (relocatable, split, type units, dwz, of another machine).
 * Closed by dwslim_close().
 */
Dwarf *dwslim_open(struct img *file, Elf **elf);
void dwslim_close(Dwarf *dbg, Elf *elf);

#endif
