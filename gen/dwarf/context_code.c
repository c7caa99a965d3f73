#include "dwarf/context.h"

#include <dwarf.h>

#include "dwarf/dwsplit.h"

/** A wildcard may mean thousands of places, and a unit may bring as many along. */
enum { MAX_PARTS = 1 << 16 };

void context_add(struct arena *a, struct context *c, const struct context_place *place)
{
	// Sites of one probe and clauses with the same probes follow each other; what is there
	// twice only takes room.
	if (c->places.n && c->places.v[c->places.n - 1].src == place->src &&
	    c->places.v[c->places.n - 1].addr == place->addr)
		return;
	vec_push(
	    a, &c->places,
	    (struct context_place){.src = place->src, .addr = place->addr, .asked = place->asked});
}

bool context_has_image(const struct context *c, const struct dwsrc *src)
{
	return vec_any(const struct context_place, p, &c->places, p->src == src);
}

/** A unit while it is put together. */
struct gathering {
	struct arena *a;
	struct context *c;
	struct dwsrc *src;
	struct context_unit *u;
	struct map seen; /**< the addresses of its parts */
};

/** Once, and if there are not too many. */
static void add_part(struct gathering *g, Dwarf_Die *die)
{
	if ((g->u->parts.n && g->c->n_parts >= MAX_PARTS) ||
	    !map_add_ptr(g->a, &g->seen, die->addr))
		return;
	vec_push(g->a, &g->u->parts, *die);
	g->c->n_parts++;
}

/** The unit that attribute @name of @die leads to. */
static void add_referred(struct gathering *g, Dwarf_Die *die, unsigned name)
{
	Dwarf_Die to = *die, unit;
	if (dwsrc_follow(&to, name) && dwarf_diecu(&to, &unit, NULL, NULL))
		add_part(g, &unit);
}

/** Type units that anything in the unit refers to: there is no other trace of them in it. */
static void add_type_units(struct gathering *g, Dwarf_Die *parent, unsigned depth)
{
	struct dwwalk w = {0};
	Dwarf_Attribute at;
	for (Dwarf_Die die = {0}; dwsrc_next_child(g->src, &w, parent, &die);) {
		if (dwarf_attr(&die, DW_AT_type, &at) && dwarf_whatform(&at) == DW_FORM_ref_sig8)
			add_referred(g, &die, DW_AT_type);
		add_referred(g, &die, DW_AT_signature);
		if (depth < DWSRC_MAX_DEPTH && dwarf_haschildren(&die))
			add_type_units(g, &die, depth + 1);
	}
}

static bool has_type_units(struct dwsrc *src)
{
	Dwarf_CU *cu = NULL;
	uint8_t kind;
	while (dwarf_get_units(src->dbg, cu, &cu, NULL, &kind, NULL, NULL) == 0)
		if (kind == DW_UT_type)
			return true;
	return false;
}

/** The unit with top DIE @top, and what it brings along. */
static struct context_unit *gather(struct arena *a, struct context *c, struct dwsrc *src,
				   Dwarf_Die *top)
{
	struct gathering g = {a, c, src, arena_new(a, struct context_unit), {0}};
	add_part(&g, top);
	bool has_types = has_type_units(src);
	for (size_t i = 0; i < g.u->parts.n; i++) {
		Dwarf_Die part = g.u->parts.v[i];
		struct dwwalk w = {0};
		for (Dwarf_Die die = {0}; dwsrc_next_child(src, &w, &part, &die);)
			if (dwarf_tag(&die) == DW_TAG_imported_unit)
				add_referred(&g, &die, DW_AT_import);
		if (has_types)
			add_type_units(&g, &part, 0);
	}
	return g.u;
}

/**
 * The LTO of gcc puts the code of all sources into units of its own, called <artificial>, whose
 * functions refer to those of the sources' units: the unit of the function that has the code at
 * @pc, inlined or not.
 */
static void find_source_unit(struct dwsrc *src, Dwarf_Die *unit, uint64_t pc)
{
	const char *name = dwarf_diename(unit);
	struct dwsite site;
	Dwarf_Die source;
	if (!name || strcmp(name, "<artificial>") != 0 || !dwsite_at(src, pc, NULL, &site))
		return;
	Dwarf_Die die = dwsrc_origin(site.dies.v[site.end - 1]);
	if (dwarf_diecu(&die, &source, NULL, NULL) && dwarf_tag(&source) == DW_TAG_compile_unit)
		*unit = source;
}

static struct context_unit *find_unit(struct arena *a, struct context *c,
				      const struct context_place *p)
{
	struct dwsrc *src = p->src;
	Dwarf_Die unit, split;
	if (!dwsrc_open(src) || !dwsite_listed_unit(src, p->addr, &unit))
		return NULL;
	if (dwsplit_unit(src, &unit, &split)) {
		if (!split.cu || !dwsplit_is_whole(&split)) {
			c->missing = dwsplit_name(&unit);
			return NULL;
		}
		unit = split;
	}
	find_source_unit(src, &unit, p->addr);
	struct context_unit *u = map_get_ptr(&c->units, unit.addr);
	if (!u) {
		u = gather(a, c, src, &unit);
		map_put_ptr(a, &c->units, unit.addr, u);
	}
	return u;
}

bool context_resolve(struct arena *a, struct context *c)
{
	for (size_t i = 0; i < c->places.n && !c->is_resolved; i++)
		c->places.v[i].unit = find_unit(a, c, &c->places.v[i]);
	c->is_resolved = true;
	return c->units.n > 0;
}

/**
 * Are types of an inner block in that block? Only those that gcc up to 12 writes: clang 14, and gcc
 * 14 of functions that are inlined, put them into the function. "GNU C17 12.2.0 -O2"
 */
static bool keeps_blocks(Dwarf_Die *unit)
{
	const char *by = dwsrc_string(unit, DW_AT_producer);
	const char *version = by && strncmp(by, "GNU ", 4) == 0 ? strchr(by + 4, ' ') : NULL;
	return version && strtoul(version, NULL, 10) <= 12;
}

/**
 * Adds a block, and what it is an instance of: types of an inlined function are in the function as
 * it was written.
 */
static void add_block(struct arena *a, struct context_blocks *b, Dwarf_Die die)
{
	int k = 0;
	do
		vec_push(a, &b->dies, die);
	while (++k < 8 && dwsrc_follow(&die, DW_AT_abstract_origin));
}

/**
 * Of a function that is inlined everywhere clang puts the types into a function without any
 * attribute: it is not known which one that is.
 */
static void add_strays(struct arena *a, struct context_blocks *b, Dwarf_Die *unit)
{
	struct dwwalk w = {0};
	for (Dwarf_Die die = {0}; dwsrc_next_child(b->src, &w, unit, &die);)
		if (dwarf_tag(&die) == DW_TAG_subprogram && !dwsrc_name(&die) &&
		    !dwarf_hasattr(&die, DW_AT_abstract_origin) &&
		    !dwarf_hasattr(&die, DW_AT_low_pc))
			add_block(a, b, die);
}

const struct context_blocks *context_blocks_at(struct arena *a, struct context *c, size_t i)
{
	struct context_place *p = &c->places.v[i];
	if (p->blocks)
		return p->blocks;
	struct context_blocks *b = p->blocks = arena_new(a, struct context_blocks);
	struct dwsite site;
	b->src = p->src;
	if (!dwsite_at(b->src, p->addr, &p->asked, &site))
		return b;
	b->is_flat = !keeps_blocks(&site.unit);
	for (size_t k = site.first; k < site.end; k++)
		add_block(a, b, site.dies.v[k]);
	b->n_around = b->dies.n;
	if (b->is_flat)
		add_strays(a, b, &site.unit);
	return b;
}
