#include "dwarf/dwquery.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

bool dwquery_parse(struct str text, unsigned kinds, struct dwquery *ret)
{
	static const struct {
		struct str word;
		unsigned kinds;
	} keywords[] = {
	    {{"struct ", 7}, DWFIND_STRUCT | DWFIND_UNION},
	    {{"class ", 6}, DWFIND_STRUCT},
	    {{"union ", 6}, DWFIND_UNION},
	    {{"enum ", 5}, DWFIND_ENUM},
	};
	*ret = (struct dwquery){.text = str_trim(text), .kinds = kinds};
	struct str rest = ret->text;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (!str_has_prefix(rest, keywords[i].word))
			continue;
		rest = str_trim(str_from_offset(rest, keywords[i].word.n));
		// `struct X` names a union only by mistake; a keyword narrows, it never widens.
		ret->kinds &= keywords[i].word.p[0] == 's' ? DWFIND_STRUCT : keywords[i].kinds;
		break;
	}
	if (str_has_prefix(rest, STR("::")))
		rest = str_from_offset(rest, 2);

	// Cut at each :: that is not inside template arguments or "(anonymous namespace)".
	size_t start = 0;
	unsigned nest = 0;
	for (size_t i = 0; i <= rest.n; i++) {
		char c = i < rest.n ? rest.p[i] : '\0';
		if (c == '<' || c == '(')
			nest++;
		else if ((c == '>' || c == ')') && nest)
			nest--;
		bool cut = i + 1 < rest.n && c == ':' && rest.p[i + 1] == ':' && nest == 0;
		if (i < rest.n && !cut)
			continue;
		struct str part = str_trim(str_slice(rest, start, i - start));
		if (!part.n || ret->n_parts == DWFIND_MAX_PARTS)
			return false;
		ret->parts[ret->n_parts++] = part;
		start = i += 2;
		i--;
	}
	return ret->n_parts > 0 && ret->kinds;
}

/** Equal, blanks aside when template arguments are in it. */
static bool same_name(struct str a, struct str b)
{
	if (str_eq(a, b))
		return true;
	if (!a.n || !b.n || a.p[0] != b.p[0] || !memchr(a.p, '<', a.n))
		return false;
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a.n && a.p[i] == ' ')
			i++;
		while (k < b.n && b.p[k] == ' ')
			k++;
		if (i == a.n || k == b.n)
			return i == a.n && k == b.n;
		if (a.p[i++] != b.p[k++])
			return false;
	}
}

bool dwquery_fits(const struct dwquery *q, const struct dwhit *hit)
{
	if ((hit->is_decl && q->no_decls) || !same_name(hit->name, q->parts[q->n_parts - 1]))
		return false;
	// Scopes without a name (inline or anonymous namespaces, anonymous structs) need not be written.
	unsigned k = q->n_parts - 1;
	for (unsigned i = hit->n_scopes; i-- > 0;) {
		struct str scope = hit->scopes[i];
		if (k && scope.n && same_name(scope, q->parts[k - 1]))
			k--;
		else if (k && !scope.n && str_eq(q->parts[k - 1], STR("(anonymous namespace)")))
			k--;
		else if (scope.n)
			return false;
	}
	return k == 0;
}

unsigned dwquery_kind_of_tag(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return DWFIND_STRUCT;
	case DW_TAG_union_type:
		return DWFIND_UNION;
	case DW_TAG_enumeration_type:
		return DWFIND_ENUM;
	case DW_TAG_typedef:
		return DWFIND_TYPEDEF;
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
		return DWFIND_BASE;
	case DW_TAG_enumerator:
		return DWFIND_ENUMERATOR;
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
