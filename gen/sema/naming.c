#include "sema/naming.h"

#include "sema/enumname.h"
#include "sema/table.h"

bool naming_has_addresses(const struct bind *b, size_t clause)
{
	const struct attach_clause *c = b->found.clauses[clause];
	return b->given->proc && b->found.scope != BIND_HOST && b->given->n_pids <= 1 &&
	       c->has_user && !c->has_other;
}

bool naming_is_usym(const struct bind *b, size_t clause, const struct node *n)
{
	return node_is(n, NODE_CALL, "usym") && n->child && !n->child->next &&
	       naming_has_addresses(b, clause);
}

bool naming_find_enum(const struct bind *b, size_t clause, const struct node *n,
		      const struct enumtab **ret)
{
	const struct node *second = n->child ? n->child->next : NULL;
	*ret = NULL;
	if (node_is(n, NODE_CALL, "enum_name") && second && !second->next)
		*ret = enumname_lookup(b, clause, n);
	else if (n->kind == NODE_MAP && n->name && n->child && !second)
		*ret = table_names(b, n->name->text);
	else
		return false;
	return true;
}
