/**
 * namedarg - arguments of USDT probes by name: `args.subnqn`, and `args.2`.
 *
 * In a clause of usdt attach points `args.NAME` is the argument that the program calls so (types/probeargs.h). It becomes
 * argN, where it needs to with a cast to its type:
 *
 *	str(args.subnqn)			str(arg1)
 *	args.ctrlr->cntlid			((struct spdk_nvmf_ctrlr *)arg1)->cntlid
 *	args.state == SPDK_NVMF_ACTIVE		arg2 == SPDK_NVMF_ACTIVE, and later a number
 *
 * Definitions of structs, enumerators and signs are the business of typeuse, constant and signs, which come after. All
 * probes of the clause must have that argument, with the same number and the same type: otherwise it is an error.
 */
#ifndef BIND_NAMEDARG_H
#define BIND_NAMEDARG_H

#include "bind/attach.h"
#include "types/probeargs.h"

/**
 * Rewrites the uses in clause @c, which is bound, and adds them to those of argN. An error for a name that a probe does
 * not have (with what it has), and for what probes or sites disagree about.
 */
bool namedarg_resolve(struct bind *b, struct attach_clause *c);
/** What is known about the arguments of a probe; worked out once. */
const struct probeargs *namedarg_of(struct bind *b, const struct attach_match *m);

#endif
