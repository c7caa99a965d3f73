#include "dwarf/dwabbrev.h"

#include <dwarf.h>

#include "base/reader.h"

enum { MAX_CODE = 1 << 16, MAX_STEPS = 1 << 20 };

struct form {
	uint8_t op;
	int n; /**< bytes; or a unit's size, below */
};
enum { ADDR = -1, OFFSET = -2, REF_ADDR = -3, BAD = -4 };

/** How a value of each form is stored: DWARF 5 section 7.5.5 and 7.5.6; GNU's are those of DWARF 4's split units and dwz. */
static struct form form_of(uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return (struct form){DWOP_SKIP, 0};
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return (struct form){DWOP_SKIP, 1};
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return (struct form){DWOP_SKIP, 2};
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return (struct form){DWOP_SKIP, 3};
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return (struct form){DWOP_SKIP, 4};
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return (struct form){DWOP_SKIP, 8};
	case DW_FORM_data16:
		return (struct form){DWOP_SKIP, 16};
	case DW_FORM_addr:
		return (struct form){DWOP_SKIP, ADDR};
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (struct form){DWOP_SKIP, OFFSET};
	case DW_FORM_ref_addr:
		return (struct form){DWOP_SKIP, REF_ADDR};
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return (struct form){DWOP_LEB, 0};
	case DW_FORM_string:
		return (struct form){DWOP_STRING, 0};
	case DW_FORM_block1:
		return (struct form){DWOP_BLOCK1, 0};
	case DW_FORM_block2:
		return (struct form){DWOP_BLOCK2, 0};
	case DW_FORM_block4:
		return (struct form){DWOP_BLOCK4, 0};
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return (struct form){DWOP_BLOCK, 0};
	default:
		return (struct form){DWOP_SKIP, BAD}; // DW_FORM_indirect, and what is not known yet
	}
}

static bool is_reference_out(uint64_t form)
{
	switch (form) {
	case DW_FORM_ref_addr:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return true;
	default:
		return false;
	}
}

/** Adds a step, or lengthens the last one of this abbreviation. */
static void add_step(struct dwabbrevs *t, struct dwabbrev *ab, uint8_t op, uint32_t n)
{
	if (op == DWOP_SKIP) {
		if (n == 0)
			return;
		struct dwstep *last = ab->n ? &t->steps.v[t->steps.n - 1] : NULL;
		if (last && last->op == DWOP_SKIP) {
			last->n += n;
			return;
		}
	}
	vec_push(t->arena, &t->steps, (struct dwstep){op, n});
	ab->n++;
}

static bool add_attribute(struct dwabbrevs *t, struct dwabbrev *ab, uint64_t name, uint64_t form,
			  const int sizes[3])
{
	struct form f = form_of(form);
	if (f.n == BAD)
		return false;
	t->refers_out |= is_reference_out(form);
	uint32_t n = f.n < 0 ? (uint32_t)sizes[-f.n - 1] : (uint32_t)f.n;
	switch (name) {
	case DW_AT_name:
		add_step(t, ab, DWOP_NAME, (uint32_t)form);
		return form == DW_FORM_string || form == DW_FORM_strp ||
		       form == DW_FORM_line_strp ||
		       (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) || form == DW_FORM_strx;
	case DW_AT_sibling:
		if (form == DW_FORM_ref_udata)
			add_step(t, ab, DWOP_SIBLING, 0);
		else if (f.op == DWOP_SKIP && form != DW_FORM_ref_addr && n <= 8)
			add_step(t, ab, DWOP_SIBLING, n);
		else
			add_step(t, ab, f.op, n);
		return true;
	case DW_AT_declaration:
		if (form == DW_FORM_flag_present)
			ab->is_decl = true;
		else if (form == DW_FORM_flag)
			add_step(t, ab, DWOP_DECL, 0);
		else
			return false;
		return true;
	case DW_AT_language:
		if (form == DW_FORM_udata || form == DW_FORM_data1 || form == DW_FORM_data2 ||
		    form == DW_FORM_data4)
			add_step(t, ab, DWOP_LANG, n);
		else if (form != DW_FORM_implicit_const)
			return false;
		return true;
	case DW_AT_str_offsets_base:
		if (form != DW_FORM_sec_offset)
			return false;
		add_step(t, ab, DWOP_STRBASE, n);
		return true;
	case DW_AT_specification:
		ab->has_spec = true;
		break;
	case DW_AT_enum_class:
		ab->has_enum_class = true;
		break;
	case DW_AT_signature:
		ab->has_signature = true;
		break;
	default:
		break;
	}
	add_step(t, ab, f.op, n);
	return t->steps.n < MAX_STEPS;
}

/** The next attribute's name and form; false, with r->err, at the section's end. */
static inline bool next_attribute(struct reader *r, uint64_t *name, uint64_t *form, int64_t *value)
{
	if (r->end - r->p >= 2 && r->p[0] < 0x80 && r->p[1] < 0x80) {
		*name = r->p[0]; // nearly always
		*form = r->p[1];
		r->p += 2;
	} else {
		*name = reader_uleb(r);
		*form = reader_uleb(r);
	}
	if (*form == DW_FORM_implicit_const)
		*value = reader_sleb(r);
	return !r->err;
}

static bool compile_one(struct dwabbrevs *t, struct reader *r, uint64_t code, const int sizes[3])
{
	if (code >= MAX_CODE)
		return false;
	while (t->by_code.n <= code)
		vec_push(t->arena, &t->by_code, (struct dwabbrev){0});
	struct dwabbrev *ab = &t->by_code.v[code];
	if (ab->is_known)
		return false;
	uint64_t tag = reader_uleb(r);
	*ab = (struct dwabbrev){
	    .tag = (uint16_t)tag, .is_known = true, .first = (uint32_t)t->steps.n};
	ab->has_children = reader_u8(r) == DW_CHILDREN_yes;
	if (tag > UINT16_MAX)
		return false;
	bool is_wanted = !t->wants || t->wants((int)tag);
	for (;;) {
		uint64_t name, form;
		int64_t value = 0;
		if (!next_attribute(r, &name, &form, &value))
			return false;
		if (!name && !form)
			return true;
		if (!is_wanted)
			continue;
		if (form == DW_FORM_implicit_const && name == DW_AT_language)
			ab->lang = (uint16_t)value;
		if (!add_attribute(t, ab, name, form, sizes))
			return false;
	}
}

bool dwabbrevs_compile(struct dwabbrevs *t, struct str section, bool big, uint64_t off,
		       unsigned version, unsigned addr_size, unsigned off_size)
{
	unsigned layout = version << 16 | addr_size << 8 | off_size;
	if (t->is_valid && t->off == off && t->layout == layout)
		return true;
	t->is_valid = t->refers_out = false;
	t->by_code.n = t->steps.n = 0;
	t->off = off;
	t->layout = layout;
	if (off >= section.n)
		return false;
	// DW_FORM_ref_addr is as wide as an address in DWARF 2 only.
	const int sizes[3] = {(int)addr_size, (int)off_size,
			      (int)(version <= 2 ? addr_size : off_size)};
	struct reader r;
	reader_init(&r, section.p + off, section.n - off, big);
	for (;;) {
		uint64_t code = reader_uleb(&r);
		if (r.err)
			return false;
		if (!code)
			break;
		if (!compile_one(t, &r, code, sizes))
			return false;
	}
	t->is_valid = true;
	return true;
}
