/**
 * definitions - places in "definitions.h", as bpftrace calls the C part of a program.
 *
 * bpftrace hands the definitions and # lines of a program to clang as one text of their own: each
 * definition as it stands, one below the other, everything between them left out, and one line of
 * its own first. An error of clang names a line of that text.
 */
#ifndef RUN_DEFINITIONS_H
#define RUN_DEFINITIONS_H

#include "base/str.h"

/** The line of @program (from 1) that is line @line of definitions.h; 0 when there is none. */
unsigned definitions_find_line(struct str program, unsigned line);

#endif
