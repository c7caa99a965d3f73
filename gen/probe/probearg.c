#include "probe/probearg.h"

bool probearg_is_sized_by_type(const struct probearg *arg)
{
	const struct ctype *t = ctype_strip(arg->type);
	return t &&
	       (arg->sizes_differ || (t->kind == CTYPE_ENUM && t->is_signed && !arg->is_signed));
}

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
	// Most arguments of a program without debug information; others are structs by value.
	static const char *const names[9] = {
	    [1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"};
	return arg->size <= 8 && names[arg->size]
		   ? str_from(names[arg->size] + arg->is_signed) // int8_t
		   : str_printf(a, "%u bytes", arg->size);
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

struct str probearg_list(struct arena *a, const struct probearg *args, size_t n)
{
	struct str *texts = arena_array(a, struct str, n);
	for (size_t i = 0; i < n; i++)
		texts[i] = probearg_declaration(a, &args[i]);
	return str_join(a, texts, n, ", ");
}
