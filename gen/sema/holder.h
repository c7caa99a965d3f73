/**
 * holder - what variables, maps and parameters of macros hold, as far as the program has been read.
 *
 * A program is read in rounds: what a name holds at a place is what was assigned above it in this round, or anywhere in the one before.
 * Each clause, fn and macro has variables of its own; maps are of all.
 */
#ifndef SEMA_HOLDER_H
#define SEMA_HOLDER_H

#include "sema/expr.h"

/** What is known of a variable or map by its name. */
struct holder {
	struct expr value;
	struct expr *key; /**< of a map: a tuple for several */
	bool is_computed; /**< by +=, ++ and the like, too */
};

/** What a `let`, or a loop, gives another meaning until the block ends. */
struct hidden {
	struct str name;	/**< with its scope */
	const struct node *was; /**< that gave it the meaning before; NULL: none */
};

struct holders {
	struct arena *arena;	  /**< of what outlives the rounds */
	const struct node *scope; /**< the clause, fn or macro whose variables are meant */
	const struct node *macro; /**< that is looked at, or NULL */
	unsigned round;
	struct map known, before; /**< name -> struct holder, of this round and the one before */
	struct arena of_rounds[2], *names; /**< where they are: in the last one */
	struct strbuf key;		   /**< of one that is looked up */
	VEC(struct hidden) hidden;
	struct map
	    inner; /**< name, with its scope -> the variable of the `let` or loop that it means now */
};

/** What may be @a or @b: what both have in common. Its type, if it is not theirs, is the caller's to tell. */
void expr_join(struct expr *a, const struct expr *b);
/** A tuple of the children of @n. */
void expr_of_tuple(struct arena *a, const struct node *n, struct expr *e);

void holders_begin_round(struct holders *all);
void holders_fini(struct holders *all);
/** What is known in this round of the name @n. */
struct holder *holders_of(struct holders *all, const struct node *n);
/** @target is assigned @value. */
struct holder *holders_learn(struct holders *all, const struct node *target,
			     const struct expr *value);
/** @map is assigned under its key. */
void holders_learn_key(struct holders *all, const struct node *map);
/** Into @e what the name @n holds. */
void holders_recall(struct holders *all, const struct node *n, struct expr *e);
/** What keys @map has; NULL: not known. */
struct expr *holders_key(struct holders *all, const struct node *map);
/** From here to the end of the block the name means another variable. */
void holders_hide(struct holders *all, const struct node *variable);
/** A block ends: all but the first @n hidden names mean what they did before it. */
void holders_unhide(struct holders *all, size_t n);

#endif
