/**
 * join - clauses that become one, and those that become several.
 *
 * Before 0.25 a program has one BEGIN and one END. Clauses on the same probes are attached together
 * so that what they count agrees: one after the other, the first would count what happens until the last
 * is attached. 0.17 confuses lists of attach points, see dialect_confuses_lists().
 */
#ifndef EMIT_JOIN_H
#define EMIT_JOIN_H

#include "bind/bind.h"

struct join_list {
	struct str *v;
	size_t n, cap;
};

/** What becomes of each clause of the script; arrays by its index. */
struct join_plan {
	bool *is_gone; /**< it is part of another one: */
	size_t *into;
	size_t *last;	   /**< of those that are part of it, the last one; 0: none are */
	struct map *names; /**< variables that have another name in there: struct str * */
	struct join_list
	    *splits; /**< it is written once for each of these attach points; none: as it is */
};

/** False after an error: a `return` that would end the next BEGIN, too. @taken gets new variables. */
bool join_find(const struct bind *b, struct map *taken, struct join_plan *ret);

/** What @c is attached to, one by one, as bpftrace gets it. */
struct join_list join_points(const struct bind *b, const struct script_clause *c);
/** All names of variables in the program, with their $. */
struct map join_variables(const struct bind *b);
/** @name, or name_2 and so on if it is among @taken already, where it is added. */
struct str join_new_variable(struct arena *a, struct map *taken, struct str name);
/** The first `return` or `exit()` of @c: what follows is not run. NULL: there is none. */
const struct token *join_early_end(const struct script_clause *c);

#endif
