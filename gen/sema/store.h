/**
 * store - the type of a variable, a map's value, a column of a key or tuple, or an aggregation's argument:
 * the join of all that the script assigns to it.
 *
 * Each is an int64, or an uint64 if an unsigned number of 64 bits is assigned anywhere, as in C for an
 * operator. emit/store.c writes it for a bpftrace, where the first value decides the type.
 */
#pragma once

#include "bind/bind.h"
#include "sema/sign.h"

enum {
	STORE_NUMBER = 1 << 0,	/**< other than the next two */
	STORE_LITERAL = 1 << 1, /**< of less than 32 bits, or such an enumerator */
	STORE_BOOL = 1 << 2,
	STORE_STEP = 1 << 3,  /**< +=, ++ and the like */
	STORE_OTHER = 1 << 4, /**< no number, or not known */
};

/** A large script has many. */
struct store {
	/** Of all STORE_NUMBER values, or &store_argument; NULL: several types, or none known. */
	struct ctype *type;
	const struct node
	    *disputed; /**< the first assignment with another sign than those before */
	struct store *columns;
	uint32_t n;	    /**< of a tuple: its elements */
	uint32_t n_values;  /**< places of assignments, except STORE_STEP without a value */
	enum sign sign : 8; /**< UNSIGNED beside SIGNED is UNSIGNED, too */
	unsigned kinds : 8; /**< STORE_* */
	bool has_signed;    /**< some value may be negative */
	bool has_sizes;	    /**< literals of several sizes */
	uint32_t text;	    /**< bytes of the last literal with its NUL; 0: none */
};

/** The type of arguments of probes, whatever their type in the program. */
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
 * The stores of @name, which must have its facts; never NULL. Adds the uses of a `let`'s or a loop's
 * variable to @by_use, node -> its struct name_stores; it may be NULL.
 */
struct name_stores *store_find(struct arena *a, const struct used_name *name, struct map *by_use);
