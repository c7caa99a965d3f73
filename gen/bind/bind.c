#include "bind/bind.h"

#include "lang/change.h"

static void add_image(const struct bind *b, struct map *seen, struct targetfile *tf)
{
	if (!map_add(b->arena, seen, tf->path) || !targetfile_open(b->given->files, tf))
		return;
	binary_add_sources(&tf->bin, b->cache->dwarf, b->cache->lookup);
}

struct lookup *bind_lookup(const struct bind *b)
{
	if (b->cache->lookup || !b->given->files)
		return b->cache->lookup;
	b->cache->lookup = arena_new(b->arena, struct lookup);
	lookup_init(b->cache->lookup, b->arena, b->diag);
	b->cache->dwarf = arena_new(b->arena, struct dwtypes);
	dwtypes_init(b->cache->dwarf, b->arena, b->diag);
	lookup_add(b->cache->lookup, &b->cache->dwarf->source);
	struct map seen = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++)
			add_image(b, &seen, b->found.clauses[i]->probes.v[k].file);
	for (size_t i = 0; i < b->given->files->list.n; i++)
		add_image(b, &seen, &b->given->files->list.v[i]);
	b->cache->dwarf->verbose = b->given->verbose;
	b->cache->all_near = arena_new(b->arena, struct context);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct context *near = &b->found.clauses[i]->near;
		for (size_t k = 0; k < near->places.n; k++)
			context_add(b->arena, b->cache->all_near, &near->places.v[k]);
	}
	b->cache->dwarf->context = b->cache->all_near;
	return b->cache->lookup;
}

/** The types of the file that clause @i is about, where debug information has none. */
static struct type_source *own_types(const struct bind *b, size_t i)
{
	struct targetfile *own = NULL;
	for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++) {
		struct targetfile *tf = b->found.clauses[i]->probes.v[k].file;
		if (own && tf != own)
			return NULL;
		own = tf;
	}
	return own && own->bin.img ? binary_other_types(&own->bin) : NULL;
}

struct lookup *bind_lookup_from(const struct bind *b, size_t i)
{
	struct lookup *lk = bind_lookup(b);
	if (!lk)
		return NULL;
	lk->first = own_types(b, i);
	b->cache->dwarf->context =
	    b->found.clauses[i]->near.places.n ? &b->found.clauses[i]->near : b->cache->all_near;
	return lk;
}

void bind_remove_clauses(struct bind *b, const bool *gone)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		if (gone[i]) {
			struct node *n = b->found.script.clauses.v[i]->node;
			change_remove(n, n->first, n->last);
			continue;
		}
		b->found.script.clauses.v[kept] = b->found.script.clauses.v[i];
		b->found.clauses[kept] = b->found.clauses[i];
		b->found.clauses[kept]->clause = b->found.script.clauses.v[kept];
		kept++;
	}
	b->found.script.clauses.n = kept;
}

bool bind_report_no_target(const struct bind *b, const struct token *at)
{
	return map_add(b->arena, &b->cache->reported_unknown, STR("target")) &&
	       diag_error(b->diag, NULL,
			  STR_FMT " needs a process: give its PID or name, or -x FILE for every "
				  "process of a program",
			  STR_ARG(tok_place(at).file));
}

const char *bind_target_name(const struct bind *b)
{
	if (b->given->proc)
		return arena_printf(b->arena, STR_FMT " (PID %d)",
				    STR_ARG(proc_name(b->given->proc)), b->given->proc->pid);
	return str_dup(b->arena, b->given->files->list.v[0].path);
}

void bind_note_no_probes(const struct bind *b)
{
	if (!b->cache->reported_no_probes &&
	    !targetfile_probes(b->given->files, &b->given->files->list.v[0])->n_probes)
		diag_note(b->diag, NULL, "%s: was it built with them?",
			  b->given->proc ? "its executable has no USDT probes at all"
					 : "it has no USDT probes at all, and without a process "
					   "its shared libraries are not searched");
	b->cache->reported_no_probes = true;
}

bool bind_prints_since(const struct bind *b, const struct script_clause *c)
{
	bool is_end = c->attach.n == 1 && c->attach.v[0].provider->when == WHEN_END;
	return !b->given->drops_time && !is_end &&
	       vec_any(const struct src_file *, f, &b->found.timed, *f == c->node->first->use.file);
}
