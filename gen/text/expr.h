/**
 * expr - the value of an #if expression, and of a constant of C.
 *
 * Integer arithmetic in intmax_t and uintmax_t (C11 6.10.1): operands with a u suffix, or too large
 * for intmax_t, make an operation unsigned. Overflow wraps, as in gcc. The half of ?: && || that is not evaluated may divide by zero.
 *
 * Operands of a constant of C have 32 bits where their types do: what then differs from 64 bits has no value.
 */
#pragma once

#include "text/lex.h"

struct constant_value {
	bool is_unsigned;
	uint64_t value; /**< two's complement when signed */
	bool is_long;	/**< of 64 bits in C; only asked of constants */
};

/**
 * Is @list not zero? It ends in TOK_EOF, whose place is that of the directive's end; `defined` and
 * macros have been replaced, any identifier left is 0. False with an error in *@bad_at and *@why
 * when it is malformed.
 */
bool expr_eval(const struct token *list, bool *ret, const struct token **bad_at, const char **why);

/** The value of the constant @name; @depth: of its expression in others. */
typedef bool expr_find_fn(const struct map *constants, struct str name, unsigned depth,
			  struct constant_value *ret);
/** The value of an expression of C whose names @find knows; @depth: of its own in others. */
bool expr_eval_constant(const struct token *list, expr_find_fn *find, const struct map *constants,
			unsigned depth, struct constant_value *ret);
