/**
 * argread - arguments of USDT probes for which bpftrace has no argN.
 *
 * Up to 0.23 there are arg0 to arg5. The note says where each argument is, and reg() reads the registers of a usdt clause in
 * every version (measured on x86-64, the only machine whose names are known here):
 *
 *	-4@%r13d	(int64)(int32)reg("r13")
 *	2@-20(%rbp)	(uint64)*(uint16 *)(reg("bp") - 20)
 */
#ifndef BIND_ARGREAD_H
#define BIND_ARGREAD_H

#include "bind/attach.h"
#include "image/sdtarg.h"

/** The value of @arg with its sign, as an operand that a cast may stand before; empty when no expression reads it. */
struct str argread_text(struct arena *a, unsigned machine, const struct sdtarg *arg);
/**
 * Does the same text read the argument @arg of one more site? @text, empty at first, becomes that of this site. bpftrace does not
 * say at which site it is: where they differ there is no right one.
 */
bool argread_join(struct arena *a, unsigned machine, const struct sdtarg *arg, struct str *text);
/**
 * What stands for argN in clause @c; empty for argN itself, and where nothing does. @place: then where a site has it that is not
 * read, or not as the sites before it.
 */
struct str argread_find(struct bind *b, const struct attach_clause *c, unsigned n,
			struct str *place);

#endif
