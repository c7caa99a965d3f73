// Arguments of probes by name and by number, and what a function returns.
#include "bind/argread.h"
#include "bind/namedarg.h"
#include "bind/namedvar.h"
#include "emit/emit_priv.h"
#include "lang/vocabulary.h"
#include "sema/argument.h"
#include "sema/exprtype.h"
#include "sema/result.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

/**
 * What must stand before argN: bpftrace before 0.24 takes every one for an unsigned 64-bit number,
 * `arg2 < 0` is never true. From 0.24 on it takes it for a signed one. Where sites disagree it has
 * the value with the sign of each.
 */
static const char *arg_cast(struct emitter *e, unsigned i, bool is_kept_unsigned, unsigned *bits)
{
	const struct bind *b = e->b;
	unsigned size;
	enum sign sign = argument_sign(b, e->clause, i, &size);
	if (dialect_has_signed_args(b->given->version))
		return is_kept_unsigned && sign == SIGN_UNSIGNED && size == 8 ? "(uint64)" : "";
	if (sign != SIGN_SIGNED)
		return "";
	if (!size || size == 8)
		return "(int64)";
	*bits = size * 8;
	return arena_printf(b->arena, "(int64)(int%u)", *bits);
}

/** @text behind a cast to the type of a pointer, or (empty) behind @cast. */
static struct text *read_as(struct emitter *e, const struct node *n, struct str pointer,
			    const char *cast, struct str text)
{
	struct text *t =
	    pointer.n ? made(e, n, "((%t)%t)", pointer, text) : made(e, n, "%s%t", cast, text);
	t->held = str_eqz(str_from(cast), "(uint64)") ? HELD_UNSIGNED : HELD_OPEN;
	return t;
}

static const char *sized_cast(struct emitter *e, const struct ctype *t)
{
	const char *sign = t->is_signed ? "" : "u";
	return arena_printf(e->arena, "(%sint64)(%sint%u)", sign, sign, (unsigned)t->size * 8);
}

const struct text *argument_numbered(struct emitter *e, const struct node *n, enum want want)
{
	const struct attach_clause *c = e->clause;
	unsigned i;
	if (!vocabulary_arg_number(n->name->text, &i) || c->has_other || c->has_uprobe)
		return NULL;
	struct str place, text = argread_find(e->b, c, i, &place);
	unsigned bits = 0;
	const char *cast = arg_cast(e, i, want == WANT_SIGN, &bits);
	if (text.n)
		return made(e, n, "%t", text);
	if (!*cast)
		return NULL;
	struct text *t = read_as(e, n, STR(""), cast, n->name->text);
	t->bits = bits;
	return t;
}

const struct text *argument_retval(struct emitter *e, const struct node *n)
{
	const struct ctype *t = ctype_strip(n->expr->type);
	struct str pointer = types_pointer(e, n->expr->type);
	if (t->kind == CTYPE_POINTER && pointer.n)
		return made(e, n, "((%t)retval)", pointer);
	if (ctype_is_number(t) && t->size < 8)
		return made(e, n, "%sretval", sized_cast(e, t));
	return ctype_is_number(t) && t->is_signed ? made(e, n, "(int64)retval") : NULL;
}

/** vars.NAME, that is no struct or array. */
static const struct text *emit_variable(struct emitter *e, const struct node *n,
					const struct namedvar *v, enum want want)
{
	const struct ctype *t = ctype_strip(v->type);
	struct str pointer = want == WANT_POINTER ? types_pointer(e, v->type) : STR("");
	const char *cast = ctype_is_number(t) && t->size < 8	? sized_cast(e, t)
			   : ctype_is_number(t) && t->is_signed ? "(int64)"
								: "(uint64)";
	return read_as(e, n, pointer, cast, v->text);
}

const struct text *argument_address(struct emitter *e, const struct node *n)
{
	const struct namedvar *v = namedvar_find(e->clause, n);
	return v ? made(e, n, "%t", v->text) : NULL;
}

const struct text *argument_named(struct emitter *e, const struct node *n, enum want want)
{
	unsigned i;
	const struct probearg *arg = n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args")
					 ? namedarg_find(e->b, e->clause, n->name, &i)
					 : NULL;
	const struct namedvar *v = arg ? NULL : namedvar_find(e->clause, n);
	if (!arg)
		return v ? emit_variable(e, n, v, want) : NULL;
	const struct ctype *t = ctype_strip(arg->type);
	struct str pointer = want == WANT_POINTER ? types_pointer(e, arg->type) : STR("");
	struct str place, text = argread_find(e->b, e->clause, i, &place);
	const char *cast = "";
	unsigned bits = 0;
	if (!pointer.n && (arg->sizes_differ || e->clause->params) && ctype_is_number(t) &&
	    t->size <= 8 && t->size > 0)
		cast = sized_cast(e, t);
	else if (!pointer.n && !arg->sizes_differ && !text.n && !e->clause->params)
		cast = arg_cast(e, i,
				want == WANT_SIGN ||
				    (t && t->kind == CTYPE_INT && !t->is_signed && t->size == 8),
				&bits);
	if (!text.n)
		text = str_printf(e->arena, "arg%u", i);
	struct text *named = read_as(e, n, pointer, cast, text);
	named->bits = bits;
	return named;
}
