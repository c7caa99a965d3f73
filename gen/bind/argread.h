/**
 * argread - arguments of USDT probes for which bpftrace has no argN, or a wrong one.
 *
 * Up to 0.23 there are arg0 to arg5, and an operand at a symbol is misread. The note has the location of
 * each argument, and reg() reads the registers of a usdt clause in every version (measured on x86-64 and
 * aarch64, the machines whose names are known here):
 *
 *	-4@%r13d	(int64)(int32)reg("r13")
 *	2@-20(%rbp)	(uint64)(uint16)*(uint16 *)(reg("bp") - 20)
 *	4@total(%rip)	(uint64)(uint32)*(uint32 *)(reg("ip") + 11912), from the site to the symbol
 *	-4@[x1, w2, sxtw 2]	(int64)(int32)*(uint32 *)(reg("r1") + (((int64)(int32)reg("r2")) * 4))
 */
#pragma once

#include "bind/bind.h"
#include "probe/locexpr.h"
#include "usdt/sdtarg.h"

/** What bpftrace calls the register with DWARF's @number; NULL for what holds no whole numbers. */
const char *argread_register(struct arena *a, unsigned machine, unsigned number);
/**
 * Reads a variable of @size bytes that is at @e when the code at @pc in @img is reached, as an operand that a cast may
 * stand before; with 0, of one in memory, its address.
 */
struct str argread_location(struct arena *a, const struct img *img, uint64_t pc,
			    const struct locexpr *e, unsigned size);
/**
 * The text that is right at each of @n addresses where @texts[i] is: at different ones it asks for the low bits of the address,
 * which stay wherever the file is loaded. Empty where these do not tell, or there are too many texts.
 */
struct str argread_choose(struct arena *a, unsigned machine, const struct str *texts,
			  const uint64_t *pcs, size_t n);
/** Where the symbol is; false, too, when there are several: statics of several units may have one name. */
bool argread_find_symbol(struct img *img, struct str symbol, bool no_local, uint64_t *ret);
/** Does bpftrace of @version read argument @n, which is @arg at a site, wrong or not at all? */
bool argread_needs(unsigned version, unsigned n, const struct sdtarg *arg);
/**
 * Does the same text read the argument @arg of one more site, at @pc in @img? @text, empty at
 * first, becomes that of this site. bpftrace does not say at which site it is: where they differ
 * there is no right one.
 */
bool argread_join(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg,
		  struct str *text);
/**
 * The text that replaces argN in clause @c; empty: argN stays, or it cannot be read. @place: then the
 * location, at some site, that cannot be read or differs from the sites before it.
 */
struct str argread_find(const struct bind *b, const struct attach_clause *c, unsigned n,
			struct str *place);
