#include "dwarf/dwload_priv.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/dwload.h"

/** Members of one aggregate, and enumerators of one enum: more is damage. */
enum { MAX_ITEMS = 1 << 20 };

static bool read_uint(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute at;
	Dwarf_Word v;
	if (!dwarf_attr(die, name, &at) || dwarf_formudata(&at, &v) != 0)
		return false;
	*ret = v;
	return true;
}

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
	if (!read_uint(die, DW_AT_bit_size, &bits))
		return true;
	if (bits == 0 || bits > 128)
		return false;
	m->bit_size = (unsigned)bits;
	if (read_uint(die, DW_AT_data_bit_offset, &at)) {
		m->bit_off = m->off * 8 + at;
	} else if (read_uint(die, DW_AT_bit_offset, &at)) {
		// Counted from the most significant bit of a storage unit.
		uint64_t unit;
		if (!read_uint(die, DW_AT_byte_size, &unit) && !ctype_size(m->type, &unit))
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

static bool read_member(struct dwsrc *src, Dwarf_Die *die, struct ctype_member *m)
{
	const char *name = dwsrc_name(die);
	m->name = str_from(name);
	m->type = dwload_type_of(src, die);
	return m->type && read_location(die, &m->off) && read_bitfield(src, die, m);
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
		if (tag == DW_TAG_inheritance && read_uint(&child, DW_AT_virtuality, &virtuality) &&
		    virtuality)
			continue;
		struct ctype_member m = {.is_base = tag == DW_TAG_inheritance};
		if (!read_member(src, &child, &m)) {
			struct diag_place at = dwsrc_place(src, &child);
			diag_warning(src->diag, &at,
				     "member \"" STR_FMT "\" of \"" STR_FMT
				     "\" has no readable location; omitted",
				     STR_ARG(m.name), STR_ARG(t->name));
			continue;
		}
		if (list.n == MAX_ITEMS)
			break;
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
	unsigned form = dwarf_whatform(&at), width = 0;
	switch (form) {
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		if (dwarf_formsdata(&at, &s) != 0)
			return false;
		*ret = s;
		return true;
	case DW_FORM_data1:
		width = 1;
		break;
	case DW_FORM_data2:
		width = 2;
		break;
	case DW_FORM_data4:
		width = 4;
		break;
	default:
		break;
	}
	if (dwarf_formudata(&at, &u) != 0)
		return false;
	// Fixed-size forms say nothing of the sign. Only when they fill a signed type is the top
	// bit a sign: gcc writes 200 in an int as data1 0xc8.
	if (width && width < 8) {
		u &= (UINT64_C(1) << width * 8) - 1;
		if (of && of->is_signed && of->has_size && of->size == width &&
		    u >> (width * 8 - 1))
			u -= UINT64_C(1) << width * 8;
	}
	*ret = (int64_t)u;
	return true;
}

bool dwmember_has_negative(struct dwsrc *src, Dwarf_Die *die)
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
			struct diag_place at = dwsrc_place(src, &child);
			diag_warning(src->diag, &at,
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

bool dwmember_read(struct dwsrc *src, Dwarf_Die *die, struct ctype *t)
{
	// A file whose damage was already said ends in an error; what was read of it is not used.
	if (t->kind == CTYPE_ENUM)
		read_values(src, die, t);
	else
		read_members(src, die, t);
	t->is_complete = !src->corrupt;
	return t->is_complete;
}
