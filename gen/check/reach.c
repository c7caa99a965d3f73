/**
 * Probes that cannot fire, although bpftrace attaches to them without a word.
 *
 * The kernel puts a probe into the file's code where that is mapped, and raises a semaphore where
 * the file's data is (kernel/events/uprobes.c, valid_vma() and valid_ref_ctr_vma()). What a process
 * has copied to memory of its own, as programs do that put their code on large pages, and what it
 * has mapped from another file of the same name, is out of reach.
 */
#include "check/check_priv.h"

#include "dialect/dialect.h"
#include "usdt/unraised.h"

/** Each problem is reported once for each file, at the first attach point. */
struct reach {
	const struct bind *b;
	struct map dead, raised, replaced; /**< paths of files */
	struct map unraised, folded;	   /**< probes */
	struct map places;		   /**< file -> its struct places */
	bool good;
};

/** The first thing of a file that cannot fire, and how many others there are. */
struct unreachable {
	struct str name;
	struct diag_place at;
	size_t n_sites, n_dead; /**< of it */
	size_t n_others;
};

static bool is_new(struct reach *r, struct map *said, const struct targetfile *tf)
{
	return map_add(r->b->arena, said, tf->path);
}

static void add_unreachable(struct unreachable *u, struct str name, const struct script_attach *at,
			    size_t n_sites, size_t n_dead)
{
	if (!n_dead)
		return;
	if (u->n_dead) {
		u->n_others++;
		return;
	}
	*u = (struct unreachable){name, tok_place(at->node->first), n_sites, n_dead, 0};
}

/** Probes of clause @c in @tf whose code is not mapped from it. */
static void find_moved(const struct reach *r, const struct attach_clause *c,
		       const struct targetfile *tf, struct unreachable *ret)
{
	const struct proc *p = r->b->given->proc;
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct sdt_probe *probe = c->probes.v[i].probe;
		size_t n_dead = 0;
		if (c->probes.v[i].file != tf)
			continue;
		for (size_t k = 0; k < probe->n_sites; k++)
			n_dead += probe->sites[k].off &&
				  !proc_has_mapped(p, tf->mapped, probe->sites[k].off, false);
		struct str name = str_printf(r->b->arena, STR_FMT ":" STR_FMT,
					     STR_ARG(probe->provider), STR_ARG(probe->name));
		add_unreachable(ret, name, &c->clause->attach.v[0], probe->n_sites, n_dead);
	}
	// A clause of functions only: their code is all that it has.
	for (size_t i = 0; !c->probes.n && i < c->near.places.n; i++) {
		const struct context_place *place = &c->near.places.v[i];
		const struct script_attach *at = &c->clause->attach.v[0];
		uint64_t off;
		char byte;
		if (place->src == tf->bin.src &&
		    img_read_code(tf->bin.img, place->addr, &byte, 1, &off))
			add_unreachable(ret, script_attach_name(r->b->arena, at), at, 1,
					!proc_has_mapped(p, tf->mapped, off, false));
	}
}

static void check_moved(struct reach *r, const struct targetfile *tf)
{
	const struct bind *b = r->b;
	struct unreachable u = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		find_moved(r, b->found.clauses[i], tf, &u);
	if (!u.n_dead)
		return;
	if (u.n_dead < u.n_sites)
		r->good &= diag_finding(
		    b->diag, "dead-probe", DIAG_WARNING, &u.at,
		    "%zu of %zu sites of " STR_FMT
		    " cannot fire: process %d has moved their code out of " STR_FMT,
		    u.n_dead, u.n_sites, STR_ARG(u.name), b->given->proc->pid, STR_ARG(tf->path));
	else
		r->good &= diag_finding(
		    b->diag, "dead-probe", DIAG_WARNING, &u.at,
		    STR_FMT " cannot fire: process %d has moved its code out of " STR_FMT,
		    STR_ARG(u.name), b->given->proc->pid, STR_ARG(tf->path));
	if (u.n_others)
		diag_note(b->diag, NULL, "and %zu more of this script", u.n_others);
	diag_note(b->diag, NULL,
		  "the kernel can probe mapped files only: look for a program option that keeps "
		  "its code off large pages");
}

/** bpftrace alone leaves the semaphores of some sites at 0. */
static void check_unraised(struct reach *r, const struct attach_clause *c,
			   const struct attach_match *m)
{
	const struct bind *b = r->b;
	size_t n = unraised_count_sites(m->probe);
	if (!b->given->is_bare || !n || !dialect_raises_first_semaphore(b->given->version) ||
	    !map_add_ptr(b->arena, &r->unraised, m->probe))
		return;
	r->good &= diag_finding(
	    b->diag, "dead-probe", DIAG_WARNING, tok_at(c->clause->attach.v[0].node->first),
	    "%zu of %zu sites of " STR_FMT ":" STR_FMT " will not fire: bpftrace " DIALECT_FMT
	    " raises only the first site's semaphore; run the script with bpftrace.sh, or a newer "
	    "bpftrace",
	    n, m->probe->n_sites, STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
	    DIALECT_ARG(b->given->version));
}

/** Of each address of a file that has sites: the probe of the first, and of one that is another's; NULL: none. */
struct places {
	struct map first, other;
};

static const struct places *places_of(struct reach *r, struct targetfile *tf)
{
	struct arena *a = r->b->arena;
	struct places *ret = map_get_ptr(&r->places, tf);
	const struct sdt_list *all = targetfile_probes(r->b->given->files, tf);
	if (ret)
		return ret;
	ret = arena_new(a, struct places);
	map_put_ptr(a, &r->places, tf, ret);
	for (size_t i = 0; i < all->n_probes; i++) {
		struct sdt_probe *p = &all->probes[i];
		for (size_t k = 0; k < p->n_sites; k++) {
			struct sdt_probe *first = map_get_u64(&ret->first, p->sites[k].pc);
			if (first && first != p)
				map_put_u64(a, &ret->other, p->sites[k].pc, p);
			else
				map_put_u64(a, &ret->first, p->sites[k].pc, p);
		}
	}
	return ret;
}

/** A linker that folds functions which are alike (lld --icf) leaves the notes of all at one address. */
static void check_folded(struct reach *r, const struct attach_clause *c,
			 const struct attach_match *m)
{
	const struct bind *b = r->b;
	const struct sdt_probe *p = m->probe, *other = NULL;
	const struct places *places = places_of(r, m->file);
	struct map seen = {0};
	size_t n_others = 0, n_same = 0;
	if (!map_add_ptr(b->arena, &r->folded, p))
		return;
	for (size_t i = 0; i < p->n_sites; i++) {
		const struct sdt_site *s = &p->sites[i];
		const struct sdt_probe *at = map_get_u64(&places->first, s->pc);
		at = at == p ? map_get_u64(&places->other, s->pc) : at;
		if (!s->off)
			continue;
		n_same += !map_add_u64(b->arena, &seen, s->pc);
		n_others += at != NULL;
		other = at ? at : other;
	}
	const struct diag_place *place = tok_at(c->clause->attach.v[0].node->first);
	if (n_others)
		r->good &= diag_finding(b->diag, "inlined", DIAG_WARNING, place,
					"events of " STR_FMT ":" STR_FMT " are seen as " STR_FMT
					":" STR_FMT ", too: the linker has folded the code of both",
					STR_ARG(other->provider), STR_ARG(other->name),
					STR_ARG(p->provider), STR_ARG(p->name));
	else if (n_same && dialect_has_libbpf_usdt(b->given->version))
		r->good &= diag_finding(
		    b->diag, "inlined", DIAG_WARNING, place,
		    "%zu of %zu sites of " STR_FMT ":" STR_FMT
		    " lie at the address of another, where "
		    "the linker has folded code: bpftrace counts an event there once for each",
		    n_same, p->n_sites, STR_ARG(p->provider), STR_ARG(p->name));
}

/** If a program tests whether a probe is traced, a counter that stays 0 means that it is not. */
static void check_semaphore(struct reach *r, const struct attach_clause *c,
			    const struct attach_match *m)
{
	const struct bind *b = r->b;
	struct img *img = m->file->bin.img;
	for (size_t k = 0; k < m->probe->n_sites; k++) {
		uint64_t addr = m->probe->sites[k].semaphore, off;
		if (!addr)
			continue;
		bool is_data = img_find_data(img, addr, &off);
		if (is_data && (!m->file->mapped ||
				proc_has_mapped(b->given->proc, m->file->mapped, off, true)))
			continue;
		if (!is_new(r, &r->raised, m->file))
			return;
		r->good &= diag_finding(
		    b->diag, "dead-probe", DIAG_WARNING, tok_at(c->clause->attach.v[0].node->first),
		    STR_FMT ":" STR_FMT " may never fire: nothing can raise its "
			    "semaphore, which is %s",
		    STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
		    is_data ? "not mapped from the file, or not writable"
			    : "not in a writable part of the file");
		return;
	}
}

static void check_replaced(struct reach *r, const struct attach_clause *c,
			   const struct targetfile *tf)
{
	const struct bind *b = r->b;
	if (!tf->mapped || !proc_has_successor(b->given->proc, tf->mapped) ||
	    !is_new(r, &r->replaced, tf))
		return;
	r->good &= diag_finding(b->diag, "replaced", DIAG_WARNING,
				tok_at(c->clause->attach.v[0].node->first),
				STR_FMT " was replaced since process %d started: what it runs is "
					"traced, not the new file",
				STR_ARG(tf->path), b->given->proc->pid);
	diag_note(b->diag, NULL, "it is reached through " STR_FMT, STR_ARG(tf->open_path));
}

/** An attach point that names a file by its path, which is not one that the process has mapped. */
static void check_path(struct reach *r, const struct script_attach *at)
{
	const struct bind *b = r->b;
	struct stat st;
	if (at->provider->whose != OF_FILE || at->fields.n < 2 ||
	    !str_has_prefix(at->fields.v[0], STR("/")))
		return;
	struct str path = at->fields.v[0];
	if (str_find(path, '*') < path.n || stat(str_dup(b->arena, path), &st) != 0 ||
	    vec_any(const struct proc_file, f, &b->given->proc->files,
		    !f->have_id || (f->dev == st.st_dev && f->ino == st.st_ino)) ||
	    !map_add(b->arena, &r->dead, path))
		return;
	for (size_t i = 0; i < b->given->proc->files.n; i++) {
		if (!str_eq(b->given->proc->files.v[i].path, path))
			continue;
		r->good &=
		    diag_finding(b->diag, "replaced", DIAG_WARNING, tok_at(at->node->first),
				 "process %d runs another file of this name: write __EXE__ for "
				 "the one that it runs",
				 b->given->proc->pid);
		return;
	}
	r->good &=
	    diag_finding(b->diag, "dead-probe", DIAG_WARNING, tok_at(at->node->first),
			 "process %d has not mapped " STR_FMT ": nothing fires until it does",
			 b->given->proc->pid, STR_ARG(path));
}

static void check_clause(struct reach *r, const struct attach_clause *c)
{
	const struct bind *b = r->b;
	for (size_t i = 0; i < c->probes.n; i++) {
		check_semaphore(r, c, &c->probes.v[i]);
		check_unraised(r, c, &c->probes.v[i]);
		check_folded(r, c, &c->probes.v[i]);
		if (b->given->proc)
			check_replaced(r, c, c->probes.v[i].file);
	}
	for (size_t i = 0; b->given->proc && i < b->given->files->list.n; i++)
		if (b->given->files->list.v[i].bin.src &&
		    context_has_image(&c->near, b->given->files->list.v[i].bin.src))
			check_replaced(r, c, &b->given->files->list.v[i]);
	// What -c has started has yet to load what it needs.
	bool is_loaded = b->given->proc && !b->given->is_started && b->found.scope != BIND_HOST;
	for (size_t i = 0; is_loaded && i < c->clause->attach.n; i++)
		check_path(r, &c->clause->attach.v[i]);
}

bool check_reach(const struct bind *b)
{
	struct reach r = {.b = b, .good = true};
	if (!b->given->files)
		return true;
	for (size_t i = 0; b->given->proc && i < b->given->files->list.n; i++)
		if (b->given->files->list.v[i].bin.src && b->given->files->list.v[i].mapped)
			check_moved(&r, &b->given->files->list.v[i]);
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		check_clause(&r, b->found.clauses[i]);
	return r.good;
}
