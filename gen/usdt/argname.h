/**
 * argname - what an argument is called, out of the text that a macro was called with.
 *
 * `ctx->subsystem->subnqn` is `subnqn`, `(int)s.values[i + 1]` is `values`, `USDT_ARG(-rc,
 * "error")` is `error`. The rules are those of docs/usdt-notes.md, "From the text to names". The
 * text is a stranger's: it is read in place, token by token, and never reported,
 * which is why text/lex.h, with its list of tokens and their places, is of no use here.
 *
 *	struct str parts[3];
 *	size_t n = argname_split(STR("item, it->name, f(a, b)"), parts, 3);	// 3
 *	argname_parse(arena, parts[1], &arg);					// arg.name is "name"
 */
#pragma once

#include "base/str.h"

/** One argument as the program spells it. */
struct argname_arg {
	struct str expr; /**< the expression, inside of USDT_ARG if that was used */
	struct str name; /**< by the rules of the format; "argN" when the expression has none */
	struct str doc, unit; /**< of USDT_ARG; empty when not given */
	bool is_bits;	      /**< the expression is USDT_BITS(...) */
};

/**
 * Cuts @text at the commas that the preprocessor would cut it at; the pieces are trimmed. Returns
 * how many there are, of which at most @max are written.
 */
size_t argname_split(struct str text, struct str *ret, size_t max);
/** Expression, name and the rest of USDT_ARG of one piece; the name is empty when there is none. */
void argname_parse(struct arena *a, struct str piece, struct argname_arg *ret);
/** Gives unnamed arguments the name argN, and makes equal names differ: `state`, `state2`. */
void argname_number(struct arena *a, struct str *names, size_t n);
/** C string literals in a row, with their escapes resolved; empty when @text is not that. */
struct str argname_literal(struct arena *a, struct str text);
/** Takes the token off that *@rest starts with: a word, a number, a literal, a comment or one byte. */
struct str argname_take_token(struct str *rest);
/** The bracket that closes the one @text starts with, ( or [; text.n when there is none. */
size_t argname_close(struct str text);
