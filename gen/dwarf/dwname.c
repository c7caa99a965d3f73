#include "dwarf/dwname.h"

#include <dwarf.h>

bool dwquery_parse(struct str text, unsigned kinds, struct dwquery *ret)
{
	*ret = (struct dwquery){.no_decls = false};
	return namequery_parse(text, kinds, &ret->name);
}

bool dwquery_fits(const struct dwquery *q, const struct dwhit *hit)
{
	return !(hit->is_decl && q->no_decls) &&
	       namequery_fits(&q->name, hit->name, hit->scopes, hit->n_scopes);
}

unsigned dwname_kind_of_tag(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return NAME_STRUCT;
	case DW_TAG_union_type:
		return NAME_UNION;
	case DW_TAG_enumeration_type:
		return NAME_ENUM;
	case DW_TAG_typedef:
		return NAME_TYPEDEF;
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
		return NAME_BASE;
	case DW_TAG_enumerator:
		return NAME_ENUMERATOR;
	default:
		return 0;
	}
}

bool dwname_is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_module;
}

void dwhit_add_name(struct strbuf *b, const struct dwhit *hit)
{
	for (unsigned i = 0; i < hit->n_scopes; i++)
		if (hit->scopes[i].n) {
			strbuf_adds(b, hit->scopes[i]);
			strbuf_addz(b, "::");
		}
	strbuf_adds(b, hit->name);
}

struct str dwhit_name(struct arena *a, const struct dwhit *hit)
{
	struct strbuf b = {0};
	dwhit_add_name(&b, hit);
	return strbuf_take(&b, a);
}

/**
 * Names of the scopes around @die, or around the declaration that it completes, found by walking
 * the unit.
 */
static unsigned outer_scopes(Dwarf_Die *die, struct str ret[DWSRC_MAX_DEPTH])
{
	Dwarf_Die spec = *die, *scopes = NULL;
	dwsrc_follow(&spec, DW_AT_specification);
	unsigned depth = 0;
	int n = dwarf_getscopes_die(&spec, &scopes);
	for (int i = n - 1; i > 0 && depth < DWSRC_MAX_DEPTH - 1; i--)
		if (dwname_is_scope(dwarf_tag(&scopes[i])))
			ret[depth++] = str_from(dwsrc_name(&scopes[i]));
	free(scopes);
	return depth;
}

/** "ns::Outer::name" of any DIE, found likewise. */
static struct str qualified_name(struct arena *a, Dwarf_Die *die)
{
	struct str scopes[DWSRC_MAX_DEPTH];
	const char *name = dwsrc_name(die);
	if (!name)
		return (struct str){0};
	struct dwhit hit = {.scopes = scopes, .name = str_from(name)};
	hit.n_scopes = outer_scopes(die, scopes);
	return dwhit_name(a, &hit);
}

const struct str *dwhit_copy_scopes(struct arena *a, const struct dwhit *hit)
{
	struct str *copy = arena_array(a, struct str, hit->n_scopes);
	if (hit->n_scopes)
		memcpy(copy, hit->scopes, hit->n_scopes * sizeof(*copy));
	return copy;
}

// --- The scopes around a DIE

/** A scope, or a unit; those in it are listed when a DIE between them is asked for, as a unit may have many thousands. */
struct scope {
	Dwarf_Die die;
	const void *start,
	    *end;	 /**< the DIEs in between are inside; end NULL: until the unit's end */
	struct str name; /**< "ns::Outer" */
	bool is_listed;
	VEC(struct scope) inner; /**< in the order of their places */
};

static void list_inner(struct dwsrc *src, struct scope *of)
{
	size_t open = SIZE_MAX;
	struct dwwalk w = {0};
	of->is_listed = true;
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, &w, &of->die, &die);) {
		if (of->end && (const void *)die.addr >= of->end)
			break; // corrupt
		if (open != SIZE_MAX)
			of->inner.v[open].end = die.addr;
		open = SIZE_MAX;
		if (!dwname_is_scope(dwarf_tag(&die)) || !dwarf_haschildren(&die))
			continue;
		open = of->inner.n;
		vec_push(src->arena, &of->inner,
			 (struct scope){.die = die, .start = die.addr, .end = of->end});
	}
}

static struct str name_of_scope(struct dwsrc *src, const struct scope *outer, Dwarf_Die *die)
{
	const char *z = dwsrc_name(die);
	Dwarf_Attribute at;
	if (dwarf_attr(die, DW_AT_specification, &at))
		return qualified_name(src->arena, die);
	return !z	       ? outer->name
	       : outer->name.n ? str_printf(src->arena, STR_FMT "::%s", STR_ARG(outer->name), z)
			       : str_from(z);
}

/** Names of the scopes of @die, joined by ::, or empty, as in C. */
static struct str scope_of(struct dwsrc *src, Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL) || dwsrc_is_c(&unit))
		return (struct str){0};
	struct scope *s = map_get_ptr(&src->scopes, unit.addr);
	if (!s) {
		s = arena_new(src->arena, struct scope);
		s->die = unit;
		map_put_ptr(src->arena, &src->scopes, unit.addr, s);
	}
	for (unsigned depth = 0; depth + 1 < DWSRC_MAX_DEPTH; depth++) {
		if (!s->is_listed)
			list_inner(src, s);
		size_t n = vec_first_from(&s->inner, start, die->addr);
		struct scope *in = n ? &s->inner.v[n - 1] : NULL;
		if (!in || (in->end && in->end <= (const void *)die->addr))
			break;
		if (!in->name.n)
			in->name = name_of_scope(src, s, &in->die);
		s = in;
	}
	return s->name;
}

struct str dwname_whole(struct dwsrc *src, Dwarf_Die die)
{
	const char *name = dwsrc_name(&die);
	dwsrc_follow(&die, DW_AT_specification);
	struct str scope = name && *name ? scope_of(src, &die) : STR("");
	return scope.n ? str_printf(src->arena, STR_FMT "::%s", STR_ARG(scope), name)
		       : str_from(name);
}

// --- A walk over all names

struct walk {
	struct dwsrc *src;
	unsigned kinds;
	dwname_fn *fn;
	void *ctx;
	const struct dwquery *q; /**< what dwname_filter() lets through; or NULL */
	struct dwwalk at;
	struct str scopes[DWSRC_MAX_DEPTH];
	unsigned nest; /**< of DIEs; scopes that are declared elsewhere need not nest so */
	bool is_c;     /**< no types inside of types */
	bool stopped;
};

static void visit(struct walk *w, Dwarf_Die *die, Dwarf_Die *owner, unsigned kind, unsigned depth)
{
	const char *name = dwsrc_name(die);
	if (!name || !*name || (w->q && !namequery_is_last(&w->q->name, str_from(name))))
		return;
	Dwarf_Die type;
	struct dwhit hit = {
	    .die = *die,
	    .owner = *owner,
	    .kind = kind,
	    .is_decl = dwsrc_flag(die, DW_AT_declaration) || dwsrc_signature(die, &type),
	    .scopes = w->scopes,
	    .n_scopes = depth,
	    .name = str_from(name),
	};
	struct str outer[DWSRC_MAX_DEPTH];
	if (kind & NAME_TAGS && dwarf_hasattr(die, DW_AT_specification)) {
		// Completed outside of its scope: the scopes are those of the declaration.
		hit.n_scopes = outer_scopes(die, outer);
		hit.scopes = outer;
	}
	if (!w->fn(w->ctx, &hit))
		w->stopped = true;
}

static void walk_children(struct walk *w, Dwarf_Die *parent, unsigned depth);

/** Into a scope that was declared elsewhere: what is in it belongs there, too. */
static void walk_outside(struct walk *w, Dwarf_Die *die)
{
	struct str saved[DWSRC_MAX_DEPTH];
	memcpy(saved, w->scopes, sizeof(saved));
	unsigned depth = outer_scopes(die, w->scopes);
	w->scopes[depth] = str_from(dwsrc_name(die));
	walk_children(w, die, depth + 1);
	memcpy(w->scopes, saved, sizeof(saved));
}

static void walk_children(struct walk *w, Dwarf_Die *parent, unsigned depth)
{
	w->nest++;
	for (Dwarf_Die die = {0}; dwsrc_next_child(w->src, &w->at, parent, &die) && !w->stopped;) {
		int tag = dwarf_tag(&die);
		unsigned kind = dwname_kind_of_tag(tag);
		if (kind == NAME_ENUMERATOR && dwarf_tag(parent) != DW_TAG_enumeration_type)
			continue; // corrupt
		if (kind & w->kinds)
			visit(w, &die, parent, kind, depth);
		if (w->stopped)
			return;
		bool is_enum = tag == DW_TAG_enumeration_type && w->kinds & NAME_ENUMERATOR;
		bool is_scope = dwname_is_scope(tag) && (!w->is_c || tag == DW_TAG_namespace);
		if ((!is_enum && !is_scope) || depth + 1 >= DWSRC_MAX_DEPTH ||
		    w->nest >= DWSRC_MAX_DEPTH)
			continue;
		// Enumerators of an unscoped enum belong to the scope around it.
		if (is_enum && !dwsrc_flag(&die, DW_AT_enum_class)) {
			walk_children(w, &die, depth);
		} else if (dwarf_hasattr(&die, DW_AT_specification)) {
			walk_outside(w, &die);
		} else {
			w->scopes[depth] = str_from(dwsrc_name(&die));
			walk_children(w, &die, depth + 1);
		}
	}
	w->nest--;
}

bool dwname_walk_unit(struct dwsrc *src, Dwarf_Die *unit, const struct dwplaces *only,
		      unsigned kinds, dwname_fn *fn, void *ctx)
{
	struct walk w = {.src = src, .kinds = kinds, .fn = fn, .ctx = ctx, .at.only = only};
	w.q = fn == dwname_filter ? ((struct dwname_filter *)ctx)->q : NULL;
	w.is_c = dwsrc_is_c(unit);
	walk_children(&w, unit, 0);
	return !w.stopped;
}

void dwname_walk(struct dwsrc *src, unsigned kinds, dwname_fn *fn, void *ctx)
{
	struct dwunit u = {0};
	while (dwsrc_next_unit(src, &u))
		if (!dwname_walk_unit(src, &u.die, NULL, kinds, fn, ctx))
			return;
}

bool dwname_filter(void *ctx, const struct dwhit *hit)
{
	struct dwname_filter *f = ctx;
	if (!dwquery_fits(f->q, hit))
		return true;
	f->n_passed++;
	return f->fn(f->ctx, hit);
}
