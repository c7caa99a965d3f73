#include "types/lookup.h"

#include <dwarf.h>

#include "elf/debugfile.h"
#include "dwarf/dwload.h"
#include "dwarf/dwnear.h"
#include "dwarf/dwpick.h"
#include "dwarf/dwsplit.h"
#include "btf/kbtf.h"

/** Declarations that are completed one inside the other; more is damage. */
enum { MAX_DEPTH = 16 };

struct answer {
	struct dwdef def; /**< without a type: nobody has it */
	bool depends;	  /**< on the place that asked: that one's answer is kept apart */
};

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d)
{
	*lk = (struct lookup){.arena = a, .diag = d};
}

static bool find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl, struct ctype **ret);

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

void lookup_ask_from(struct lookup *lk, struct dwnear *near)
{
	lk->near = near;
}

bool lookup_ask_at(struct lookup *lk, struct img *img, uint64_t addr)
{
	struct dwnear *near = arena_new(lk->arena, struct dwnear);
	near->is_asked = true;
	dwnear_add(lk->arena, near, img, addr);
	lookup_ask_from(lk, near);
	return dwnear_resolve(lk->arena, near);
}

/** The images that are asked first, in a word: answers that agree hold for everybody who asks the same images. */
static const void *domain_of(const struct lookup *lk, const struct dwpick *p)
{
	const struct dwnear *near = lk->near;
	if (p->own || !near || !near->places.n)
		return p->own;
	for (size_t i = 1; i < near->places.n; i++)
		if (near->places.v[i].img != near->places.v[0].img)
			return near;
	return near->places.v[0].img;
}

static struct str key_of(struct lookup *lk, const void *asker, const struct dwpick *p)
{
	return str_printf(lk->arena, "%p %u " STR_FMT " " STR_FMT, asker, p->tags | p->others,
			  STR_ARG(p->owner), STR_ARG(p->q.name.text));
}

/** dwpick_find() with a memory. */
static bool find(struct lookup *lk, struct dwpick *p, struct dwdef *ret)
{
	p->lk = lk;
	p->open = open_image;
	struct str key = key_of(lk, domain_of(lk, p), p);
	struct answer *known = map_get(&lk->known, key);
	if (known && known->depends) {
		key = key_of(lk, lk->near, p);
		known = map_get(&lk->known, key);
	}
	if (!known) {
		if (lk->depth >= MAX_DEPTH)
			return false;
		lk->depth++;
		known = arena_new(lk->arena, struct answer);
		dwpick_find(p, &known->def);
		known->depends = p->depends;
		lk->depth--;
		map_put(lk->arena, &lk->known, key, known);
		if (known->depends)
			map_put(lk->arena, &lk->known, key_of(lk, lk->near, p), known);
	}
	*ret = known->def;
	return ret->type != NULL;
}

/** A tag and a typedef of one name are usually the same type. */
static void set_kinds(struct dwpick *p)
{
	p->tags = p->q.name.kinds & ~(unsigned)(NAME_TYPEDEF | NAME_BASE);
	p->others = p->q.name.kinds & ~p->tags;
}

static bool find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl, struct ctype **ret)
{
	unsigned kind = decl->kind == CTYPE_STRUCT  ? NAME_STRUCT
			: decl->kind == CTYPE_UNION ? NAME_UNION
						    : NAME_ENUM;
	struct dwpick p = {.own = src->img};
	struct dwdef def;
	if (!dwquery_parse(decl->name, kind, &p.q))
		return false;
	set_kinds(&p);
	if (!find(ctx, &p, &def))
		return false;
	*ret = def.type;
	return true;
}

bool lookup_type(struct lookup *lk, struct str name, unsigned kinds, struct ctype **ret)
{
	struct dwpick p = {0};
	struct dwdef def;
	if (!dwquery_parse(name, kinds, &p.q))
		return false;
	struct dwquery q = p.q;
	set_kinds(&p);
	*ret = find(lk, &p, &def) ? def.type : NULL;
	if (!*ret && lk->btf)
		*ret = kbtf_find(lk->btf, &q.name);
	return *ret;
}

bool lookup_enumerator(struct lookup *lk, struct str name, int64_t *value, struct ctype **of)
{
	struct dwpick p = {.tags = NAME_ENUMERATOR};
	struct dwdef def;
	if (!dwquery_parse(name, NAME_ENUMERATOR, &p.q))
		return false;
	bool found = find(lk, &p, &def);
	if (!found && p.q.name.n_parts > 1) {
		// C++ also takes E::A for an enumerator of an enum whose names belong to the scope around it.
		struct str name_part = p.q.name.parts[--p.q.name.n_parts];
		p.owner = p.q.name.parts[p.q.name.n_parts - 1];
		p.q.name.parts[p.q.name.n_parts - 1] = name_part;
		found = find(lk, &p, &def);
	}
	if (found) {
		*value = def.value;
		*of = def.type;
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
	if (!dwquery_parse(name, NAME_TAGS, &q))
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
		near = kbtf_nearest(lk->btf, &q.name);
	return near;
}

bool lookup_say_unknown(struct lookup *lk, const struct diag_place *at, const char *what,
			struct str name, unsigned kinds)
{
	struct dwquery q;
	// It takes time to say something helpful: not for what is not shown.
	if (!dwquery_parse(name, kinds, &q) || lk->diag->n_errors > DIAG_MAX_ERRORS)
		return diag_error(lk->diag, at, "\"" STR_FMT "\" is not the name of a type",
				  STR_ARG(name));
	// Without any debug information that is the whole story; the first image is what the user named.
	bool any = lk->btf != NULL;
	struct dwsrc *src;
	for (size_t i = 0; i < lk->images.n; i++)
		any |= open_image(lk, i, &src);
	// So it is when the first image, whose types are meant, has none, whatever its libraries have.
	struct dwsrc *first;
	if (lk->images.n && !lk->btf && (!any || !open_image(lk, 0, &first))) {
		const char *full = arena_printf(lk->arena, STR_FMT, STR_ARG(q.name.text));
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
			   what, STR_ARG(q.name.text));
	else
		diag_error(lk->diag, at, "no %s \"" STR_FMT "\" in the debug information", what,
			   STR_ARG(q.name.text));
	struct str near = lookup_nearest(lk, name, kinds);
	if (near.n)
		diag_note(lk->diag, NULL, "did you mean \"" STR_FMT "\"?", STR_ARG(near));
	for (size_t i = 0; i < lk->images.n; i++)
		if (open_image(lk, i, &src))
			dwsplit_say_missing(src);
	return false;
}
