/**
 * join - clauses that are merged into one, and those that are split.
 *
 * Before 0.25 a program has one BEGIN and one END. Clauses on the same probes are merged so that their
 * counts agree: attached one after the other, the first would count events that the last misses. 0.17
 * confuses lists of attach points, see dialect_confuses_lists().
 */
#pragma once

#include "bind/bind.h"

struct join_list {
	struct str *v;
	size_t n, cap;
};

/** A clause, function or macro of the script, and its text. */
struct written {
	const struct script_clause *clause;
	bool is_part;	      /**< it was merged into another one */
	struct written *next; /**< the next part of the same clause */
	struct written *last; /**< the last part, or itself */
	struct map *names;    /**< NULL, or its renamed variables -> struct str * */
	struct join_list
	    splits;	   /**< it is written once for each of these attach points; none: once */
	unsigned n_tokens; /**< with those of its parts */
	const struct text *all;		/**< of a function or macro; of a clause: */
	const struct text *condition;	/**< between the slashes; or NULL */
	const struct text *predicate;	/**< with the slashes */
	const struct text **statements; /**< of its block */
	const struct text *block;
	const char *test; /**< the filter that it needs, or NULL */
};
typedef VEC(struct written) written_clauses;

/** False after an error: a `return` that would end the next BEGIN, too. Adds new variables to @taken. */
bool join_find(const struct bind *b, struct map *taken, written_clauses *ret);

/** The attach points of @c, one by one, as bpftrace gets them. */
struct join_list join_points(const struct bind *b, const struct script_clause *c);
/** All names of variables in the program, with their $. */
struct map join_variables(const struct bind *b);
/** @name, or name_2 and so on if it is @taken; adds it to @taken. */
struct str join_new_variable(struct arena *a, struct map *taken, struct str name);
/** The first `return` or `exit()` of @c, or NULL. */
const struct token *join_early_end(const struct script_clause *c);
