// Variables, maps, keys and aggregations that get an unsigned number of 64 bits and one that may be negative.
#include "check/check_priv.h"

#include "sema/store.h"

static void check_store(struct checker *k, const char *prefix, struct str name,
			const struct store *s, const char *what)
{
	if (s->disputed && !(s->kinds & STORE_OTHER))
		check_report_at(
		    k, s->disputed->first, "sign", DIAG_WARNING,
		    "%s%s" STR_FMT " gets unsigned numbers of 64 bits and ones that may be "
		    "negative, which count as unsigned, as in C: write (int64) or (uint64)",
		    what, prefix, STR_ARG(name));
	for (size_t i = 0; i < s->n; i++)
		check_store(k, prefix, name, &s->columns[i], what);
}

static void check_signs_of(struct checker *k, const struct map *names, const char *prefix)
{
	struct arena own = {0};
	for (struct map_entry *e = NULL; (e = map_next(names, e)); arena_reset(&own)) {
		struct name_stores *s = store_find(&own, e->value, NULL);
		for (; s; s = s->next) {
			check_store(k, prefix, e->key, &s->value, "");
			if (!s->map)
				continue;
			check_store(k, prefix, e->key, &s->map->sample, "the aggregation of ");
			check_store(k, prefix, e->key, &s->map->key, "the key of ");
		}
	}
	arena_fini(&own);
}

void check_signs(struct checker *k)
{
	const struct uses *uses = &k->b->found.uses;
	if (!k->b->given->files) // such a script stays as it is
		return;
	check_signs_of(k, &uses->maps, "@");
	for (struct map_entry *e = NULL; (e = map_next(&uses->variables, e));)
		check_signs_of(k, e->value, "");
}
