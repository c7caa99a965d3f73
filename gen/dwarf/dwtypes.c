#include "dwarf/dwtypes.h"

#include "elf/debugfile.h"
#include "dwarf/dwfind.h"
#include "dwarf/dwload.h"
#include "dwarf/dwnear.h"
#include "dwarf/dwpick.h"
#include "dwarf/dwsplit.h"

/** Declarations that are completed one inside the other; more is damage. */
enum { MAX_DEPTH = 16 };

struct answer {
	struct dwdef def; /**< without a type: nobody has it */
	bool depends;	  /**< on the place that asked: that one's answer is kept apart */
};

static bool find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl, struct ctype **ret);

void dwtypes_add(struct dwtypes *t, struct dwsrc *src)
{
	vec_push(t->arena, &t->images, src);
	t->source.file = t->images.n == 1 ? src->img->shown : (struct str){0};
}

bool dwtypes_open(struct dwtypes *t, size_t i, struct dwsrc **ret)
{
	*ret = t->images.v[i];
	if (!dwsrc_open(*ret, NULL))
		return false;
	dwload_set_elsewhere(*ret, find_elsewhere, t);
	return true;
}

void dwtypes_ask_from(struct dwtypes *t, struct dwnear *near)
{
	t->near = near;
}

bool dwtypes_ask_at(struct dwtypes *t, struct dwsrc *src, uint64_t addr)
{
	struct dwnear *near = arena_new(t->arena, struct dwnear);
	near->is_asked = true;
	dwnear_add(t->arena, near, src, addr);
	dwtypes_ask_from(t, near);
	return dwnear_resolve(t->arena, near);
}

/** The images that are asked first, in a word: answers that agree hold for everybody who asks the same images. */
static const void *domain_of(const struct dwtypes *t, const struct dwpick *p)
{
	const struct dwnear *near = t->near;
	if (p->own || !near || !near->places.n)
		return p->own;
	for (size_t i = 1; i < near->places.n; i++)
		if (near->places.v[i].src != near->places.v[0].src)
			return near;
	return near->places.v[0].src->img;
}

static struct str key_of(struct dwtypes *t, const void *asker, const struct dwpick *p)
{
	return str_printf(t->arena, "%p %u " STR_FMT " " STR_FMT, asker, p->tags | p->others,
			  STR_ARG(p->owner), STR_ARG(p->q.name.text));
}

/** dwpick_find() with a memory. */
static bool pick(struct dwtypes *t, struct dwpick *p, struct dwdef *ret)
{
	p->types = t;
	struct str key = key_of(t, domain_of(t, p), p);
	struct answer *known = map_get(&t->known, key);
	if (known && known->depends) {
		key = key_of(t, t->near, p);
		known = map_get(&t->known, key);
	}
	if (!known) {
		if (t->depth >= MAX_DEPTH)
			return false;
		t->depth++;
		known = arena_new(t->arena, struct answer);
		dwpick_find(p, &known->def);
		known->depends = p->depends;
		t->depth--;
		map_put(t->arena, &t->known, key, known);
		if (known->depends)
			map_put(t->arena, &t->known, key_of(t, t->near, p), known);
	}
	*ret = known->def;
	return ret->type != NULL;
}

/** @own: the image of a declaration whose definition is wanted, or NULL. */
static struct ctype *find_type(struct dwtypes *t, const struct namequery *q, struct img *own)
{
	struct dwdef def;
	struct dwpick p = {.q.name = *q, .own = own};
	// A tag and a typedef of one name are usually the same type.
	p.tags = q->kinds & ~(unsigned)(NAME_TYPEDEF | NAME_BASE);
	p.others = q->kinds & ~p.tags;
	return pick(t, &p, &def) ? def.type : NULL;
}

static bool find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl, struct ctype **ret)
{
	struct namequery q;
	unsigned kind = decl->kind == CTYPE_STRUCT  ? NAME_STRUCT
			: decl->kind == CTYPE_UNION ? NAME_UNION
						    : NAME_ENUM;
	*ret = namequery_parse(decl->name, kind, &q) ? find_type(ctx, &q, src->img) : NULL;
	return *ret;
}

// --- as a source of types

static struct ctype *find(struct type_source *s, const struct namequery *q)
{
	return find_type((struct dwtypes *)s, q, NULL);
}

static struct ctype *find_enumerator(struct type_source *s, const struct namequery *q,
				     int64_t *value)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwpick p = {.tags = NAME_ENUMERATOR, .q.name = *q};
	struct dwdef def;
	bool found = pick(t, &p, &def);
	if (!found && q->n_parts > 1) {
		// C++ also takes E::A for an enumerator of an enum whose names belong to the scope around it.
		struct namequery *outer = &p.q.name;
		struct str name = outer->parts[--outer->n_parts];
		p.owner = outer->parts[outer->n_parts - 1];
		outer->parts[outer->n_parts - 1] = name;
		found = pick(t, &p, &def);
	}
	*value = def.value;
	return found ? def.type : NULL;
}

static bool is_decl_hit(void *ctx, const struct dwhit *hit)
{
	*(bool *)ctx |= hit->is_decl;
	return !hit->is_decl;
}

static bool is_declared(struct type_source *s, const struct namequery *q)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwsrc *src;
	struct dwquery any = {.name = *q};
	bool found = false;
	for (size_t i = 0; i < t->images.n && !found; i++)
		if (dwtypes_open(t, i, &src))
			dwfind(src, &any, is_decl_hit, &found);
	return found;
}

static struct str nearest(struct type_source *s, const struct namequery *q)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwsrc *src;
	struct dwquery any = {.name = *q};
	struct str near = {0};
	for (size_t i = 0; i < t->images.n && !near.n; i++)
		if (dwtypes_open(t, i, &src))
			near = dwfind_nearest(src, &any);
	return near;
}

struct walk {
	type_source_name_fn *fn;
	void *ctx;
	struct strbuf name; /**< the one at hand: most come many times */
};

static bool walk_hit(void *ctx, const struct dwhit *hit)
{
	struct walk *w = ctx;
	if (hit->is_decl)
		return true;
	strbuf_clear(&w->name);
	dwhit_add_name(&w->name, hit);
	w->fn(w->ctx, hit->kind, strbuf_str(&w->name));
	return true;
}

static bool walk(struct type_source *s, unsigned kinds, type_source_name_fn *fn, void *ctx)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct walk w = {fn, ctx, {0}};
	struct dwsrc *src;
	bool any = false;
	strbuf_init(&w.name);
	for (size_t i = 0; i < t->images.n; i++) {
		if (!dwtypes_open(t, i, &src))
			continue;
		any = true;
		dwfind_names(src, kinds, walk_hit, &w);
		struct diag_place at = {.file = src->img->shown};
		if (src->missing.n)
			diag_warning(t->diag, &at,
				     "the types of %zu compilation units are missing from the list",
				     src->missing.n);
		dwsplit_say_missing(src);
	}
	strbuf_fini(&w.name);
	return any;
}

/** The first image is the one that the user named: its types are meant, whatever its libraries have. */
static bool say_empty(struct type_source *s, const char *wanted)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwsrc *src;
	return t->images.n && !dwtypes_open(t, 0, &src) &&
	       !debugfile_say_missing(t->images.v[0]->img, wanted);
}

static void say_gaps(struct type_source *s)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwsrc *src;
	for (size_t i = 0; i < t->images.n; i++)
		if (dwtypes_open(t, i, &src))
			dwsplit_say_missing(src);
}

void dwtypes_init(struct dwtypes *t, struct arena *a, struct diag *d)
{
	static const struct type_source_ops ops = {.find = find,
						   .find_enumerator = find_enumerator,
						   .is_declared = is_declared,
						   .nearest = nearest,
						   .walk = walk,
						   .say_empty = say_empty,
						   .say_gaps = say_gaps};
	*t = (struct dwtypes){.source.ops = &ops, .arena = a, .diag = d};
}
