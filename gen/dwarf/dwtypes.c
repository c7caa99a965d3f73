#include "dwarf/dwtypes.h"

#include "elf/debugfile.h"
#include "dwarf/context_priv.h"
#include "dwarf/dwfind.h"
#include "dwarf/dwload.h"
#include "dwarf/dwsplit.h"

/** Declarations that are completed one inside the other; more is damage. */
enum { MAX_DEPTH = 16 };

struct answer {
	struct definition def; /**< without a type: nobody has it */
	bool depends;	       /**< on the place that asked: that one's answer is kept apart */
};

static struct ctype *find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl);

void dwtypes_add(struct dwtypes *t, struct dwsrc *src)
{
	vec_push(t->arena, &t->images, src);
	dwload_set_elsewhere(src, find_elsewhere, t);
	t->source.file = t->images.n == 1 ? src->img->display_path : (struct str){0};
}

bool dwtypes_ask_at(struct dwtypes *t, struct dwsrc *src, uint64_t addr)
{
	struct context *c = arena_new(t->arena, struct context);
	c->is_asked = true;
	context_add(t->arena, c, &(struct context_place){.src = src, .addr = addr});
	t->context = c;
	return context_resolve(t->arena, c);
}

/**
 * What a question of @c is remembered by: answers that agree hold for everybody whose places are in
 * the same image.
 */
static const void *asker_of(const struct context *c)
{
	for (size_t i = 1; c && i < c->places.n; i++)
		if (c->places.v[i].src != c->places.v[0].src)
			return c;
	return c && c->places.n ? c->places.v[0].src : NULL;
}

static struct str key_of(struct dwtypes *t, const void *asker, const struct context_question *q)
{
	return str_printf(t->arena, "%p %u " STR_FMT " " STR_FMT, asker, q->name->kinds,
			  STR_ARG(q->owner), STR_ARG(q->name->text));
}

/** context_find() with a memory. */
static struct definition find_definition(struct dwtypes *t, struct context_question *q)
{
	struct str key = key_of(t, q->own ? q->own : asker_of(t->context), q);
	struct answer *known = map_get(&t->known, key);
	if (known && known->depends) {
		key = key_of(t, t->context, q);
		known = map_get(&t->known, key);
	}
	if (!known) {
		if (t->depth >= MAX_DEPTH)
			return (struct definition){.type = NULL};
		q->types = t;
		t->depth++;
		known = arena_new(t->arena, struct answer);
		context_find(q, &known->def);
		known->depends = q->depends;
		t->depth--;
		map_put(t->arena, &t->known, key, known);
		if (known->depends)
			map_put(t->arena, &t->known, key_of(t, t->context, q), known);
	}
	return known->def;
}

static struct ctype *find_elsewhere(void *ctx, struct dwsrc *src, struct ctype *decl)
{
	struct namequery q;
	struct context_question question = {.name = &q, .own = src};
	return namequery_parse(decl->name, namequery_tag(decl), &q)
		   ? find_definition(ctx, &question).type
		   : NULL;
}

// --- as a source of types

static struct ctype *find(struct type_source *s, const struct namequery *name)
{
	struct context_question q = {.name = name};
	return find_definition((struct dwtypes *)s, &q).type;
}

static struct ctype *find_enumerator(struct type_source *s, const struct namequery *name,
				     int64_t *value)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct context_question q = {.name = name};
	struct definition def = find_definition(t, &q);
	if (!def.type && name->n_parts > 1) {
		// C++ also takes E::A for an enumerator of an enum whose names belong to the scope
		// around it.
		struct namequery outer = *name;
		q = (struct context_question){.name = &outer};
		outer.parts[--outer.n_parts] = (struct str){0};
		q.owner = name->parts[name->n_parts - 2];
		outer.parts[name->n_parts - 2] = name->parts[name->n_parts - 1];
		def = find_definition(t, &q);
	}
	*value = def.value;
	return def.type;
}

static bool is_decl_hit(void *ctx, const struct dwhit *hit)
{
	*(bool *)ctx |= hit->is_decl;
	return !hit->is_decl;
}

static bool is_declared(struct type_source *s, const struct namequery *q)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwquery any = {.name = *q};
	bool found = false;
	for (size_t i = 0; i < t->images.n && !found; i++)
		if (dwsrc_open(t->images.v[i]))
			dwfind(t->images.v[i], &any, is_decl_hit, &found);
	return found;
}

static struct str nearest(struct type_source *s, const struct namequery *q)
{
	struct dwtypes *t = (struct dwtypes *)s;
	struct dwquery any = {.name = *q};
	struct str near = {0};
	for (size_t i = 0; i < t->images.n && !near.n; i++)
		if (dwsrc_open(t->images.v[i]))
			near = dwfind_nearest(t->images.v[i], &any);
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
	bool any = false;
	for (size_t i = 0; i < t->images.n; i++) {
		struct dwsrc *src = t->images.v[i];
		if (!dwsrc_open(t->images.v[i]))
			continue;
		any = true;
		dwname_walk(src, kinds, walk_hit, &w);
		if (src->missing.n)
			diag_warning(t->diag, diag_at({.file = src->img->display_path}),
				     "the types of %zu compilation units are missing from the list",
				     src->missing.n);
		dwsplit_report_missing(src);
	}
	strbuf_fini(&w.name);
	return any;
}

/**
 * The first image is the one that the user named: its types are meant, whatever its libraries have.
 */
static bool report_empty(struct type_source *s, const struct diag_place *at, const char *wanted)
{
	struct dwtypes *t = (struct dwtypes *)s;
	return t->images.n && !dwsrc_open(t->images.v[0]) &&
	       !debugfile_report_missing(t->images.v[0]->img, at, wanted);
}

static void report_gaps(struct type_source *s)
{
	struct dwtypes *t = (struct dwtypes *)s;
	for (size_t i = 0; i < t->images.n; i++)
		if (dwsrc_open(t->images.v[i]))
			dwsplit_report_missing(t->images.v[i]);
}

void dwtypes_init(struct dwtypes *t, struct arena *a, struct diag *d)
{
	static const struct type_source_ops ops = {.find = find,
						   .find_enumerator = find_enumerator,
						   .is_declared = is_declared,
						   .nearest = nearest,
						   .walk = walk,
						   .report_empty = report_empty,
						   .report_gaps = report_gaps};
	*t = (struct dwtypes){.source.ops = &ops, .arena = a, .diag = d};
}
