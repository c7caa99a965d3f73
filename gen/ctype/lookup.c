#include "ctype/lookup.h"

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d)
{
	*lk = (struct lookup){.arena = a, .diag = d};
}

void lookup_add(struct lookup *lk, struct type_source *s)
{
	vec_push(lk->arena, &lk->sources, s);
}

bool lookup_type(struct lookup *lk, struct str name, unsigned kinds, struct ctype **ret)
{
	struct namequery q;
	*ret = NULL;
	if (!namequery_parse(name, kinds, &q))
		return false;
	if (lk->first)
		*ret = lk->first->ops->find(lk->first, &q);
	for (size_t i = 0; i < lk->sources.n && !*ret; i++)
		*ret = lk->sources.v[i]->ops->find(lk->sources.v[i], &q);
	return *ret;
}

bool lookup_enumerator(struct lookup *lk, struct str name, int64_t *value, struct ctype **of)
{
	struct namequery q;
	*of = NULL;
	if (!namequery_parse(name, NAME_ENUMERATOR, &q))
		return false;
	if (lk->first)
		*of = lk->first->ops->find_enumerator(lk->first, &q, value);
	for (size_t i = 0; i < lk->sources.n && !*of; i++)
		*of = lk->sources.v[i]->ops->find_enumerator(lk->sources.v[i], &q, value);
	return *of;
}

static bool is_declared(struct lookup *lk, struct str name)
{
	struct namequery q;
	if (!namequery_parse(name, NAME_TAGS, &q))
		return false;
	for (size_t i = 0; i < lk->sources.n; i++) {
		struct type_source *s = lk->sources.v[i];
		if (s->ops->is_declared && s->ops->is_declared(s, &q))
			return true;
	}
	return false;
}

struct str lookup_nearest(struct lookup *lk, struct str name, unsigned kinds)
{
	struct namequery q;
	struct str near = {0};
	if (!namequery_parse(name, kinds, &q))
		return near;
	for (size_t i = 0; i < lk->sources.n && !near.n; i++)
		near = lk->sources.v[i]->ops->nearest(lk->sources.v[i], &q);
	// cppcheck-suppress returnDanglingLifetime -- a name of the source, not of q
	return near;
}

/** The only source, but for what strip left, is empty, which is said: then that is the whole story. */
static bool report_empty(struct lookup *lk, const struct diag_place *at, const char *wanted)
{
	struct type_source *s = lk->sources.n ? lk->sources.v[0] : NULL;
	for (size_t i = 1; i < lk->sources.n; i++)
		if (!lk->sources.v[i]->is_rest)
			s = NULL;
	return s && s->ops->report_empty && s->ops->report_empty(s, at, wanted);
}

bool lookup_walk(struct lookup *lk, unsigned kinds, type_source_name_fn *fn, void *ctx)
{
	bool any = false;
	for (size_t i = 0; i < lk->sources.n; i++)
		any |= lk->sources.v[i]->ops->walk(lk->sources.v[i], kinds, fn, ctx);
	return any || !report_empty(lk, NULL, "types");
}

bool lookup_report_unknown(struct lookup *lk, const struct diag_place *at, const char *what,
			   struct str name, unsigned kinds)
{
	struct namequery q;
	// It takes time to say something helpful: not for what is not shown.
	if (!namequery_parse(name, kinds, &q) || lk->diag->n_errors > DIAG_MAX_ERRORS)
		return diag_error(lk->diag, at, "\"" STR_FMT "\" is not a type name",
				  STR_ARG(name));
	if (report_empty(lk, at, str_dup(lk->arena, q.text)))
		return false;
	struct diag_place here = {0};
	if (lk->sources.n)
		here.file = lk->sources.v[0]->file;
	if (!at && here.file.n)
		at = &here;
	if (is_declared(lk, name))
		diag_error(lk->diag, at,
			   "%s \"" STR_FMT
			   "\" is declared in the debug information but not defined",
			   what, STR_ARG(q.text));
	else
		diag_error(lk->diag, at, "no %s \"" STR_FMT "\" in the debug information", what,
			   STR_ARG(q.text));
	struct str near = lookup_nearest(lk, name, kinds);
	if (near.n)
		diag_note(lk->diag, NULL, "did you mean \"" STR_FMT "\"?", STR_ARG(near));
	for (size_t i = 0; i < lk->sources.n; i++)
		if (lk->sources.v[i]->ops->report_gaps)
			lk->sources.v[i]->ops->report_gaps(lk->sources.v[i]);
	return false;
}
