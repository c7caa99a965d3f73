#include "dwarf/dwfind.h"

#include "dwarf/dwfilter.h"

// --- An index of all names, made by one walk

struct dwnames {
	struct map by_name; /**< last part of the name, cut at < -> struct hits */
	unsigned kinds;	    /**< what is in it */
	struct arena *arena;
};

/** In the order of the file. */
struct hits {
	VEC(struct dwhit) all;
};

/** Template arguments may be spaced differently, so that the index is by the name before them. */
static struct str index_key(struct str name)
{
	return str_slice(name, 0, str_find(name, '<'));
}

static bool add_entry(void *ctx, const struct dwhit *hit)
{
	struct dwnames *names = ctx;
	struct arena *a = names->arena;
	struct hits *hits = map_get(&names->by_name, index_key(hit->name));
	if (!hits) {
		hits = arena_new(a, struct hits);
		map_put(a, &names->by_name, index_key(hit->name), hits);
	}
	vec_push(a, &hits->all, *hit);
	hits->all.v[hits->all.n - 1].scopes = dwhit_copy_scopes(a, hit);
	return true;
}

static void find_in_names(struct dwsrc *src, const struct dwquery *q, dwname_fn *fn, void *ctx)
{
	// Enumerators are most of the names and seldom asked for: they join when they are.
	unsigned kinds = NAME_TYPES | (q->name.kinds & NAME_ENUMERATOR);
	if (!src->names || kinds & ~src->names->kinds) {
		src->names = arena_new(src->arena, struct dwnames);
		src->names->arena = src->arena;
		src->names->kinds = kinds;
		dwname_walk(src, kinds, add_entry, src->names);
	}
	struct str key = index_key(q->name.parts[q->name.n_parts - 1]);
	const struct hits *hits = map_get(&src->names->by_name, key);
	for (size_t i = 0; hits && i < hits->all.n; i++) {
		const struct dwhit *hit = &hits->all.v[i];
		if (hit->kind & q->name.kinds && dwquery_fits(q, hit) && !fn(ctx, hit))
			return;
	}
}

void dwfind(struct dwsrc *src, const struct dwquery *q, dwname_fn *fn, void *ctx)
{
	if (dwfilter_find(src, q, UINT64_MAX, fn, ctx))
		return;
	if (q->in_body)
		*q->in_body = true; // who knows
	if (dwfilter_is_large(src))
		dwname_walk(src, q->name.kinds, dwname_filter,
			    &(struct dwname_filter){.q = q, .fn = fn, .ctx = ctx});
	else
		find_in_names(src, q, fn, ctx);
}

// --- The nearest name, for one that is not there

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

/**
 * Without reading DIEs: the nearest strings that the file has, tried one after the other as names
 * of types, in a part of the units. A guess need not be the best one, and nobody mistypes a first
 * letter. Of a string, what follows each _ is tried, too: linkers keep a string that another one
 * ends in only there.
 */
static struct str nearest_string(struct near *n, unsigned kinds)
{
	enum { MAX_TRIED = 4, TRIED_BYTES = 16 << 20, MAX_EDITS = 6 };
	struct str tried[MAX_TRIED + 1], all = dwfilter_strings(n->src);
	// str_is_nearer() never allows more edits, so that this much of a longer string is refused.
	size_t longest = n->wanted.n + MAX_EDITS + 1;
	unsigned n_tried = 0;
	bool is_start = true;
	for (size_t i = 0; i < all.n; i++) {
		bool is_candidate = is_start && all.p[i] == n->wanted.p[0];
		is_start = all.p[i] == '\0' || all.p[i] == '_';
		if (!is_candidate)
			continue;
		size_t most = all.n - i < longest ? all.n - i : longest;
		struct str s = {all.p + i, strnlen(all.p + i, most)};
		unsigned as_near = n->distance + 1;
		if (str_eq(s, n->wanted) || (n_tried && str_eq(s, tried[0])) ||
		    !str_is_nearer(n->wanted, s, &as_near))
			continue;
		n->distance = as_near;
		memmove(tried + 1, tried, n_tried * sizeof(*tried));
		tried[0] = s;
		n_tried += n_tried < MAX_TRIED;
	}
	for (unsigned i = 0; i < n_tried; i++) {
		struct near one = {.src = n->src, .wanted = tried[i], .distance = 1};
		struct dwquery q;
		if (!dwquery_parse(tried[i], kinds, &q))
			continue;
		if (n->src->names)
			find_in_names(n->src, &q, near_hit, &one);
		else
			dwfilter_find(n->src, &q, TRIED_BYTES, near_hit, &one);
		if (one.best.n)
			return one.best;
	}
	return (struct str){0};
}

struct str dwfind_nearest(struct dwsrc *src, const struct dwquery *q)
{
	enum { MUCH = 1 << 20 }; // bytes whose types all to look at takes 3 ms
	struct near n = {
	    .src = src, .wanted = q->name.parts[q->name.n_parts - 1], .distance = UINT32_MAX - 1};
	if (dwfilter_is_large(src) || dwfilter_size(src) >= MUCH)
		return nearest_string(&n, q->name.kinds);
	dwname_walk(src, q->name.kinds, near_hit, &n);
	return n.best;
}
