/**
 * argsrc - a probe's arguments as the source line of its site spells them.
 *
 * source/call.h has the texts, if the source file is there and not newer than the binary. They give
 * names; the type of an expression of variables, members, indices, *, & and casts follows from the
 * debug information. An expression that is not understood has no type.
 *
 *	const struct argsrc_arg *args = argsrc_read(&loc, STR("nvmf_tgt_state"), n_operands);
 */
#pragma once

#include "probe/argloc.h"

struct argsrc_arg {
	struct str expr;    /**< empty: not known */
	struct str name;    /**< by the rules of argname.h, or empty */
	struct ctype *type; /**< of the value, or NULL: not known */
	bool is_literal;    /**< a number or a string: it has the compiler's type and no name */
	bool is_added;	    /**< a number that a macro passes, whatever its caller does */
	const struct argloc_var *var; /**< the expression is just this variable; else NULL */
};

/**
 * The @n arguments after the probe's name at the site's line; NULL, without a message, if there is no such
 * call.
 */
const struct argsrc_arg *argsrc_read(struct argloc *l, struct str probe, size_t n);
/**
 * Bytes that a string has at most when @expr is an array of char: one less than the array. 0: no
 * array, or not known.
 */
uint64_t argsrc_string_max(struct argloc *l, struct str expr);
