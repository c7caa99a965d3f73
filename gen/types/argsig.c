#include "types/argsig.h"

#include "types/argtype.h"

static bool is_text(const struct ctype *t)
{
	return t && t->kind == CTYPE_INT && t->is_char;
}

/** Both are known to be of a kind, and the kinds are different. */
static bool is_other_kind(struct ctype *listed, struct ctype *known)
{
	listed = ctype_strip(listed);
	known = ctype_strip(known);
	if (!listed || !known)
		return false;
	bool is_pointer = listed->kind == CTYPE_POINTER;
	if (is_pointer != (known->kind == CTYPE_POINTER || known->kind == CTYPE_REFERENCE))
		return true;
	struct ctype *to = ctype_strip(listed->of), *to2 = ctype_strip(known->of);
	if (!is_pointer || !to || !to2) // a void * can be anything
		return false;
	return to->kind != to2->kind || is_text(to) != is_text(to2);
}

static bool contradicts(const struct probesig_arg *want, const struct probearg *arg)
{
	const struct sdtarg *o = &arg->operand;
	if (want->type->kind == CTYPE_POINTER && !argtype_fits(want->type, o))
		return true;
	return o->is_float || (o->size && o->size < want->type->size) ||
	       is_other_kind(want->type, arg->type);
}

/** Why the probe is another one than @sig, or empty. */
static struct str why_not(struct arena *a, const struct probesig *sig, const struct probeargs *pa)
{
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probesite *s = &pa->sites[i];
		if (s->n_args != sig->n_args)
			return str_from(arena_printf(a, "it has %zu argument%s there", sig->n_args,
						     sig->n_args == 1 ? "" : "s"));
		for (size_t k = 0; k < sig->n_args; k++) {
			const struct probesig_arg *want = &sig->args[k];
			if (contradicts(want, &s->args[k]))
				return str_from(arena_printf(a, "arg%zu is " STR_FMT " there", k,
							     STR_ARG(ctype_spell(a, want->type))));
		}
	}
	return (struct str){0};
}

// --- arguments

static void take_arg(const struct probesig_arg *want, size_t k, struct probeargs *pa)
{
	bool has_name = false, has_type = false;
	for (size_t i = 0; i < pa->n_sites; i++) {
		has_name |= pa->sites[i].args[k].has_name;
		has_type |= pa->sites[i].args[k].type != NULL;
	}
	for (size_t i = 0; i < pa->n_sites; i++) {
		struct probearg *arg = &pa->sites[i].args[k];
		bool fits = !has_type && argtype_fits(want->type, &arg->operand);
		if (fits)
			arg->type = want->type;
		if (!has_name) {
			arg->name = want->name;
			arg->has_name = true;
		}
		if (fits || arg->from == PROBEARG_SIZE_ONLY)
			arg->from = PROBEARG_LISTED;
	}
}

void argsig_take(struct arena *a, const struct probesig *sig, struct probeargs *pa)
{
	pa->unlisted = why_not(a, sig, pa);
	for (size_t k = 0; k < sig->n_args && !pa->unlisted.n; k++)
		take_arg(&sig->args[k], k, pa);
}
