#include "dwarf/dwscan.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/dwdie.h"
#include "dwarf/dwjump.h"
#include "dwarf/dwnameat.h"
#include "dwarf/dwneedle.h"

/** Bytes of .debug_info that take some 50 ms to read. */
enum { LARGE = 64 << 20 };

struct dwscan {
	struct dwunits u;
	bool is_busy; /**< a search is under way: its marks must stay */
};

struct dwscan *dwscan_open(struct dwsrc *src)
{
	if (src->scan || src->no_scan)
		return src->scan;
	struct dwscan *s = arena_new(src->arena, struct dwscan);
	src->no_scan = !dwunits_open(src, &s->u);
	if (!src->no_scan)
		src->scan = s;
	return src->scan;
}

void dwscan_close(struct dwscan *s)
{
	if (s)
		dwunits_close(&s->u);
}

/** Every unit is known and of a kind that it handles; if not, from now on it is for libdw. */
static bool has_all(struct dwscan *s)
{
	struct dwsrc *src = s->u.src;
	if (dwunits_list_all(&s->u))
		return true;
	dwscan_close(s);
	src->scan = NULL;
	src->no_scan = true;
	return false;
}

/** Of names at the top of units most come again and again, from one place in .debug_str: so many are remembered. */
enum { N_SEEN = 8192 };

struct scan_walk {
	struct dwreader r;
	const struct dwquery *q; /**< NULL: every name is wanted, without its DIE */
	unsigned kinds;
	struct str wanted;	/**< last part of the name */
	VEC(struct dwhit) hits; /**< of the unit that is read */
	unsigned n_defs;	/**< definitions of that name that were met in it */
	struct str scopes[DWSRC_MAX_DEPTH];
	dwfind_fn *fn; /**< for every name, when there is no query */
	void *ctx;
	uint64_t *seen; /**< N_SEEN of them, likewise */
	bool has_stopped;
};

/** libdw's handle of the DIE at @off of the unit that is read. */
static bool find_die(struct scan_walk *w, uint64_t off, Dwarf_Die *ret)
{
	struct dwunits *u = w->r.u;
	if (!w->r.abbrevs.refers_out && dwjump_die(u, w->r.span, off, ret))
		return true;
	dwunits_prepare(u, off);
	return dwarf_offdie(u->src->dbg, off, ret) != NULL;
}

/** Name of a scope; what has none of its own may have one elsewhere. */
static struct str scope_name(struct scan_walk *w, const struct dwdie *d, Dwarf_Die *die)
{
	if (d->name_form || (!d->ab->has_spec && !d->ab->has_signature))
		return dwdie_name(&w->r, d);
	return str_from(find_die(w, d->off, die) ? dwsrc_name(die) : NULL);
}

/** This name of this kind was met already, and not long ago. */
static bool is_seen(struct scan_walk *w, uint64_t name_at, unsigned kind, bool is_decl)
{
	uint64_t key = (name_at << 8 | kind) << 1 | is_decl;
	uint64_t *seen = &w->seen[(key * 0x9e3779b97f4a7c15u >> 40) % N_SEEN];
	if (*seen == key)
		return true;
	*seen = key;
	return false;
}

/** Keeps a hit until the unit is done: a unit that turns out to be beyond us is walked with libdw instead. */
static void keep(struct scan_walk *w, const struct dwdie *d, uint64_t owner, unsigned kind,
		 unsigned depth)
{
	struct arena *a = w->r.u->src->arena;
	bool elsewhere = d->ab->has_spec || (!d->name_form && d->ab->has_signature);
	struct dwhit hit = {
	    .kind = kind, .name = w->wanted, .n_scopes = depth, .scopes = w->scopes};
	hit.is_decl = d->is_decl || d->ab->has_signature;
	if (w->seen && !depth && !elsewhere && d->name_form == DW_FORM_strp &&
	    is_seen(w, d->name_at, kind, hit.is_decl))
		return;
	struct str outer[DWSRC_MAX_DEPTH];
	if ((w->q || elsewhere) &&
	    (!find_die(w, d->off, &hit.die) || (owner && !find_die(w, owner, &hit.owner)))) {
		w->r.has_failed = true;
		return;
	}
	if (elsewhere) {
		const char *name = dwsrc_name(&hit.die);
		if (!name || (w->q && !str_eqz(w->wanted, name)))
			return;
		hit.name = str_from(name);
		if (d->ab->has_spec) {
			hit.n_scopes = dwquery_outer_scopes(&hit.die, outer);
			hit.scopes = outer;
		}
	} else if (!w->q) {
		hit.name = dwdie_name(&w->r, d);
	}
	if (w->q ? !dwquery_fits(w->q, &hit) : !hit.name.n)
		return;
	if (!w->q) {
		w->has_stopped = !w->fn(w->ctx, &hit);
		return;
	}
	struct str *copy = arena_array(a, struct str, hit.n_scopes);
	if (hit.n_scopes)
		memcpy(copy, hit.scopes, hit.n_scopes * sizeof(*copy));
	hit.scopes = copy;
	vec_push(a, &w->hits, hit);
}

static void scan_children(struct scan_walk *w, uint64_t owner, unsigned depth);

/** A scope that completes a declaration: its inside belongs to the scopes of that. */
static void scan_outside(struct scan_walk *w, const struct dwdie *d)
{
	struct str saved[DWSRC_MAX_DEPTH];
	Dwarf_Die die;
	memcpy(saved, w->scopes, sizeof(saved));
	struct str name = scope_name(w, d, &die);
	unsigned depth = find_die(w, d->off, &die) ? dwquery_outer_scopes(&die, w->scopes) : 0;
	w->scopes[depth] = name;
	scan_children(w, 0, depth + 1);
	memcpy(w->scopes, saved, sizeof(saved));
}

static void scan_inside(struct scan_walk *w, const struct dwdie *d, unsigned depth)
{
	Dwarf_Die die;
	bool room = depth + 1 < DWSRC_MAX_DEPTH;
	if (d->ab->tag == DW_TAG_enumeration_type && w->kinds & NAME_ENUMERATOR && room) {
		bool scoped = d->ab->has_enum_class;
		if (scoped)
			w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, d->off, depth + scoped);
	} else if (!dwquery_is_scope(d->ab->tag) || !room ||
		   (w->r.is_c && d->ab->tag != DW_TAG_namespace)) {
		dwdie_skip_children(&w->r, d);
	} else if (d->ab->has_spec) {
		scan_outside(w, d);
	} else {
		w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, 0, depth + 1);
	}
}

static void scan_children(struct scan_walk *w, uint64_t owner, unsigned depth)
{
	struct dwdie d;
	while (dwdie_next(&w->r, &d)) {
		unsigned kind = dwquery_kind_of_tag(d.ab->tag);
		bool elsewhere = !d.name_form && (d.ab->has_spec || d.ab->has_signature);
		if (kind == NAME_ENUMERATOR && !owner)
			continue; // damage: outside of any enum
		bool is_named = w->q && kind & w->kinds && dwdie_has_name(&w->r, &d, w->wanted);
		w->n_defs += is_named && !d.ab->is_decl;
		if (kind & w->kinds && (!w->q || elsewhere || is_named))
			keep(w, &d, owner, kind, depth);
		if (d.ab->has_children)
			scan_inside(w, &d, depth);
		if (w->r.has_failed || w->has_stopped)
			return;
	}
}

/** One unit: its hits are in w->hits, or has_failed is set. */
static void scan_unit(struct scan_walk *w, const struct dwunit_span *span)
{
	struct dwdie top;
	w->hits.n = w->n_defs = 0;
	if (dwdie_begin(&w->r, span, &top) && top.ab->has_children)
		scan_children(w, 0, 0);
}

/** A unit that the scanner cannot read, with libdw. */
static bool walk_unit(struct dwunits *s, const struct dwunit_span *u, unsigned kinds, dwfind_fn *fn,
		      void *ctx)
{
	Dwarf_Die top;
	struct reader r;
	struct dwheader h;
	reader_init(&r, s->info.p + u->off, u->end - u->off, s->big);
	return !dwunits_read_header(&r, &h) ||
	       !dwarf_offdie(s->src->dbg, u->off + reader_offset(&r), &top) ||
	       dwfind_unit(s->src, &top, kinds, fn, ctx);
}

struct refit {
	const struct dwquery *q;
	dwfind_fn *fn;
	void *ctx;
};

static bool refit_hit(void *ctx, const struct dwhit *hit)
{
	struct refit *f = ctx;
	return !dwquery_fits(f->q, hit) || f->fn(f->ctx, hit);
}

/** More definitions seem to have the name than were met where types are looked for. */
static bool has_more(const struct scan_walk *w, const struct dwunit_span *u)
{
	unsigned n = 0;
	for (unsigned k = 0; k < NAME_N_KINDS; k++) {
		if (w->kinds & 1u << k)
			n += u->n_defs[k];
		if (w->kinds & 1u << k && u->n_defs[k] == UINT8_MAX)
			return true;
	}
	return w->r.has_failed || n > w->n_defs;
}

/** So it is: the others are in functions. Some bytes only look like a type's. */
static bool has_inner(struct scan_walk *w, const struct dwunit_span *u)
{
	struct dwdie d;
	unsigned n = 0, depth = 1;
	bool had_failed = w->r.has_failed;
	if (!dwdie_begin(&w->r, u, &d) || !d.ab->has_children)
		depth = 0;
	while (depth && !w->r.has_failed) {
		if (!dwdie_next(&w->r, &d)) {
			depth--;
			continue;
		}
		n += dwquery_kind_of_tag(d.ab->tag) & w->kinds && !d.ab->is_decl &&
		     dwdie_has_name(&w->r, &d, w->wanted);
		depth += d.ab->has_children;
	}
	bool has = w->r.has_failed || had_failed || n > w->n_defs;
	w->r.has_failed = had_failed;
	return has;
}

static bool find(struct scan_walk *w, uint64_t most, dwfind_fn *fn, void *ctx)
{
	struct dwunits *u = w->r.u;
	struct refit f = {w->q, fn, ctx};
	bool any = false, *in_body = w->q->in_body;
	unsigned kinds = w->q->no_decls ? w->q->name.kinds << DWNAMEAT_DEFINES : w->q->name.kinds;
	dwneedle_begin(u, w->wanted, most);
	for (size_t i = 0; u->units.n == i || u->units.v[i].off < most; i++) {
		if (!dwneedle_mark(u, i))
			break;
		if (!(u->units.v[i].kinds & kinds))
			continue;
		scan_unit(w, &u->units.v[i]);
		if (in_body && !*in_body && has_more(w, &u->units.v[i]))
			*in_body = has_inner(w, &u->units.v[i]);
		// From here on there is no way back.
		if ((w->r.has_failed || w->hits.n) && !dwunits_list_all(u))
			return false;
		if (w->r.has_failed) {
			if (!walk_unit(u, &u->units.v[i], w->q->name.kinds, refit_hit, &f))
				return true;
			any = true;
			continue;
		}
		for (size_t k = 0; k < w->hits.n; k++)
			if (!fn(ctx, &w->hits.v[k])) {
				if (in_body)
					*in_body = true; // the rest is not looked at
				return true;
			}
		any |= w->hits.n > 0;
	}
	// Template arguments may be spaced otherwise than they were asked for: that takes a walk.
	return !u->is_refused && (any || !memchr(w->wanted.p, '<', w->wanted.n));
}

static bool find_in(struct dwscan *s, const struct dwquery *q, uint64_t most, dwfind_fn *fn,
		    void *ctx)
{
	// @fn may ask for another name: that is for libdw then.
	if (s->is_busy)
		return false;
	s->is_busy = true;
	struct scan_walk w = {.r.u = &s->u,
			      .r.abbrevs.arena = s->u.src->arena,
			      .q = q,
			      .kinds = q->name.kinds,
			      .wanted = q->name.parts[q->name.n_parts - 1]};
	bool done = find(&w, most, fn, ctx);
	dwdie_fini(&w.r);
	s->is_busy = false;
	return (!s->u.is_refused || has_all(s)) && done;
}

bool dwscan_find(struct dwscan *s, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	return find_in(s, q, UINT64_MAX, fn, ctx);
}

void dwscan_try(struct dwscan *s, const struct dwquery *q, uint64_t most, dwfind_fn *fn, void *ctx)
{
	find_in(s, q, most, fn, ctx);
}

bool dwscan_names(struct dwscan *s, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	if (!has_all(s))
		return false;
	struct scan_walk w = {
	    .r.u = &s->u, .r.abbrevs.arena = s->u.src->arena, .kinds = kinds, .fn = fn, .ctx = ctx};
	w.seen = arena_array(s->u.src->arena, uint64_t, N_SEEN);
	for (size_t i = 0; i < s->u.units.n && !w.has_stopped; i++) {
		scan_unit(&w, &s->u.units.v[i]);
		if (w.r.has_failed && !walk_unit(&s->u, &s->u.units.v[i], kinds, fn, ctx))
			break;
	}
	dwdie_fini(&w.r);
	return true;
}

bool dwscan_is_large(struct dwscan *s)
{
	return has_all(s) && (s->u.info.n >= LARGE || s->u.src->acts_large);
}

bool dwscan_next_string(const struct dwscan *s, uint64_t *at, struct str *ret)
{
	struct str all = s->u.str;
	const char *nul = *at < all.n ? memchr(all.p + *at, 0, all.n - *at) : NULL;
	if (!nul)
		return false;
	*ret = (struct str){all.p + *at, (size_t)(nul - all.p) - *at};
	*at += ret->n + 1;
	return true;
}
