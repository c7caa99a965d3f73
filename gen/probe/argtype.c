#include "probe/argtype.h"

/** Of what is no reference. */
static struct ctype *value_type(struct arena *a, struct ctype *t)
{
	for (unsigned i = 0; t && i < 16; i++) {
		if (t->kind != CTYPE_CONST && t->kind != CTYPE_VOLATILE)
			break;
		t = t->of;
	}
	struct ctype *bare = ctype_strip(t);
	if (bare && bare->kind == CTYPE_ARRAY)
		return ctype_new_pointer(a, bare->of, 8);
	if (bare && bare->kind == CTYPE_FUNC)
		return ctype_new_pointer(a, bare, 8);
	return t;
}

struct ctype *argtype_of_value(struct arena *a, struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	return value_type(a, bare && bare->kind == CTYPE_REFERENCE ? bare->of : t);
}

bool argtype_fits(struct ctype *t, const struct sdtarg *operand)
{
	uint64_t size;
	t = ctype_strip(t);
	if (!t || !ctype_size(t, &size) || (operand->size && size != operand->size))
		return false;
	switch (t->kind) {
	case CTYPE_INT:
	case CTYPE_ENUM:
		return !operand->is_float && t->is_signed == operand->is_signed;
	case CTYPE_BOOL:
	case CTYPE_POINTER:
	case CTYPE_REFERENCE:
		return !operand->is_float && !operand->is_signed;
	case CTYPE_FLOAT:
		return operand->is_float;
	default:
		return false;
	}
}

bool argtype_is_same(struct arena *a, struct ctype *x, struct ctype *y)
{
	if (x == y || !x || !y)
		return x == y;
	return str_eq(ctype_spell(a, x), ctype_spell(a, y)) && ctype_is_same(x, y);
}
