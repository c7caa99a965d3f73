#include "dwarf/dwscope.h"

#include <dwarf.h>

#include "dwarf/dwquery.h"

/** Qualified names of the scopes of one unit, in the order of their places. */
struct scope {
	const void *start,
	    *end;	 /**< the DIEs in between are inside; end NULL: until the unit's end */
	struct str name; /**< "ns::Outer" */
};

struct unit_scopes {
	VEC(struct scope) list;
};

static void add_scopes(struct dwsrc *src, struct unit_scopes *us, struct dwwalk *w,
		       Dwarf_Die *parent, struct str outer, unsigned depth)
{
	Dwarf_Die die;
	size_t open = SIZE_MAX;
	for (bool more = dwsrc_child(src, w, parent, &die); more;
	     more = dwsrc_sibling(src, w, &die, &die)) {
		if (open != SIZE_MAX)
			us->list.v[open].end = die.addr;
		open = SIZE_MAX;
		if (!dwquery_is_scope(dwarf_tag(&die)) || !dwarf_haschildren(&die) ||
		    depth + 1 >= DWSRC_MAX_DEPTH)
			continue;
		const char *z = dwsrc_name(&die);
		struct str name = outer;
		Dwarf_Attribute at;
		if (dwarf_attr(&die, DW_AT_specification, &at))
			name = dwquery_qualified_name(src->arena, &die);
		else if (z && outer.n)
			name = str_printf(src->arena, STR_FMT "::%s", STR_ARG(outer), z);
		else if (z)
			name = str_from(z);
		open = us->list.n;
		vec_push(src->arena, &us->list, (struct scope){die.addr, NULL, name});
		add_scopes(src, us, w, &die, name, depth + 1);
	}
	// The last one ends where its parent does: an inner interval found later is always the
	// nearer one.
	if (open != SIZE_MAX)
		us->list.v[open].end = w->last ? (const char *)w->last + 1 : NULL;
}

struct str dwscope_of(struct dwsrc *src, Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL) || dwsrc_is_c(&unit))
		return (struct str){0};
	struct unit_scopes *us = map_get_ptr(&src->scopes, unit.addr);
	if (!us) {
		us = arena_new(src->arena, struct unit_scopes);
		struct dwwalk w = {0};
		add_scopes(src, us, &w, &unit, (struct str){0}, 0);
		map_put_ptr(src->arena, &src->scopes, unit.addr, us);
	}
	size_t lo = 0, hi = us->list.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if ((uintptr_t)us->list.v[mid].start < (uintptr_t)die->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0)
		if (!us->list.v[lo].end || (uintptr_t)us->list.v[lo].end > (uintptr_t)die->addr)
			return us->list.v[lo].name;
	return (struct str){0};
}
