#include "dwarf/dwpick.h"

#include <dwarf.h>
#include <inttypes.h>

#include "dwarf/dwfind.h"
#include "dwarf/dwload.h"
#include "dwarf/dwnear.h"
#include "dwarf/dwsplit.h"
#include "dwarf/dwtypes.h"

/**
 * A common header's struct is defined in every unit. The first definitions, until so many members were looked at, are
 * compared member by member; those that follow only if their size or their line in the source differs. The more debug
 * information there is, the sooner the rest is believed: thousands of units would have to be read for it. A name of
 * which units have types of their own is a rare one: 64 that agree are a header's.
 */
enum { FULLY_COMPARED = 2000, MAX_COMPARED = 4096, MAX_COMPARED_LARGE = 64 };

/** Definitions of one sort that have been found so far. */
struct sort {
	struct dwdef first;
	struct dwdef other; /**< one that differs from the first, or without a type */
	Dwarf_CU *unit;	    /**< that the first was seen in */
	uint64_t mark;	    /**< of the last one that was compared */
	unsigned n;	    /**< seen in this image */
};

/** What has been found so far. */
struct found {
	struct dwpick *p;
	struct dwsrc *src;
	struct sort tags;      /**< also enumerators; in the end, what is meant */
	struct sort typedefs;  /**< those that mean another type than the tag of their name */
	struct dwdef same_tag; /**< a typedef that means the tag of its name; or without a type */
	unsigned most;	       /**< how many definitions of a sort to compare in this image */
	unsigned n_members;    /**< that were compared */
	bool hides_tag;	       /**< a typedef is meant, and there is another type with that tag */
	bool is_cut;	       /**< there may be more of them */
	bool in_body;	       /**< function bodies may define the name, too */
	bool by_place;	       /**< places that ask mean different ones */
	unsigned n_here;       /**< definitions in the unit or block that is read */
};

static uint64_t mix(uint64_t mark, uint64_t v)
{
	return (mark ^ v) * 0x100000001b3u;
}

static uint64_t mix_attr(uint64_t mark, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute at;
	Dwarf_Word v = 0;
	if (dwarf_attr(die, name, &at))
		dwarf_formudata(&at, &v);
	return mix(mark, v);
}

/** Size and place in the source. */
static uint64_t mark_of_type(Dwarf_Die *die)
{
	uint64_t mark = mix_attr(0, die, DW_AT_byte_size);
	mark = mix_attr(mark, die, DW_AT_decl_line);
	return mix_attr(mark, die, DW_AT_decl_column);
}

/** All that an enumerator's value is made of. */
static uint64_t mark_of_value(Dwarf_Die *die, Dwarf_Die *owner)
{
	Dwarf_Attribute at;
	Dwarf_Die under;
	uint64_t mark = mix_attr(0, die, DW_AT_const_value);
	if (dwarf_attr(die, DW_AT_const_value, &at))
		mark = mix(mark, dwarf_whatform(&at));
	mark = mix_attr(mark, owner, DW_AT_byte_size);
	if (dwarf_attr(owner, DW_AT_type, &at) && dwarf_formref_die(&at, &under))
		mark = mix_attr(mark, &under, DW_AT_encoding);
	return mark;
}

static bool wants_value(const struct found *f)
{
	return f->p->tags == NAME_ENUMERATOR;
}

static bool is_same(struct found *f, const struct dwdef *a, const struct dwdef *b)
{
	if (!wants_value(f))
		return ctype_is_same_count(a->type, b->type, &f->n_members);
	return a->value == b->value && (a->value >= 0 || a->type->is_signed == b->type->is_signed);
}

/** The definition of a hit; false for an enumerator without a value. */
static bool load(const struct found *f, const struct dwhit *hit, struct dwdef *ret)
{
	Dwarf_Die die = hit->die, owner = hit->owner;
	*ret = (struct dwdef){.img = f->src->img};
	ret->type = dwload_type(f->src, wants_value(f) ? &owner : &die);
	return !wants_value(f) || dwload_enumerator_value(&die, ret->type, &ret->value);
}

static bool has_owner(const struct found *f, const struct dwhit *hit)
{
	struct str wanted = f->p->owner;
	Dwarf_Die owner = hit->owner;
	return !wanted.n || str_eq(wanted, str_from(dwsrc_name(&owner)));
}

/** `typedef struct x x`: nothing that the tag does not say itself. */
static bool means_its_tag(struct ctype *t)
{
	struct ctype *bare = ctype_strip(t);
	return t->kind == CTYPE_TYPEDEF && bare && bare->name.n && str_eq(bare->name, t->name);
}

/** A question for an enum is not answered by a typedef of something else. */
static bool is_asked_kind(const struct found *f, struct ctype *t)
{
	unsigned tags = f->p->tags, aggregates = NAME_STRUCT | NAME_UNION;
	struct ctype *bare = ctype_strip(t);
	return !tags || (tags & aggregates) == aggregates ||
	       (bare && bare->kind == (tags & NAME_ENUM	    ? CTYPE_ENUM
				       : tags & NAME_STRUCT ? CTYPE_STRUCT
							    : CTYPE_UNION));
}

static void add(struct found *f, struct sort *s, const struct dwhit *hit, const struct dwdef *def)
{
	if (s == &f->typedefs && means_its_tag(def->type)) {
		if (!f->same_tag.type)
			f->same_tag = *def;
	} else if (s == &f->typedefs && !is_asked_kind(f, def->type)) {
		return;
	} else if (!s->first.type) {
		s->first = *def;
		s->unit = hit->die.cu;
	} else if (!s->other.type && !is_same(f, &s->first, def)) {
		s->other = *def;
	}
}

static struct sort *sort_of(struct found *f, const struct dwhit *hit)
{
	return hit->kind & f->p->others ? &f->typedefs : &f->tags;
}

static bool add_definition(void *ctx, const struct dwhit *hit)
{
	struct found *f = ctx;
	if (hit->is_decl || !has_owner(f, hit))
		return true;
	struct sort *s = sort_of(f, hit);
	Dwarf_Die die = hit->die, owner = hit->owner;
	struct dwdef def;
	uint64_t mark = wants_value(f) ? mark_of_value(&die, &owner) : mark_of_type(&die);
	bool believed = mark == s->mark && (wants_value(f) || f->n_members >= FULLY_COMPARED);
	bool is_known = s->first.type || (s == &f->typedefs && f->same_tag.type);
	if (!f->most)
		f->most = dwfind_is_large(f->src) ? MAX_COMPARED_LARGE : MAX_COMPARED;
	f->is_cut = ++s->n >= f->most;
	// Nothing can be learnt any more once it is known that they differ, but of the other sort.
	if (!s->other.type && !(is_known && believed) && load(f, hit, &def)) {
		add(f, s, hit, &def);
		s->mark = mark;
	}
	bool is_settled = f->typedefs.other.type || (f->tags.other.type && !f->p->others);
	return !is_settled && !f->is_cut;
}

/** Of several units that use it (dwz, -fdebug-types-section). */
static bool is_shared(Dwarf_CU *unit)
{
	uint8_t kind;
	return unit && dwarf_cu_info(unit, NULL, &kind, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       (kind == DW_UT_type || kind == DW_UT_split_type || kind == DW_UT_partial);
}

/**
 * A name without a keyword is a typedef before it is a tag: in C a tag has a name space of its own (C11 6.2.3). Where they
 * are different types of different units nothing tells which one is meant; @near units bring those that they share.
 */
static void settle(struct found *f, bool near)
{
	struct sort *tags = &f->tags, *typedefs = &f->typedefs;
	if (!tags->first.type)
		tags->first = f->same_tag;
	if (!typedefs->first.type)
		return;
	if (!tags->first.type) {
		*tags = *typedefs;
		return;
	}
	struct dwdef tag = tags->first;
	bool beside = typedefs->unit == tags->unit ||
		      (near && (is_shared(tags->unit) || is_shared(typedefs->unit)));
	struct ctype *bare = ctype_strip(typedefs->first.type);
	bool is_known = bare && ctype_complete(bare);
	if ((!beside && !is_known) || (is_known && is_same(f, &tag, &typedefs->first)))
		return;
	*tags = *typedefs;
	f->hides_tag = true;
	if (!beside && !tags->other.type)
		tags->other = tag;
}

/** All definitions in one image, on top of those that were found in others. */
static void find_in_image(struct found *all, struct dwsrc *src)
{
	struct dwquery *q = &all->p->q;
	struct found f = {.p = all->p, .src = src, .n_members = all->n_members};
	q->no_decls = true;
	q->in_body = &f.in_body;
	q->name.kinds = f.p->tags | f.p->others;
	dwfind(src, q, add_definition, &f);
	q->no_decls = false;
	q->in_body = NULL;
	if (f.is_cut && f.p->types->verbose)
		diag_note(f.p->types->diag, NULL,
			  STR_FMT ": the first %u definitions of \"" STR_FMT
				  "\" are the same; any others were not compared",
			  STR_ARG(src->img->shown), f.most, STR_ARG(q->name.text));
	settle(&f, false);
	struct dwdef first = all->tags.first;
	f.in_body |= all->in_body;
	if (!first.type)
		*all = f;
	else if (f.tags.first.type && !is_same(&f, &first, &f.tags.first))
		all->tags.other = f.tags.first;
	else if (f.tags.other.type)
		all->tags.other = f.tags.other;
	all->n_members = f.n_members;
	all->in_body = f.in_body;
	all->src = src;
}

static bool add_near(void *ctx, const struct dwhit *hit)
{
	struct found *f = ctx;
	struct dwdef def;
	Dwarf_Die die = hit->die, type;
	// What stands for a type in a type unit says which of these is meant.
	bool is_here = !hit->is_decl || (dwsrc_signature(&die, &type) && type.addr);
	if (is_here && dwquery_fits(&f->p->q, hit) && has_owner(f, hit) && load(f, hit, &def)) {
		add(f, sort_of(f, hit), hit, &def);
		f->n_here++;
	}
	return true;
}

/** What one more place means. */
static void add_meaning(struct found *f, const struct found *one)
{
	const struct dwdef *def = &one->tags.first;
	f->by_place |= one->by_place;
	if (!f->tags.first.type)
		*f = *one;
	else if (one->tags.other.type && !f->tags.other.type)
		f->tags.other = one->tags.other;
	else if (def->type && !f->tags.other.type && !is_same(f, &f->tags.first, def)) {
		f->tags.other = *def;
		f->by_place = true;
	}
}

/** Probes of units without a definition of their own mean one of their image. */
static void add_images_of_units(struct found *f, const bool *has_own)
{
	struct dwpick *p = f->p;
	struct dwnear *near = p->types->near;
	const struct dwsrc *last = NULL;
	for (size_t i = 0; i < near->units.n && !f->tags.other.type; i++) {
		const struct dwnear_unit *u = &near->units.v[i];
		struct found one = {.p = p};
		if (has_own[i] || u->src == last || is_shared(u->die.cu))
			continue;
		last = u->src;
		find_in_image(&one, u->src);
		add_meaning(f, &one);
		f->by_place |= f->tags.other.type != NULL;
	}
}

/** Only what the units have that the question comes from. */
static void find_near(struct found *f)
{
	struct dwpick *p = f->p;
	struct dwnear *near = p->types->near;
	p->depends = true;
	if (!dwnear_resolve(p->types->arena, near))
		return;
	bool *has_own = arena_array(p->types->arena, bool, near->units.n);
	for (size_t i = 0; i < near->units.n; i++) {
		Dwarf_Die unit = near->units.v[i].die;
		f->src = near->units.v[i].src;
		f->n_here = 0;
		p->q.name.kinds = p->tags | p->others;
		dwfind_unit(f->src, &unit, p->q.name.kinds, add_near, f);
		has_own[i] = f->n_here > 0;
	}
	settle(f, true);
	f->by_place = f->tags.other.type && near->places.n > 1;
	if (f->tags.first.type && !near->is_asked && !is_shared(f->tags.unit))
		add_images_of_units(f, has_own);
}

/** In the innermost of blocks @from to @until of @body that has one. */
static bool find_in_blocks(struct found *f, const struct dwnear_body *body, size_t from,
			   size_t until)
{
	f->src = body->src;
	for (size_t k = from; k < until && !f->n_here; k++) {
		Dwarf_Die block = body->blocks.v[k];
		dwfind_unit(f->src, &block, f->p->tags | f->p->others, add_near, f);
	}
	settle(f, true);
	return f->tags.first.type;
}

/**
 * Only what functions have to themselves, and into @maybe what they may have; false when some place may mean another one.
 */
static bool find_in_bodies(struct found *f, struct found *maybe)
{
	struct dwnear *near = f->p->types->near;
	bool is_certain = near->places.n > 0;
	f->p->depends = true;
	for (size_t i = 0; i < near->places.n; i++) {
		const struct dwnear_body *body = dwnear_body(f->p->types->arena, near, i);
		struct found one = {.p = f->p}, stray = {.p = f->p};
		if (find_in_blocks(&one, body, 0, body->n_around))
			add_meaning(f, &one);
		else if (find_in_blocks(&stray, body, body->n_around, body->blocks.n))
			add_meaning(maybe, &stray);
		is_certain &= one.tags.first.type && !body->is_flat;
	}
	return is_certain;
}

/** "main.c", or "main.c:7" of one that has it twice; a type unit has no name, but its type has a place. */
static struct str unit_text(struct dwtypes *t, const struct dwdef *d, bool with_image,
			    bool with_line)
{
	struct str unit = d->type->unit.n ? d->type->unit : STR("?");
	Dwarf_Die die = *(const Dwarf_Die *)d->type->origin_ptr, top;
	int line;
	bool is_type = dwarf_diecu(&die, &top, NULL, NULL) && dwarf_tag(&top) == DW_TAG_type_unit;
	bool has_line = dwarf_decl_line(&die, &line) == 0;
	if (is_type && has_line && dwarf_decl_file(&die))
		unit = str_printf(t->arena, "%s:%d", dwarf_decl_file(&die), line);
	else if (with_line && has_line && !is_type)
		unit = str_printf(t->arena, STR_FMT ":%d", STR_ARG(unit), line);
	if (!with_image)
		return unit;
	return str_printf(t->arena, STR_FMT " of " STR_FMT, STR_ARG(unit), STR_ARG(d->img->shown));
}

static const char *value_text(struct dwtypes *t, const struct dwdef *d)
{
	return arena_printf(t->arena, d->type->is_signed ? "%" PRId64 : "%" PRIu64, d->value);
}

/** They differ, and nothing tells which is meant. */
static void say_differ(struct found *f)
{
	struct dwtypes *t = f->p->types;
	const struct dwdef *first = &f->tags.first, *other = &f->tags.other;
	bool apart = first->img != other->img;
	bool twice = !apart && str_eq(first->type->unit, other->type->unit);
	struct str name = f->p->q.name.text, one = unit_text(t, first, apart, twice),
		   two = unit_text(t, other, apart, twice);
	const char *text;
	if (wants_value(f))
		text = arena_printf(t->arena,
				    "\"" STR_FMT "\" is %s in " STR_FMT " and %s in " STR_FMT
				    "; %s is used",
				    STR_ARG(name), value_text(t, first), STR_ARG(one),
				    value_text(t, other), STR_ARG(two), value_text(t, first));
	else if (first->type->kind == CTYPE_TYPEDEF && other->type->kind != CTYPE_TYPEDEF)
		text = arena_printf(t->arena,
				    "\"" STR_FMT "\" is a typedef in " STR_FMT
				    " and a tag in " STR_FMT "; the typedef is used",
				    STR_ARG(name), STR_ARG(one), STR_ARG(two));
	else
		text = arena_printf(t->arena,
				    "\"" STR_FMT "\" is defined differently in " STR_FMT
				    " and " STR_FMT "; the first is used",
				    STR_ARG(first->type->name.n ? first->type->name : name),
				    STR_ARG(one), STR_ARG(two));
	if (!map_add(t->arena, &t->warned, str_from(text)))
		return;
	struct diag_place at = {.file = first->img->shown};
	diag_warning(t->diag, &at, "%s", text);
	if (f->by_place && t->near->places.n > 1)
		diag_note(t->diag, NULL,
			  "not all places that are traced mean the same one: write a clause for "
			  "each probe");
}

/** The unit that is meant may have one of its own, in a file that cannot be read. */
static void check_missing(struct found *f)
{
	struct dwtypes *t = f->p->types;
	struct dwsrc *src = f->src;
	f->p->depends = true;
	dwnear_resolve(t->arena, t->near);
	struct str dwo = t->near->missing;
	const char *text = arena_printf(
	    t->arena,
	    "the types beside the traced code are in \"" STR_FMT
	    "\", which cannot be read: those of other files are used, such as \"" STR_FMT
	    "\" of " STR_FMT,
	    STR_ARG(dwo), STR_ARG(f->p->q.name.text),
	    STR_ARG(unit_text(t, &f->tags.first, false, false)));
	struct diag_place at = {.file = src->img->shown};
	if (!dwo.n || !map_add(t->arena, &t->warned, dwo))
		return;
	diag_warning(t->diag, &at, "%s", text);
	dwsplit_say_missing(src);
}

/** In the images that the question comes from when @own, else in the others, up to the first that has it. */
static void find_in_images(struct found *f, bool own)
{
	struct dwpick *p = f->p;
	struct dwtypes *t = p->types;
	struct dwsrc *src;
	for (size_t i = 0; i < t->images.n && !f->tags.other.type; i++) {
		struct img *img = t->images.v[i]->img;
		bool is_own = p->own ? img == p->own : t->near && dwnear_has_image(t->near, img);
		if (is_own == own && dwtypes_open(t, i, &src))
			find_in_image(f, src);
	}
}

bool dwpick_find(struct dwpick *p, struct dwdef *ret)
{
	struct dwtypes *t = p->types;
	struct found f = {.p = p}, near = {.p = p}, inner = {.p = p}, maybe = {.p = p};
	struct dwsrc *src;
	p->depends = false;
	bool has_near = t->near && (!p->own || dwnear_has_image(t->near, p->own));
	bool near_first = has_near && t->near->is_asked;
	for (size_t i = 0; i < t->images.n && has_near && !near_first; i++)
		near_first = dwnear_has_image(t->near, t->images.v[i]->img) &&
			     dwtypes_open(t, i, &src) && !src->slim && dwfind_is_large(src);
	if (near_first)
		find_near(&near);
	if (!near.tags.first.type)
		find_in_images(&f, true);
	bool may_be_inner = has_near && !p->own && (near_first || f.in_body);
	if (!may_be_inner || !find_in_bodies(&inner, &maybe)) {
		if (!near.tags.first.type && !f.tags.first.type)
			find_in_images(&f, false);
		if ((f.tags.other.type || f.hides_tag) && has_near && !near_first)
			find_near(&near);
		add_meaning(&inner, near.tags.first.type ? &near : &f);
		add_meaning(&inner, &maybe);
	}
	f = inner;
	if (f.tags.other.type)
		say_differ(&f);
	else if (f.tags.first.type && has_near && f.src->missing.n)
		check_missing(&f);
	*ret = f.tags.first;
	return f.tags.first.type != NULL;
}
