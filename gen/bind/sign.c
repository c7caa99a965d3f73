#include "bind/sign.h"

static struct str address_of(const struct token *const *t)
{
	return (struct str){(const char *)t, sizeof(*t)};
}

void sign_note(struct bind *b, const struct token *t, enum sign sign)
{
	enum sign *value = arena_new(b->arena, enum sign);
	*value = sign;
	map_put(b->arena, &b->signs, str_copy(b->arena, address_of(&t)), value);
}

const enum sign *sign_noted(const struct bind *b, const struct token *t)
{
	return map_get(&b->signs, address_of(&t));
}

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
	if (str_eqz(op, "%"))
		return a == SIGN_NONE && b == SIGN_OTHER ? SIGN_NONE : a;
	if (str_eqz(op, "&") && (a == SIGN_NONE || b == SIGN_NONE))
		return SIGN_NONE;
	if (str_eqz(op, "-") && a == SIGN_NONE && b == SIGN_NONE)
		return SIGN_OTHER; // of times and counts, which are taken from larger ones
	return sign_join(a, b);
}

enum sign sign_of_builtin(struct str type)
{
	static const char *const is_signed[] = {
	    "int8",    "int16",	   "int32", "int64",  "s8",	"s16",	   "s32",
	    "s64",     "short",	   "int",   "long",   "int8_t", "int16_t", "int32_t",
	    "int64_t", "intptr_t", "char",  "signed", NULL};
	static const char *const narrow[] = {"uint8",	 "uint16", "uint32",  "u8",
					     "u16",	 "u32",	   "uint8_t", "uint16_t",
					     "uint32_t", "bool",   "_Bool",   NULL};
	return str_is_any(type, is_signed) ? SIGN_SIGNED
	       : str_is_any(type, narrow)  ? SIGN_NONE
					   : SIGN_OTHER;
}

enum sign sign_of_word(struct str word)
{
	static const char *const others[] = {"retval", "args",	 "ctx",	   "comm",   "curtask",
					     "func",   "probe",	 "kstack", "ustack", "username",
					     "pcomm",  "kstack", NULL};
	bool is_arg = str_has_prefix(word, STR("arg")) || str_has_prefix(word, STR("sarg"));
	return is_arg || str_is_any(word, others) || word.p[0] == '$' ? SIGN_OTHER : SIGN_NONE;
}
