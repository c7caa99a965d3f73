#include "lower/constant.h"

#include <inttypes.h>

#include "bind/bind.h"
#include "lower/targettype.h"
#include "lang/change.h"
#include "lang/print.h"

static struct str number(struct arena *a, int64_t value, const struct ctype *of)
{
	if (value >= 0)
		return str_printf(a, "%" PRId64, value);
	if (of && !of->is_signed)
		return str_printf(a, "0x%" PRIx64, (uint64_t)value);
	return str_printf(a, "(%" PRId64 ")", value);
}

bool constant_lower(struct bind *b, const struct attach_clause *c, struct node *n,
		    const struct node *parent)
{
	int64_t value;
	struct ctype *of = NULL;
	struct str name = print_text(b->arena, n);
	bool has_scopes = n->first != n->last, is_argument = parent->kind == NODE_CALL;
	// A kernel name may be meant there, and bpftrace finds those itself.
	if (!b->lookup || targettype_is_kernel_clause(c->clause) ||
	    (!has_scopes && (vocabulary_is_builtin(name) || vocabulary_type(name))) ||
	    targettype_defines(b, name) ||
	    (is_argument && parent->child == n &&
	     str_is_any(name, vocabulary_word(parent->name->text)->modes)))
		return true;
	str_take(&name, STR("::"));
	if (lookup_enumerator(b->lookup, name, &value, &of)) {
		if (value < 0)
			change(b->arena, n, "%t", number(b->arena, value, of));
		else
			change_leaf(b->arena, n, NODE_NUMBER, number(b->arena, value, of));
		return true;
	}
	struct diag_place at = tok_place(n->last);
	return !has_scopes || // no bpftrace has such names
	       lookup_say_unknown(b->lookup, &at, "type or enumerator", name,
				  NAME_TYPES | NAME_ENUMERATOR);
}
