// Arguments of probes by name and by number, and return values.

#include "bind/argread.h"
#include "bind/namedarg.h"
#include "bind/namedvar.h"
#include "emit/emit_priv.h"
#include "sema/arg_fact.h"
#include "sema/exprtype.h"
#include "sema/result.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

/**
 * The cast that argN needs: to bpftrace before 0.24 each is an unsigned 64-bit number, so that
 * `arg2 < 0` is never true; from 0.24 on, a signed one. Where sites disagree, the value has been extended by
 * the sign of each.
 */
static const char *arg_cast(struct emitter *e, unsigned i, bool is_kept_unsigned, unsigned *bits)
{
	const struct bind *b = e->b;
	unsigned size;
	enum sign sign = arg_fact_sign(b, e->clause, i, &size);
	if (dialect_has_signed_args(b->given->version))
		return is_kept_unsigned && sign == SIGN_UNSIGNED ? "(uint64)" : "";
	if (sign != SIGN_SIGNED)
		return "";
	if (!size || size == 8)
		return "(int64)";
	*bits = size * 8;
	return arena_printf(b->arena, "(int64)(int%u)", *bits);
}

/** @text with a cast to @pointer or, if that is empty, with @cast. */
static struct text *read_as(struct emitter *e, const struct node *n, struct str pointer,
			    const char *cast, struct str text)
{
	struct text *t = pointer.n ? text_format(e, n, "((%t)%t)", pointer, text)
				   : text_format(e, n, "%s%t", cast, text);
	t->repr = str_eqz(str_from(cast), "(uint64)") ? REPR_UNSIGNED : REPR_UNKNOWN;
	return t;
}

static const char *sized_cast(struct emitter *e, const struct ctype *t)
{
	const char *sign = t->is_signed ? "" : "u";
	return arena_printf(e->arena, "(%sint64)(%sint%u)", sign, sign, (unsigned)t->size * 8);
}

/** A register of a call, as its type @t. */
static struct text *read_register(struct emitter *e, const struct node *n, const struct ctype *t,
				  struct str word)
{
	if (t->is_signed || !dialect_searches_casts(e->b->given->version))
		return text_format(e, n, "%s%t", sized_cast(e, t), word);
	const char *mask = arena_printf(e->arena, "%" PRIx64, UINT64_MAX >> (64 - t->size * 8));
	return t->size == 8 ? text_format(e, n, "%t", word)
			    : text_format(e, n, "(%t & 0x%s)", word, mask);
}

struct str arg_emit_word(struct emitter *e, const struct node *n, struct str word)
{
	struct loop *loop = e->loop;
	struct str *name = loop ? map_get(&loop->words, word) : NULL;
	if (!loop)
		return word;
	if (!name) {
		name = arena_new(e->arena, struct str);
		*name = emit_new_variable(e, str_printf(e->arena, "$" STR_FMT, STR_ARG(word)));
		map_put(e->arena, &loop->words, word, name);
		text_add(e->arena, loop->before, text_format(e, n, "%t = %t; ", *name, word));
	}
	return *name;
}

const struct text *arg_emit_numbered(struct emitter *e, const struct node *n, enum want want)
{
	const struct attach_clause *c = e->clause;
	unsigned i;
	if (!vocabulary_arg_number(n->name->text, &i) || c->has_other || c->has_uprobe)
		return NULL;
	struct str place, text = argread_find(e->b, c, i, &place);
	unsigned bits = 0;
	const char *cast = arg_cast(e, i, want == WANT_SIGN, &bits);
	if (text.n)
		return text_format(e, n, "%t", text);
	if (!*cast)
		return NULL;
	struct text *t = read_as(e, n, STR(""), cast, arg_emit_word(e, n, n->name->text));
	t->bits = bits;
	return t;
}

const struct text *arg_emit_retval(struct emitter *e, const struct node *n)
{
	const struct ctype *t = ctype_strip(n->expr->type);
	struct str pointer = types_pointer(e, n->expr->type);
	struct str word = arg_emit_word(e, n, STR("retval"));
	if (t->kind == CTYPE_POINTER && pointer.n)
		return text_format(e, n, "((%t)%t)", pointer, word);
	if (ctype_is_number(t) && t->size < 8)
		return read_register(e, n, t, word);
	return ctype_is_number(t) && t->is_signed ? text_format(e, n, "(int64)%t", word) : NULL;
}

/** vars.NAME, unless it is a struct or array. */
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

const struct text *arg_emit_address(struct emitter *e, const struct node *n)
{
	const struct namedvar *v = namedvar_find(e->clause, n);
	return v ? text_format(e, n, "%t", v->text) : NULL;
}

const struct text *arg_emit_named(struct emitter *e, const struct node *n, enum want want)
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
	if (!pointer.n && (probearg_is_sized_by_type(arg) || e->clause->params) &&
	    ctype_is_number(t) && t->size <= 8 && t->size > 0)
		cast = sized_cast(e, t);
	else if (!pointer.n && !arg->sizes_differ && !text.n && !e->clause->params)
		cast = arg_cast(e, i,
				want == WANT_SIGN ||
				    (t && t->kind == CTYPE_INT && !t->is_signed && t->size == 8),
				&bits);
	bool is_register = !text.n && *cast && e->clause->params;
	if (!text.n)
		text = arg_emit_word(e, n, str_printf(e->arena, "arg%u", i));
	if (is_register)
		return read_register(e, n, t, text);
	struct text *named = read_as(e, n, pointer, cast, text);
	named->bits = bits;
	return named;
}
