#include "bind/sign.h"

enum sign sign_join(enum sign a, enum sign b)
{
	if (a == SIGN_OPEN || a == b)
		return b;
	if (b == SIGN_OPEN || b == SIGN_NONE)
		return a;
	return a == SIGN_NONE ? b : SIGN_MIXED;
}

enum sign sign_of_result(struct str op, enum sign a, enum sign b)
{
	static const char *const truths[] = {"==", "!=", "<", ">", "<=", ">=", "&&", "||", NULL};
	if (str_is_any(op, truths))
		return SIGN_NONE;
	if (str_eqz(op, "<<") || str_eqz(op, ">>"))
		return a;
	if (a == SIGN_OPEN || b == SIGN_OPEN)
		return SIGN_OPEN;
	bool is_none = a == SIGN_NONE || b == SIGN_NONE;
	if (str_eqz(op, "&") && is_none)
		return SIGN_NONE;
	if (str_eqz(op, "%") && a == SIGN_NONE && b != SIGN_SIGNED)
		return SIGN_NONE;
	// As C has it, an int64 beside an uint64 is one, too.
	if (a == SIGN_UNSIGNED || b == SIGN_UNSIGNED)
		return is_none || a == SIGN_SIGNED || b == SIGN_SIGNED ? SIGN_UNSIGNED
								       : sign_join(a, b);
	if (str_eqz(op, "%"))
		return a;
	if (str_eqz(op, "-") && a == SIGN_NONE && b == SIGN_NONE)
		return SIGN_OTHER; // of times and counts, which are taken from larger ones
	return sign_join(a, b);
}

static const struct {
	const char *names[8];
	unsigned size;
	enum sign sign;
} builtins[] = {
    {{"int8", "s8", "int8_t", "char"}, 1, SIGN_SIGNED},
    {{"int16", "s16", "int16_t", "short"}, 2, SIGN_SIGNED},
    {{"int32", "s32", "int32_t", "int", "signed"}, 4, SIGN_SIGNED},
    {{"int64", "s64", "int64_t", "long", "intptr_t"}, 8, SIGN_SIGNED},
    {{"uint8", "u8", "uint8_t", "bool", "_Bool"}, 1, SIGN_NONE},
    {{"uint16", "u16", "uint16_t"}, 2, SIGN_NONE},
    {{"uint32", "u32", "uint32_t", "unsigned"}, 4, SIGN_NONE},
    {{"uint64", "u64", "uint64_t", "size_t", "uintptr_t"}, 8, SIGN_UNSIGNED},
};
#define N_BUILTINS (sizeof(builtins) / sizeof(builtins[0]))

static size_t find_builtin(struct str type)
{
	size_t i = 0;
	while (i < N_BUILTINS && !str_is_any(type, builtins[i].names))
		i++;
	return i;
}

enum sign sign_of_builtin(struct str type)
{
	size_t i = find_builtin(type);
	return i < N_BUILTINS ? builtins[i].sign : SIGN_OTHER;
}

unsigned sign_builtin_size(struct str type)
{
	size_t i = find_builtin(type);
	return i < N_BUILTINS ? builtins[i].size : 0;
}

enum sign sign_of_word(struct str word)
{
	static const char *const others[] = {"retval", "args",	 "ctx",	   "comm",   "curtask",
					     "func",   "probe",	 "kstack", "ustack", "username",
					     "pcomm",  "kstack", NULL};
	bool is_arg = str_has_prefix(word, STR("arg")) || str_has_prefix(word, STR("sarg"));
	return is_arg || str_is_any(word, others) || word.p[0] == '$' ? SIGN_OTHER : SIGN_NONE;
}
