/**
 * cname - names of a program, respelled where C or bpftrace cannot take them.
 *
 * `a::b` becomes a__b, `vec<int>` vec_int_, `_vptr.Base` _vptr_Base; words that C or a bpftrace version
 * reserves (int, unroll, int32, string) and macros that the compiler predefines (linux, unix) get an
 * underscore at the end. Most names come back as they are. The script that uses a respelled name must be
 * rewritten with the same function.
 */
#pragma once

#include "ctype/ctype.h"

/** An identifier for @name: characters replaced, reserved words avoided (bpftrace's, too, with @for_bpftrace). */
struct str cname_ident(struct arena *a, struct str name, bool for_bpftrace);
/** How each member of @t is spelled: cname_ident(), and different from all others. An array of t->n_members. */
struct str *cname_members(struct arena *a, const struct ctype *t, bool for_bpftrace);
