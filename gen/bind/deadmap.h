/**
 * deadmap - maps that nothing sets any more, because the clauses that did were left out.
 *
 * bpftrace refuses a program that reads or clears a map which it never sets: it could not tell what
 * the map holds. So where `#pragma optional` takes clauses out, the uses of their maps in other
 * clauses go as well:
 *
 *	usdt:x:gone { @start[pid] = nsecs; }	left out, and with it
 *	usdt:x:done /@start[pid]/ { ... }	a clause that waits for the map,
 *	END { clear(@start); }			clear, delete, zero and print of it, and loops over it;
 *	if (@start[pid] != 0) ...		elsewhere it is 0, as it would always be, or "" for text
 *
 *	struct deadmap m;
 *	uses_find(b->arena, &b->found.script, &m.uses);
 *	deadmap_find(b, gone, &m);
 *	deadmap_rewrite(b, &m, other);
 */
#ifndef BIND_DEADMAP_H
#define BIND_DEADMAP_H

#include "bind/bind.h"

struct deadmap {
	struct uses uses; /**< of all clauses, also of those that are left out */
	struct map dead;  /**< name -> struct use: what set it */
};

/** Which maps are set in clauses that are @gone, and in no other? */
void deadmap_find(const struct bind *b, const bool *gone, struct deadmap *m);
/** Is the whole predicate of @c a map that nothing sets? */
bool deadmap_is_awaited(const struct deadmap *m, const struct script_clause *c);
/** Takes such maps out of @c, which stays. */
void deadmap_rewrite(const struct bind *b, const struct deadmap *m, struct script_clause *c);

#endif
