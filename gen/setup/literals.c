#include "setup/literals.h"

static void add_file(struct resident *r, const struct targetfile *tf)
{
	const struct proc_file *f = tf->mapped;
	struct stat st;
	if (f && f->have_id)
		resident_add_file(r, f->dev, f->ino, str_base(tf->path));
	else if (stat(str_dup(r->arena, tf->open_path), &st) == 0)
		resident_add_file(r, st.st_dev, st.st_ino, str_base(tf->path));
}

/** Literals are in the program, and in the files whose probes and functions the script names. */
struct resident *literals_find(struct arena *a, const struct bind *b, struct str program)
{
	struct targetfiles *files = b->given->files;
	bool reads_memory = // in one of the ways that are written so
	    str_contains(program, STR("str(")) || str_contains(program, STR("buf(")) ||
	    str_contains(program, STR("->")) || str_contains(program, STR("*("));
	if (!files || !reads_memory)
		return NULL;
	struct resident *r = arena_new(a, struct resident);
	*r = (struct resident){
	    .arena = a, .report = -1, .one = b->given->proc, .has_all = !b->given->proc};
	add_file(r, &files->list.v[0]);
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct attach_clause *c = b->found.clauses[i];
		vec_each(const struct attach_match, m, &c->probes)
			add_file(r, m->file);
		vec_each(const struct targetfile, tf, &files->list)
			if (vec_any(const struct context_place, p, &c->near.places,
				    p->src == tf->bin.src))
				add_file(r, tf);
	}
	for (size_t i = 0; i < b->given->n_pids; i++)
		resident_add_process(r, b->given->pids[i]);
	return r;
}
