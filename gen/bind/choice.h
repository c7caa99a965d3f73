/**
 * choice - an argument that may be a name out of a table: `@state[key]`, `c ? @state[key] : "none"`.
 *
 * bpftrace 0.23 dies of conditional expressions three deep, and a key may be another value when it is read again (memory,
 * a clock, rand, n++). So what has to be known about a choice is worked out by statements before the one it is in:
 *
 *	$number = (int64)0; if (c) { $key = (int64)(rand % 3); if (@state[$key] == "") { $number = $key; } }
 *
 * and the expression itself then reads `c ? @state[$key] : "none"`.
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
	struct token *if_first, *if_last;   /**< of either: the condition */
	struct choice *yes, *no;
	struct str
	    number; /**< variable with the number of a missing name, else 0; of either, once prepared */
};

/** Reads the expression; @tables is the set of names of maps that are tables. */
struct choice *choice_parse(struct arena *a, const struct map *tables, struct token *first,
			    struct token *last);
/** Must there be statements before the one that the choice stands in? */
bool choice_needs_statements(const struct choice *c);
/** Adds them to @ret, and puts the variables that they fill in the expression's place. */
void choice_prepare(struct fresh *fresh, struct choice *c, struct strbuf *ret);
/** `@state[key]` of a name. */
struct str choice_name(struct arena *a, const struct choice *c);

#endif
