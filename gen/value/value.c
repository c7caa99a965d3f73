#include "value/value.h"

#define INTEGER(n, sign)                                                                           \
	{                                                                                          \
		.kind = CTYPE_INT, .size = (n), .has_size = true, .is_signed = (sign)              \
	}

static unsigned index_of(unsigned bits)
{
	return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

struct ctype *value_integer(unsigned bits, bool is_signed)
{
	static struct ctype all[2][4] = {
	    {INTEGER(1, false), INTEGER(2, false), INTEGER(4, false), INTEGER(8, false)},
	    {INTEGER(1, true), INTEGER(2, true), INTEGER(4, true), INTEGER(8, true)}};
	return &all[is_signed][index_of(bits)];
}

struct ctype *value_untyped(unsigned bits)
{
	static struct ctype all[] = {{.kind = CTYPE_OPAQUE, .size = 1, .has_size = true},
				     {.kind = CTYPE_OPAQUE, .size = 2, .has_size = true},
				     {.kind = CTYPE_OPAQUE, .size = 4, .has_size = true},
				     {.kind = CTYPE_OPAQUE, .size = 8, .has_size = true}};
	return &all[index_of(bits)];
}

static struct ctype function = {.kind = CTYPE_FUNC};
struct ctype value_char = {
    .kind = CTYPE_INT, .size = 1, .has_size = true, .is_signed = true, .is_char = true};
struct ctype value_bool = {.kind = CTYPE_BOOL, .size = 1, .has_size = true};
struct ctype value_float = {.kind = CTYPE_FLOAT, .size = sizeof(float), .has_size = true};
struct ctype value_double = {.kind = CTYPE_FLOAT, .size = sizeof(double), .has_size = true};
struct ctype value_bits = {.kind = CTYPE_OPAQUE, .size = 8, .has_size = true, .is_signed = true};
struct ctype value_address = {.kind = CTYPE_POINTER, .size = 8, .has_size = true};
struct ctype value_code = {.kind = CTYPE_POINTER, .size = 8, .has_size = true, .of = &function};

/** What it is without typedefs; CTYPE_VOID: it is no plain one, or nothing is known of it. */
static enum ctype_kind kind_of(const struct value *v)
{
	struct ctype *t = v->how == VALUE_PLAIN ? ctype_strip(v->type) : NULL;
	return t ? t->kind : CTYPE_VOID;
}

bool value_has_parts(const struct value *v)
{
	enum ctype_kind kind = kind_of(v);
	return kind == CTYPE_STRUCT || kind == CTYPE_UNION || kind == CTYPE_ARRAY;
}

bool value_is_number(const struct value *v)
{
	return kind_of(v) != CTYPE_VOID && !value_has_parts(v);
}

bool value_is_integer(const struct value *v)
{
	return kind_of(v) == CTYPE_INT && !v->names && !ctype_strip(v->type)->is_char;
}

bool value_is_unsigned(const struct value *v)
{
	struct ctype *t = value_is_integer(v) ? ctype_strip(v->type) : NULL;
	return t && t->size == 8 && !t->is_signed;
}

bool value_is_real(const struct value *v)
{
	return kind_of(v) == CTYPE_FLOAT;
}

bool value_is_code(const struct value *v)
{
	enum ctype_kind kind = kind_of(v);
	if (kind != CTYPE_POINTER && kind != CTYPE_REFERENCE)
		return false;
	struct ctype *to = ctype_strip(ctype_strip(v->type)->of);
	return to && to->kind == CTYPE_FUNC;
}

bool value_is_address(const struct value *v)
{
	enum ctype_kind kind = kind_of(v);
	return (kind == CTYPE_POINTER || kind == CTYPE_REFERENCE) && !value_is_code(v);
}

static bool is_same_enum(const struct enumtab *a, const struct enumtab *b)
{
	bool same = a && b && str_eq(a->name, b->name) && a->n_items == b->n_items;
	for (size_t i = 0; same && i < a->n_items; i++)
		same = a->items[i].value == b->items[i].value &&
		       str_eq(a->items[i].text, b->items[i].text);
	return same || (!a && !b);
}

bool value_is_alike(const struct value *a, const struct value *b)
{
	bool same = a->how == b->how && is_same_enum(a->names, b->names) &&
		    (a->names || kind_of(a) == kind_of(b)) &&
		    value_is_code(a) == value_is_code(b) && a->n_frames == b->n_frames &&
		    a->has_text == b->has_text && a->n_parts == b->n_parts;
	for (size_t i = 0; same && i < a->n_parts; i++)
		same = value_is_alike(&a->parts[i], &b->parts[i]) &&
		       value_is_unsigned(&a->parts[i]) == value_is_unsigned(&b->parts[i]);
	return same;
}

void value_count(const struct value *v, size_t *n_numbers, size_t *n_texts)
{
	static const struct {
		unsigned char numbers, texts;
	} all[] = {[VALUE_PLAIN] = {1, 0},  [VALUE_STRING] = {1, 1}, [VALUE_TEXT] = {0, 1},
		   [VALUE_SYMBOL] = {0, 1}, [VALUE_STACK] = {0, 1},  [VALUE_TIME] = {1, 0},
		   [VALUE_CHOICE] = {1, 0}, [VALUE_HIDDEN] = {0, 0}};
	*n_numbers +=
	    all[v->how].numbers + v->n_bytes / 8 + (v->n_bytes % 8 != 0) + 2 * (v->n_frames != 0);
	*n_texts += all[v->how].texts + (size_t)v->has_text;
	for (size_t i = 0; i < v->n_parts; i++)
		value_count(&v->parts[i], n_numbers, n_texts);
}

static struct value_data skip_value(const struct value *v, struct value_data d)
{
	size_t n_numbers = 0, n_texts = 0;
	value_count(v, &n_numbers, &n_texts);
	// A line of several records that have no numbers, or no texts, has NULL: not to be added to.
	return (struct value_data){n_numbers ? d.numbers + n_numbers : d.numbers,
				   n_texts ? d.texts + n_texts : d.texts};
}

const struct value *value_next(const struct value *v, struct value_data *rest,
			       struct value_data *ret)
{
	*ret = *rest;
	*rest = skip_value(v, *rest);
	while (v->how == VALUE_CHOICE) {
		bool is_yes = *ret->numbers++ != 0;
		if (!is_yes)
			*ret = skip_value(&v->parts[0], *ret);
		v = &v->parts[!is_yes];
	}
	return v;
}
