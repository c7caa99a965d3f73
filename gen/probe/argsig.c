#include "probe/argsig.h"

#include "probe/argtype.h"
#include "dwarf/dwload.h"

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
		return listed->kind == CTYPE_ENUM && known->kind == CTYPE_ENUM && known->name.n &&
		       !str_eq(listed->name, known->name);
	return to->kind != to2->kind || is_text(to) != is_text(to2) ||
	       (to->kind == CTYPE_STRUCT && to2->name.n && !str_eq(to->name, to2->name));
}

static bool contradicts(const struct probesig_arg *want, const struct probearg *arg,
			bool is_of_project)
{
	const struct sdtarg *o = &arg->operand;
	if (want->is_constant)
		return o->kind != SDTARG_CONST || (uint64_t)o->value != want->value;
	if (want->type->kind == CTYPE_POINTER && !argtype_fits(want->type, o))
		return true;
	// The program may have it in fewer bytes.
	bool has_size =
	    want->type->kind != CTYPE_ENUM && !(is_of_project && want->type->kind == CTYPE_INT);
	return o->is_float || (has_size && o->size && o->size < want->type->size) ||
	       is_other_kind(want->type, arg->type);
}

/** Why the probe is another one than @sig, or empty. */
static struct str why_not(struct arena *a, const struct probesig *sig, const struct probeargs *pa)
{
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probesite *s = &pa->sites[i];
		if (s->n_args != sig->n_args)
			return str_printf(a, "it lists %zu argument%s", sig->n_args,
					  sig->n_args == 1 ? "" : "s");
		for (size_t k = 0; k < sig->n_args; k++) {
			const struct probesig_arg *want = &sig->args[k];
			if (!contradicts(want, &s->args[k], sig->is_of_project))
				continue;
			if (want->is_constant)
				return str_printf(a, "it lists arg%zu as always %llu", k,
						  (unsigned long long)want->value);
			return str_printf(a, "it lists arg%zu as " STR_FMT, k,
					  STR_ARG(ctype_spell(a, want->type)));
		}
	}
	return (struct str){0};
}

// --- definitions

/** The definition of the shell @t in the program, or NULL. */
static struct ctype *find_definition(const struct argsig_types *in, struct ctype *t)
{
	struct namequery q;
	struct ctype *found = NULL;
	if (in->src)
		found = dwload_first(in->src, t->name, namequery_tag(t), in->unit);
	else if (in->btf && namequery_parse(t->name, namequery_tag(t), &q))
		found = in->btf->ops->find(in->btf, &q);
	return found && !found->is_decl ? found : NULL;
}

/**
 * @t with what the program has in the place of a shell, or of a listed enum. An enum that nobody
 * defines is as large as the operand.
 */
static struct ctype *define(struct arena *a, const struct argsig_types *in, struct ctype *t,
			    const struct sdtarg *operand)
{
	if (t->kind == CTYPE_POINTER && t->of && t->of->is_decl) {
		struct ctype *found = find_definition(in, t->of);
		return found ? ctype_new_pointer(a, found, (unsigned)t->size) : t;
	}
	if (t->kind != CTYPE_ENUM)
		return t;
	struct ctype *found = find_definition(in, t);
	if (found || t->n_values)
		return found ? found : t;
	found = arena_new(a, struct ctype);
	*found = *t;
	found->size = operand->size;
	found->has_size = operand->size != 0;
	found->is_signed = operand->is_signed;
	return found;
}

// --- arguments

/**
 * An enumerator is an int in C, its enum mostly unsigned: a constant is of the enum that has its
 * value, whatever the operand's sign is.
 */
static bool is_enumerator(const struct ctype *t, const struct sdtarg *o)
{
	if (!t || t->kind != CTYPE_ENUM || o->kind != SDTARG_CONST || o->size != t->size)
		return false;
	for (size_t i = 0; i < t->n_values; i++)
		if (t->values[i].value == o->value)
			return true;
	return false;
}

/** Does the binary call an argument so? */
static bool is_taken(const struct probeargs *pa, struct str name)
{
	for (size_t i = 0; i < pa->n_sites; i++)
		for (size_t k = 0; k < pa->sites[i].n_args; k++)
			if (str_eq(pa->sites[i].args[k].name, name))
				return true;
	return false;
}

static void take_arg(struct arena *a, const struct argsig_types *in,
		     const struct probesig_arg *want, size_t k, struct probeargs *pa)
{
	bool has_name = false, has_type = false;
	struct ctype *type = NULL;
	for (size_t i = 0; i < pa->n_sites; i++) {
		has_name |= pa->sites[i].args[k].has_name;
		has_type |= pa->sites[i].args[k].type != NULL;
	}
	bool is_known = !has_name || is_taken(pa, want->name);
	for (size_t i = 0; i < pa->n_sites; i++) {
		struct probearg *arg = &pa->sites[i].args[k];
		arg->is_constant = want->is_constant;
		arg->constant = want->value;
		if (!has_type && !type)
			type = define(a, in, want->type, &arg->operand);
		bool fits = !has_type && (argtype_fits(type, &arg->operand) ||
					  is_enumerator(type, &arg->operand));
		if (fits)
			arg->type = type;
		if (!has_name && want->name.n) {
			arg->name = want->name;
			arg->has_name = true;
		}
		// A listed void * is no text, or none that ends, also where the program has it as
		// char *.
		if (want->type->kind == CTYPE_POINTER && !want->type->of &&
		    is_text(ctype_pointee(arg->type)))
			arg->type = want->type;
		if (!is_known)
			arg->listed_name = want->name;
		if (fits || arg->from == PROBEARG_SIZE_ONLY)
			arg->from = PROBEARG_LISTED;
	}
}

void argsig_take(struct arena *a, const struct argsig_types *in, const struct probesig *sig,
		 struct probeargs *pa)
{
	do
		pa->unlisted = why_not(a, sig, pa);
	while (pa->unlisted.n && (sig = sig->other));
	for (size_t k = 0; sig && k < sig->n_args; k++)
		take_arg(a, in, &sig->args[k], k, pa);
}
