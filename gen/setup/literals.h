/**
 * literals - which files have the strings that a program reads: their pages are made resident.
 */
#pragma once

#include "bind/bind.h"
#include "process/resident.h"

/**
 * The program's file, and those whose probes and functions the script names; of the processes @given has, or of
 * all that map one of them. NULL: @program reads no memory.
 */
struct resident *literals_find(struct arena *a, const struct bind *b, struct str program);
