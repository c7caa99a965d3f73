/**
 * enumname - `enum_name(TYPE, EXPR)`: the name of an enumerator.
 *
 * It becomes a look-up in a table of the type's names, which table.h fills at the start:
 * `@enum_state[EXPR]`. In a printf() a number without a name is printed as a number (emit/name.c).
 * Clauses whose probes mean different enums by one name have a table each.
 */
#pragma once

#include "bind/bind.h"
#include "ctype/enumtab.h"

/** A map to fill with names. */
struct bind_table {
	struct str map;		    /**< without @ */
	struct str type;	    /**< the enum, as written */
	struct str prefix;	    /**< taken from the names, or empty */
	const struct token *pragma; /**< the map in it; NULL: from the list */
	struct diag_place place;    /**< of the pragma's type, the map's first use, or the type's */
	struct ctype *means;	    /**< of an enum_name(): the enum; NULL when it is not known */
	bool is_sought, is_found;
	struct enumtab names; /**< of `means`; shown without the prefix */
};

/**
 * The map of the table for the enum @means (NULL: not known), which the script calls @type at @at; added to
 * b->enum_tables.
 */
struct str enumname_table(const struct bind *b, struct str type, struct ctype *means,
			  const struct token *at);
/** That of @call, an enum_name() in clause @i; empty, with an error, if it has another form. */
struct str enumname_of_call(const struct bind *b, size_t i, const struct node *call);

/**
 * The names that @call, an enum_name(TYPE, EXPR) in clause @i, chooses from; NULL: none, which
 * enumname_of_call() reports.
 */
const struct enumtab *enumname_lookup(const struct bind *b, size_t i, const struct node *call);
/** The names of the enum @type in the list of signatures, for programs without debug information. */
bool enumname_listed(const struct bind *b, struct str type, struct enumtab *ret);

// Expressions that name a number: usym(x), enum_name(T, x), a table's @state[x]. A program that is run
// prints x, the last child of each, and record/ adds the names.

/** Are addresses in clause @clause those of the one traced process? */
bool enumname_has_addresses(const struct bind *b, size_t clause);
/** usym(x) in such a clause. */
bool enumname_is_usym(const struct bind *b, size_t clause, const struct node *n);
/** The same, or func. */
bool enumname_is_symbol(const struct bind *b, size_t clause, const struct node *n);
