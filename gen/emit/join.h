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

/** A clause, function or macro of the script, and what becomes of it. */
struct written {
	const struct script_clause *clause;
	bool is_part;	      /**< of another one, whose others .. */
	struct written *next; /**< .. go on here */
	struct written *last; /**< the last one that is part of it, or itself */
	struct map *names; /**< NULL, or variables that have another name in there: struct str * */
	struct join_list
	    splits; /**< it is written once for each of these attach points; none: as it is */
	unsigned n_tokens;		/**< with those of its parts */
	const struct text *all;		/**< of what is no clause; of a clause: */
	const struct text *condition;	/**< between the slashes; or NULL */
	const struct text *predicate;	/**< with them */
	const struct text **statements; /**< of its block */
	const struct text *block;
	const char *test; /**< what must hold in it, or NULL */
};
typedef VEC(struct written) written_clauses;

/** False after an error: a `return` that would end the next BEGIN, too. @taken gets new variables. */
bool join_find(const struct bind *b, struct map *taken, written_clauses *ret);

/** What @c is attached to, one by one, as bpftrace gets it. */
struct join_list join_points(const struct bind *b, const struct script_clause *c);
/** All names of variables in the program, with their $. */
struct map join_variables(const struct bind *b);
/** @name, or name_2 and so on if it is among @taken already, where it is added. */
struct str join_new_variable(struct arena *a, struct map *taken, struct str name);
/** The first `return` or `exit()` of @c: what follows is not run. NULL: there is none. */
const struct token *join_early_end(const struct script_clause *c);

#endif
