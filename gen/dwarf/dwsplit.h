/**
 * dwsplit - units whose types are in files of their own (.dwo), and what is said of those that cannot be read.
 *
 * libdw finds and opens the files. Those that it does not read are opened by dwjoin.h; what neither can read counts as
 * missing as a whole: half of a type would be worse than none.
 */
#ifndef DWARF_DWSPLIT_H
#define DWARF_DWSPLIT_H

#include "dwarf/dwsrc.h"

/** The file of @split, the top DIE of a split unit, can be read as a whole. */
bool dwsplit_is_whole(Dwarf_Die *split);
/** Remembers that the file of @skeleton is not there or cannot be read; each file once. */
void dwsplit_add_missing(struct dwsrc *src, Dwarf_Die *skeleton);
/** "u2.dwo", as the skeleton names it; without that, the unit's name. */
struct str dwsplit_name(Dwarf_Die *skeleton);
/** Where the file of @skeleton is: in the folder of the compilation, or beside the program; NULL when it is not there. */
const char *dwsplit_path(struct dwsrc *src, Dwarf_Die *skeleton);
/** A note for each kind of trouble that @src has had so far; silent without any. */
void dwsplit_say_missing(struct dwsrc *src);

#endif
