#include "dwarf/dwquery.h"

#include <dwarf.h>
#include <stdlib.h>

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

unsigned dwquery_kind_of_tag(int tag)
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

bool dwquery_is_scope(int tag)
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
	struct strbuf b;
	strbuf_init(&b);
	dwhit_add_name(&b, hit);
	return strbuf_take(&b, a);
}

unsigned dwquery_outer_scopes(Dwarf_Die *die, struct str ret[DWSRC_MAX_DEPTH])
{
	Dwarf_Attribute at;
	Dwarf_Die spec = *die, *scopes = NULL;
	if (dwarf_attr(die, DW_AT_specification, &at))
		dwarf_formref_die(&at, &spec);
	unsigned depth = 0;
	int n = dwarf_getscopes_die(&spec, &scopes);
	for (int i = n - 1; i > 0 && depth < DWSRC_MAX_DEPTH - 1; i--)
		if (dwquery_is_scope(dwarf_tag(&scopes[i])))
			ret[depth++] = str_from(dwsrc_name(&scopes[i]));
	free(scopes);
	return depth;
}

struct str dwquery_qualified_name(struct arena *a, Dwarf_Die *die)
{
	struct str scopes[DWSRC_MAX_DEPTH];
	const char *name = dwsrc_name(die);
	if (!name)
		return (struct str){0};
	struct dwhit hit = {.scopes = scopes, .name = str_from(name)};
	hit.n_scopes = dwquery_outer_scopes(die, scopes);
	return dwhit_name(a, &hit);
}
