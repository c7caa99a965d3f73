#include "sema/arg_fact.h"

#include "bind/namedarg.h"

const struct probearg *arg_fact_of(const struct bind *b, const struct expr *e)
{
	const struct attach_clause *c = e->arg_of;
	return c && !e->is_mixed ? namedarg_at(b, &c->probes.v[0], e->arg) : NULL;
}

struct ctype *arg_fact_type(const struct bind *b, const struct expr *e, bool *is_guess)
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

struct ctype *arg_fact_enum(const struct bind *b, const struct expr *e)
{
	bool is_guess = false;
	if (!e || e->kind != EXPR_NUMBER || (!b->given->shapes && !b->given->files))
		return NULL;
	struct ctype *t = e->type ? e->type : arg_fact_type(b, e, &is_guess);
	struct ctype *plain = ctype_strip(t);
	return plain && plain->kind == CTYPE_ENUM ? t : NULL;
}

enum sign arg_fact_sign(const struct bind *b, const struct attach_clause *c, unsigned n,
			unsigned *size)
{
	enum sign sign = SIGN_OPEN, constants = SIGN_OPEN;
	bool differs = false, is_signed = false;
	*size = 0;
	vec_each(const struct attach_match, m, &c->probes) {
		for (size_t k = 0; k < m->probe->n_sites; k++) {
			const struct operands *o = namedarg_operands(b, m, &m->probe->sites[k]);
			const struct sdtarg *args = o->v;
			if (n >= o->n || args[n].is_float || !args[n].size || args[n].size > 8)
				return SIGN_OTHER;
			enum sign one = args[n].is_signed  ? SIGN_SIGNED
					: args[n].size < 8 ? SIGN_NONE
							   : SIGN_UNSIGNED;
			// A constant 5 is 5 with any sign: its type does not matter beside other sites.
			if (args[n].kind == SDTARG_CONST && args[n].value >= 0)
				constants = sign_join(constants, one);
			else
				sign = sign_join(sign, one);
			differs |=
			    *size && (args[n].size != *size || args[n].is_signed != is_signed);
			*size = args[n].size;
			is_signed = args[n].is_signed;
		}
	}
	if (differs || (*size & (*size - 1)))
		*size = 0;
	if (sign == SIGN_OPEN)
		sign = constants;
	return sign == SIGN_OPEN ? SIGN_OTHER : sign;
}
