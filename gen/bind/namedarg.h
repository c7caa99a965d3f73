/**
 * namedarg - arguments of USDT probes and functions by name: `args.subnqn`, and `args.2`.
 *
 * In a clause of usdt attach points `args.NAME` is the argument that the program calls so
 * (probe/probeargs.h), and has its type (sema/exprtype.h); it becomes argN where the program is
 * written for bpftrace (emit/arg.c). All probes of the clause must have that argument, with the
 * same number and the same type: otherwise it is an error. In a clause of uprobes it is the parameter of
 * that name (probe/funcargs.h).
 */
#pragma once

#include "bind/bind.h"
#include "probe/probeargs.h"

/**
 * Checks the uses in clause @c, which is bound, and adds them to those of argN. An error for a name
 * that a probe does not have (with what it has), and for what probes or sites disagree about.
 */
bool namedarg_resolve(const struct bind *b, struct attach_clause *c);
/** The argument of `args.NAME` in a clause that was bound, and its number; NULL: none. */
const struct probearg *namedarg_find(const struct bind *b, const struct attach_clause *c,
				     const struct token *name, unsigned *index);

/** The operands of a site's note. */
struct operands {
	struct sdtarg *v;
	size_t n;
};

/** Those of @site, one of the probe of @m: read once. */
const struct operands *namedarg_operands(const struct bind *b, const struct attach_match *m,
					 const struct sdt_site *site);
/** For checks, what is known of the probe of @m, with b->cheap_only at no cost. What was read is kept. */
const struct probeargs *namedarg_all(const struct bind *b, const struct attach_match *m);
/** The same of its argument @n; NULL when it has none. */
const struct probearg *namedarg_at(const struct bind *b, const struct attach_match *m, unsigned n);
/**
 * Where the file of @m has no debug information, that is an error at @at, and so is all that needs it
 * ("what arg0 points to"): true, and what helps is said.
 */
bool namedarg_report_stripped(const struct attach_match *m, const struct diag_place *at,
			      const char *wanted_for);
/** The note "it is put(int n)", and false. */
bool namedarg_note_declaration(const struct bind *b, const struct funcargs *f);
/** Does @c have only places of that kind, entries of functions or their ends, and all of them? */
bool namedarg_is_only(const struct attach_clause *c, enum provider_place place);
/** Where the first site of the probe of @m is in its source; @line is 0 where that is not known. */
void namedarg_site(const struct bind *b, const struct attach_match *m, struct str *file,
		   unsigned *line);
