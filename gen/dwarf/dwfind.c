#include "dwarf/dwfind.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/dwscan.h"

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
	const char *name = dwsrc_name(die);
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
	if (kind != NAME_ENUMERATOR && dwarf_hasattr(die, DW_AT_specification)) {
		// Completed outside of its scope: the scopes are those of the declaration.
		hit.n_scopes = dwquery_outer_scopes(die, outer);
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
	unsigned depth = dwquery_outer_scopes(die, w->scopes);
	w->scopes[depth] = str_from(dwsrc_name(die));
	walk_children(w, die, depth + 1);
	memcpy(w->scopes, saved, sizeof(saved));
}

static void walk_children(struct walk *w, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	for (bool more = dwsrc_child(w->src, &w->at, parent, &die); more && !w->stopped;
	     more = dwsrc_sibling(w->src, &w->at, &die, &die)) {
		int tag = dwarf_tag(&die);
		unsigned kind = dwquery_kind_of_tag(tag);
		if (kind == NAME_ENUMERATOR && dwarf_tag(parent) != DW_TAG_enumeration_type)
			continue; // damage
		if (kind & w->kinds)
			visit(w, &die, parent, kind, depth);
		if (w->stopped)
			return;
		bool is_enum = tag == DW_TAG_enumeration_type && w->kinds & NAME_ENUMERATOR;
		if ((!is_enum && !dwquery_is_scope(tag)) || depth + 1 >= DWSRC_MAX_DEPTH)
			continue;
		// Enumerators of an unscoped enum belong to the scope around it.
		if (is_enum && !has_flag(&die, DW_AT_enum_class)) {
			walk_children(w, &die, depth);
		} else if (dwarf_hasattr(&die, DW_AT_specification)) {
			walk_outside(w, &die);
		} else {
			w->scopes[depth] = str_from(dwsrc_name(&die));
			walk_children(w, &die, depth + 1);
		}
	}
}

bool dwfind_unit(struct dwsrc *src, Dwarf_Die *unit, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	struct walk w = {.src = src, .kinds = kinds, .fn = fn, .ctx = ctx};
	walk_children(&w, unit, 0);
	return !w.stopped;
}

void dwfind_walk(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	struct dwunit u = {0};
	while (dwsrc_next_unit(src, &u))
		if (!dwfind_unit(src, &u.die, kinds, fn, ctx))
			return;
}

struct filter {
	const struct dwquery *q;
	dwfind_fn *fn;
	void *ctx;
};

static bool filter_hit(void *ctx, const struct dwhit *hit)
{
	struct filter *f = ctx;
	return !dwquery_fits(f->q, hit) || f->fn(f->ctx, hit);
}

// --- many questions: an index of names, made by one walk

/** Making the index costs about as much as this many searches. */
enum { WALKS_BEFORE_INDEX = 3, SCANS_BEFORE_INDEX = 40 };

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
	const struct chain *c = map_get(&ix->names, index_key(q->name.parts[q->name.n_parts - 1]));
	for (const struct entry *e = c ? c->first : NULL; e; e = e->next)
		if (e->hit.kind & q->name.kinds && dwquery_fits(q, &e->hit) && !fn(ctx, &e->hit))
			return;
}

void dwfind(struct dwsrc *src, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	struct filter f = {q, fn, ctx};
	struct index *ix = src->index;
	if (!ix && src->n_walks < WALKS_BEFORE_INDEX && src->n_scans < SCANS_BEFORE_INDEX) {
		struct dwscan *scan = dwscan_open(src);
		src->n_scans++;
		if (scan && dwscan_find(scan, q, fn, ctx))
			return;
		src->n_walks++;
		if (q->in_body)
			*q->in_body = true;
		dwfind_walk(src, q->name.kinds, filter_hit, &f);
		return;
	}
	// Enumerators are most of the names and seldom asked for: they join when they are.
	unsigned kinds = NAME_TYPES | (q->name.kinds & NAME_ENUMERATOR);
	if (!ix || kinds & ~ix->kinds) {
		src->index = ix = arena_new(src->arena, struct index);
		ix->src = src;
		ix->kinds = kinds;
		dwfind_walk(src, kinds, add_entry, ix);
	}
	if (q->in_body)
		*q->in_body = true; // who knows
	find_in_index(ix, q, fn, ctx);
}

void dwfind_names(struct dwsrc *src, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	struct dwscan *scan = dwscan_open(src);
	if (!scan || !dwscan_names(scan, kinds, fn, ctx))
		dwfind_walk(src, kinds, fn, ctx);
}

/** A common name comes once for each unit, at one place in .debug_str: those seen last are not compared again. */
enum { N_SEEN = 4096 };

struct near {
	const char *seen[N_SEEN];
	struct dwsrc *src;
	struct str wanted;
	struct str best;
	unsigned distance;
};

static bool near_hit(void *ctx, const struct dwhit *hit)
{
	struct near *n = ctx;
	const char **seen = &n->seen[((uintptr_t)hit->name.p * 0x9e3779b1u >> 8) % N_SEEN];
	if (*seen == hit->name.p)
		return true;
	*seen = hit->is_decl ? NULL : hit->name.p;
	if (!hit->is_decl && str_is_nearer(n->wanted, hit->name, &n->distance))
		n->best = dwhit_name(n->src->arena, hit);
	return n->distance > 0;
}

static bool take_name(void *ctx, const struct dwhit *hit)
{
	struct near *n = ctx;
	if (!hit->is_decl)
		n->best = dwhit_name(n->src->arena, hit);
	return hit->is_decl;
}

enum { MAX_TRIED = 3, TRIED_BYTES = 16 << 20 };

/** Strings that are near to the name, the nearest first. */
struct tried {
	struct str v[MAX_TRIED + 1];
	unsigned n;
};

static void try_string(struct near *n, struct str s, struct tried *t)
{
	if (!str_is_nearer(n->wanted, s, &n->distance))
		return;
	memmove(t->v + 1, t->v, t->n * sizeof(*t->v));
	t->v[0] = s;
	t->n += t->n < MAX_TRIED;
}

/**
 * Tries @s and what follows each _ in it: linkers keep a string that another one ends in only there. @missing is how
 * often each letter occurs in the wanted name: going back from the end, `edits` is how many letters are too few or too
 * many, of which one edit mends two. That leaves next to nothing to be tried.
 */
static void try_ends(struct near *n, struct str s, const int8_t missing[32], struct tried *t)
{
	size_t limit = str_near_limit(n->wanted, n->distance), edits = n->wanted.n;
	int8_t left[32];
	if (s.n + limit < n->wanted.n)
		return;
	memcpy(left, missing, sizeof(left));
	for (size_t i = s.n; i-- > 0 && s.n - i <= n->wanted.n + limit;) {
		edits += left[s.p[i] & 31]-- > 0 ? (size_t)-1 : 1;
		if (edits <= 2 * limit && (i == 0 || s.p[i - 1] == '_'))
			try_string(n, str_from_offset(s, i), t);
	}
}

/**
 * Without a walk: the nearest strings that the file has, tried one after the other as names of types, in a part
 * of the units: a guess need not be the best.
 */
static struct str nearest_string(struct near *n, const struct dwquery *q)
{
	struct tried t = {.n = 0};
	struct dwscan *scan = dwscan_open(n->src);
	struct str s;
	int8_t missing[32] = {0};
	if (n->wanted.n > INT8_MAX / 2)
		return (struct str){0}; // nobody mistypes those
	for (size_t i = 0; i < n->wanted.n; i++)
		missing[n->wanted.p[i] & 31]++;
	for (uint64_t at = 0; dwscan_next_string(scan, &at, &s);)
		try_ends(n, s, missing, &t);
	for (unsigned i = 0; i < t.n && !n->best.n; i++) {
		struct dwquery one;
		if (dwquery_parse(t.v[i], q->name.kinds, &one))
			dwscan_try(scan, &one, TRIED_BYTES, take_name, n);
	}
	return n->best;
}

bool dwfind_is_large(struct dwsrc *src)
{
	struct dwscan *scan = dwscan_open(src);
	return scan && dwscan_is_large(scan);
}

struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q)
{
	struct near n = {
	    .src = src, .wanted = q->name.parts[q->name.n_parts - 1], .distance = UINT32_MAX};
	if (dwfind_is_large(src))
		return nearest_string(&n, q);
	dwfind_names(src, q->name.kinds, near_hit, &n);
	return n.best;
}
