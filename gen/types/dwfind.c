#include "types/dwfind.h"

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

static unsigned kind_of_tag(int tag)
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

/** Scopes that hold types by name; function bodies are not among them. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_module;
}

struct walk {
	struct dwsrc *src;
	unsigned kinds;
	dwfind_fn *fn;
	void *ctx;
	struct dwwalk at;
	struct str scopes[DWSRC_MAX_DEPTH];
	bool stopped;
};

static bool has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	bool set = false;
	return dwarf_attr(die, name, &at) && dwarf_formflag(&at, &set) == 0 && set;
}

static void visit(struct walk *w, Dwarf_Die *die, Dwarf_Die *owner, unsigned kind, unsigned depth)
{
	const char *name = dwsrc_name(die); // one that completes a declaration has it there;
	if (!name || !*name)
		return;
	Dwarf_Die type;
	struct dwhit hit = {
	    .die = *die,
	    .owner = *owner,
	    .kind = kind,
	    .is_decl = has_flag(die, DW_AT_declaration) || dwsrc_signature(die, &type),
	    .scopes = w->scopes,
	    .n_scopes = depth,
	    .name = str_from(name),
	};
	struct str outer[DWSRC_MAX_DEPTH];
	Dwarf_Attribute at;
	Dwarf_Die spec, *scopes = NULL;
	if (kind != DWFIND_ENUMERATOR && dwarf_attr(die, DW_AT_specification, &at) &&
	    dwarf_formref_die(&at, &spec)) {
		// Completed outside of its scope: the scopes are those of the declaration.
		int n = dwarf_getscopes_die(&spec, &scopes);
		hit.n_scopes = 0;
		for (int i = n - 1; i > 0 && hit.n_scopes < DWSRC_MAX_DEPTH; i--)
			if (is_scope(dwarf_tag(&scopes[i]))) {
				const char *z = dwsrc_name(&scopes[i]);
				outer[hit.n_scopes++] = str_from(z);
			}
		hit.scopes = outer;
	}
	if (!w->fn(w->ctx, &hit))
		w->stopped = true;
	free(scopes);
}

static void walk_children(struct walk *w, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	for (bool more = dwsrc_child(w->src, &w->at, parent, &die); more && !w->stopped;
	     more = dwsrc_sibling(w->src, &w->at, &die, &die)) {
		int tag = dwarf_tag(&die);
		unsigned kind = kind_of_tag(tag);
		if (kind & w->kinds)
			visit(w, &die, parent, kind, depth);
		if (w->stopped)
			return;
		bool inside = is_scope(tag);
		if (tag == DW_TAG_enumeration_type && w->kinds & DWFIND_ENUMERATOR) {
			// Enumerators of an unscoped enum belong to the scope around it.
			inside = true;
			if (!has_flag(&die, DW_AT_enum_class)) {
				walk_children(w, &die, depth);
				continue;
			}
		}
		if (!inside || depth + 1 >= DWSRC_MAX_DEPTH)
			continue;
		const char *name = dwsrc_name(&die);
		w->scopes[depth] = str_from(name);
		walk_children(w, &die, depth + 1);
	}
}

void dwfind_walk(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	struct walk w = {.src = src, .kinds = kinds, .fn = fn, .ctx = ctx};
	struct dwunit u = {0};
	while (!w.stopped && dwsrc_next_unit(src, &u)) {
		w.at = (struct dwwalk){0};
		walk_children(&w, &u.die, 0);
	}
}

struct filter {
	const struct dwquery *q;
	dwfind_fn *fn;
	void *ctx;
};

static bool is_wanted(const struct dwquery *q, const struct dwhit *hit)
{
	if (!same_name(hit->name, q->parts[q->n_parts - 1]))
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

static bool filter_hit(void *ctx, const struct dwhit *hit)
{
	struct filter *f = ctx;
	return !is_wanted(f->q, hit) || f->fn(f->ctx, hit);
}

// --- many questions: an index of names, made by one walk

enum { WALKS_BEFORE_INDEX = 3 };

struct entry {
	struct dwhit hit;
	struct entry *next; /**< the next one of the same name, in the order of the file */
};

struct chain {
	struct entry *first, **tail;
};

struct index {
	struct dwsrc *src;
	struct map names;	  /**< last part of the name, cut at < -> struct chain */
	unsigned kinds;		  /**< what is in it */
	const struct str *scopes; /**< copy of the scopes of the last entry */
	unsigned n_scopes;
};

/** Template arguments may be spaced differently, so that the index is by what stands before them. */
static struct str index_key(struct str name)
{
	return str_slice(name, 0, str_find(name, '<'));
}

static bool add_entry(void *ctx, const struct dwhit *hit)
{
	struct index *ix = ctx;
	struct arena *a = ix->src->arena;
	struct entry *e = arena_new(a, struct entry);
	e->hit = *hit;
	// Neighbours share their scopes, and so the copy.
	bool same = ix->n_scopes == hit->n_scopes;
	for (unsigned i = 0; i < hit->n_scopes && same; i++)
		same = ix->scopes[i].p == hit->scopes[i].p;
	if (!same) {
		struct str *copy = arena_array(a, struct str, hit->n_scopes);
		memcpy(copy, hit->scopes, hit->n_scopes * sizeof(*copy));
		ix->scopes = copy;
		ix->n_scopes = hit->n_scopes;
	}
	e->hit.scopes = ix->scopes;
	struct chain *c = map_get(&ix->names, index_key(hit->name));
	if (!c) {
		c = arena_new(a, struct chain);
		c->tail = &c->first;
		map_put(a, &ix->names, index_key(hit->name), c);
	}
	*c->tail = e;
	c->tail = &e->next;
	return true;
}

static void find_in_index(const struct index *ix, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	const struct chain *c = map_get(&ix->names, index_key(q->parts[q->n_parts - 1]));
	for (const struct entry *e = c ? c->first : NULL; e; e = e->next)
		if (e->hit.kind & q->kinds && is_wanted(q, &e->hit) && !fn(ctx, &e->hit))
			return;
}

void dwfind(struct dwsrc *src, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	struct filter f = {q, fn, ctx};
	struct index *ix = src->index;
	if (!ix && ++src->n_walks <= WALKS_BEFORE_INDEX) {
		dwfind_walk(src, q->kinds, filter_hit, &f);
		return;
	}
	// Enumerators are most of the names and seldom asked for: they join when they are.
	unsigned kinds = DWFIND_TYPES | (q->kinds & DWFIND_ENUMERATOR);
	if (!ix || kinds & ~ix->kinds) {
		src->index = ix = arena_new(src->arena, struct index);
		ix->src = src;
		ix->kinds = kinds;
		dwfind_walk(src, kinds, add_entry, ix);
	}
	find_in_index(ix, q, fn, ctx);
}

struct str dwhit_name(struct arena *a, const struct dwhit *hit)
{
	struct strbuf b;
	strbuf_init(&b);
	for (unsigned i = 0; i < hit->n_scopes; i++)
		if (hit->scopes[i].n) {
			strbuf_adds(&b, hit->scopes[i]);
			strbuf_addz(&b, "::");
		}
	strbuf_adds(&b, hit->name);
	struct str s = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return s;
}

struct near {
	struct dwsrc *src;
	struct str wanted;
	struct str best;
	unsigned distance;
};

static bool near_hit(void *ctx, const struct dwhit *hit)
{
	struct near *n = ctx;
	if (!hit->is_decl && str_is_nearer(n->wanted, hit->name, &n->distance))
		n->best = dwhit_name(n->src->arena, hit);
	return n->distance > 0;
}

struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q)
{
	struct near n = {src, q->parts[q->n_parts - 1], {0}, UINT32_MAX};
	dwfind_walk(src, q->kinds, near_hit, &n);
	return n.best;
}

struct str dwfind_qualified_name(struct arena *a, Dwarf_Die *die)
{
	const char *name = dwsrc_name(die);
	if (!name)
		return (struct str){0};
	Dwarf_Attribute at;
	Dwarf_Die spec = *die, *scopes = NULL;
	if (dwarf_attr(die, DW_AT_specification, &at))
		dwarf_formref_die(&at, &spec);
	struct strbuf b;
	strbuf_init(&b);
	int n = dwarf_getscopes_die(&spec, &scopes);
	for (int i = n - 1; i > 0; i--) {
		const char *z = is_scope(dwarf_tag(&scopes[i])) ? dwsrc_name(&scopes[i]) : NULL;
		if (z)
			strbuf_addf(&b, "%s::", z);
	}
	free(scopes);
	strbuf_addz(&b, name);
	struct str s = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return s;
}
