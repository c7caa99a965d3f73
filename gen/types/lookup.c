#include "types/lookup.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include "image/debugfile.h"
#include "types/dwcode.h"
#include "types/dwload.h"
#include "types/kbtf.h"

/**
 * A common header's struct is defined in every unit. The first definitions are compared member by member, those that
 * follow only if their size or their line in the source differs; in the end the rest is believed: the sooner, the
 * more debug information there is, where thousands of units would have to be read for it. A name of which units have types
 * of their own is a rare one: 64 that agree are a header's.
 */
enum { FULLY_COMPARED = 16, MAX_COMPARED = 4096, MAX_COMPARED_LARGE = 64 };

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d)
{
	*lk = (struct lookup){.arena = a, .diag = d};
}

static bool find_elsewhere(void *ctx, struct ctype *decl, struct ctype **ret)
{
	unsigned kind = decl->kind == CTYPE_STRUCT  ? DWFIND_STRUCT
			: decl->kind == CTYPE_UNION ? DWFIND_UNION
						    : DWFIND_ENUM;
	return lookup_type(ctx, decl->name, kind, ret);
}

void lookup_add_image(struct lookup *lk, struct img *img)
{
	vec_push(lk->arena, &lk->images, img);
}

/** Debug information of image @i, opened when it is first needed. */
static bool open_image(struct lookup *lk, size_t i, struct dwsrc **ret)
{
	if (!dwsrc_open(lk->images.v[i], NULL, ret))
		return false;
	dwload_set_elsewhere(*ret, find_elsewhere, lk);
	return true;
}

void lookup_add_btf(struct lookup *lk, struct kbtf *btf)
{
	lk->btf = btf;
}

void lookup_hint(struct lookup *lk, struct img *img, uint64_t addr)
{
	lk->hint = img;
	lk->hint_addr = addr;
}

bool lookup_prefer(struct lookup *lk, struct img *img, uint64_t addr)
{
	// Addresses take the whole handle; offsets of units are the same in both.
	Dwarf_Die unit;
	lk->near = NULL;
	lk->known = (struct map){0};
	lk->warned = (struct map){0};
	if (!dwcode_unit(img, addr, &unit))
		return false;
	lk->near = img;
	lk->near_unit = dwarf_dieoffset(&unit);
	return true;
}

/** The hit is in the unit that lookup_prefer() chose. */
static bool is_near(const struct lookup *lk, const struct dwsrc *src, Dwarf_Die *die)
{
	Dwarf_Die unit;
	return lk->near == src->img && dwarf_diecu(die, &unit, NULL, NULL) &&
	       dwarf_dieoffset(&unit) == lk->near_unit;
}

struct definitions {
	struct lookup *lk;
	struct dwsrc *src;
	struct ctype *first;
	struct ctype *near;  /**< the one in the preferred unit */
	struct ctype *other; /**< one that differs from the first, or NULL */
	uint64_t mark;	     /**< of the first: size and line */
	unsigned n, most;    /**< definitions seen; how many to compare */
};

static uint64_t mark_of(Dwarf_Die *die)
{
	uint64_t mark = 0;
	static const unsigned names[] = {DW_AT_byte_size, DW_AT_decl_line, DW_AT_decl_column};
	for (size_t i = 0; i < 3; i++) {
		Dwarf_Attribute at;
		Dwarf_Word v = 0;
		if (dwarf_attr(die, names[i], &at))
			dwarf_formudata(&at, &v);
		mark = mark * 0x100000001b3u + v;
	}
	return mark;
}

/** The preferred unit's definition may come late; without one, nothing can be learnt once it is known that they differ. */
static bool wants_more(const struct definitions *d)
{
	if (d->lk->near == d->src->img && !d->near)
		return d->n < MAX_COMPARED;
	return d->n < d->most && !d->other;
}

static bool add_definition(void *ctx, const struct dwhit *hit)
{
	struct definitions *d = ctx;
	if (hit->is_decl)
		return true;
	Dwarf_Die die = hit->die;
	uint64_t mark = mark_of(&die);
	if (d->lk->near && !d->near && is_near(d->lk, d->src, &die))
		d->near = dwload_type(d->src, &die);
	if (d->n++ >= FULLY_COMPARED && mark == d->mark)
		return wants_more(d);
	struct ctype *t = dwload_type(d->src, &die);
	if (!d->first) {
		d->first = t;
		d->mark = mark;
		return true;
	}
	if (!d->other && !ctype_is_same(d->first, t))
		d->other = t;
	return wants_more(d);
}

/** All definitions of @q in one image. */
static void find_definitions(struct lookup *lk, struct dwquery *q, const unsigned rounds[2],
			     struct definitions *d)
{
	*d = (struct definitions){.lk = lk, .src = d->src};
	d->most = dwfind_is_large(d->src) ? MAX_COMPARED_LARGE : MAX_COMPARED;
	for (unsigned k = 0; k < 2 && !d->first; k++) {
		q->kinds = rounds[k];
		if (q->kinds)
			dwfind(d->src, q, add_definition, d);
	}
}

/** Several definitions that differ: the one in the hinted unit is meant, else the first is taken and it is said. */
static struct ctype *choose(struct lookup *lk, struct dwquery *q, const unsigned rounds[2],
			    struct definitions *d)
{
	if (d->other && !lk->near && lk->hint == d->src->img) {
		lookup_prefer(lk, lk->hint, lk->hint_addr);
		find_definitions(lk, q, rounds, d);
	}
	if (d->near || !d->other)
		return d->near ? d->near : d->first;
	if (map_add(lk->arena, &lk->warned, d->first->name)) {
		struct diag_place at = {.file = d->src->img->shown};
		diag_warning(lk->diag, &at,
			     "\"" STR_FMT "\" is defined differently in " STR_FMT " and " STR_FMT
			     "; the first is used",
			     STR_ARG(d->first->name), STR_ARG(d->first->unit),
			     STR_ARG(d->other->unit));
	}
	return d->first;
}

bool lookup_type(struct lookup *lk, struct str name, unsigned kinds, struct ctype **ret)
{
	struct dwquery q;
	if (!dwquery_parse(name, kinds, &q))
		return false;
	struct str key = str_from(arena_printf(lk->arena, "%u " STR_FMT, q.kinds, STR_ARG(q.text)));
	*ret = map_get(&lk->known, key);
	if (*ret)
		return true;

	// A tag and a typedef of one name are usually the same type; the tag is tried first.
	unsigned tags = q.kinds & ~(unsigned)(DWFIND_TYPEDEF | DWFIND_BASE);
	unsigned rounds[2] = {tags, q.kinds & ~tags};
	for (size_t i = 0; i < lk->images.n && !*ret; i++) {
		struct definitions d = {.lk = lk};
		if (!open_image(lk, i, &d.src))
			continue;
		find_definitions(lk, &q, rounds, &d);
		*ret = choose(lk, &q, rounds, &d);
	}
	q.kinds = rounds[0] | rounds[1];
	if (!*ret && lk->btf)
		*ret = kbtf_find(lk->btf, &q);
	if (*ret)
		map_put(lk->arena, &lk->known, key, *ret);
	return *ret;
}

struct enumerator {
	struct dwsrc *src;
	struct ctype *of;
	int64_t value;
};

static bool take_enumerator(void *ctx, const struct dwhit *hit)
{
	struct enumerator *e = ctx;
	Dwarf_Die die = hit->die, owner = hit->owner;
	struct ctype *of = dwload_type(e->src, &owner);
	if (!dwload_enumerator_value(&die, of, &e->value))
		return true;
	e->of = of;
	return false;
}

bool lookup_enumerator(struct lookup *lk, struct str name, int64_t *value, struct ctype **of)
{
	struct dwquery q;
	if (!dwquery_parse(name, DWFIND_ENUMERATOR, &q))
		return false;
	for (size_t i = 0; i < lk->images.n; i++) {
		struct enumerator e = {0};
		if (!open_image(lk, i, &e.src))
			continue;
		dwfind(e.src, &q, take_enumerator, &e);
		if (!e.of)
			continue;
		*value = e.value;
		*of = e.of;
		return true;
	}
	return lk->btf && kbtf_find_enumerator(lk->btf, name, value, of);
}

static bool is_decl_hit(void *ctx, const struct dwhit *hit)
{
	*(bool *)ctx |= hit->is_decl;
	return !hit->is_decl;
}

bool lookup_is_declared(struct lookup *lk, struct str name)
{
	struct dwquery q;
	bool found = false;
	if (!dwquery_parse(name, DWFIND_STRUCT | DWFIND_UNION | DWFIND_ENUM, &q))
		return false;
	for (size_t i = 0; i < lk->images.n && !found; i++) {
		struct dwsrc *src;
		if (open_image(lk, i, &src))
			dwfind(src, &q, is_decl_hit, &found);
	}
	return found;
}

struct str lookup_nearest(struct lookup *lk, struct str name, unsigned kinds)
{
	struct dwquery q;
	struct str near = {0};
	if (!dwquery_parse(name, kinds, &q))
		return near;
	for (size_t i = 0; i < lk->images.n && !near.n; i++) {
		struct dwsrc *src;
		if (open_image(lk, i, &src))
			near = dwfind_nearest(src, &q);
	}
	if (!near.n && lk->btf)
		near = kbtf_nearest(lk->btf, &q);
	return near;
}

/** Types of split units: the .dwo files are gone, or joined in a .dwp file that libdw may be too old for. */
static void note_missing_units(struct lookup *lk, unsigned missing, struct str dwo)
{
	diag_note(lk->diag, NULL,
		  "%u units keep their types in split files that are not there, e.g. \"" STR_FMT
		  "\"",
		  missing, STR_ARG(dwo));
	for (size_t i = 0; i < lk->images.n; i++) {
		const struct img *img = lk->images.v[i];
		const char *dwp = arena_printf(lk->arena, STR_FMT ".dwp", STR_ARG(img->path));
		if (access(dwp, R_OK) == 0)
			diag_note(lk->diag, NULL,
				  STR_FMT
				  ".dwp is there, but this libdw (%s) does not read such files",
				  STR_ARG(img->shown), dwfl_version(NULL));
	}
}

bool lookup_say_unknown(struct lookup *lk, const struct diag_place *at, const char *what,
			struct str name, unsigned kinds)
{
	struct dwquery q;
	if (!dwquery_parse(name, kinds, &q))
		return diag_error(lk->diag, at, "\"" STR_FMT "\" is not the name of a type",
				  STR_ARG(name));
	// Without any debug information that is the whole story; the first image is what the user named.
	bool any = lk->btf != NULL;
	unsigned missing = 0;
	struct str dwo = {0};
	for (size_t i = 0; i < lk->images.n; i++) {
		struct dwsrc *src;
		if (!open_image(lk, i, &src))
			continue;
		any = true;
		if (src->n_missing && !missing)
			dwo = src->missing.entries[0].key;
		missing += src->n_missing;
	}
	// So it is when the first image, whose types are meant, has none, whatever its libraries have.
	struct dwsrc *first;
	if (lk->images.n && !lk->btf && (!any || !open_image(lk, 0, &first))) {
		const char *full = arena_printf(lk->arena, STR_FMT, STR_ARG(q.text));
		return debugfile_say_missing(lk->images.v[0], full);
	}
	struct diag_place here = {0};
	if (lk->images.n == 1)
		here.file = lk->images.v[0]->shown;
	else if (!lk->images.n && lk->btf)
		here.file = kbtf_path(lk->btf);
	if (!at && here.file.n)
		at = &here;
	if (lookup_is_declared(lk, name))
		diag_error(lk->diag, at,
			   "%s \"" STR_FMT
			   "\" is declared in the debug information but nowhere defined",
			   what, STR_ARG(q.text));
	else
		diag_error(lk->diag, at, "no %s \"" STR_FMT "\" in the debug information", what,
			   STR_ARG(q.text));
	struct str near = lookup_nearest(lk, name, kinds);
	if (near.n)
		diag_note(lk->diag, NULL, "did you mean \"" STR_FMT "\"?", STR_ARG(near));
	if (missing)
		note_missing_units(lk, missing, dwo);
	return false;
}
