/**
 * unset - maps that nothing sets any more, because the clauses that did were left out.
 *
 * bpftrace refuses a program that reads or clears a map which it never sets: it could not tell what the map holds. So
 * where `#pragma optional` takes clauses out, what the others say about the maps of these goes as well:
 *
 *	usdt:x:gone { @start[pid] = nsecs; }	left out, and with it
 *	usdt:x:done /@start[pid]/ { ... }	a clause that waits for the map,
 *	END { clear(@start); }			clear, delete, zero and print of it;
 *	if (@start[pid] != 0) ...		elsewhere it is 0, as it would always be, or "" for text
 *
 *	struct unset u = {0};
 *	unset_add_clause(b, &u, left_out);
 *	unset_keep_clause(b, &u, other);
 *	unset_rewrite(b, &u, &pp->out, other);
 */
#ifndef BIND_UNSET_H
#define BIND_UNSET_H

#include "bind/bind.h"

struct unset {
	struct map names; /**< what clauses set that were left out: name -> the token behind = */
	struct map stay;  /**< what the others set */
};

/** Notes the maps that @c sets, which was taken out. */
void unset_add_clause(struct bind *b, struct unset *u, const struct script_clause *c);
/** Notes those that @c sets, which stays. */
void unset_keep_clause(struct bind *b, struct unset *u, const struct script_clause *c);
/** Is the whole predicate of @c a map that nothing sets? */
bool unset_is_awaited(const struct unset *u, const struct script_clause *c);
/** Takes such maps out of @c, which stays, in @list. */
void unset_rewrite(struct bind *b, const struct unset *u, struct token **list,
		   struct script_clause *c);

#endif
