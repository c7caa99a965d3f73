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

/** Operators of two operands, in the order of `operators`; a set of them is a mask. */
enum op {
	OP_OR = 1 << 0,
	OP_AND = 1 << 1,
	OP_BIT_OR = 1 << 2,
	OP_BIT_XOR = 1 << 3,
	OP_BIT_AND = 1 << 4,
	OP_EQ = 1 << 5,
	OP_NE = 1 << 6,
	OP_LT = 1 << 7,
	OP_GT = 1 << 8,
	OP_LE = 1 << 9,
	OP_GE = 1 << 10,
	OP_SHL = 1 << 11,
	OP_SHR = 1 << 12,
	OP_ADD = 1 << 13,
	OP_SUB = 1 << 14,
	OP_MUL = 1 << 15,
	OP_DIV = 1 << 16,
	OP_MOD = 1 << 17,

	OP_LOGIC = OP_OR | OP_AND,
	OP_EQUALITY = OP_EQ | OP_NE,
	OP_ORDER = OP_LT | OP_GT | OP_LE | OP_GE,
	OP_COMPARISON = OP_EQUALITY | OP_ORDER,
	OP_BITS = OP_BIT_OR | OP_BIT_XOR | OP_BIT_AND,
	OP_SHIFT = OP_SHL | OP_SHR,
	OP_MOVE = OP_ADD | OP_SUB, /**< of a pointer */
	OP_QUOTIENT = OP_DIV | OP_MOD,
};

/** The one that is written @text; 0: none. *@level, if not NULL: how tightly it binds, from 1. */
unsigned expr_operator(struct str text, unsigned *level);

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
