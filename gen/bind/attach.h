/**
 * attach - attach points of a template bound to files of the target.
 *
 * `usdt:__EXE__:provider:name` (the provider may be left out, both may have wildcards) becomes one
 * attach point for each file and probe that match, fully spelled; `uprobe:__EXE__:function` gets
 * the file that defines the function. An absolute path that the target has mapped is treated the
 * same, because a bpftrace that follows a process must be given every path in one particular form;
 * so is one that it has not mapped yet, whose probes fire once it does.
 */
#pragma once

#include "bind/bind.h"

/**
 * Before all clauses: puts the values of positional parameters in, and adds the files that the script
 * names to those of the target. False, with an error each, for what has no value or is no program.
 */
bool attach_add_files(const struct bind *b);
/**
 * Chooses the probes of patterns that bpftrace has room for, the first ones, beside those that the
 * script names: a probe is traced by all patterns that mean it, or by none.
 */
void attach_choose(struct bind *b);
/**
 * Binds each attach point of @c, changing its node. Errors: nothing of that name in the target
 * (with the nearest name), no target given, a name that bpftrace cannot spell. Of what matches a pattern
 * only what bpftrace cannot attach to is left out, and counted: files->skipped. found.scope becomes
 * BIND_BY_FILTER when a file can only be named in a way that does not work together with bpftrace's
 * -p.
 */
bool attach_bind_clause(struct bind *b, struct script_clause *c, struct attach_clause *ret);
/** At most so many BPF programs come of what is bound: one for each site. */
unsigned attach_count_programs(const struct bind *b);

/** The next probe that @at, of usdt, means; @m is {0} at first. */
bool attach_next(const struct bind *b, const struct script_attach *at, struct attach_match *m);
/** Is the probe of @m attached to by address, see bind/by_address.h? It may be one that bpftrace cannot attach to at all. */
bool attach_is_by_address(const struct bind *b, const struct attach_match *m);
/** How many of the USDT probes that bpftrace attaches to at once it counts for: 0 if it is one of those. */
unsigned attach_count_places(const struct bind *b, const struct attach_match *m);
/** What bpftrace calls its program for the site @s of the probe of @m, one of those: "uprobe:4498". */
struct str attach_program(struct arena *a, const struct attach_match *m, const struct sdt_site *s);
/** Why this bpftrace cannot attach to the probe of @m, see attachable_why_not(); looked at once. */
struct str attach_why_not(const struct bind *b, const struct attach_match *m);
