#include "probe/probearg.h"

#include <string.h>

const char *probearg_from_text(enum probearg_from from)
{
	return from == PROBEARG_DECLARED   ? "declared"
	       : from == PROBEARG_INFERRED ? "inferred"
	       : from == PROBEARG_LISTED   ? "listed"
					   : "size only";
}

struct str probearg_type_text(struct arena *a, const struct probearg *arg)
{
	if (arg->type)
		return ctype_spell(a, arg->type);
	if (arg->is_float)
		return arg->size == 4 ? STR("float") : STR("double");
	if (!arg->size || arg->sizes_differ)
		return STR("?");
	switch (arg->size) { // most arguments of a program without debug information
	case 1:
		return arg->is_signed ? STR("int8_t") : STR("uint8_t");
	case 2:
		return arg->is_signed ? STR("int16_t") : STR("uint16_t");
	case 4:
		return arg->is_signed ? STR("int32_t") : STR("uint32_t");
	case 8:
		return arg->is_signed ? STR("int64_t") : STR("uint64_t");
	default: // a struct by value
		return str_printf(a, "%u bytes", arg->size);
	}
}

struct str probearg_declaration(struct arena *a, const struct probearg *arg)
{
	struct str type = probearg_type_text(a, arg);
	if (str_has_suffix(type, STR(" (*)()"))) // a pointer to a function has its name inside
		return str_printf(a, STR_FMT "(*" STR_FMT ")()",
				  STR_ARG(str_slice(type, 0, type.n - 5)), STR_ARG(arg->name));
	bool star = type.n && (type.p[type.n - 1] == '*' || type.p[type.n - 1] == '&');
	size_t n = type.n + !star + arg->name.n;
	char *text = arena_alloc(a, n);
	memcpy(text, type.p, type.n);
	if (!star)
		text[type.n] = ' ';
	memcpy(text + type.n + !star, arg->name.p, arg->name.n);
	return (struct str){text, n};
}
