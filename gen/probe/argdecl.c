#include "probe/argdecl.h"

#include <dwarf.h>
#include <string.h>

#include "probe/argtype.h"
#include "dwarf/dwload.h"

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

/** Are all of them in the blocks around the site? A function can have hundreds of other blocks. */
static bool look_around(struct search *s, const struct dwsite *at)
{
	for (size_t i = 0; i < at->dies.n && s->n_found < s->n; i++) {
		Dwarf_Die parent = at->dies.v[i];
		if (dwarf_tag(&parent) != DW_TAG_lexical_block)
			break;
		s->walk = (struct dwwalk){0};
		look_below(s, &parent, DWSRC_MAX_DEPTH - 1); // without the blocks in it
	}
	return s->n_found == s->n;
}

static bool look_in(struct search *s, Dwarf_Die *function)
{
	Dwarf_Die die = *function, origin;
	Dwarf_Attribute at;
	// An instance refers to its abstract function, which can be a copy of another unit's (LTO).
	for (unsigned i = 0; i < 4; i++) {
		s->walk = (struct dwwalk){0};
		look_below(s, &die, 0);
		if (s->n_found)
			return true;
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &at) ||
		    !dwarf_formref_die(&at, &origin))
			return false;
		die = origin;
	}
	return false;
}

bool argdecl_types(struct dwsrc *src, const struct dwsite *at, uint32_t id, size_t n,
		   struct ctype **ret)
{
	struct search s = {.src = src, .n = n, .ret = ret};
	s.prefix = str_printf(src->arena, "__usdt_%u_", id);
	memset(ret, 0, n * sizeof(*ret));
	if (look_around(&s, at))
		return true;
	memset(ret, 0, n * sizeof(*ret));
	s.n_found = 0;
	for (size_t i = 0; i < at->dies.n; i++) {
		Dwarf_Die die = at->dies.v[i];
		if (dwsite_is_function(&die) && look_in(&s, &die))
			return true;
	}
	return false;
}
