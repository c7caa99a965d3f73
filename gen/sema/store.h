/**
 * store - what a variable, a map's value, a column of a key or tuple, or an aggregation's argument holds: the join of all that goes
 * in, wherever that is in the script.
 *
 * Each is an int64, or an uint64 if an unsigned number of 64 bits goes in anywhere, as C has it for an operator. How that is written
 * for a bpftrace, whose types are made by the first value, is emit/store.c's.
 */
#ifndef SEMA_STORE_H
#define SEMA_STORE_H

#include "bind/bind.h"
#include "sema/sign.h"

enum {
	STORE_NUMBER = 1 << 0,	/**< but the next two */
	STORE_LITERAL = 1 << 1, /**< of less than 32 bits, or such an enumerator */
	STORE_TRUTH = 1 << 2,
	STORE_STEP = 1 << 3,  /**< what is there is added to: +=, ++ and the like */
	STORE_OTHER = 1 << 4, /**< no number, or nothing is known of it */
};

/** A large script has many. */
struct store {
	/** That all of STORE_NUMBER have, or &store_argument; NULL: several, or none that is known. */
	struct ctype *type;
	const struct node *disputed; /**< the first that puts the one sign beside the other */
	struct store *columns;
	uint32_t n; /**< of a tuple: its elements */
	uint32_t
	    n_values; /**< places where something goes in, but for STORE_STEP without a value */
	enum sign sign : 8; /**< UNSIGNED beside SIGNED is UNSIGNED, too */
	unsigned takes : 8; /**< STORE_* */
	bool has_signed;    /**< what may be negative goes in */
};

/** The type of arguments of probes, whatever they are to the program. */
extern struct ctype store_argument;

/** Of a map or variable. */
struct name_stores {
	struct store value;
	struct ctype *declared;	  /**< by `let $x : int16`; or NULL */
	struct map_stores *map;	  /**< of a map; or NULL */
	const struct node *let;	  /**< of the variable of a `let` or loop; or NULL */
	struct name_stores *next; /**< of another variable of that name */
};

struct map_stores {
	struct store sample; /**< of its aggregation */
	struct store key;    /**< its columns */
};

/**
 * All that is known of @name, which must have its facts; never NULL. The uses of a variable that is a `let`'s or a loop's are put
 * into @by_use, node -> its struct name_stores; it may be NULL.
 */
struct name_stores *store_find(struct arena *a, const struct used_name *name, struct map *by_use);

#endif
