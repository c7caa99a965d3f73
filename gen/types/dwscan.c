#include "types/dwscan.h"

#include <dwarf.h>
#include <string.h>

#include "types/dwabbrev.h"
#include "types/dwneedle.h"

struct dwscan {
	struct dwunits u;
	struct dwabbrevs abbrevs;
};

struct dwscan *dwscan_open(struct dwsrc *src)
{
	if (src->scan || src->no_scan)
		return src->scan;
	struct dwscan *s = arena_new(src->arena, struct dwscan);
	s->abbrevs.arena = src->arena;
	src->no_scan = !dwunits_open(src, &s->u);
	if (!src->no_scan)
		src->scan = s;
	return src->scan;
}

struct scan_walk {
	struct dwscan *s;
	const struct dwquery *q; /**< NULL: every name is wanted, without its DIE */
	unsigned kinds;
	struct str wanted;	/**< last part of the name */
	VEC(struct dwhit) hits; /**< of the unit that is read */
	struct dwheader h;
	const uint8_t *unit, *p, *end;
	uint64_t str_base; /**< DW_AT_str_offsets_base, or after its header */
	struct str scopes[DWSRC_MAX_DEPTH];
	dwfind_fn *fn; /**< for every name, when there is no query */
	void *ctx;
	bool has_stopped;
	bool has_failed; /**< damage, or something that it does not know */
	bool is_c;	 /**< no types inside of types in this language */
};

struct die {
	const struct dwabbrev *ab;
	uint64_t off; /**< in .debug_info */
	bool is_decl;
	unsigned name_form; /**< 0: none */
	uint64_t name_at;   /**< value of the form, or place in .debug_info for an inline one */
	const uint8_t *sibling;
};

static uint64_t get_uleb(struct scan_walk *w)
{
	uint64_t v = 0;
	for (unsigned shift = 0; w->p < w->end; shift += 7) {
		uint8_t b = *w->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	w->has_failed = true;
	return 0;
}

static uint64_t get_uint(struct scan_walk *w, unsigned size)
{
	if ((size_t)(w->end - w->p) < size) {
		w->has_failed = true;
		return 0;
	}
	uint64_t v = 0;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)w->p[i] << 8 * (w->s->u.big ? size - 1 - i : i);
	w->p += size;
	return v;
}

static void skip(struct scan_walk *w, uint64_t n)
{
	if ((uint64_t)(w->end - w->p) < n)
		w->has_failed = true;
	else
		w->p += n;
}

static void skip_string(struct scan_walk *w)
{
	const uint8_t *nul = memchr(w->p, 0, (size_t)(w->end - w->p));
	if (!nul)
		w->has_failed = true;
	else
		w->p = nul + 1;
}

static void read_name(struct scan_walk *w, unsigned form, struct die *d)
{
	d->name_form = form;
	switch (form) {
	case DW_FORM_string:
		d->name_at = (uint64_t)(w->p - (const uint8_t *)w->s->u.info.p);
		skip_string(w);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		d->name_at = get_uint(w, w->h.off_size);
		break;
	case DW_FORM_strx:
		d->name_at = get_uleb(w);
		break;
	default: // strx1 to strx4
		d->name_at = get_uint(w, form - DW_FORM_strx1 + 1);
	}
}

static void run_step(struct scan_walk *w, const struct dwstep *step, struct die *d)
{
	switch (step->op) {
	case DWOP_SKIP:
		skip(w, step->n);
		break;
	case DWOP_LEB:
		get_uleb(w);
		break;
	case DWOP_STRING:
		skip_string(w);
		break;
	case DWOP_BLOCK1:
		skip(w, get_uint(w, 1));
		break;
	case DWOP_BLOCK2:
		skip(w, get_uint(w, 2));
		break;
	case DWOP_BLOCK4:
		skip(w, get_uint(w, 4));
		break;
	case DWOP_BLOCK:
		skip(w, get_uleb(w));
		break;
	case DWOP_NAME:
		read_name(w, step->n, d);
		break;
	case DWOP_SIBLING: {
		uint64_t to = step->n ? get_uint(w, step->n) : get_uleb(w);
		// Only forward and inside of the unit: anything else is damage, which libdw may describe.
		if (to > (uint64_t)(w->end - w->unit) || w->unit + to <= w->p)
			w->has_failed = true;
		else
			d->sibling = w->unit + to;
		break;
	}
	case DWOP_DECL:
		d->is_decl |= get_uint(w, 1) != 0;
		break;
	default:
		break;
	}
}

/** The next DIE at w->p; false at the end of a list of siblings, and on damage. */
static bool next_die(struct scan_walk *w, struct die *d)
{
	d->off = (uint64_t)(w->p - (const uint8_t *)w->s->u.info.p);
	uint64_t code = w->p < w->end ? get_uleb(w) : 0;
	if (!code || w->has_failed)
		return false;
	const struct dwabbrevs *t = &w->s->abbrevs;
	if (code >= t->by_code.n || !t->by_code.v[code].is_known) {
		w->has_failed = true;
		return false;
	}
	const struct dwabbrev *ab = &t->by_code.v[code];
	d->ab = ab;
	d->is_decl = ab->is_decl;
	d->name_form = 0;
	d->sibling = NULL;
	const struct dwstep *step = &t->steps.v[ab->first], *last = step + ab->n;
	for (; step < last; step++)
		run_step(w, step, d);
	return !w->has_failed;
}

static void skip_children(struct scan_walk *w, const struct die *d)
{
	if (!d->ab->has_children)
		return;
	if (d->sibling) {
		w->p = d->sibling;
		return;
	}
	for (uint64_t depth = 1; depth;) {
		struct die child;
		if (next_die(w, &child)) {
			if (child.sibling && child.ab->has_children)
				w->p = child.sibling;
			else
				depth += child.ab->has_children;
		} else if (w->has_failed || w->p >= w->end) {
			return;
		} else {
			depth--;
		}
	}
}

static struct str string_at(struct str section, uint64_t off)
{
	if (off >= section.n)
		return (struct str){0};
	size_t n = section.n - off;
	const char *nul = memchr(section.p + off, 0, n);
	return (struct str){section.p + off, nul ? (size_t)(nul - section.p - off) : 0};
}

static struct str name_of(struct scan_walk *w, const struct die *d)
{
	switch (d->name_form) {
	case 0:
		return (struct str){0};
	case DW_FORM_string:
		return string_at(w->s->u.info, d->name_at);
	case DW_FORM_strp:
		return string_at(w->s->u.str, d->name_at);
	case DW_FORM_line_strp:
		return string_at(w->s->u.line_str, d->name_at);
	default: {
		uint64_t at;
		struct str table = w->s->u.str_offsets;
		if (__builtin_mul_overflow(d->name_at, w->h.off_size, &at) ||
		    __builtin_add_overflow(at, w->str_base, &at) || at >= table.n ||
		    table.n - at < w->h.off_size) {
			w->has_failed = true;
			return (struct str){0};
		}
		struct reader r;
		reader_init(&r, table.p + at, w->h.off_size, w->s->u.big);
		return string_at(w->s->u.str, reader_uint(&r, w->h.off_size));
	}
	}
}

/** Equal to the wanted name; exact, as the needle is. */
static bool has_name(struct scan_walk *w, const struct die *d)
{
	const struct str *section = NULL;
	if (d->name_form == DW_FORM_strp)
		section = &w->s->u.str;
	else if (d->name_form == DW_FORM_string)
		section = &w->s->u.info;
	else
		return str_eq(name_of(w, d), w->wanted);
	// Most names differ in their first bytes: no strlen.
	size_t n = w->wanted.n;
	return d->name_at < section->n && section->n - d->name_at > n &&
	       memcmp(section->p + d->name_at, w->wanted.p, n) == 0 &&
	       section->p[d->name_at + n] == '\0';
}

/** Name of a scope; what has none of its own may have one elsewhere. */
static struct str scope_name(struct scan_walk *w, const struct die *d, Dwarf_Die *die)
{
	if (d->name_form || (!d->ab->has_spec && !d->ab->has_signature))
		return name_of(w, d);
	return str_from(dwarf_offdie(w->s->u.src->dbg, d->off, die) ? dwsrc_name(die) : NULL);
}

/** Keeps a hit until the unit is done: a unit that turns out to be beyond us is walked with libdw instead. */
static void keep(struct scan_walk *w, const struct die *d, uint64_t owner, unsigned kind,
		 unsigned depth)
{
	struct arena *a = w->s->u.src->arena;
	Dwarf *dbg = w->s->u.src->dbg;
	bool elsewhere = d->ab->has_spec || (!d->name_form && d->ab->has_signature);
	struct dwhit hit = {
	    .kind = kind, .name = w->wanted, .n_scopes = depth, .scopes = w->scopes};
	hit.is_decl = d->is_decl || d->ab->has_signature;
	struct str outer[DWSRC_MAX_DEPTH];
	if ((w->q || elsewhere) && (!dwarf_offdie(dbg, d->off, &hit.die) ||
				    (owner && !dwarf_offdie(dbg, owner, &hit.owner)))) {
		w->has_failed = true;
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
		hit.name = name_of(w, d);
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
static void scan_outside(struct scan_walk *w, const struct die *d)
{
	struct str saved[DWSRC_MAX_DEPTH];
	Dwarf_Die die;
	memcpy(saved, w->scopes, sizeof(saved));
	struct str name = scope_name(w, d, &die);
	unsigned depth = dwarf_offdie(w->s->u.src->dbg, d->off, &die)
			     ? dwquery_outer_scopes(&die, w->scopes)
			     : 0;
	w->scopes[depth] = name;
	scan_children(w, 0, depth + 1);
	memcpy(w->scopes, saved, sizeof(saved));
}

static void scan_inside(struct scan_walk *w, const struct die *d, unsigned depth)
{
	Dwarf_Die die;
	bool room = depth + 1 < DWSRC_MAX_DEPTH;
	if (d->ab->tag == DW_TAG_enumeration_type && w->kinds & DWFIND_ENUMERATOR && room) {
		bool scoped = d->ab->has_enum_class;
		if (scoped)
			w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, d->off, depth + scoped);
	} else if (!dwquery_is_scope(d->ab->tag) || !room ||
		   (w->is_c && d->ab->tag != DW_TAG_namespace)) {
		skip_children(w, d);
	} else if (d->ab->has_spec) {
		scan_outside(w, d);
	} else {
		w->scopes[depth] = scope_name(w, d, &die);
		scan_children(w, 0, depth + 1);
	}
}

static void scan_children(struct scan_walk *w, uint64_t owner, unsigned depth)
{
	struct die d;
	while (next_die(w, &d)) {
		unsigned kind = dwquery_kind_of_tag(d.ab->tag);
		bool elsewhere = !d.name_form && (d.ab->has_spec || d.ab->has_signature);
		if (kind == DWFIND_ENUMERATOR && !owner)
			continue; // damage: outside of any enum
		if (kind & w->kinds && (!w->q || elsewhere || has_name(w, &d)))
			keep(w, &d, owner, kind, depth);
		if (d.ab->has_children)
			scan_inside(w, &d, depth);
		if (w->has_failed || w->has_stopped)
			return;
	}
}

/** One unit: its hits are in w->hits, or has_failed is set. */
static void scan_unit(struct scan_walk *w, const struct dwunit_span *u)
{
	struct dwscan *s = w->s;
	struct reader r;
	reader_init(&r, s->u.info.p + u->off, u->end - u->off, s->u.big);
	w->hits.n = 0;
	w->has_failed = !dwunits_read_header(&r, &w->h) ||
			!dwabbrevs_compile(&s->abbrevs, s->u.abbrev, s->u.big, w->h.abbrev_off,
					   w->h.version, w->h.addr_size, w->h.off_size);
	if (w->has_failed)
		return;
	w->unit = (const uint8_t *)s->u.info.p + u->off;
	w->p = r.p;
	w->end = (const uint8_t *)s->u.info.p + u->end;
	Dwarf_Die top;
	Dwarf_Attribute at;
	Dwarf_Word base;
	struct die d;
	if (!dwarf_offdie(s->u.src->dbg, (uint64_t)(w->p - (const uint8_t *)s->u.info.p), &top)) {
		w->has_failed = true;
		return;
	}
	// The table's header is as long as a unit's length, a version and padding.
	w->str_base = 2 * w->h.off_size;
	if (dwarf_attr(&top, DW_AT_str_offsets_base, &at) && dwarf_formudata(&at, &base) == 0)
		w->str_base = base;
	w->is_c = dwsrc_is_c(&top);
	if (next_die(w, &d) && d.ab->has_children)
		scan_children(w, 0, 0);
}

/** A unit that the scanner cannot read, with libdw. */
static bool walk_unit(struct dwscan *s, const struct dwunit_span *u, unsigned kinds, dwfind_fn *fn,
		      void *ctx)
{
	Dwarf_Die top;
	struct reader r;
	struct dwheader h;
	reader_init(&r, s->u.info.p + u->off, u->end - u->off, s->u.big);
	return !dwunits_read_header(&r, &h) ||
	       !dwarf_offdie(s->u.src->dbg, u->off + reader_offset(&r), &top) ||
	       dwfind_unit(s->u.src, &top, kinds, fn, ctx);
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

bool dwscan_find(struct dwscan *s, const struct dwquery *q, dwfind_fn *fn, void *ctx)
{
	struct scan_walk w = {
	    .s = s, .q = q, .kinds = q->kinds, .wanted = q->parts[q->n_parts - 1]};
	struct refit f = {q, fn, ctx};
	bool any = false;
	dwneedle_mark(&s->u, w.wanted);
	for (size_t i = 0; i < s->u.units.n; i++) {
		const struct dwunit_span *u = &s->u.units.v[i];
		if (!u->is_candidate)
			continue;
		scan_unit(&w, u);
		if (w.has_failed) {
			if (!walk_unit(s, u, q->kinds, refit_hit, &f))
				return true;
			any = true;
			continue;
		}
		for (size_t k = 0; k < w.hits.n; k++)
			if (!fn(ctx, &w.hits.v[k]))
				return true;
		any |= w.hits.n > 0;
	}
	// Template arguments may be spaced otherwise than they were asked for: that takes a walk.
	return any || !memchr(w.wanted.p, '<', w.wanted.n);
}

void dwscan_names(struct dwscan *s, unsigned kinds, dwfind_fn *fn, void *ctx)
{
	struct scan_walk w = {.s = s, .kinds = kinds, .fn = fn, .ctx = ctx};
	for (size_t i = 0; i < s->u.units.n && !w.has_stopped; i++) {
		scan_unit(&w, &s->u.units.v[i]);
		if (w.has_failed && !walk_unit(s, &s->u.units.v[i], kinds, fn, ctx))
			return;
	}
}
