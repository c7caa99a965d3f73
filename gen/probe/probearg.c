#include "probe/probearg.h"

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
	return str_printf(a, "%sint%u_t", arg->is_signed ? "" : "u", arg->size * 8);
}

struct str probearg_declaration(struct arena *a, const struct probearg *arg)
{
	struct str type = probearg_type_text(a, arg);
	if (str_has_suffix(type, STR(" (*)()"))) // a pointer to a function has its name inside
		return str_printf(a, STR_FMT "(*" STR_FMT ")()",
				  STR_ARG(str_slice(type, 0, type.n - 5)), STR_ARG(arg->name));
	bool star = type.n && (type.p[type.n - 1] == '*' || type.p[type.n - 1] == '&');
	return str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(type), star ? "" : " ",
			  STR_ARG(arg->name));
}
