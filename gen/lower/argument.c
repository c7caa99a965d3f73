#include "lower/argument.h"

#include "bind/namedarg.h"

const struct probearg *argument_of(struct bind *b, const struct expr *e)
{
	const struct attach_clause *c = e->arg_of;
	return c && !e->is_mixed ? namedarg_at(b, &c->probes.v[0], e->arg) : NULL;
}

struct ctype *argument_meant(struct bind *b, const struct expr *e, bool *is_guess)
{
	const struct attach_clause *c = e->arg_of;
	struct ctype *t = NULL;
	*is_guess = e->is_guess;
	if (e->is_mixed)
		return NULL;
	if (e->type || !c)
		return e->type ? e->type : e->meant;
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct probearg *arg = namedarg_at(b, &c->probes.v[i], e->arg);
		if (!arg || !arg->type || arg->types_differ || (t && !ctype_is_same(t, arg->type)))
			return NULL;
		t = arg->type;
		*is_guess |= arg->from != PROBEARG_DECLARED;
	}
	return t;
}

struct ctype *argument_shown_enum(struct bind *b, const struct expr *e)
{
	bool is_guess = false;
	if (!e || e->kind != EXPR_NUMBER || (!b->shapes && !b->files))
		return NULL;
	struct ctype *t = e->type ? e->type : argument_meant(b, e, &is_guess);
	struct ctype *plain = ctype_strip(t);
	return plain && plain->kind == CTYPE_ENUM ? t : NULL;
}
