/**
 * choice - an argument that may be a name out of a table: `@state[key]`, `c ? @state[key] : "none"`.
 *
 * A tree: at its leaves are names, whose keys are looked up, and anything else. A key is steady when it is the same
 * whenever it is read in a clause; memory, a clock, rand and n++ are not.
 */
#ifndef BIND_CHOICE_H
#define BIND_CHOICE_H

#include "bind/fresh.h"

enum choice_kind {
	CHOICE_PLAIN, /**< no name */
	CHOICE_NAME,
	CHOICE_EITHER, /**< of two, one of which at least is a name or a choice */
};

struct choice {
	enum choice_kind kind;
	struct token *first, *last;	    /**< the expression, without parentheses around it */
	struct token *key_first, *key_last; /**< of a name: what is looked up */
	bool is_steady;			    /**< is that the same when it is read again? */
	struct str
	    key; /**< of a name: the key as text; the variable to keep it in, when it is not steady */
	struct token *if_first, *if_last; /**< of either: the condition */
	struct choice *yes, *no;
};

/** Reads the expression; @tables is the set of names of maps that are tables. Variables for keys come from @fresh. */
struct choice *choice_parse(struct fresh *fresh, const struct map *tables, struct token *first,
			    struct token *last);
/** `@state[key]` of a name. */
struct str choice_name(struct arena *a, const struct choice *c);

#endif
