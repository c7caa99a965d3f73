/**
 * dwjoin - reads split units that libdw does not: .dwo files with type units that were not joined, and .dwp files.
 *
 * gcc leaves each type unit of a .dwo in a section of its own: put one behind the other they are the section that libdw
 * knows. A .dwp file has the sections of many .dwo files one behind the other, and an index (DWARF 5 section 7.3.5, and
 * its predecessor of GNU) that says which part of each belongs to a unit: cut out again, they are a .dwo file. Its strings
 * are shared; the unit gets a copy of its own.
 *
 * A .dwp with type units is left to a libdw that can read it (0.192 can, 0.188 cannot): units share them, and which unit has
 * one can no longer be told.
 */
#ifndef DWARF_DWJOIN_H
#define DWARF_DWJOIN_H

#include "dwarf/dwsrc.h"

/**
 * The split unit of @skeleton as a handle that has it alone, with its type units; NULL, silently, when it cannot be read.
 * Opened once, and closed with @src. *@top is its top DIE.
 */
Dwarf *dwjoin_open(struct dwsrc *src, Dwarf_Die *skeleton, Dwarf_Die *top);
/** For dwsrc: closes all handles. */
void dwjoin_close(struct dwsrc *src);

#endif
