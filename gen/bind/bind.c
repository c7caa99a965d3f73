#include "bind/bind.h"

#include "btf/typenote.h"
#include "lang/change.h"

static void add_image(struct bind *b, struct map *seen, struct targetfile *tf)
{
	if (!map_add(b->arena, seen, tf->path) || !targetfile_open(b->files, tf))
		return;
	dwtypes_add(b->dwarf, tf->bin.src);
	// Asked after all debug information: it knows less.
	struct typenote *kept = binary_types(&tf->bin);
	if (kept)
		lookup_add(b->lookup, typenote_source(kept));
}

struct lookup *bind_lookup(struct bind *b)
{
	if (b->lookup || !b->files)
		return b->lookup;
	b->lookup = arena_new(b->arena, struct lookup);
	lookup_init(b->lookup, b->arena, b->diag);
	b->dwarf = arena_new(b->arena, struct dwtypes);
	dwtypes_init(b->dwarf, b->arena, b->diag);
	lookup_add(b->lookup, &b->dwarf->source);
	struct map seen = {0};
	for (size_t i = 0; i < b->script.clauses.n; i++)
		for (size_t k = 0; k < b->clauses[i]->probes.n; k++)
			add_image(b, &seen, b->clauses[i]->probes.v[k].file);
	for (size_t i = 0; i < b->files->list.n; i++)
		add_image(b, &seen, &b->files->list.v[i]);
	b->dwarf->verbose = b->verbose;
	b->all_near = arena_new(b->arena, struct context);
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct context *near = &b->clauses[i]->near;
		for (size_t k = 0; k < near->places.n; k++)
			context_add(b->arena, b->all_near, near->places.v[k].src,
				    near->places.v[k].addr);
	}
	dwtypes_ask_from(b->dwarf, b->all_near);
	return b->lookup;
}

struct lookup *bind_lookup_from(struct bind *b, size_t i)
{
	struct lookup *lk = bind_lookup(b);
	if (lk)
		dwtypes_ask_from(b->dwarf,
				 b->clauses[i]->near.places.n ? &b->clauses[i]->near : b->all_near);
	return lk;
}

void bind_remove_clauses(struct bind *b, const bool *gone)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		if (gone[i]) {
			struct node *n = b->script.clauses.v[i]->node;
			change_remove(n, n->first, n->last);
			continue;
		}
		b->script.clauses.v[kept] = b->script.clauses.v[i];
		b->clauses[kept] = b->clauses[i];
		b->clauses[kept]->clause = b->script.clauses.v[kept];
		kept++;
	}
	b->script.clauses.n = kept;
}

bool bind_say_no_target(struct bind *b, const struct token *at)
{
	return map_add(b->arena, &b->reported_unknown, STR("target")) &&
	       diag_error(b->diag, NULL,
			  STR_FMT
			  " traces a process, and none was given (by a `pidof` that found none?): "
			  "give its PID or name, or -x FILE for every process of a program",
			  STR_ARG(tok_place(at).file));
}

const char *bind_target_name(struct bind *b)
{
	if (b->proc)
		return arena_printf(b->arena, STR_FMT " (PID %d)", STR_ARG(proc_name(b->proc)),
				    b->proc->pid);
	return str_dup(b->arena, b->files->list.v[0].path);
}

void bind_note_no_probes(struct bind *b)
{
	if (!b->reported_no_probes && !targetfile_probes(b->files, &b->files->list.v[0])->n_probes)
		diag_note(b->diag, NULL,
			  "%s no USDT probes at all: was it built with them (--with-usdt)?",
			  b->proc ? "its executable has" : "it has");
	b->reported_no_probes = true;
}
