/**
 * var - values of variables, maps and parameters of macros, as far as the program has been read.
 *
 * A program is read in rounds: the value of a name at a place joins the assignments above it in this round
 * and all of the round before. Each clause, fn and macro has variables of its own; maps are global.
 */
#pragma once

#include "sema/expr.h"

/** The facts of a variable or map. */
struct var {
	struct expr value;
	struct expr *key; /**< of a map: a tuple for several */
	/** Of a map that is a macro's parameter: what the macro puts into it; NULL: nothing. */
	struct expr *stored;
	bool is_computed; /**< by +=, ++ ..., or of several types: no enum's names */
};

/** A name that a `let` or a loop shadows until its block ends. */
struct shadowed {
	struct str name;	/**< with its scope */
	const struct node *was; /**< the shadowed variable; NULL: none */
};

struct vars {
	struct arena *arena;	  /**< of all that outlives the rounds */
	const struct node *scope; /**< the clause, fn or macro at hand */
	const struct node *macro; /**< the macro at hand, or NULL */
	unsigned round;
	struct map known, before; /**< name -> struct var, of this round and the one before */
	struct arena of_rounds[2], *names; /**< arenas of two rounds; that of the current one */
	struct strbuf key;		   /**< of the last look-up */
	VEC(struct shadowed) shadowed;
	struct map inner; /**< name, with its scope -> the `let` or loop whose variable it is now */
};

/** @a becomes the common facts of both. If their types differ the caller sets it. */
void expr_join(struct expr *a, const struct expr *b);
/** Its type, if that is an enum; or NULL. */
struct ctype *expr_enum(const struct expr *e);
/** Is one of them an enum, and the other a number that is none of its values, as far as types go? */
bool expr_confuses_enums(const struct expr *a, const struct expr *b);
/** A tuple of the children of @n. */
void expr_of_tuple(struct arena *a, const struct node *n, struct expr *e);

void vars_begin_round(struct vars *all);
void vars_fini(struct vars *all);
/** The variable or map @n in this round. */
struct var *vars_find(struct vars *all, const struct node *n);
/** Adds an assignment of @value to @target, and of a map its key. */
struct var *vars_assign(struct vars *all, const struct node *target, const struct expr *value);
/** Sets @e to the facts of the name @n. */
void vars_lookup(struct vars *all, const struct node *n, struct expr *e);
/** What a macro puts into its parameter, the map @n; false: nothing, or that is not known yet. */
bool vars_stored(struct vars *all, const struct node *n, struct expr *e);
/** The key of @map; NULL: not known. */
struct expr *vars_key(struct vars *all, const struct node *map);
/** Shadows the name of @variable until the end of the block. */
void vars_shadow(struct vars *all, const struct node *variable);
/** Ends a block: drops all but the first @n shadowed names. */
void vars_unshadow(struct vars *all, size_t n);
