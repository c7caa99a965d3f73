/**
 * dwsplit - units whose types are in files of their own (.dwo), and what is reported of those that
 * cannot be read.
 *
 * libdw finds and opens the files: .dwo files (DWARF 5 section 7.3.2) and, from elfutils 0.192 on,
 * .dwp packages of them. Two kinds are not read, and each of their units is missing as a whole, as
 * half of a type would be worse than none: a .dwp that libdw does not read, and a .dwo with type
 * units (-gsplit-dwarf with gcc's -fdebug-types-section), which gcc leaves in a section each, of
 * which libdw sees the first.
 */
#pragma once

#include "dwarf/dwsrc.h"

/**
 * @unit is a skeleton: true; *@ret is the unit that it refers to, all zero when libdw has not found its
 * file. libdw opens any file of that name, and unpacks it whole: it is not asked if there is no regular
 * file, or one that is a bomb.
 */
bool dwsplit_unit(struct dwsrc *src, Dwarf_Die *unit, Dwarf_Die *ret);
/** The file of @split, the top DIE of a split unit, can be read as a whole. */
bool dwsplit_is_whole(Dwarf_Die *split);
/** "u2.dwo", as the skeleton names it; without that, the unit's name. */
struct str dwsplit_name(Dwarf_Die *skeleton);
/** A note for each kind of trouble that @src has had so far; silent without any. */
void dwsplit_report_missing(struct dwsrc *src);
