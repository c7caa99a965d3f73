#include "dwarf/dwsrc.h"

#include <dwarf.h>

#include "base/progress.h"
#include "elf/debugfile.h"
#include "dwarf/dwsrc_priv.h"

static void add_file(struct dwsrc *src, Dwarf *dbg)
{
	for (size_t i = 0; i < src->files.n; i++)
		if (src->files.v[i] == dbg)
			return;
	vec_push(src->arena, &src->files, dbg);
}

struct dwsrc *dwsrc_new(struct img *img)
{
	struct dwsrc *src = arena_new(img->arena, struct dwsrc);
	src->img = img;
	src->arena = img->arena;
	src->diag = img->diag;
	return src;
}

bool dwsrc_open(struct dwsrc *src)
{
	struct debuginfo *di;
	if (src->dbg)
		return true;
	if (!img_debuginfo(src->img, &di))
		return false;
	src->dbg = di->dwarf;
	add_file(src, src->dbg);
	Dwarf *alt = dwarf_getalt(src->dbg);
	if (alt)
		add_file(src, alt);
	return true;
}

bool dwsrc_next_unit(struct dwsrc *src, struct dwunit *u)
{
	progress_step("reading debug information");
	for (; u->file < src->files.n; u->file++, u->cursor = NULL) {
		Dwarf_CU *next;
		Dwarf_Die split;
		uint8_t kind;
		int rc = 0;
		while (rc == 0) {
			rc = dwarf_get_units(src->files.v[u->file], u->cursor, &next, NULL, &kind,
					     &u->die, NULL);
			if (rc != 0)
				break;
			u->cursor = next;
			if (kind != DW_UT_skeleton)
				return true;
			// The unit is in a .dwo file; all units of that file are read in their
			// turn.
			if (dwsplit_unit(src, &u->die, &split) && split.cu &&
			    dwsplit_is_whole(&split))
				add_file(src, dwarf_cu_getdwarf(split.cu));
			else
				dwsplit_add_missing(src, &u->die);
		}
		if (rc < 0 && !src->corrupt) {
			src->corrupt = true;
			diag_error(src->diag, diag_at({.file = src->img->display_path}),
				   "debug information is corrupt: %s", dwarf_errmsg(-1));
		}
	}
	return false;
}

static bool next_child(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Die *die)
{
	Dwarf_Die from = die->addr ? *die : *parent;
	int rc = die->addr ? dwarf_siblingof(&from, die) : dwarf_child(&from, die);
	if (rc > 0)
		return false;
	src->n_visits++;
	if (rc == 0 && (uintptr_t)die->addr > (uintptr_t)w->last) {
		w->last = die->addr;
		return true;
	}
	if (!src->corrupt) {
		src->corrupt = true;
		diag_error(src->diag, diag_at(dwsrc_place(src, &from)),
			   "debug information is corrupt: %s",
			   rc < 0 ? dwarf_errmsg(-1) : "a sibling lies before its predecessor");
	}
	return false;
}

bool dwsrc_next_child(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Die *die)
{
	bool more = next_child(src, w, parent, die);
	while (more && w->only) {
		Dwarf_Die next = *die;
		struct dwwalk ahead = *w;
		size_t i = vec_first_from(&w->only->list, at, dwarf_dieoffset(die));
		if (i == w->only->list.n)
			return false;
		if (!next_child(src, &ahead, parent, &next) ||
		    w->only->list.v[i].at < dwarf_dieoffset(&next))
			break;
		*die = next;
		*w = ahead;
	}
	return more;
}

bool dwsrc_signature(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute at;
	int tag = dwarf_tag(die);
	*ret = (Dwarf_Die){0};
	// A type unit's top DIE could have one, too; only types have stand-ins.
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type &&
	    tag != DW_TAG_enumeration_type)
		return false;
	if (!dwarf_attr(die, DW_AT_signature, &at))
		return false;
	if (!dwarf_formref_die(&at, ret))
		*ret = (Dwarf_Die){0};
	return true;
}

struct str dwsrc_word(struct str name)
{
	size_t n = 0;
	while (n < name.n && (isalnum((unsigned char)name.p[n]) || name.p[n] == '_'))
		n++;
	return str_slice(name, 0, n);
}

const char *dwsrc_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die type;
	if (name || !dwsrc_signature(die, &type) || !type.addr)
		return name;
	return dwarf_diename(&type);
}

const char *dwsrc_symbol(Dwarf_Die *die)
{
	Dwarf_Attribute at;
	const char *z = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &at));
	return z ? z : "";
}

bool dwsrc_follow(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	Dwarf_Die to;
	bool follows = dwarf_attr(die, name, &at) && dwarf_formref_die(&at, &to);
	*die = follows ? to : *die;
	return follows;
}

Dwarf_Die dwsrc_origin(Dwarf_Die die)
{
	for (int i = 0; i < 8 && dwsrc_follow(&die, DW_AT_abstract_origin);)
		i++;
	return die;
}

const char *dwsrc_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	return dwarf_formstring(dwarf_attr(die, name, &at));
}

bool dwsrc_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute at;
	return dwarf_formudata(dwarf_attr(die, name, &at), ret) == 0;
}

bool dwsrc_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	bool set = false;
	return dwarf_attr(die, name, &at) && dwarf_formflag(&at, &set) == 0 && set;
}

bool dwsrc_is_c(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

struct str dwsrc_unit_name(Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return STR("?");
	const char *name = dwarf_diename(&unit);
	return name				      ? str_from(name)
	       : dwarf_tag(&unit) == DW_TAG_type_unit ? STR("a type unit")
						      : STR("?");
}

struct diag_place dwsrc_place(struct dwsrc *src, Dwarf_Die *die)
{
	const char *text =
	    arena_printf(src->arena, STR_FMT ":.debug_info+0x%llx", STR_ARG(src->img->display_path),
			 (unsigned long long)dwarf_dieoffset(die));
	return (struct diag_place){.file = str_from(text)};
}
