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
 *	struct deadmap m = {0};
 *	deadmap_add_clause(b, &m, left_out);
 *	deadmap_keep_clause(b, &m, other);
 *	deadmap_rewrite(b, &m, other);
 */
#ifndef BIND_DEADMAP_H
#define BIND_DEADMAP_H

#include "bind/bind.h"

struct deadmap {
	struct map set;	 /**< what clauses set that were left out: name -> struct script_map_use */
	struct map stay; /**< what the others set */
};

/** Notes the maps that @c sets, which was taken out. */
void deadmap_add_clause(struct bind *b, struct deadmap *m, const struct script_clause *c);
/** Notes those that @c sets, which stays. */
void deadmap_keep_clause(struct bind *b, struct deadmap *m, const struct script_clause *c);
/** Is the whole predicate of @c a map that nothing sets? */
bool deadmap_is_awaited(const struct deadmap *m, const struct script_clause *c);
/** Takes such maps out of @c, which stays. */
void deadmap_rewrite(struct bind *b, const struct deadmap *m, struct script_clause *c);

#endif
