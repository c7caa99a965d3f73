/**
 * argsrc - a probe's arguments as the source line of its site spells them.
 *
 * When the source that a binary was built from is at hand, and is not newer than the binary, the
 * line of a site holds a macro call with the probe's name: NAME(..., probe, a, b->c) or, as
 * PostgreSQL has it, PREFIX_PROBE_NAME(a, b->c); probe/argmacro.h says which of its texts are operands.
 * The text gives names; the type of an expression
 * that is made of variables, members, indices, *, & and casts is worked out with the debug
 * information, as the compiler did it. What is not understood has no type.
 *
 *	struct argsrc_arg args[12];
 *	size_t n;
 *	if (argsrc_read(&loc, STR("nvmf_tgt_state"), args, 12, &n)) ...
 */
#ifndef PROBE_ARGSRC_H
#define PROBE_ARGSRC_H

#include "probe/argloc.h"

struct argsrc_arg {
	struct str expr;    /**< empty: what the operand is the text does not say */
	struct str name;    /**< by the rules of argname.h, or empty */
	struct ctype *type; /**< of the value, or NULL: not known */
	bool is_literal;    /**< a number or a string: it has the compiler's type and no name */
	const struct argloc_var *var; /**< the expression is just this variable; else NULL */
};

/**
 * The arguments behind the probe's name at the site's line; false, without a message, when there is
 * no such call.
 */
bool argsrc_read(struct argloc *l, struct str probe, struct argsrc_arg *ret, size_t max,
		 size_t *ret_n);
/** The type of C expression @expr at the site, as declared; NULL when it is void or not known. */
struct ctype *argsrc_type(struct argloc *l, struct str expr);
/**
 * Bytes that a string has at most when @expr is an array of char: one less than the array. 0: no
 * array, or not known.
 */
uint64_t argsrc_string_max(struct argloc *l, struct str expr);

#endif
