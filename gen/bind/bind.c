#include "bind/bind.h"

#include "btf/typenote.h"
#include "lang/change.h"

static void add_image(const struct bind *b, struct map *seen, struct targetfile *tf)
{
	if (!map_add(b->arena, seen, tf->path) || !targetfile_open(b->given->files, tf))
		return;
	dwtypes_add(b->memory->dwarf, tf->bin.src);
	// Asked after all debug information: it knows less.
	struct typenote *kept = binary_types(&tf->bin);
	if (kept)
		lookup_add(b->memory->lookup, typenote_source(kept));
}

struct lookup *bind_lookup(const struct bind *b)
{
	if (b->memory->lookup || !b->given->files)
		return b->memory->lookup;
	b->memory->lookup = arena_new(b->arena, struct lookup);
	lookup_init(b->memory->lookup, b->arena, b->diag);
	b->memory->dwarf = arena_new(b->arena, struct dwtypes);
	dwtypes_init(b->memory->dwarf, b->arena, b->diag);
	lookup_add(b->memory->lookup, &b->memory->dwarf->source);
	struct map seen = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++)
			add_image(b, &seen, b->found.clauses[i]->probes.v[k].file);
	for (size_t i = 0; i < b->given->files->list.n; i++)
		add_image(b, &seen, &b->given->files->list.v[i]);
	b->memory->dwarf->verbose = b->given->verbose;
	b->memory->all_near = arena_new(b->arena, struct context);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct context *near = &b->found.clauses[i]->near;
		for (size_t k = 0; k < near->places.n; k++)
			context_add(b->arena, b->memory->all_near, near->places.v[k].src,
				    near->places.v[k].addr);
	}
	b->memory->dwarf->context = b->memory->all_near;
	return b->memory->lookup;
}

struct lookup *bind_lookup_from(const struct bind *b, size_t i)
{
	struct lookup *lk = bind_lookup(b);
	if (lk)
		b->memory->dwarf->context = b->found.clauses[i]->near.places.n
						? &b->found.clauses[i]->near
						: b->memory->all_near;
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
	return map_add(b->arena, &b->memory->reported_unknown, STR("target")) &&
	       diag_error(b->diag, NULL,
			  STR_FMT " needs a process (did `pidof` find one?): give its PID or name, "
				  "or -x FILE for every process of a program",
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
	if (!b->memory->reported_no_probes &&
	    !targetfile_probes(b->given->files, &b->given->files->list.v[0])->n_probes)
		diag_note(b->diag, NULL, "%s no USDT probes at all: was it built with them?",
			  b->given->proc ? "its executable has" : "it has");
	b->memory->reported_no_probes = true;
}
