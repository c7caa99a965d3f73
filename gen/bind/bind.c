#include "bind/bind.h"

#include "bind/attach.h"
#include "bind/check.h"
#include "bind/constant.h"
#include "bind/enumname.h"
#include "bind/marker.h"
#include "bind/namedarg.h"
#include "bind/once.h"
#include "bind/optional.h"
#include "bind/signs.h"
#include "bind/table.h"
#include "bind/typed.h"
#include "bind/typeuse.h"
#include "out/dialect.h"

/** `scope target` or `scope host` */
static bool take_scope(struct bind *b, const struct token *t)
{
	struct diag_place place = tok_place(t);
	if (tok_is(t, "host"))
		b->host_scope = true;
	else if (!tok_is(t, "target"))
		return diag_error(b->diag, &place, "#pragma scope: expected `target` or `host`");
	return true;
}

/** `require bpftrace >= 0.23` */
static bool take_require(struct bind *b, const struct token *t)
{
	struct diag_place place = tok_place(t);
	unsigned v = 0;
	if (!tok_is(t, "bpftrace") || !tok_is(t->next, ">=") ||
	    !dialect_parse(t->next->next->text, &v))
		return diag_error(b->diag, &place, "#pragma require: expected `bpftrace >= 0.N`");
	return b->version >= v ||
	       diag_error(b->diag, &place,
			  "this script needs bpftrace " STR_FMT ", this one is 0.%u",
			  STR_ARG(t->next->next->text), b->version);
}

static bool take_pragmas(struct bind *b, const struct pp *pp)
{
	bool good = true;
	for (size_t i = 0; i < pp->pragmas.n; i++) {
		const struct token *t = pp->pragmas.v[i].tokens;
		if (tok_is(t, "scope"))
			good &= take_scope(b, t->next);
		else if (tok_is(t, "require"))
			good &= take_require(b, t->next);
	}
	return good;
}

static void add_image(struct bind *b, struct map *seen, struct image *im)
{
	if (map_add(b->arena, seen, im->path) && image_open(b->images, im))
		lookup_add_image(b->lookup, im->img);
}

struct lookup *bind_lookup(struct bind *b)
{
	if (b->lookup || !b->images)
		return b->lookup;
	b->lookup = arena_new(b->arena, struct lookup);
	lookup_init(b->lookup, b->arena, b->diag);
	struct map seen = {0};
	for (size_t i = 0; i < b->script.clauses.n; i++)
		for (size_t k = 0; k < b->clauses[i].probes.n; k++)
			add_image(b, &seen, b->clauses[i].probes.v[k].image);
	for (size_t i = 0; i < b->images->files.n; i++)
		add_image(b, &seen, &b->images->files.v[i]);
	b->lookup->verbose = b->verbose;
	b->all_near = arena_new(b->arena, struct dwnear);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct dwnear *near = &b->clauses[i].near;
		for (size_t k = 0; k < near->places.n; k++)
			dwnear_add(b->arena, b->all_near, near->places.v[k].img,
				   near->places.v[k].addr);
	}
	lookup_ask_from(b->lookup, b->all_near);
	return b->lookup;
}

struct lookup *bind_lookup_from(struct bind *b, size_t i)
{
	struct lookup *lk = bind_lookup(b);
	if (lk)
		lookup_ask_from(lk,
				b->clauses[i].near.places.n ? &b->clauses[i].near : b->all_near);
	return lk;
}

/** Every clause is looked at, so that all mistakes are told at once. */
static bool bind_clauses(struct bind *b, struct token **list)
{
	struct attach_clause *clauses = b->clauses;
	bool good = true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		bool bound = attach_bind_clause(b, &b->script.clauses.v[i], &clauses[i]);
		good &=
		    bound && namedarg_resolve(b, &clauses[i]) && check_arguments(b, &clauses[i]);
		if (good)
			signs_extend(b, &clauses[i]);
	}
	return good && optional_drop(b, list) &&
	       attach_add_filters(b, clauses, b->script.clauses.n);
}

bool bind_tokens(struct bind *b, struct pp *pp)
{
	if (!script_parse(b->arena, b->diag, pp->out, &b->script) || !take_pragmas(b, pp) ||
	    !optional_collect(b, pp))
		return false;
	if (!b->script.clauses.n) {
		struct diag_place place = tok_place(pp->out);
		return diag_error(b->diag, &place, "there is no probe in this script");
	}
	b->clauses = arena_array(b->arena, struct attach_clause, b->script.clauses.n);
	if (!bind_clauses(b, &pp->out) || !enumname_rewrite(b) || !typed_rewrite(b) ||
	    !typeuse_resolve(b, pp) || !constant_fold(b))
		return false;
	return once_merge(b, &pp->out, "BEGIN") && once_merge(b, &pp->out, "END") &&
	       table_add_all(b, pp) && marker_replace_all(b, pp->out);
}
