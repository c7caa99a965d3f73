#include "ctype/closure.h"

#include "ctype/cname.h"

enum { MAX_DEPTH = 64, MAX_DEFS = 1 << 16, MAX_NAMELESS = 1 << 18 };

void closure_init(struct closure *c, struct arena *a, struct diag *d,
		  const struct closure_options *opt)
{
	*c = (struct closure){.arena = a, .diag = d, .opt = *opt};
}

struct cdef *closure_get(const struct closure *c, const struct ctype *t)
{
	return map_get_ptr(&c->by_place, t);
}

bool closure_reserve(struct closure *c, struct str tag)
{
	if (map_get(&c->by_tag, tag))
		return false;
	map_put(c->arena, &c->by_tag, tag, arena_new(c->arena, struct cdef));
	return true;
}

/** A tag for @name that nobody else has; or, when it is the same type again, its definition. */
static struct cdef *find_or_make(struct closure *c, struct ctype *t, struct str name)
{
	struct str first = cname_ident(c->arena, name, c->opt.for_bpftrace), tag = first;
	if (c->opt.is_taken && c->opt.is_taken(c->opt.ctx, tag))
		first = tag = str_printf(c->arena, CLOSURE_PREFIX STR_FMT, STR_ARG(tag));
	for (unsigned i = 2;; i++) {
		struct cdef *def = map_get(&c->by_tag, tag);
		bool taken = def || (c->opt.is_taken && c->opt.is_taken(c->opt.ctx, tag));
		if (!taken)
			break;
		if (def && def->type && str_eq(def->name, name) && ctype_is_same(def->type, t)) {
			map_put_ptr(c->arena, &c->by_place, t, def);
			return def;
		}
		tag = str_printf(c->arena, STR_FMT "_%u", STR_ARG(first), i);
	}
	struct cdef *def = arena_new(c->arena, struct cdef);
	*def = (struct cdef){.type = t, .tag = tag, .name = name};
	map_put(c->arena, &c->by_tag, tag, def);
	map_put_ptr(c->arena, &c->by_place, t, def);
	return def;
}

static bool define(struct closure *c, struct ctype *t, struct str name, struct cdef **ret);

/** The element type of a member: arrays and typedefs removed. The last typedef names a type without a tag. */
static struct ctype *element_of(struct ctype *t, struct str *name)
{
	for (unsigned i = 0; t && i < MAX_DEPTH; i++) {
		if (t->kind == CTYPE_TYPEDEF && t->name.n)
			*name = t->name;
		if (t->kind != CTYPE_TYPEDEF && t->kind != CTYPE_CONST &&
		    t->kind != CTYPE_VOLATILE && t->kind != CTYPE_ARRAY)
			break;
		t = t->of;
	}
	if (t && t->name.n)
		*name = t->name;
	return t;
}

/** Notes that the pointee is wanted; it is defined after the struct that points to it. */
static void want_pointee(struct closure *c, struct ctype *t)
{
	struct str name = {0};
	for (unsigned i = 0; t && i < MAX_DEPTH; i++) {
		t = element_of(t, &name);
		if (!t || (t->kind != CTYPE_POINTER && t->kind != CTYPE_REFERENCE))
			break;
		name = (struct str){0};
		t = t->of;
	}
	if (!t || !ctype_is_aggregate(t) || !name.n || closure_get(c, t) || !ctype_complete(t))
		return;
	struct cdef *def = find_or_make(c, t, name);
	if (def->type == t)
		vec_push(c->arena, &c->queue, def);
}

static bool define_members(struct closure *c, struct ctype *t)
{
	if (c->depth >= MAX_DEPTH)
		return diag_error(c->diag, NULL, "types are nested more than %d deep", MAX_DEPTH);
	// Types without a name are visited again wherever they are; corrupt ones contain each other
	// many times over.
	if (++c->n_looked_at > MAX_NAMELESS)
		return diag_error(c->diag, NULL, "types contain more than %d unnamed types",
				  MAX_NAMELESS);
	c->depth++;
	bool good = true;
	for (size_t i = 0; i < t->n_members && good; i++) {
		struct ctype_member *m = &t->members[i];
		struct str name = {0};
		struct ctype *e = element_of(m->type, &name);
		struct cdef *unused;
		if (!e)
			continue;
		if ((e->kind == CTYPE_POINTER || e->kind == CTYPE_REFERENCE) && c->opt.follow &&
		    c->opt.follow(c->opt.ctx, t, m))
			want_pointee(c, e);
		if (e->kind == CTYPE_ENUM && !c->opt.for_bpftrace && name.n && ctype_complete(e))
			good = define(c, e, name, &unused);
		if (!ctype_is_aggregate(e))
			continue;
		// A base class is spread out into the derived class; a type without a name is
		// printed in its place.
		if (m->is_base || !name.n)
			good = !ctype_complete(e) || define_members(c, e);
		else if (ctype_complete(e))
			good = define(c, e, name, &unused);
	}
	c->depth--;
	return good;
}

static bool define(struct closure *c, struct ctype *t, struct str name, struct cdef **ret)
{
	struct cdef *def = closure_get(c, t);
	if (!def)
		def = find_or_make(c, t, name);
	*ret = def;
	if (def->state == CLOSURE_DONE)
		return true;
	if (def->state == CLOSURE_FAILED)
		return false;
	if (c->defs.n >= MAX_DEFS)
		return diag_error(c->diag, NULL, "more than %d types are needed", MAX_DEFS);
	// While it is being defined the state is FAILED: to meet it again by value means that it contains
	// itself.
	def->state = CLOSURE_FAILED;
	unsigned before = c->diag->n_errors;
	if (!define_members(c, def->type)) {
		if (c->diag->n_errors == before)
			diag_error(c->diag, NULL,
				   "\"" STR_FMT "\" contains itself: corrupt debug information",
				   STR_ARG(name));
		return false;
	}
	def->state = CLOSURE_DONE;
	vec_push(c->arena, &c->defs, def);
	return true;
}

bool closure_add(struct closure *c, struct ctype *t, struct str name, struct str *tag)
{
	struct str own = name;
	t = ctype_strip(t);
	if (t && t->name.n)
		own = t->name;
	if (!t || (!ctype_is_aggregate(t) && t->kind != CTYPE_ENUM))
		return diag_error(c->diag, NULL, "\"" STR_FMT "\" is not a struct, union or enum",
				  STR_ARG(name));
	if (!ctype_complete(t))
		return diag_error(c->diag, NULL,
				  "\"" STR_FMT
				  "\" is declared but not defined in the debug information",
				  STR_ARG(name));
	struct cdef *def;
	if (!define(c, t, own, &def))
		return false;
	*tag = def->tag;
	// What pointers lead to, and what those types lead to.
	for (size_t i = 0; i < c->queue.n; i++) {
		struct cdef *next = c->queue.v[i], *unused;
		if (!define(c, next->type, next->name, &unused))
			return false;
	}
	c->queue.n = 0;
	return true;
}
