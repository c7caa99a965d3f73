#include "check/check.h"

#include "check/check_priv.h"

static void (*const checks[])(struct checker *, struct node *) = {
    check_format,   check_values, check_compare,  check_enums,	check_arithmetic,
    check_pointers, check_flow,	  check_disagree, check_broken,
};

bool check_script(const struct bind *b)
{
	struct arena own = {0};
	struct checker k = {.b = b, .arena = &own, .good = true};
	for (; k.i < b->found.script.clauses.n; k.i++) {
		k.clause = b->found.clauses[k.i];
		if (k.clause->is_wrong)
			continue; // the same cause would be reported again
		bind_lookup_from(b, k.i);
		struct node *clause = k.clause->clause->node;
		for (struct node *n = clause; n; n = node_next(clause, n))
			for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
				checks[i](&k, n);
	}
	check_use(&k);
	check_signs(&k);
	check_keys(&k);
	check_clauses(&k);
	arena_fini(&own);
	return k.good;
}
