/**
 * table - maps of enum names, filled where the program starts.
 *
 * A map that the template only reads and that the list of tables (bpf/enums.conf) names, or that a
 * `#pragma enum MAP TYPE [PREFIX]` names, gets an entry for each enumerator of that type in the
 * target's debug information. The entries are set in BEGIN and cleared in END (bpftrace would print
 * them otherwise).
 */
#ifndef NAMES_TABLE_H
#define NAMES_TABLE_H

#include "bind/bind.h"

/**
 * Adds the tables to the program, and has numbers printed where they have no name (nameless.h).
 * Errors: a type that is not there, a pragma with wrong words.
 */
bool table_add_all(struct bind *b);

#endif
