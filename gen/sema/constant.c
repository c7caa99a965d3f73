#include "sema/constant.h"

#include <inttypes.h>

#include "bind/bind.h"
#include "sema/targettype.h"
#include "lang/print.h"

static struct str number(struct arena *a, int64_t value, const struct ctype *of)
{
	if (value >= 0)
		return str_printf(a, "%" PRId64, value);
	if (of && !of->is_signed)
		return str_printf(a, "0x%" PRIx64, (uint64_t)value);
	return str_printf(a, "(%" PRId64 ")", value);
}

bool constant_spell(const struct bind *b, const struct attach_clause *c, const struct node *n,
		    struct str *ret, bool *is_negative, bool *good)
{
	int64_t value;
	struct ctype *of = NULL;
	struct str name = print_text(b->arena, n);
	bool has_scopes = n->first != n->last;
	*ret = STR("");
	// A kernel name may be meant there, and bpftrace finds those itself.
	if (!b->memory->lookup || targettype_is_kernel_clause(c->clause) ||
	    (!has_scopes && (vocabulary_is_builtin(name) || vocabulary_type(name))) ||
	    targettype_defines(b, name))
		return false;
	str_take(&name, STR("::"));
	if (lookup_enumerator(b->memory->lookup, name, &value, &of)) {
		*ret = number(b->arena, value, of);
		*is_negative = value < 0;
		return true;
	}
	if (has_scopes) // no bpftrace has such names
		*good &=
		    lookup_report_unknown(b->memory->lookup, tok_at(n->last), "type or enumerator",
					  name, NAME_TYPES | NAME_ENUMERATOR);
	return false;
}
