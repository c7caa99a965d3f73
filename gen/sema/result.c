#include "sema/result.h"

#include "bind/namedarg.h"
#include "probe/argtype.h"
#include "probe/funcargs.h"

struct result {
	struct ctype *type;
	const char *why_none;
};

/**
 * Are all attach points ends of functions in the symbol tables? gcc drops a result that no caller uses, and
 * names the rest f.isra.0, or f.part.0 when it splits f.
 */
static bool is_of_ends(const struct attach_clause *c)
{
	vec_each(const struct script_attach, at, &c->clause->attach) {
		struct str name = at->fields.n ? at->fields.v[at->fields.n - 1] : STR("");
		if (str_contains(name, STR(".isra.")) || str_contains(name, STR(".part.")))
			return false;
	}
	return namedarg_is_only(c, PLACE_RETURN);
}

static struct result read_result(const struct bind *b, const struct attach_clause *c)
{
	struct result r = {0};
	for (size_t i = 0; i < c->near.places.n; i++) {
		struct funcargs f;
		if (!funcargs_read(c->near.places.v[i].src, c->near.places.v[i].addr, &f))
			return (struct result){.why_none = r.why_none};
		if (f.is_void && !r.why_none)
			r.why_none = arena_printf(b->arena, STR_FMT "() returns nothing",
						  STR_ARG(f.function));
		if (f.is_float && !r.why_none)
			r.why_none =
			    arena_printf(b->arena, STR_FMT "() returns a floating-point number",
					 STR_ARG(f.function));
		if (!f.result || (i && (!r.type || !argtype_is_same(b->arena, f.result, r.type))))
			return (struct result){.why_none = r.why_none};
		r.type = f.result;
	}
	return r;
}

static const struct result *result_of(const struct bind *b, const struct attach_clause *c)
{
	struct result *known = map_get_ptr(&b->cache->results, c->clause->node);
	if (known)
		return known;
	known = arena_new(b->arena, struct result);
	if (is_of_ends(c))
		*known = read_result(b, c);
	map_put_ptr(b->arena, &b->cache->results, c->clause->node, known);
	return known;
}

struct ctype *result_type(const struct bind *b, const struct attach_clause *c)
{
	return result_of(b, c)->type;
}

const char *result_why_none(const struct bind *b, const struct attach_clause *c)
{
	return result_of(b, c)->why_none;
}
