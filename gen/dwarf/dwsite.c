#include "dwarf/dwsite.h"

#include <dwarf.h>
#include <string.h>

#include "elf/debuginfo.h"
#include "dwarf/dwsplit.h"

/** Some seconds. Large programs need less than a hundredth of it. */
enum { MAX_SPENT = 1 << 26 };

static void spend(struct dwsrc *src, uint64_t n)
{
	src->n_spent += n;
	if (src->n_spent < MAX_SPENT || src->is_spent)
		return;
	src->is_spent = true;
	struct diag_place at = {.file = src->img->display_path};
	diag_warning(src->diag, &at,
		     "too many sites in too much debug information: what is around the rest is not "
		     "looked up");
}

void dwsite_spend(struct dwsrc *src, uint64_t n_visits_before)
{
	spend(src, src->n_visits - n_visits_before);
}

bool dwsite_is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static bool has_pcs(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

bool dwsite_listed_unit(struct dwsrc *src, uint64_t pc, Dwarf_Die *ret)
{
	struct debuginfo *di;
	if (src->is_spent || !img_debuginfo(src->img, &di))
		return false;
	Dwarf_Addr at = pc - di->bias;
	uint64_t n_units = 0;
	// .debug_aranges answers at once; clang does not write it.
	if (!dwarf_addrdie(di->dwarf, at, ret)) {
		Dwarf_CU *cu = NULL;
		Dwarf_Die unit;
		int found = 0;
		while (found != 1 &&
		       dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
			found = dwarf_haspc(&unit, at);
			n_units++;
		}
		spend(src, n_units);
		if (found != 1)
			return false;
		*ret = unit;
	}
	return true;
}

/** The unit that has the code at link-time address @pc: that of the .dwo file for a skeleton. */
static bool find_unit(struct dwsrc *src, uint64_t pc, Dwarf_Die *ret)
{
	Dwarf_Die split;
	if (!dwsite_listed_unit(src, pc, ret))
		return false;
	if (dwsplit_unit(src, ret, &split) && split.cu)
		*ret = split;
	return true;
}

/**
 * Out-of-line functions are children of the unit or of a namespace; the function of a lambda may be
 * anywhere, also below a function that is somewhere else. @everywhere: look there, too.
 */
static bool find_function(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, Dwarf_Addr at,
			  bool everywhere, unsigned depth, Dwarf_Die *ret)
{
	Dwarf_Die die;
	if (depth >= DWSRC_MAX_DEPTH)
		return false;
	for (bool more = dwsrc_child(src, w, parent, &die); more;
	     more = dwsrc_sibling(src, w, &die, &die)) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram && has_pcs(&die) && dwarf_haspc(&die, at) > 0) {
			*ret = die;
			return true;
		}
		bool enter = everywhere
				 ? dwarf_haschildren(&die) > 0 && tag != DW_TAG_enumeration_type &&
				       tag != DW_TAG_subroutine_type
				 : tag == DW_TAG_namespace;
		if (enter && find_function(src, w, &die, at, everywhere, depth + 1, ret))
			return true;
	}
	return false;
}

/** Adds the blocks and inlined functions below @parent that hold the address, outermost first. */
static void descend(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent, struct dwsite *s)
{
	Dwarf_Die die, found[DWSRC_MAX_DEPTH];
	Dwarf_Die at = *parent;
	size_t n = 0;
	while (n < DWSRC_MAX_DEPTH) {
		bool hit = false;
		for (bool more = dwsrc_child(src, w, &at, &die); more && !hit;
		     more = !hit && dwsrc_sibling(src, w, &die, &die)) {
			int tag = dwarf_tag(&die);
			hit = (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
			      dwarf_haspc(&die, s->at) > 0;
		}
		if (!hit)
			break;
		found[n++] = at = die;
	}
	while (n-- > 0)
		vec_push(src->arena, &s->dies, found[n]);
}

static struct str function_name(Dwarf_Die *die)
{
	return str_from(dwsrc_name(die));
}

static void name_functions(struct dwsite *s)
{
	for (size_t i = 0; i < s->dies.n; i++) {
		if (!dwsite_is_function(&s->dies.v[i]))
			continue;
		struct str name = function_name(&s->dies.v[i]);
		if (!s->n_inner) {
			s->n_inner = i + 1;
			s->function = name;
		} else if (i + 1 == s->dies.n) {
			s->caller = name;
		}
	}
}

static void find_line(struct dwsrc *src, struct dwsite *s)
{
	int line;
	Dwarf_Line *l = dwarf_getsrc_die(&s->unit, s->at);
	const char *path = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	if (!path || dwarf_lineno(l, &line) != 0 || line <= 0)
		return;
	s->line = (unsigned)line;
	s->full_path = path;
	s->file = str_from(path);
	// Most programs are built in one folder, and their files are known by the path from there.
	Dwarf_Attribute at;
	const char *dir = dwarf_formstring(dwarf_attr(&s->unit, DW_AT_comp_dir, &at));
	struct str d = str_from(dir);
	if (d.n > 1 && str_has_prefix(s->file, d) && s->file.n > d.n && s->file.p[d.n] == '/')
		s->file = str_from_offset(s->file, d.n + 1);
	else if (path[0] != '/' && dir)
		s->full_path = arena_printf(src->arena, "%s/%s", dir, path);
	while (str_take(&s->file, STR("./")))
		;
}

bool dwsite_at(struct dwsrc *src, uint64_t pc, struct dwsite *ret)
{
	struct debuginfo *di;
	Dwarf_Die function;
	*ret = (struct dwsite){.pc = pc};
	if (!img_debuginfo(src->img, &di))
		return false;
	ret->at = pc - di->bias;
	if (!find_unit(src, pc, &ret->unit))
		return false;
	find_line(src, ret);
	struct dwwalk w = {0}, w2 = {0};
	if (!find_function(src, &w, &ret->unit, ret->at, false, 0, &function) &&
	    !find_function(src, &w2, &ret->unit, ret->at, true, 0, &function))
		return false;
	struct dwwalk down = {0};
	descend(src, &down, &function, ret);
	vec_push(src->arena, &ret->dies, function);
	name_functions(ret);
	return true;
}
