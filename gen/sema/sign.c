#include "sema/sign.h"

#include "lang/tree.h"

enum sign sign_join(enum sign a, enum sign b)
{
	if (a == SIGN_OPEN || a == b)
		return b;
	if (b == SIGN_OPEN || b == SIGN_NONE)
		return a;
	// A number whose sign is not known counts as unsigned, as in bpftrace.
	bool is_like_unsigned =
	    (a == SIGN_UNSIGNED || a == SIGN_OTHER) && (b == SIGN_UNSIGNED || b == SIGN_OTHER);
	if (is_like_unsigned)
		return SIGN_OTHER;
	return a == SIGN_NONE ? b : SIGN_MIXED;
}

enum sign sign_of_both(enum sign a, enum sign b)
{
	bool is_c =
	    (a == SIGN_SIGNED || a == SIGN_UNSIGNED) && (b == SIGN_SIGNED || b == SIGN_UNSIGNED);
	return is_c && a != b ? SIGN_UNSIGNED : sign_join(a, b);
}

enum sign sign_of_type(struct ctype *t, unsigned bit_size)
{
	t = ctype_strip(t);
	if (!ctype_is_number(t) || t->size > 8)
		return SIGN_OTHER;
	if (t->is_signed)
		return SIGN_SIGNED;
	return t->size < 8 || (bit_size && bit_size < 64) ? SIGN_NONE : SIGN_UNSIGNED;
}

enum sign sign_of_result(unsigned op, enum sign a, enum sign b)
{
	if (op & (OP_COMPARISON | OP_LOGIC))
		return SIGN_NONE;
	if (op & OP_SHIFT)
		return a;
	if (a == SIGN_OPEN || b == SIGN_OPEN)
		return SIGN_OPEN;
	bool is_none = a == SIGN_NONE || b == SIGN_NONE;
	if (op == OP_BIT_AND && is_none && a != SIGN_UNSIGNED && b != SIGN_UNSIGNED)
		return SIGN_NONE;
	if (op == OP_MOD && a == SIGN_NONE && b != SIGN_SIGNED && b != SIGN_UNSIGNED)
		return SIGN_NONE;
	// As in C, an int64 beside an uint64 becomes one, too.
	if (a == SIGN_UNSIGNED || b == SIGN_UNSIGNED)
		return is_none || a == SIGN_SIGNED || b == SIGN_SIGNED ? SIGN_UNSIGNED
								       : sign_join(a, b);
	if (op == OP_MOD)
		return a;
	return sign_join(a, b);
}

unsigned sign_bits_of_type(struct ctype *t, unsigned bit_size)
{
	t = ctype_strip(t);
	if (t && (t->kind == CTYPE_POINTER || t->kind == CTYPE_REFERENCE))
		return 64;
	if (!t || (t->kind != CTYPE_INT && t->kind != CTYPE_ENUM) || t->size > 8)
		return 0;
	return bit_size ? bit_size : (unsigned)t->size * 8;
}

unsigned sign_bits_of_number(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 1;
}

unsigned sign_bits_of_result(unsigned op, unsigned a, unsigned b, const uint64_t *number)
{
	unsigned most = a > b ? a : b, shift = !number ? 64 : *number < 64 ? (unsigned)*number : 63;
	unsigned bits = most + 2; // + and -
	if (op & (OP_BIT_AND | OP_MOD))
		bits = (!a || (b && b < a) ? b : a) + 1; // the smaller that is known
	else if ((op & (OP_SHIFT | OP_DIV)) && !a)
		return 0;
	else if (op == OP_SHL)
		bits = a + shift + 1;
	else if (op == OP_SHR)
		bits = (!number ? a : shift < a ? a - shift : 1) + 1;
	else if (op == OP_DIV)
		bits = number && *number > 1 ? a : a + 1;
	else if (!a || !b)
		return most > 32 ? most : 0;
	else if (op == OP_MUL)
		bits = a + b + 1;
	else if (op & (OP_BIT_OR | OP_BIT_XOR))
		bits = most + 1;
	return bits > 64 ? 64 : bits;
}
