/**
 * by_address - clauses of their own for USDT probes that bpftrace attaches to by the addresses of their sites.
 *
 * From 0.24 on libbpf reads the operands of a usdt attach point, and one that it cannot parse, such as
 * the global variable `4@total(%rip)`, refuses the whole probe (probe/attachable.h). Its sites take
 * uprobes, whose registers and memory have the arguments (bind/argread.h):
 *
 *	usdt:__EXE__:app:global { print(arg0); }
 *	uprobe:/usr/bin/app:0x1192 { print((int64)*(uint64 *)(reg("ip") + 11998)); }
 *
 * Such a clause has its own text for arguments and `probe`, and is for one probe alone: lists and patterns
 * are split before anything is bound.
 */
#pragma once

#include "bind/bind.h"

/**
 * Takes such probes out of lists and patterns of @pp, each into a copy of the clause. False: there
 * were none. Else the program is to be parsed anew.
 */
bool by_address_split(const struct bind *b, struct pp *pp);
/**
 * When all is bound: finds what `probe` is in such clauses. An error for what is no word of a usdt
 * clause, or may not be allowed together with these attach points.
 */
bool by_address_finish(struct bind *b);
