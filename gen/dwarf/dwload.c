#include "dwarf/dwload.h"

#include <dwarf.h>

#include "dwarf/dwfind.h"

struct dwloader {
	struct ctype_loader base; /**< first: a ctype knows its loader by this */
	struct dwsrc *src;
	struct map types; /**< place of a DIE (8 bytes) -> struct ctype */
	dwload_elsewhere_fn *elsewhere;
	void *ctx;
	Dwarf_CU *unit; /**< of the last type, whose name is asked for with each */
	struct str unit_name;
};

static bool complete(struct ctype_loader *loader, struct ctype *t);

static struct dwloader *loader_of(struct dwsrc *src)
{
	if (!src->loader) {
		struct dwloader *l = arena_new(src->arena, struct dwloader);
		l->base.complete = complete;
		l->src = src;
		src->loader = l;
	}
	return src->loader;
}

void dwload_set_elsewhere(struct dwsrc *src, dwload_elsewhere_fn *fn, void *ctx)
{
	struct dwloader *l = loader_of(src);
	l->elsewhere = fn;
	l->ctx = ctx;
}

/** Of @die, or of what it completes. */
static bool attr_uint(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute at;
	return dwarf_attr_integrate(die, name, &at) && dwarf_formudata(&at, ret) == 0;
}

static bool type_die_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute at;
	return dwarf_attr_integrate(die, DW_AT_type, &at) && dwarf_formref_die(&at, ret);
}

// --- one function for each family of tags

/** DWARF 5 section 5.1.1. */
static void load_base(Dwarf_Die *die, struct ctype *t)
{
	uint64_t encoding = 0;
	attr_uint(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		t->kind = t->size == 1 ? CTYPE_BOOL : CTYPE_INT;
		break;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_signed_fixed:
		t->kind = CTYPE_INT;
		t->is_signed = true;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_UCS:
	case DW_ATE_ASCII:
	case DW_ATE_address:
		t->kind = CTYPE_INT;
		break;
	case DW_ATE_float:
	case DW_ATE_complex_float:
	case DW_ATE_imaginary_float:
	case DW_ATE_decimal_float:
		t->kind = CTYPE_FLOAT;
		break;
	default:
		t->kind = CTYPE_OPAQUE;
	}
	t->is_char = t->kind == CTYPE_INT && t->size == 1 && str_eq(t->name, STR("char"));
}

/**
 * The length of a dimension (DWARF 5 section 5.13): DW_AT_count, or a constant upper bound, where
 * -1 is [0]. With an expression or a reference the length is a run-time matter, without either it
 * is not known.
 */
static void read_length(Dwarf_Die *subrange, struct ctype *t)
{
	Dwarf_Attribute at;
	Dwarf_Sword up;
	uint64_t v = 0, low = 0;
	attr_uint(subrange, DW_AT_lower_bound, &low);
	t->has_count = attr_uint(subrange, DW_AT_count, &t->count);
	if (t->has_count || !dwarf_attr(subrange, DW_AT_upper_bound, &at) ||
	    dwarf_formudata(&at, &v) != 0 || dwarf_formsdata(&at, &up) != 0)
		return;
	bool is_empty = v == UINT32_MAX || (up < 0 && (uint64_t)up == v);
	t->has_count = true;
	t->count = is_empty ? 0 : v - low + 1;
}

/** One node for each dimension, the first subrange outermost. DWARF 5 section 5.5. */
static void load_array(struct dwloader *l, Dwarf_Die *die, struct ctype *t)
{
	Dwarf_Attribute at;
	struct dwwalk w = {0};
	struct ctype *last = t;
	unsigned n = 0;
	if (dwarf_attr(die, DW_AT_byte_stride, &at) || dwarf_attr(die, DW_AT_bit_stride, &at))
		return; // gaps between the elements: opaque
	t->kind = CTYPE_ARRAY;
	t->is_vector = dwsrc_flag(die, DW_AT_GNU_vector);
	for (Dwarf_Die child = {0};
	     dwsrc_next_child(l->src, &w, die, &child) && n < DWSRC_MAX_DEPTH;) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type)
			continue;
		if (n++) {
			last = last->of = arena_new(l->src->arena, struct ctype);
			last->kind = CTYPE_ARRAY;
			last->is_complete = true;
		}
		read_length(&child, last);
	}
	last->of = dwload_type_of(l->src, die);
}

/** An enumerator of @die is negative: for enums that do not name their integer type. */
static bool has_negative(struct dwsrc *src, Dwarf_Die *die)
{
	struct dwwalk w = {0};
	for (Dwarf_Die child = {0}; dwsrc_next_child(src, &w, die, &child);) {
		Dwarf_Attribute at;
		Dwarf_Sword s;
		if (dwarf_tag(&child) == DW_TAG_enumerator &&
		    dwarf_attr(&child, DW_AT_const_value, &at) &&
		    dwarf_whatform(&at) == DW_FORM_sdata && dwarf_formsdata(&at, &s) == 0 && s < 0)
			return true;
	}
	return false;
}

/** DWARF 5 section 5.9. */
static void load_enum(struct dwloader *l, Dwarf_Die *die, struct ctype *t)
{
	t->kind = CTYPE_ENUM;
	t->is_scoped = dwsrc_flag(die, DW_AT_enum_class);
	Dwarf_Die under;
	if (type_die_of(die, &under)) {
		struct ctype *base = ctype_strip(dwload_type(l->src, &under));
		t->is_signed = base && base->is_signed;
		if (base && base->has_size && !t->has_size) {
			t->size = base->size;
			t->has_size = true;
		}
	} else if (!t->is_decl) {
		// Before DWARF 3 the sign is in the values only.
		t->is_signed = has_negative(l->src, die);
	}
}

static void load_pointer(struct dwloader *l, Dwarf_Die *die, struct ctype *t)
{
	uint8_t size = 0;
	Dwarf_Die unit;
	t->kind = dwarf_tag(die) == DW_TAG_pointer_type ? CTYPE_POINTER : CTYPE_REFERENCE;
	if (!t->has_size && dwarf_diecu(die, &unit, &size, NULL)) {
		t->size = size;
		t->has_size = true;
	}
	t->of = dwload_type_of(l->src, die);
}

/**
 * DWARF 5 section 5.14, Itanium C++ ABI 2.3: an offset, or a function's address and an adjustment.
 */
static void load_member_pointer(Dwarf_Die *die, struct ctype *t)
{
	Dwarf_Die under;
	if (t->has_size)
		return;
	bool is_function = type_die_of(die, &under) && dwarf_tag(&under) == DW_TAG_subroutine_type;
	t->size = is_function ? 16 : 8;
	t->has_size = true;
}

static void load_kind(struct dwloader *l, Dwarf_Die *die, struct ctype *t)
{
	Dwarf_Die under;
	int tag = dwarf_tag(die);
	switch (tag) {
	case DW_TAG_base_type:
		load_base(die, t);
		return;
	case DW_TAG_enumeration_type:
		load_enum(l, die, t);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		t->kind = CTYPE_STRUCT;
		t->is_class = tag == DW_TAG_class_type;
		break;
	case DW_TAG_union_type:
		t->kind = CTYPE_UNION;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		load_pointer(l, die, t);
		return;
	case DW_TAG_ptr_to_member_type:
		load_member_pointer(die, t);
		return;
	case DW_TAG_array_type:
		load_array(l, die, t);
		return;
	case DW_TAG_subroutine_type:
		t->kind = CTYPE_FUNC;
		t->of = dwload_type_of(l->src, die);
		return;
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
		t->kind = tag == DW_TAG_const_type ? CTYPE_CONST : CTYPE_VOLATILE;
		t->of = dwload_type_of(l->src, die);
		return;
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_immutable_type:
	case DW_TAG_subrange_type:
		t->kind = CTYPE_TYPEDEF;
		t->has_size = false;
		t->of = dwload_type_of(l->src, die);
		return;
	default:
		return; // opaque, with whatever size it has
	}
	// enums, structs, unions: their inside waits for ctype_complete()
	t->is_decl = dwsrc_flag(die, DW_AT_declaration) || dwsrc_signature(die, &under);
	t->loader = &l->base;
	t->is_complete = false;
}

struct ctype *dwload_type(struct dwsrc *src, Dwarf_Die *die)
{
	struct dwloader *l = loader_of(src);
	Dwarf_Die type;
	if (dwsrc_signature(die, &type) && type.addr)
		die = &type;
	struct ctype *t = map_get_ptr(&l->types, die->addr);
	if (t)
		return t;
	t = arena_new(src->arena, struct ctype);
	t->kind = CTYPE_OPAQUE;
	t->is_complete = true;
	Dwarf_Die *copy = arena_new(src->arena, Dwarf_Die);
	*copy = *die;
	t->origin = copy;
	if (die->cu != l->unit)
		l->unit_name = dwsrc_unit_name(die);
	l->unit = die->cu;
	t->unit = l->unit_name;

	// Chains (pointer to pointer to array ...) recurse; in a corrupt file they may never end.
	// What is cut off here is not remembered: asked for by its name it is whole.
	if (l->src->depth >= DWSRC_MAX_DEPTH)
		return t;
	map_put_ptr(src->arena, &l->types, die->addr, t);
	l->src->depth++;
	t->name = dwname_whole(l->src, *die);
	t->has_size = attr_uint(die, DW_AT_byte_size, &t->size);
	load_kind(l, die, t);
	l->src->depth--;
	return t;
}

struct ctype *dwload_type_of(struct dwsrc *src, Dwarf_Die *die)
{
	Dwarf_Die type;
	return type_die_of(die, &type) ? dwload_type(src, &type) : NULL;
}

// --- members and enumerators

/** Members of one aggregate, and enumerators of one enum: more is damage. */
enum { MAX_ITEMS = 1 << 20 };

/**
 * DW_AT_data_member_location (DWARF 5 section 5.7.6): a constant, or (DWARF 2, and 3 for most
 * compilers) the expression DW_OP_plus_uconst N. False for anything that must be computed at run
 * time.
 */
static bool read_location(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;
	*ret = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &at))
		return true;
	Dwarf_Word v;
	if (dwarf_formudata(&at, &v) == 0) {
		*ret = v;
		return true;
	}
	if (dwarf_getlocation(&at, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

/**
 * DWARF 5 section 5.7.6: DW_AT_data_bit_offset from the start of the struct; until DWARF 3,
 * DW_AT_bit_offset.
 */
static bool read_bitfield(struct dwsrc *src, Dwarf_Die *die, struct ctype_member *m)
{
	uint64_t bits, at;
	if (!dwsrc_number(die, DW_AT_bit_size, &bits))
		return true;
	if (bits == 0 || bits > 128)
		return false;
	m->bit_size = (unsigned)bits;
	if (dwsrc_number(die, DW_AT_data_bit_offset, &at)) {
		m->bit_off = m->off * 8 + at;
	} else if (dwsrc_number(die, DW_AT_bit_offset, &at)) {
		// Counted from the most significant bit of a storage unit.
		uint64_t unit;
		if (!dwsrc_number(die, DW_AT_byte_size, &unit) && !ctype_size(m->type, &unit))
			return false;
		if (unit > 16 || (src->img->big ? 0 : at + bits > unit * 8 && (int64_t)at >= 0))
			return false;
		m->bit_off = m->off * 8 + (src->img->big ? at : unit * 8 - at - bits);
	} else {
		m->bit_off = m->off * 8;
	}
	if (m->bit_off > UINT64_MAX / 2)
		return false;
	m->off = m->bit_off / 8;
	return true;
}

static void read_members(struct dwsrc *src, Dwarf_Die *die, struct ctype *t)
{
	VEC(struct ctype_member) list = {0};
	struct dwwalk w = {0};
	for (Dwarf_Die child = {0}; dwsrc_next_child(src, &w, die, &child);) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		// Static members (section 5.7.7) are not in the object; a virtual base (5.7.3) is
		// found at run time only.
		if (dwsrc_flag(&child, DW_AT_external) || dwsrc_flag(&child, DW_AT_declaration))
			continue;
		uint64_t virtuality = 0;
		if (tag == DW_TAG_inheritance &&
		    dwsrc_number(&child, DW_AT_virtuality, &virtuality) && virtuality)
			continue;
		struct ctype_member m = {.is_base = tag == DW_TAG_inheritance,
					 .name = str_from(dwsrc_name(&child)),
					 .type = dwload_type_of(src, &child)};
		if (!m.type || !read_location(&child, &m.off) || !read_bitfield(src, &child, &m)) {
			diag_warning(src->diag, diag_at(dwsrc_place(src, &child)),
				     "member \"" STR_FMT "\" of \"" STR_FMT
				     "\" has no readable location; omitted",
				     STR_ARG(m.name), STR_ARG(t->name));
			continue;
		}
		if (list.n == MAX_ITEMS)
			break;
		if (t->kind == CTYPE_STRUCT && list.n)
			ctype_fix_bitfield(&list.v[list.n - 1], &m);
		vec_push(src->arena, &list, m);
	}
	t->members = list.v;
	t->n_members = list.n;
}

/** DWARF 5 section 5.9. */
bool dwload_enumerator_value(Dwarf_Die *die, const struct ctype *of, int64_t *ret)
{
	Dwarf_Attribute at;
	Dwarf_Sword s;
	Dwarf_Word u;
	if (!dwarf_attr(die, DW_AT_const_value, &at))
		return false;
	unsigned form = dwarf_whatform(&at);
	unsigned width = form == DW_FORM_data1	 ? 1
			 : form == DW_FORM_data2 ? 2
			 : form == DW_FORM_data4 ? 4
						 : 8;
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		bool good = dwarf_formsdata(&at, &s) == 0;
		*ret = s;
		return good;
	}
	if (dwarf_formudata(&at, &u) != 0)
		return false;
	// Fixed-size forms say nothing of the sign. Only when they fill a signed type is the top
	// bit a sign: gcc writes 200 in an int as data1 0xc8.
	if (width < 8) {
		u &= (UINT64_C(1) << width * 8) - 1;
		if (of && of->is_signed && of->has_size && of->size == width &&
		    u >> (width * 8 - 1))
			u -= UINT64_C(1) << width * 8;
	}
	*ret = (int64_t)u;
	return true;
}

static void read_values(struct dwsrc *src, Dwarf_Die *die, struct ctype *t)
{
	VEC(struct ctype_value) list = {0};
	struct dwwalk w = {0};
	for (Dwarf_Die child = {0}; dwsrc_next_child(src, &w, die, &child);) {
		if (dwarf_tag(&child) != DW_TAG_enumerator)
			continue;
		const char *name = dwsrc_name(&child);
		struct ctype_value v = {.name = str_from(name)};
		if (!name || !dwload_enumerator_value(&child, t, &v.value)) {
			diag_warning(src->diag, diag_at(dwsrc_place(src, &child)),
				     "enumerator \"%s\" has no readable value; omitted",
				     name ? name : "?");
			continue;
		}
		if (list.n == MAX_ITEMS)
			break;
		vec_push(src->arena, &list, v);
	}
	t->values = list.v;
	t->n_values = list.n;
}

// --- filling in

struct search {
	struct dwsrc *src;
	const Dwarf_Die *unit;	/**< whose is wanted; NULL: any */
	Dwarf_Die found;	/**< all zero: none yet */
	struct ctype *type;	/**< of compare_hit(): the last */
	bool is_found, differs; /**< in @unit; two are different types */
};

static bool take_hit(void *ctx, const struct dwhit *hit)
{
	struct search *s = ctx;
	s->is_found = !s->unit || hit->die.cu == s->unit->cu;
	if (!s->found.addr || s->is_found)
		s->found = hit->die;
	return !s->is_found;
}

static bool compare_hit(void *ctx, const struct dwhit *hit)
{
	struct search *s = ctx;
	Dwarf_Die die = hit->die;
	struct ctype *t = dwload_type(s->src, &die);
	s->differs = s->type && !ctype_is_same(s->type, t);
	s->type = t;
	return !s->differs;
}

struct ctype *dwload_first(struct dwsrc *src, struct str name, unsigned kinds,
			   const Dwarf_Die *unit)
{
	struct search s = {.src = src, .unit = unit};
	struct dwquery q;
	if (!dwquery_parse(name, kinds, &q))
		return NULL;
	q.no_decls = true;
	dwfind(src, &q, take_hit, &s);
	q.no_decls = s.found.addr != NULL;
	if (!s.found.addr)
		dwfind(src, &q, take_hit, &s);
	if (s.found.addr && !s.is_found)
		dwfind(src, &q, compare_hit, &s);
	return s.found.addr && !s.differs ? dwload_type(src, &s.found) : NULL;
}

static bool complete(struct ctype_loader *loader, struct ctype *t)
{
	struct dwloader *l = (struct dwloader *)loader;
	Dwarf_Die die = *(const Dwarf_Die *)t->origin;
	if (!t->is_decl) {
		if (t->kind == CTYPE_ENUM)
			read_values(l->src, &die, t);
		else
			read_members(l->src, &die, t);
		// A file whose damage was already said ends in an error; what was read of it is not used.
		t->is_complete = !l->src->corrupt;
		return t->is_complete;
	}

	struct ctype *def = !t->name.n	   ? NULL
			    : l->elsewhere ? l->elsewhere(l->ctx, l->src, t)
					   : dwload_first(l->src, t->name, namequery_tag(t), NULL);
	if (!def || def == t || def->kind != t->kind || def->is_decl || !ctype_complete(def))
		return false;
	t->is_decl = false;
	t->is_complete = true;
	t->size = def->size;
	t->has_size = def->has_size;
	t->is_signed = def->is_signed;
	t->is_scoped = def->is_scoped;
	t->members = def->members;
	t->n_members = def->n_members;
	t->values = def->values;
	t->n_values = def->n_values;
	t->unit = def->unit;
	return true;
}
