// Maps that are set under one key and read under another: @start[tid] = nsecs, then @start[pid].
#include "check/check_priv.h"

/** What there is one of for each event, so that another one is another key; NULL: something else. */
static const struct token *context_key(const struct node *map)
{
	static const char *const names[] = {"pid", "tid", "cpu", "uid", "gid", NULL};
	const struct node *key = map->child;
	return key && !key->next && key->kind == NODE_NAME && tok_is_any(key->name, names)
		   ? key->name
		   : NULL;
}

/** The first place that sets the map, if none does under the key of @u; or NULL. */
static const struct use *find_set(const struct use *u, struct str key)
{
	const struct use *set = NULL;
	for (; u; u = u->next) {
		if (!(u->does & USE_MAY_SET))
			continue;
		const struct token *its = context_key(u->node);
		if (!its || str_eq(its->text, key))
			return NULL;
		set = set ? set : u;
	}
	return set;
}

/** `@start[tid] = nsecs`, and then `@start[pid]`. */
static bool check_context(struct checker *k, const struct use *first, const struct use *u)
{
	const struct token *key = context_key(u->node);
	const struct use *set = key ? find_set(first, key->text) : NULL;
	if (!set)
		return false;
	check_report_at(k, key, "key", DIAG_WARNING,
			"@" STR_FMT " is keyed by " STR_FMT ", not " STR_FMT, STR_ARG(u->name),
			STR_ARG(context_key(set->node)->text), STR_ARG(key->text));
	diag_note(k->b->diag, tok_at(set->node->child->first), "set here");
	return true;
}

void check_keys(struct checker *k)
{
	const struct uses *uses = &k->b->found.uses;
	if (uses->is_open || uses->is_cut)
		return;
	for (struct map_entry *e = NULL; (e = map_next(&uses->maps, e));) {
		const struct used_name *map = e->value;
		bool is_reported = (map->does & USE_OPAQUE) != 0;
		for (const struct use *u = map->first; u && !is_reported; u = u->next)
			is_reported = !(u->does & USE_MAY_SET) && check_context(k, map->first, u);
	}
}
