/**
 * call - calls of functions that take a format: printf("%s %d", a, b) and its kin.
 *
 * Splits such a call into the format's token and the arguments' ranges, and walks the conversions of the format as
 * bpftrace reads them. A call whose format is no literal, or that has more arguments than anybody prints, is none.
 *
 *	struct call c;
 *	if (call_parse(t, &c))
 *		for (size_t i = 0; i < c.n_args && call_next_conversion(c.format->text, &at, &end); i++, at = end)
 *			...;
 */
#ifndef BIND_CALL_H
#define BIND_CALL_H

#include "text/lex.h"

#define CALL_MAX_ARGS 32

struct call_arg {
	struct token *first, *last;
};

struct call {
	struct token *first, *format, *last; /**< the function's name ... `)` */
	struct call_arg args[CALL_MAX_ARGS]; /**< behind the format */
	size_t n_args;
};

/** Functions whose first argument is a format as printf's, in some version from 0.17 to 0.27. */
bool call_prints(const struct token *function);
/** Those, and functions that take a format of strftime(3): a % in their text is a conversion. */
bool call_takes_format(const struct token *function);

/** Reads the call that starts at @t; false for what is none of the first kind. */
bool call_parse(struct token *t, struct call *ret);

/**
 * The next conversion of a format at or after *@at; *@end is behind its letter. False after the last one. As bpftrace
 * reads them: % flags digits . digits letters.
 */
bool call_next_conversion(struct str format, size_t *at, size_t *end);

#endif
