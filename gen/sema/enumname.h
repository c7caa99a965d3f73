/**
 * enumname - `enum_name(TYPE, EXPR)`: the name of an enumerator.
 *
 * It becomes a look-up in a table of the type's names, which table.h fills at the start:
 * `@enum_state[EXPR]`. In a printf() a number without a name is printed as a number (emit/name.c).
 * Clauses whose probes mean different enums by one name have a table each.
 */
#ifndef SEMA_ENUMNAME_H
#define SEMA_ENUMNAME_H

#include "bind/bind.h"
#include "ctype/enumtab.h"

/** A map that is to be filled. */
struct bind_table {
	struct str map;	   /**< without @ */
	struct str type;   /**< the enum, as written */
	struct str prefix; /**< taken from the names, or empty */
	const struct token
	    *pragma; /**< the map there, from its @ if it has one; NULL: the list's */
	struct diag_place
	    place;	     /**< of the pragma's type, or of the map's first use, or the type's */
	struct ctype *means; /**< of an enum_name(): the enum; NULL when it is not known */
	bool is_sought, is_found;
	struct enumtab names; /**< then; what is shown of them is without the prefix */
};

/** The map of the table of the enum @means (NULL: not known) that @at calls @type; b->enum_tables gets it. */
struct str enumname_table(const struct bind *b, struct str type, struct ctype *means,
			  const struct token *at);
/** That of @call, an enum_name() in clause @i; empty, with an error, for one that is not written like that. */
struct str enumname_of_call(const struct bind *b, size_t i, const struct node *call);

/**
 * The names that @call, an enum_name(TYPE, EXPR) in clause @i, chooses from; NULL when there are
 * none: enumname_of_call() says why.
 */
const struct enumtab *enumname_lookup(const struct bind *b, size_t i, const struct node *call);
/** The names of the enum @type as the list of signatures has them, for programs that have none. */
bool enumname_listed(const struct bind *b, struct str type, struct enumtab *ret);

// What stands for the name of a number: usym(x), enum_name(T, x), a table's @state[x]. In a program that is
// run x, the last child of each of them, travels instead, and who reads the output has the names.

/** Are addresses in clause @clause those of the one process that is traced? */
bool naming_has_addresses(const struct bind *b, size_t clause);
/** usym(x) in such a clause. */
bool naming_is_usym(const struct bind *b, size_t clause, const struct node *n);

#endif
