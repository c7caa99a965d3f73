#include "probe/argtype.h"

#include <dwarf.h>

#include "dwarf/dwload.h"

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
	case CTYPE_ENUM:
		if (operand->may_be_signed_enum && t->is_signed)
			return !operand->is_float;
		// fall through
	case CTYPE_INT:
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

/** The typedef of usdt.h for an integer with the bits of a float or double. */
static struct ctype *bits_type(struct arena *a, unsigned size)
{
	bool is_float = size == 4;
	struct ctype *of = is_float ? ctype_new(a, CTYPE_INT, "unsigned int", 4, false)
				    : ctype_new(a, CTYPE_INT, "long unsigned int", 8, false);
	struct ctype *t = ctype_new_of(a, CTYPE_TYPEDEF, of);
	t->name = is_float ? STR("usdt_float_bits") : STR("usdt_double_bits");
	return t;
}

static struct ctype *type_of_kind(struct arena *a, const struct argnote *note, size_t i,
				  const struct sdtarg *operand)
{
	enum argnote_kind kind = argnote_kind(note, i);
	bool is_unsigned = kind == ARGNOTE_UTEXT || kind == ARGNOTE_CONST_UTEXT;
	struct ctype *c = ctype_new_char(a, operand->size == 1 ? operand->is_signed : !is_unsigned);
	if (i < note->n_args && note->args[i].is_bits && note->kinds)
		return bits_type(a, operand->size);
	switch (kind) {
	case ARGNOTE_CHAR:
		return c;
	case ARGNOTE_BOOL:
		return ctype_new(a, CTYPE_BOOL, "bool", 1, false);
	case ARGNOTE_CONST_TEXT:
	case ARGNOTE_CONST_UTEXT:
		return ctype_new_pointer(a, ctype_new_of(a, CTYPE_CONST, c), 8);
	case ARGNOTE_TEXT:
	case ARGNOTE_UTEXT:
		return ctype_new_pointer(a, c, 8);
	default:
		return NULL;
	}
}

struct ctype *argtype_of_kind(struct arena *a, const struct argnote *note, size_t i,
			      const struct sdtarg *operand)
{
	struct ctype *t = type_of_kind(a, note, i, operand);
	return t && argtype_fits(t, operand) ? t : NULL;
}

bool argtype_is_bits(const struct ctype *t)
{
	return t->kind == CTYPE_TYPEDEF &&
	       (str_eqz(t->name, "usdt_float_bits") || str_eqz(t->name, "usdt_double_bits"));
}

bool argtype_may_be(struct ctype *t, enum argnote_kind kind)
{
	struct ctype *bare = ctype_strip(t), *to = ctype_pointee(t);
	bool is_text = to && to->is_char && bare->of->kind != CTYPE_VOLATILE;
	if (!bare)
		return true;
	switch (kind) {
	case ARGNOTE_NUMBER:
		return bare->kind == CTYPE_ENUM ||
		       (bare->kind == CTYPE_INT && !bare->is_char && !argtype_is_bits(t));
	case ARGNOTE_CHAR:
		return bare->kind == CTYPE_INT && bare->is_char;
	case ARGNOTE_BOOL:
		return bare->kind == CTYPE_BOOL;
	case ARGNOTE_TEXT:
	case ARGNOTE_CONST_TEXT:
	case ARGNOTE_UTEXT:
	case ARGNOTE_CONST_UTEXT:
		return to && to->is_char;
	case ARGNOTE_POINTER:
		return bare->kind == CTYPE_POINTER && !is_text;
	default:
		return true;
	}
}

bool argtype_is_same(struct arena *a, struct ctype *x, struct ctype *y)
{
	if (x == y || !x || !y)
		return x == y;
	return str_eq(ctype_spell(a, x), ctype_spell(a, y)) && ctype_is_same(x, y);
}

struct ctype *argtype_common(struct arena *a, struct ctype *x, struct ctype *y)
{
	if (argtype_is_same(a, x, y))
		return x;
	if (x->kind != CTYPE_POINTER || y->kind != CTYPE_POINTER || !x->of || !y->of)
		return NULL;
	struct ctype *to_x = argtype_of_value(a, x->of), *to_y = argtype_of_value(a, y->of);
	if (!to_x || !to_y || !argtype_is_same(a, to_x, to_y))
		return NULL;
	return x->of->kind == CTYPE_CONST || x->of->kind == CTYPE_VOLATILE ? x : y;
}

// --- declared ones

struct search {
	struct dwsrc *src;
	struct str prefix; /**< "__usdt_ID_" */
	size_t n, n_found;
	struct ctype **ret;
	struct dwwalk walk;
};

static void take(struct search *s, Dwarf_Die *die)
{
	uint64_t k;
	struct str name = str_from(dwarf_diename(die));
	if (!str_has_prefix(name, s->prefix) ||
	    !str_to_u64(str_from_offset(name, s->prefix.n), &k) || k < 1 || k > s->n)
		return;
	struct ctype *pointer = ctype_strip(dwload_type_of(s->src, die));
	if (!pointer || pointer->kind != CTYPE_POINTER || s->ret[k - 1])
		return;
	s->ret[k - 1] = argtype_of_value(s->src->arena, pointer->of);
	s->n_found++;
}

/** Variables below @parent, in its blocks but in no other function. */
static void look_below(struct search *s, Dwarf_Die *parent, unsigned depth)
{
	if (depth >= DWSRC_MAX_DEPTH)
		return;
	for (Dwarf_Die die = {0}; dwsrc_next_child(s->src, &s->walk, parent, &die);) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_variable)
			take(s, &die);
		else if (tag == DW_TAG_lexical_block)
			look_below(s, &die, depth + 1);
	}
}

static bool look_in(struct search *s, Dwarf_Die *function)
{
	Dwarf_Die die = *function;
	// An instance refers to its abstract function, which can be a copy of another unit's (LTO).
	unsigned i = 0;
	do {
		s->walk = (struct dwwalk){0};
		look_below(s, &die, 0);
	} while (!s->n_found && ++i < 4 && dwsrc_follow(&die, DW_AT_abstract_origin));
	return s->n_found > 0;
}

bool argtype_declared(struct dwsrc *src, const struct dwsite *at, uint32_t id, size_t n,
		      struct ctype **ret)
{
	struct search s = {.src = src, .n = n, .ret = ret};
	s.prefix = str_printf(src->arena, "__usdt_%u_", id);
	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < at->dies.n; i++) {
		Dwarf_Die die = at->dies.v[i];
		if (dwsite_is_function(&die) && look_in(&s, &die))
			return true;
		// Mostly all are in the blocks around the site. A function can have hundreds of others.
		s.walk = (struct dwwalk){0};
		look_below(&s, &die, DWSRC_MAX_DEPTH - 1); // without the blocks in it
		if (s.n_found == n)
			return true;
	}
	return false;
}

// --- by name

struct ctype *argtype_named(struct arena *a, struct kbtf *btf, const struct argnotes *notes,
			    const struct argnote *site, size_t i, const struct sdtarg *operand)
{
	struct str name = str_printf(a, "usdt_type__" STR_FMT "__" STR_FMT "__%zu",
				     STR_ARG(site->provider), STR_ARG(site->probe), i + 1);
	const kbtf_types *types = kbtf_typedefs(btf, name);
	struct ctype *ret = NULL;
	if (!types || !argnote_is_only(notes, site))
		return NULL;
	for (size_t k = 0; k < types->n; k++) {
		struct ctype *pointer = ctype_strip(types->v[k]), *t = NULL;
		if (pointer && pointer->kind == CTYPE_POINTER)
			t = argtype_of_value(a, pointer->of);
		if (!t || !argtype_fits(t, operand))
			continue; // of another site
		ret = ret ? argtype_common(a, ret, t) : t;
		if (!ret)
			return NULL;
	}
	return ret;
}
