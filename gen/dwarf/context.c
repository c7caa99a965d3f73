#include "dwarf/context.h"

#include <dwarf.h>

#include "dwarf/dwfind.h"
#include "dwarf/dwfilter.h"
#include "dwarf/dwload.h"
#include "dwarf/dwsplit.h"
#include "dwarf/context_priv.h"

/**
 * A common header's struct is defined in every unit. The first definitions, until so many members
 * were looked at, are compared member by member; those that follow only if their size or their line
 * in the source differs. The more debug information there is, the sooner the rest is believed:
 * thousands of units would have to be read for it. A name of which units have types of their own is
 * a rare one: 64 that agree are a header's.
 */
enum { FULLY_COMPARED = 2000, MAX_COMPARED = 4096, MAX_COMPARED_LARGE = 64 };

/** What a name means, as far as is known. */
struct meaning {
	struct definition first; /**< what is meant; without a type: no definition was found */
	struct definition
	    other;	/**< differs from it, and may be meant as well; or without a type */
	bool is_all;	/**< of an image: all its definitions were compared */
	bool hides_tag; /**< a typedef is meant, and there is another type with that tag */
	bool by_place;	/**< places of the context mean different ones */
};

/** Definitions of one sort. */
struct group {
	struct definition first, other; /**< as in struct meaning */
	Dwarf_CU *unit;			/**< that the first was seen in */
	uint64_t mark;			/**< of the last one that was compared */
	unsigned n;			/**< how many were met */
};

/** Definitions that were met in an image, in some units or in a block. */
struct search {
	struct context_question *q;
	struct dwsrc *src;
	struct group tags; /**< and enumerators */
	struct group
	    typedefs; /**< and base types; without typedefs that mean the tag of their name */
	struct definition same_tag; /**< the first of those; or without a type */
	unsigned most;		    /**< image: how many definitions of a group to compare */
	bool is_cut;		    /**< image: there may be more */
	bool is_met;		    /**< unit, block: there is one at least */
};

static bool wants_value(const struct context_question *q)
{
	return q->name->kinds == NAME_ENUMERATOR;
}

// --- is it the same?

static uint64_t mix(uint64_t mark, uint64_t v)
{
	return (mark ^ v) * 0x100000001b3u;
}

static uint64_t mix_attr(uint64_t mark, Dwarf_Die *die, unsigned name)
{
	uint64_t v = 0;
	dwsrc_number(die, name, &v);
	return mix(mark, v);
}

/**
 * All that an enumerator's value is made of; of a type its size and place in the source: other definitions
 * of a header's struct have the same.
 */
static uint64_t mark_of(Dwarf_Die *die, Dwarf_Die *owner, bool by_value)
{
	Dwarf_Attribute at;
	Dwarf_Die under;
	uint64_t mark = mix_attr(0, die, by_value ? DW_AT_const_value : DW_AT_byte_size);
	if (!by_value)
		return mix_attr(mix_attr(mark, die, DW_AT_decl_line), die, DW_AT_decl_column);
	if (dwarf_attr(die, DW_AT_const_value, &at))
		mark = mix(mark, dwarf_whatform(&at));
	mark = mix_attr(mark, owner, DW_AT_byte_size);
	if (dwarf_attr(owner, DW_AT_type, &at) && dwarf_formref_die(&at, &under))
		mark = mix_attr(mark, &under, DW_AT_encoding);
	return mark;
}

static bool is_same(struct context_question *q, const struct definition *a,
		    const struct definition *b)
{
	if (!wants_value(q))
		return ctype_is_same_count(a->type, b->type, &q->n_compared);
	return a->value == b->value && (a->value >= 0 || a->type->is_signed == b->type->is_signed);
}

// --- one definition

static bool has_owner(const struct context_question *q, const struct dwhit *hit)
{
	Dwarf_Die owner = hit->owner;
	return !q->owner.n || str_eq(q->owner, str_from(dwsrc_name(&owner)));
}

/** The definition of a hit; false for an enumerator without a value. */
static bool load(const struct search *s, const struct dwhit *hit, struct definition *ret)
{
	Dwarf_Die die = hit->die, owner = hit->owner;
	*ret = (struct definition){.src = s->src};
	ret->type = dwload_type(s->src, wants_value(s->q) ? &owner : &die);
	return !wants_value(s->q) || dwload_enumerator_value(&die, ret->type, &ret->value);
}

static struct group *group_of(struct search *s, const struct dwhit *hit)
{
	return hit->kind & (NAME_TYPEDEF | NAME_BASE) ? &s->typedefs : &s->tags;
}

static void add(struct search *s, const struct dwhit *hit, const struct definition *def)
{
	struct group *g = group_of(s, hit);
	struct ctype *t = def->type, *bare = ctype_strip(t);
	unsigned tags = s->q->name->kinds & NAME_TAGS;
	bool asks_one = tags == NAME_STRUCT || tags == NAME_UNION || tags == NAME_ENUM;
	if (g == &s->typedefs && t->kind == CTYPE_TYPEDEF && bare && bare->name.n &&
	    str_eq(bare->name, t->name)) {
		// `typedef struct x x`: nothing that the tag does not say itself.
		if (!s->same_tag.type)
			s->same_tag = *def;
	} else if (g == &s->typedefs && asks_one && !(bare && namequery_tag(bare) == tags)) {
		return; // a question for an enum is not answered by a typedef of something else
	} else if (!g->first.type) {
		g->first = *def;
		g->unit = hit->die.cu;
	} else if (!g->other.type && !is_same(s->q, &g->first, def)) {
		g->other = *def;
	}
}

/**
 * Chooses among the definitions found: a typedef goes before a tag. @together: all of them are visible from
 * one place. Otherwise, if the two are different types of different units, the choice is arbitrary.
 */
static struct meaning settle(struct search *s, bool together)
{
	const struct group *tags = &s->tags, *typedefs = &s->typedefs;
	const struct definition *tag = tags->first.type ? &tags->first : &s->same_tag;
	struct meaning m = {.first = *tag, .other = tags->other};
	if (!typedefs->first.type)
		return m;
	bool beside = together || typedefs->unit == tags->unit;
	struct ctype *bare = ctype_strip(typedefs->first.type);
	bool is_known = bare && ctype_complete(bare);
	if (tag->type &&
	    ((!beside && !is_known) || (is_known && is_same(s->q, tag, &typedefs->first))))
		return m;
	m.first = typedefs->first;
	m.other = typedefs->other;
	m.hides_tag = tag->type != NULL;
	if (!beside && !m.other.type)
		m.other = *tag;
	return m;
}

/** Takes in what else the name may mean. */
static void add_meaning(struct context_question *q, struct meaning *all, const struct meaning *one)
{
	if (!all->first.type)
		*all = *one;
	else if (!all->other.type && one->first.type && !is_same(q, &all->first, &one->first))
		all->other = one->first;
	else if (!all->other.type)
		all->other = one->other;
}

// --- in images

static bool add_from_image(void *ctx, const struct dwhit *hit)
{
	struct search *s = ctx;
	if (!has_owner(s->q, hit))
		return true;
	struct group *g = group_of(s, hit);
	Dwarf_Die die = hit->die, owner = hit->owner;
	struct definition def;
	bool by_value = wants_value(s->q);
	uint64_t mark = mark_of(&die, &owner, by_value);
	bool believed = mark == g->mark && (by_value || s->q->n_compared >= FULLY_COMPARED);
	bool is_known = g->first.type || (g == &s->typedefs && s->same_tag.type);
	s->is_cut = ++g->n >= s->most;
	// Nothing can be learnt any more once it is known that they differ, but of the other group.
	if (!g->other.type && !(is_known && believed) && load(s, hit, &def)) {
		add(s, hit, &def);
		g->mark = mark;
	}
	bool asks_typedefs = s->q->name->kinds & (NAME_TYPEDEF | NAME_BASE);
	bool is_settled = s->typedefs.other.type || (s->tags.other.type && !asks_typedefs);
	return !is_settled && !s->is_cut;
}

/**
 * Would @hit, which may be a definition, change nothing? It may also be other bytes, which are not
 * loaded unless they have the mark of a definition.
 */
static bool is_known(void *ctx, const struct dwhit *hit)
{
	struct search *s = ctx, then = *s;
	Dwarf_Die die = hit->die, owner = hit->owner;
	if (mark_of(&die, &owner, false) != group_of(s, hit)->mark || !add_from_image(&then, hit) ||
	    then.tags.first.type != s->tags.first.type ||
	    then.tags.other.type != s->tags.other.type ||
	    then.typedefs.first.type != s->typedefs.first.type ||
	    then.typedefs.other.type != s->typedefs.other.type ||
	    then.same_tag.type != s->same_tag.type)
		return false;
	*s = then;
	return true;
}

/** What all definitions in an image come to; looked for once. */
static const struct meaning *find_in_image(struct context_question *q, struct dwsrc *src)
{
	struct dwtypes *t = q->types;
	struct search s = {.q = q, .src = src};
	struct meaning *m = map_get_ptr(&q->known, src);
	if (m)
		return m;
	m = arena_new(t->arena, struct meaning);
	map_put_ptr(t->arena, &q->known, src, m);
	struct str name = q->name->parts[q->name->n_parts - 1];
	if (!dwfilter_open_for(src, str_slice(name, 0, str_find(name, '<'))))
		return m;
	struct dwquery query = {.name = *q->name,
				.no_decls = true,
				.in_body = &q->may_be_in_body,
				.is_known = wants_value(q) ? NULL : is_known};
	s.most = dwfilter_is_large(src) ? MAX_COMPARED_LARGE : MAX_COMPARED;
	q->n_compared = 0;
	dwfind(src, &query, add_from_image, &s);
	if (s.is_cut && t->verbose)
		diag_note(t->diag, NULL,
			  STR_FMT ": the first %u definitions of \"" STR_FMT
				  "\" are the same; any others were not compared",
			  STR_ARG(src->img->display_path), s.most, STR_ARG(q->name->text));
	*m = settle(&s, false);
	m->is_all = !s.is_cut;
	return m;
}

/**
 * In the images that the question comes from when @own, else in the others, until two definitions
 * differ.
 */
static void find_in_images(struct context_question *q, bool own, struct meaning *ret)
{
	struct dwtypes *t = q->types;
	for (size_t i = 0; i < t->images.n && !ret->other.type; i++) {
		struct dwsrc *src = t->images.v[i];
		bool is_own =
		    q->own ? src == q->own : q->context && context_has_image(q->context, src);
		if (is_own == own)
			add_meaning(q, ret, find_in_image(q, src));
	}
}

// --- at places in the code

static bool add_from_die(void *ctx, const struct dwhit *hit)
{
	struct search *s = ctx;
	struct definition def;
	Dwarf_Die die = hit->die, type;
	// A skeleton of a type in a type unit refers to the one that is meant.
	bool is_here = !hit->is_decl || (dwsrc_signature(&die, &type) && type.addr);
	if (is_here && namequery_fits(s->q->name, hit->name, hit->scopes, hit->n_scopes) &&
	    has_owner(s->q, hit) && load(s, hit, &def)) {
		add(s, hit, &def);
		s->is_met = true;
	}
	return true;
}

/**
 * Below units, which are searched together, or in the first of some blocks that has any definition.
 */
static struct meaning find_below(struct context_question *q, struct dwsrc *src,
				 const Dwarf_Die *dies, size_t n, bool are_units)
{
	struct search s = {.q = q, .src = src};
	for (size_t i = 0; i < n && (are_units || !s.is_met); i++) {
		Dwarf_Die die = dies[i];
		dwname_walk_unit(src, &die, NULL, q->name->kinds, add_from_die, &s);
	}
	return settle(&s, true);
}

/**
 * What the unit of @p means: its own definition, else that of its image, of others; nothing when it
 * is not known.
 */
static const struct meaning *find_in_unit(struct context_question *q, const struct context_place *p)
{
	static const struct meaning nothing;
	const struct context_unit *u = p->unit;
	// Where all definitions of the image are the same, the unit's is, too.
	const struct meaning *image = map_get_ptr(&q->known, p->src);
	if (image && image->first.type && image->is_all && !image->other.type && !image->hides_tag)
		return image;
	struct meaning *m = u ? map_get_ptr(&q->known, u) : NULL;
	if (m || !u)
		return m ? m : &nothing;
	m = arena_new(q->types->arena, struct meaning);
	map_put_ptr(q->types->arena, &q->known, u, m);
	*m = find_below(q, p->src, u->parts.v, u->parts.n, true);
	if (!m->first.type)
		*m = *find_in_image(q, p->src);
	for (int own = 1; own >= 0 && !m->first.type; own--)
		find_in_images(q, own, m);
	return m;
}

/** What the code at place @i means. */
static struct meaning find_at_place(struct context_question *q, size_t i, bool may_be_in_block)
{
	struct context *c = q->context;
	struct meaning m = {0}, stray = m;
	if (may_be_in_block) {
		const struct context_blocks *b = context_blocks_at(q->types->arena, c, i);
		m = find_below(q, b->src, b->dies.v, b->n_around, false);
		if (m.first.type && !b->is_flat)
			return m;
		if (!m.first.type && b->dies.n > b->n_around)
			stray = find_below(q, b->src, b->dies.v + b->n_around,
					   b->dies.n - b->n_around, false);
	}
	add_meaning(q, &m, find_in_unit(q, &c->places.v[i]));
	add_meaning(q, &m, &stray);
	return m;
}

/** What all places of the context mean; without a type when none of them has the name. */
static struct meaning find_at_places(struct context_question *q, bool may_be_in_block)
{
	struct context *c = q->context;
	struct meaning all = {0};
	q->depends = true;
	context_resolve(q->types->arena, c);
	for (size_t i = 0; i < c->places.n && !all.by_place; i++) {
		if (q->own && c->places.v[i].src != q->own)
			continue;
		struct meaning one = find_at_place(q, i, may_be_in_block);
		all.by_place =
		    all.first.type && one.first.type && !is_same(q, &all.first, &one.first);
		if (all.by_place)
			all.other = one.first;
		else
			add_meaning(q, &all, &one);
	}
	return all;
}

// --- messages

/**
 * "main.c", or "main.c:7" of one that has it twice; a type unit has no name, but its type has a
 * place.
 */
static struct str unit_text(struct dwtypes *t, const struct definition *d, bool with_image,
			    bool with_line)
{
	struct str unit = d->type->unit.n ? d->type->unit : STR("?");
	Dwarf_Die die = *(const Dwarf_Die *)d->type->origin, top;
	int line;
	bool is_type = dwarf_diecu(&die, &top, NULL, NULL) && dwarf_tag(&top) == DW_TAG_type_unit;
	bool has_line = dwarf_decl_line(&die, &line) == 0;
	if (is_type && has_line && dwsite_may_read_lines(d->src, &top) && dwarf_decl_file(&die))
		unit = str_printf(t->arena, "%s:%d", dwarf_decl_file(&die), line);
	else if (with_line && has_line && !is_type)
		unit = str_printf(t->arena, STR_FMT ":%d", STR_ARG(unit), line);
	if (!with_image)
		return unit;
	return str_printf(t->arena, STR_FMT " of " STR_FMT, STR_ARG(unit),
			  STR_ARG(d->src->img->display_path));
}

static const char *value_text(struct dwtypes *t, const struct definition *d)
{
	return arena_printf(t->arena, d->type->is_signed ? "%" PRId64 : "%" PRIu64, d->value);
}

/** They differ, and any of them may be meant. */
static void report_difference(struct context_question *q, const struct meaning *m)
{
	struct dwtypes *t = q->types;
	const struct definition *first = &m->first, *other = &m->other;
	bool apart = first->src != other->src;
	bool twice = !apart && str_eq(first->type->unit, other->type->unit);
	struct str name = q->name->text, one = unit_text(t, first, apart, twice),
		   two = unit_text(t, other, apart, twice);
	const char *text;
	if (wants_value(q))
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
	diag_warning(t->diag, diag_at({.file = first->src->img->display_path}), "%s", text);
	if (m->by_place)
		diag_note(t->diag, NULL,
			  "the traced sites do not all refer to the same one: write a clause for "
			  "each probe");
}

/** The unit that is meant may have a definition of its own, in a file that cannot be read. */
static void check_missing(struct context_question *q, const struct meaning *m)
{
	struct dwtypes *t = q->types;
	struct dwsrc *src = m->first.src;
	if (!src->missing.n)
		return;
	q->depends = true;
	context_resolve(t->arena, q->context);
	struct str dwo = q->context->missing;
	if (!dwo.n || !map_add(t->arena, &t->warned, dwo))
		return;
	diag_warning(t->diag, diag_at({.file = src->img->display_path}),
		     "the types of the traced code are in \"" STR_FMT
		     "\", which cannot be read; those of other files are used, such as \"" STR_FMT
		     "\" of " STR_FMT,
		     STR_ARG(dwo), STR_ARG(q->name->text),
		     STR_ARG(unit_text(t, &m->first, false, false)));
	dwsplit_report_missing(src);
}

// --- the rule

/**
 * The user named the place, or an image of the context is too large to compare all definitions in
 * it, or the places are so few that looking at them costs less.
 */
static bool asks_places_first(const struct context_question *q)
{
	enum { FEW = 8 };
	struct dwtypes *t = q->types;
	bool are_few = q->context->places.n <= FEW;
	bool first = q->context->is_asked;
	for (size_t i = 0; i < t->images.n && !first; i++) {
		struct dwsrc *src = t->images.v[i];
		first = context_has_image(q->context, src) && dwsrc_open(src) &&
			(are_few || dwfilter_is_large(src));
	}
	return first;
}

void context_find(struct context_question *q, struct definition *ret)
{
	struct context *c = q->types->context;
	struct meaning m = {0}, at_places = m;
	// A context has nothing about a declaration in an image that it has no place in.
	q->context = q->own && c && !context_has_image(c, q->own) ? NULL : c;
	bool places_first = q->context && asks_places_first(q);
	if (!places_first)
		find_in_images(q, true, &m);
	bool may_be_in_block = !q->own && (places_first || q->may_be_in_body);
	if (q->context && (places_first || may_be_in_block || m.other.type || m.hides_tag))
		at_places = find_at_places(q, may_be_in_block);
	if (at_places.first.type)
		m = at_places;
	else if (places_first)
		find_in_images(q, true, &m);
	if (!m.first.type)
		find_in_images(q, false, &m);
	if (m.other.type)
		report_difference(q, &m);
	else if (m.first.type && q->context)
		check_missing(q, &m);
	*ret = m.first;
}
