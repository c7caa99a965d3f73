/**
 * table - maps of enum names, filled when the program starts.
 *
 * A map that the template only reads and that the list of tables (bpf/enums.conf) names, or that a
 * `#pragma enum MAP TYPE [PREFIX]` names, gets an entry for each enumerator of that type in the
 * target's debug information. The entries are set in BEGIN and cleared in END (bpftrace would print
 * them otherwise).
 */
#pragma once

#include "sema/enumname.h"

/**
 * Sets b->found.listed and b->found.tables from the pragmas and the list, before any change of the tree.
 * False after an error: a pragma with wrong words.
 */
bool table_find_all(struct bind *b);
/** Fills in the names of @w. An error if the type does not exist. */
bool table_find_names(const struct bind *b, struct bind_table *w);

/** The names of a table in the map @name, without @; NULL: it is no table, or there is no such enum. */
const struct enumtab *table_names(const struct bind *b, struct str name);
/**
 * Is @n, in clause @clause, an enum_name(T, x) or like @table[x]? *@ret: the names that it chooses from;
 * NULL: none.
 */
bool table_names_of(const struct bind *b, size_t clause, const struct node *n,
		    const struct enumtab **ret);
