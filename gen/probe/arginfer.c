#include "probe/arginfer.h"

#include <dwarf.h>

#include "probe/argtype.h"
#include "dwarf/dwload.h"

/** A decimal, octal or hexadecimal number, with a sign. */
static bool literal_value(struct str expr, int64_t *ret)
{
	uint64_t v;
	bool minus = str_take(&expr, STR("-"));
	if (!str_to_u64(minus ? str_trim(expr) : expr, &v))
		return false;
	*ret = (int64_t)(minus ? 0 - v : v);
	return true;
}

/** Is @name one of the words of @expr? */
static bool has_word(struct str expr, struct str name)
{
	while (expr.n)
		if (str_eq(argname_take_token(&expr), name))
			return true;
	return false;
}

/**
 * Does the debug information say otherwise than text @t of the operand? Another variable is where the
 * operand is, and not as a copy of what the text has, which would be of its type; or the variable that the
 * text is lies elsewhere.
 */
static bool is_refuted(struct arena *a, const struct argsrc_arg *t, const struct sdtarg *o,
		       const struct argloc_candidates *found)
{
	struct ctype *bare = ctype_strip(t->type);
	int64_t value;
	if (!t->expr.n)
		return false;
	if (literal_value(t->expr, &value))
		return o->kind != SDTARG_CONST || o->value != value;
	if (t->type && !t->is_literal && !argtype_fits(t->type, o))
		return true;
	if (o->kind == SDTARG_CONST && o->value && bare && bare->kind == CTYPE_POINTER)
		return true; // the size of what it points to?
	bool has_type = false;
	for (size_t i = 0; i < found->list.n; i++) {
		if (has_word(t->expr, found->list.v[i].name))
			return false;
		has_type |= t->type && argtype_is_same(a, found->list.v[i].type, t->type);
	}
	if (!found->list.n || !t->type)
		return false;
	return !has_type || (t->var && t->var->kind != ARGLOC_NOWHERE);
}

static void take_text(struct arena *a, const struct argsrc_arg *t, struct arginfer_arg *of)
{
	struct probearg *ret = of->arg;
	// The variable at the operand's place does not explain an ambiguous text, which may cast it.
	of->by_source = true;
	ret->name = t->name;
	ret->expr = t->expr;
	if (!t->expr.n)
		return;
	ret->is_constant = t->is_added;
	if (t->type && argtype_fits(t->type, &ret->operand))
		ret->type = t->type;
	if (ret->type || t->is_literal || t->expr.p[0] == '(')
		return; // in parentheses it may be cast
	// An expression that was not understood: a variable of its name in that place has its type.
	for (size_t i = 0; i < of->candidates.list.n && t->name.n; i++) {
		const struct argloc_candidate *c = &of->candidates.list.v[i];
		if (!str_eq(c->name, t->name))
			continue;
		if (ret->type && !argtype_is_same(a, ret->type, c->type)) {
			ret->type = NULL;
			return;
		}
		ret->type = c->type;
	}
}

/** `&p->first` is where p points to: with p at one place for two arguments, which of them is p? */
static void drop_twins(struct arginfer_arg *args, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (str_eq(args[i].arg->operand.place, args[k].arg->operand.place))
				args[i].candidates = args[k].candidates =
				    (struct argloc_candidates){0};
}

static bool is_signed_enum(struct ctype *t)
{
	t = ctype_strip(t);
	return t && t->kind == CTYPE_ENUM && t->is_signed;
}

/**
 * In C a constant of four bytes with a sign is an int: its enumerators are ints, and of
 * enumerations only one that has a negative one is signed. False in other languages and where there
 * is such an enumeration.
 */
static bool constants_are_ints(const struct argloc *l)
{
	Dwarf_Die unit = l->scope->unit;
	struct dwwalk w = {0};
	if (!dwsrc_is_c(&unit))
		return false;
	for (size_t i = 0; i < l->vars.n; i++)
		if (is_signed_enum(l->vars.v[i].type))
			return false;
	for (Dwarf_Die die = {0}; dwsrc_next_child(l->src, &w, &unit, &die);)
		if (dwarf_tag(&die) == DW_TAG_enumeration_type &&
		    is_signed_enum(dwload_type(l->src, &die)))
			return false;
	return true;
}

static void find_ints(const struct argloc *l, struct arginfer_arg *args, size_t n)
{
	bool asked = false, are_ints = false;
	for (size_t i = 0; i < n; i++) {
		const struct sdtarg *o = &args[i].arg->operand;
		if (o->kind != SDTARG_CONST || o->size != 4 || !o->is_signed || o->is_float ||
		    args[i].by_source)
			continue;
		if (!asked)
			are_ints = constants_are_ints(l);
		asked = true;
		args[i].is_int = are_ints;
	}
}

/** The texts of the source line, if there is one, and nothing contradicts any of them. */
static void read_line(struct argloc *l, struct str probe, struct arginfer_arg *args, size_t n)
{
	const struct argsrc_arg *texts = argsrc_read(l, probe, n);
	if (!texts)
		return;
	for (size_t i = 0; i < n; i++)
		if (is_refuted(l->src->arena, &texts[i], &args[i].arg->operand,
			       &args[i].candidates))
			return;
	for (size_t i = 0; i < n; i++) {
		struct probearg *arg = args[i].arg;
		take_text(l->src->arena, &texts[i], &args[i]);
		if (arg->type)
			arg->string_max = argsrc_string_max(l, arg->expr);
	}
}

struct arginfer_arg *arginfer_site(struct dwsrc *src, const struct dwsite *scope, struct str probe,
				   struct probesite *s)
{
	struct argloc at;
	struct arginfer_arg *args = arena_array(src->arena, struct arginfer_arg, s->n_args);
	argloc_init(&at, src, scope, false);
	Dwarf_Die unit = scope->unit;
	for (size_t i = 0; i < s->n_args; i++) {
		args[i].arg = &s->args[i];
		s->args[i].operand.may_be_signed_enum =
		    !s->args[i].operand.is_signed && !dwsrc_is_c(&unit);
		argloc_find(&at, &s->args[i].operand, &args[i].candidates);
	}
	read_line(&at, probe, args, s->n_args);
	drop_twins(args, s->n_args);
	find_ints(&at, args, s->n_args);
	return args;
}

// --- several sites

/** @c has a candidate of type @type, and of name @name unless that is empty. */
static bool has_type(struct arena *a, const struct argloc_candidates *c, struct str name,
		     struct ctype *type)
{
	return vec_any(const struct argloc_candidate, one, &c->list,
		       (!name.n || str_eq(one->name, name)) && argtype_is_same(a, one->type, type));
}

/**
 * What argument @k can be at one site: the source's word, or the candidates; empty when nothing is
 * known.
 */
static struct argloc_candidates evidence(struct arena *a, const struct arginfer_arg *arg)
{
	struct argloc_candidates c = {0};
	if (!arg->by_source)
		return arg->candidates;
	if (arg->arg->type)
		vec_push(a, &c.list, (struct argloc_candidate){arg->arg->name, arg->arg->type});
	return c;
}

/** Those of @all that @other has, too; @by_name: name and type, else only the type. */
static struct argloc_candidates common(struct arena *a, const struct argloc_candidates *all,
				       const struct argloc_candidates *other, bool by_name)
{
	struct argloc_candidates left = {0};
	for (size_t i = 0; i < all->list.n; i++) {
		struct argloc_candidate *one = &all->list.v[i];
		if ((!by_name || one->name.n) &&
		    has_type(a, other, by_name ? one->name : (struct str){0}, one->type))
			vec_push(a, &left.list, *one);
	}
	return left;
}

/**
 * Sites of one probe have the same types: keeps the candidates whose types all sites have, if there
 * are any, and of these the names that all have. A name never decides about a type: two pointers to
 * one struct can both be passed, or their first members.
 */
static void narrow(struct arena *a, const struct arginfer_site *sites, size_t n, size_t k)
{
	struct argloc_candidates types = {0}, names = {0};
	size_t n_known = 0;
	for (size_t i = 0; i < n; i++) {
		if (k >= sites[i].n)
			continue;
		struct argloc_candidates here = evidence(a, &sites[i].args[k]);
		if (!here.list.n)
			continue;
		types = n_known ? common(a, &types, &here, false) : here;
		names = n_known ? common(a, &names, &here, true) : here;
		n_known++;
		if (!types.list.n)
			return; // they disagree: nobody is believed
	}
	for (size_t i = 0; i < n && n_known > 1; i++) {
		if (k >= sites[i].n || sites[i].args[k].by_source)
			continue;
		struct argloc_candidates *c = &sites[i].args[k].candidates, left = {0};
		*c = common(a, c, &types, false);
		for (size_t j = 0; j < c->list.n; j++) {
			const struct argloc_candidate *one = &c->list.v[j];
			if (!has_type(a, &names, (struct str){0}, one->type) ||
			    has_type(a, &names, one->name, one->type))
				vec_push(a, &left.list, *one);
		}
		*c = left;
	}
}

/** What all candidates agree about. */
static void settle(struct arena *a, struct arginfer_arg *of)
{
	const struct argloc_candidates *c = &of->candidates;
	struct probearg *arg = of->arg;
	if (of->by_source || !c->list.n)
		return;
	arg->name = c->list.v[0].name;
	arg->type = c->list.v[0].type;
	for (size_t i = 1; i < c->list.n; i++) {
		if (!str_eq(arg->name, c->list.v[i].name))
			arg->name = (struct str){0};
		if (!argtype_is_same(a, arg->type, c->list.v[i].type))
			arg->type = NULL;
	}
	// With two types that fit, nobody knows; a name alone would be a guess at which variable it
	// was.
	if (!arg->type)
		arg->name = (struct str){0};
}

/** Some site knows the type of argument @k: it may be called otherwise than int. */
static bool is_known(const struct arginfer_site *sites, size_t n, size_t k)
{
	for (size_t i = 0; i < n; i++)
		if (k < sites[i].n && sites[i].args[k].arg->type && !sites[i].args[k].is_int)
			return true;
	return false;
}

void arginfer_intersect(struct arena *a, const struct arginfer_site *sites, size_t n)
{
	size_t most = 0;
	for (size_t i = 0; i < n; i++)
		most = sites[i].n > most ? sites[i].n : most;
	for (size_t k = 0; k < most; k++) {
		narrow(a, sites, n, k);
		for (size_t i = 0; i < n; i++)
			if (k < sites[i].n)
				settle(a, &sites[i].args[k]);
		bool known = is_known(sites, n, k);
		for (size_t i = 0; i < n && !known; i++)
			if (k < sites[i].n && sites[i].args[k].is_int)
				sites[i].args[k].arg->type =
				    ctype_new(a, CTYPE_INT, "int", 4, true);
	}
}
