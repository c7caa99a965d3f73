/**
 * dwsrc_priv - what dwsrc and dwsplit share: units in files of their own are units of the source,
 * too, and what is missing of them is remembered in it.
 */
#pragma once

#include "dwarf/dwsplit.h"

/** Remembers that the file of @skeleton is not there or cannot be read; each file once. */
void dwsplit_add_missing(struct dwsrc *src, Dwarf_Die *skeleton);
