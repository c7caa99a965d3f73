/**
 * naming - what stands for the name of a number: usym(x), enum_name(T, x), a table's @state[x].
 *
 * In a program that is run x travels instead, and who reads the output has the names. It is the last
 * child of each of them.
 */
#ifndef SEMA_NAMING_H
#define SEMA_NAMING_H

#include "bind/bind.h"
#include "ctype/enumtab.h"

/** Are addresses in clause @clause those of the one process that is traced? */
bool naming_has_addresses(const struct bind *b, size_t clause);
/** usym(x) in such a clause. */
bool naming_is_usym(const struct bind *b, size_t clause, const struct node *n);
/**
 * Is @n, in clause @clause, an enum_name(T, x) or like @table[x]? *ret are the names that it chooses
 * from; NULL: there are none.
 */
bool naming_find_enum(const struct bind *b, size_t clause, const struct node *n,
		      const struct enumtab **ret);

#endif
