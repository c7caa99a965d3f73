/**
 * namedvar - variables of the program by name where a clause has its places in the code: `vars.total`.
 *
 * A clause of usdt probes or uprobes stops at instructions, and the debug information has the location of
 * each variable at that address, as a debugger shows it: a register or memory (probe/argloc.h). Parameters,
 * locals of the blocks around the address, innermost first, `this`, statics, and globals of the unit can be
 * read, by text that begins with reg():
 *
 *	vars.total	(int64)(int32)*(uint32 *)(reg("bp") - 20)
 *	vars.ctx	reg("bx")
 *
 * A value that does not exist yet, or no more, is never read: at the entry of a function parameters are
 * read by the calling convention, and locals of code that is not optimized only after their declaration.
 * Elsewhere it is an error, with the places where the variable can be read. All places of the clause must
 * have it, with one type; if their locations differ, the text tests the address of the probe.
 */
#pragma once

#include "bind/bind.h"

struct namedvar {
	struct str name;
	struct ctype *type; /**< a reference as a pointer */
	bool is_memory;	    /**< a struct or an array: `text` is its address */
	bool is_param;	    /**< of namedvar_list() */
	struct str
	    text; /**< else its bits, more than its size maybe, as an operand that a cast may stand before */
};

/** Checks the uses in clause @c, which is bound; false after an error. */
bool namedvar_resolve(const struct bind *b, struct attach_clause *c);
struct namedvars {
	VEC(struct namedvar) list;
};

/**
 * What `vars.NAME` may mean in a clause at all @n places, of one image: parameters and locals of the function that is meant, in
 * the order of their declarations; without a type where one cannot be read. False: nothing is known of one of the places.
 */
bool namedvar_list(struct arena *a, const struct context_place *places, size_t n,
		   struct namedvars *ret);
/** Does `args.NAME` read parameter @name of the function at link-time address @addr where no argN does? */
bool namedvar_is_passed(struct arena *a, struct dwsrc *src, uint64_t addr, struct str name);
/**
 * The variable that @n, `vars.NAME`, means in a clause for which that went well, or the parameter, or the member of one that
 * is in registers; NULL for anything else.
 */
const struct namedvar *namedvar_find(const struct attach_clause *c, const struct node *n);
