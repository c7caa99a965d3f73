/**
 * byaddress - USDT probes that bpftrace attaches to by the addresses of their sites.
 *
 * From 0.24 on libbpf reads the operands of a usdt attach point, and one that it cannot parse, such as
 * the global variable `4@total(%rip)`, refuses the whole probe (probe/attachable.h). Its sites take
 * uprobes, whose registers and memory have the arguments (bind/argread.h):
 *
 *	usdt:__EXE__:app:global { print(arg0); }
 *	uprobe:/usr/bin/app:0x1192 { print((int64)*(uint64 *)(reg("ip") + 11998)); }
 *
 * Such a clause reads arguments and says `probe` in its own way, and is for one probe alone: lists and patterns are
 * taken apart before anything is bound.
 */
#ifndef BIND_BYADDRESS_H
#define BIND_BYADDRESS_H

#include "bind/bind.h"

/** Is the probe of @m one of those? It may be one that bpftrace cannot attach to at all. */
bool byaddress_is(const struct bind *b, const struct attach_match *m);
/** How many of the USDT probes that bpftrace attaches to at once it counts for: 0 if it is one. */
unsigned byaddress_count_places(const struct bind *b, const struct attach_match *m);
/** Adds the attach points of the sites of the probe of @m, in @file, to @at. */
void byaddress_bind(struct bind *b, struct script_attach *at, const struct attach_match *m,
		    const char *file);
/** What bpftrace calls its program for the site @s of the probe of @m: "uprobe:4498". */
struct str byaddress_program(struct arena *a, const struct attach_match *m,
			     const struct sdt_site *s);

/**
 * Takes such probes out of lists and patterns of @pp, each into a copy of the clause. False: there
 * were none. Else the program is to be parsed anew.
 */
bool byaddress_split(const struct bind *b, struct pp *pp);
/**
 * When all is bound: finds what `probe` is in such clauses. An error for what is no word of a usdt
 * clause, or may not be allowed together with these attach points.
 */
bool byaddress_finish(struct bind *b);

#endif
