/**
 * predefined - the macros that bpftrace's clang has before it reads a line.
 *
 * #if must know them as bpftrace does, and only #if: elsewhere they are left to bpftrace, which
 * replaces them itself. Those that a script may ask for, measured alike with bpftrace 0.17, 0.23
 * and 0.27; whether clang has another name that only a compiler defines (`__...`) is for clang to
 * check, see text/pp.h.
 */
#pragma once

#include "text/pp.h"

/** Defines all in @pp that hold on this machine. */
void predefined_add(struct pp *pp);
