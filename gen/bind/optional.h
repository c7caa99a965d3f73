/**
 * optional - probes that a script can do without.
 *
 * `#pragma optional` covers every attach point in its file, `#pragma optional NAME...` those of that probe
 * or function name (a pattern with * and ? fits too), and `config = { missing_probes = "warn" }` all. When
 * the target has no such probe, or this bpftrace cannot attach to it, the attach point is removed, and with
 * the last one its clause; one note names all that was left out, except those of `#pragma optional -q
 * NAME...`, which only some releases of the program have, and of "ignore". Statements of other clauses
 * about maps that only such a clause sets are removed, too. A script of which nothing of the target is left
 * is an error: it would wait for ever.
 *
 *	if (!found && optional_covers(b, at))
 *		at->absent = true;
 *	...
 *	optional_drop(b);
 */
#pragma once

#include "bind/bind.h"

/** Collects the pragmas into b->optionals; false, with an error, for a malformed one. */
bool optional_collect(struct bind *b);
/** Can the script do without @at? @name is the probe or function that it wants. */
bool optional_covers(const struct bind *b, const struct script_attach *at, struct str name);
/** Is @at of #pragma optional -q, and there is one before it in @c, which has it for releases without that? */
bool optional_is_alternative(const struct bind *b, const struct script_clause *c,
			     const struct script_attach *at, struct str name);
/**
 * Takes absent attach points, and clauses that have no other, out of the script and of found.clauses.
 * To be called when every clause is bound.
 */
bool optional_drop(struct bind *b);
