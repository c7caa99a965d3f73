#include "bind/attach.h"

#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "bind/namedarg.h"
#include "bind/codeattach.h"
#include "bind/optional.h"
#include "bind/filter.h"
#include "bind/path.h"
#include "lang/change.h"
#include "probe/attachable.h"
#include "dialect/dialect.h"

/** A file that @path does not mean has it: the path is often the executable's, and the probe a library's. */
static const struct targetfile *find_elsewhere(const struct bind *b, struct str path,
					       struct str provider, struct str name)
{
	return vec_find(struct targetfile, tf, &b->given->files->list,
			b->given->proc && !tf->is_named && !path_means(tf, path) &&
			    sdt_find(targetfile_probes(b->given->files, tf), provider, name, NULL));
}

static bool report_no_probe(const struct bind *b, const struct script_attach *point,
			    struct str path, struct str provider, struct str name)
{
	const struct token *at = point->node->first;
	const struct sdt_probe *near = NULL;
	unsigned best = UINT_MAX;
	size_t known = 0;
	for (size_t i = 0; i < b->given->files->list.n; i++) {
		struct targetfile *tf = &b->given->files->list.v[i];
		if (!path_means(tf, path))
			continue;
		const struct sdt_list *list = targetfile_probes(b->given->files, tf);
		// The C library has probes in every process: whether a program was built with some
		// shows in its executable.
		if (i == 0 || !str_eqz(path, "__EXE__"))
			known += list->n_probes;
		sdt_find_nearest(list, provider, name, &best, &near);
	}
	b->given->files->n_missing++;
	const struct targetfile *other = find_elsewhere(b, path, provider, name);
	diag_error(b->diag, tok_at(at), "%s has no probe " STR_FMT "%s" STR_FMT,
		   path_shown(b, path), STR_ARG(provider), provider.n ? ":" : "", STR_ARG(name));
	if (other)
		path_note_elsewhere(b, other, point->kind, provider, name);
	else if (near)
		diag_note(b->diag, NULL, "did you mean " STR_FMT ":" STR_FMT "?",
			  STR_ARG(near->provider), STR_ARG(near->name));
	else if (!known)
		bind_note_no_probes(b);
	targetfiles_note_skips(b->given->files);
	return false;
}

/** The same name under several providers are different probes: which one is meant must be said. */
static bool check_one_provider(const struct bind *b, const struct token *at, struct str name,
			       const struct attach_clause *c, size_t from)
{
	if (str_has(name, "*"))
		return true;
	const struct sdt_probe *first = c->probes.v[from].probe;
	for (size_t i = from + 1; i < c->probes.n; i++) {
		const struct sdt_probe *other = c->probes.v[i].probe;
		if (str_eq(first->provider, other->provider))
			continue;
		return diag_error(b->diag, tok_at(at),
				  "probe " STR_FMT " is ambiguous: " STR_FMT ":" STR_FMT
				  " or " STR_FMT ":" STR_FMT "? Name the provider",
				  STR_ARG(name), STR_ARG(first->provider), STR_ARG(first->name),
				  STR_ARG(other->provider), STR_ARG(other->name));
	}
	return true;
}

/** Probes that bpftrace cannot attach to, or has no room for. */
struct unattachable {
	VEC(struct attach_match) matches;
};

struct str attach_why_not(const struct bind *b, const struct attach_match *m)
{
	struct str *why = map_get_ptr(&b->cache->whys, m->probe);
	if (!why) {
		why = arena_new(b->arena, struct str);
		*why = attachable_why_not(b->arena, m->file->bin.img, m->probe, b->given->version);
		map_put_ptr(b->arena, &b->cache->whys, m->probe, why);
	}
	return *why;
}

bool attach_is_by_address(const struct bind *b, const struct attach_match *m)
{
	if (!dialect_has_libbpf_usdt(b->given->version))
		return false;
	bool *is = map_get_ptr(&b->cache->by_address, m->probe);
	if (!is) {
		is = arena_new(b->arena, bool);
		*is = attachable_by_address(b->arena, m->file->bin.img->machine, m->probe,
					    b->given->version);
		map_put_ptr(b->arena, &b->cache->by_address, m->probe, is);
	}
	return *is;
}

unsigned attach_count_places(const struct bind *b, const struct attach_match *m)
{
	return attach_is_by_address(b, m) ? 0 : sdt_count_places(b->arena, m->probe);
}

static void bind_by_address(struct bind *b, struct script_attach *at, const struct attach_match *m,
			    const char *file)
{
	for (size_t i = 0; i < m->probe->n_sites; i++) {
		uint64_t address;
		bool is_unsafe;
		if (attachable_site(b->arena, m->file->bin.img, &m->probe->sites[i], &address,
				    &is_unsafe))
			vec_push(b->arena, &at->bound,
				 str_printf(b->arena, "%s:%s:0x%" PRIx64,
					    vocabulary_function_probe()->name, file, address));
		if (is_unsafe)
			b->found.unsafe = m->probe;
	}
}

struct str attach_program(struct arena *a, const struct attach_match *m, const struct sdt_site *s)
{
	uint64_t address;
	bool is_unsafe;
	attachable_site(a, m->file->bin.img, s, &address, &is_unsafe);
	return str_printf(a, "%s:%" PRIu64, vocabulary_function_probe()->name, address);
}

/** Is @p left to other runs? Then there is no reason why bpftrace cannot attach to it. */
static bool is_left(const struct bind *b, const struct sdt_probe *p)
{
	return map_get_ptr(&b->found.left, p) != NULL;
}

bool attach_next(const struct bind *b, const struct script_attach *at, struct attach_match *m)
{
	struct targetfiles *files = b->given->files;
	struct str provider = at->fields.n == 3 ? at->fields.v[1] : STR(""),
		   name = at->fields.v[at->fields.n - 1];
	for (m->file = m->file ? m->file : files->list.v; m->file < files->list.v + files->list.n;
	     m->file++) {
		if (m->probe || path_means(m->file, at->fields.v[0]))
			m->probe =
			    sdt_find(targetfile_probes(files, m->file), provider, name, m->probe);
		if (m->probe)
			return true;
	}
	return false;
}

/**
 * Adds all probes that match to @ret, or to @skipped. A name of its own is an error where bpftrace
 * cannot attach to it (check/probes.c), a pattern takes the others.
 */
static void find_probes(const struct bind *b, const struct script_attach *at, bool is_optional,
			struct attach_clause *ret, struct unattachable *skipped)
{
	bool is_pattern = str_has(at->fields.v[at->fields.n - 1], "*") ||
			  (at->fields.n == 3 && str_has(at->fields.v[1], "*"));
	for (struct attach_match m = {0}; attach_next(b, at, &m);) {
		skipped_match(&b->given->files->skipped, b->given->files->arena, m.probe);
		if (is_pattern && attach_is_by_address(b, &m) && !attach_why_not(b, &m).n)
			continue; // it has a clause of its own
		if (!attachable_has_name(m.probe, b->given->version) ||
		    (is_pattern && is_left(b, m.probe)) ||
		    ((is_optional || is_pattern) && attach_why_not(b, &m).n)) {
			vec_push(b->arena, &skipped->matches, m);
			continue;
		}
		vec_push(b->arena, &ret->probes, m);
		for (size_t k = 0; k < m.probe->n_sites; k++)
			context_add(b->arena, &ret->near,
				    &(struct context_place){.src = m.file->bin.src,
							    .addr = m.probe->sites[k].pc,
							    .asked = {.how = DWASKED_LINE}});
	}
}

/** An error where nothing else matches; beside others they are counted. */
static bool report_unattachable(const struct bind *b, const struct token *at,
				const struct unattachable *skipped, bool is_error)
{
	for (size_t i = 0; i < skipped->matches.n && !is_error; i++) {
		const struct attach_match *m = &skipped->matches.v[i];
		skipped_add(&b->given->files->skipped, b->given->files->arena, m->probe,
			    is_left(b, m->probe) ? STR("") : attach_why_not(b, m));
	}
	if (!is_error || !skipped->matches.n)
		return true;
	const struct attach_match *m = &skipped->matches.v[0];
	struct str why = attach_why_not(b, m);
	if (!why.n)
		return diag_error(b->diag, tok_at(at),
				  "no probes remain for this pattern: bpftrace " DIALECT_FMT
				  " attaches to at most %u at once",
				  DIALECT_ARG(b->given->version),
				  dialect_max_usdt(b->given->version));
	return diag_error(b->diag, tok_at(at),
			  "bpftrace cannot attach to " STR_FMT ":" STR_FMT ": " STR_FMT,
			  STR_ARG(m->probe->provider), STR_ARG(m->probe->name), STR_ARG(why));
}

/**
 * Another file of the process has a probe of that name, too. Given a PID, bpftrace before 0.24
 * takes them for one, and fails ("couldn't get argument") at the first argument.
 */
static bool has_namesake(const struct bind *b, const struct attach_match *m)
{
	return vec_any(struct targetfile, tf, &b->given->files->list,
		       tf != m->file && sdt_find_named(targetfile_probes(b->given->files, tf),
						       m->probe->provider, m->probe->name));
}

/** usdt:PATH:NAME or usdt:PATH:PROVIDER:NAME */
static bool bind_usdt(struct bind *b, struct script_attach *at, struct attach_clause *ret)
{
	struct str path = at->fields.v[0], provider = STR(""),
		   name = at->fields.v[at->fields.n - 1];
	if (at->fields.n == 3)
		provider = at->fields.v[1];
	size_t from = ret->probes.n;
	struct unattachable skipped = {0};
	bool is_optional = optional_covers(b, at, name);
	find_probes(b, at, is_optional, ret, &skipped);
	bool found = ret->probes.n > from;
	at->absent = !found && is_optional;
	at->unattachable = at->absent && skipped.matches.n;
	report_unattachable(b, at->node->first, &skipped, !found && !at->absent);
	if (at->absent)
		return true;
	if (!found)
		return skipped.matches.n == 0 && report_no_probe(b, at, path, provider, name);
	if (!provider.n && !check_one_provider(b, at->node->first, name, ret, from))
		return false;

	bool good = true;
	for (size_t i = from; i < ret->probes.n && good; i++) {
		const struct attach_match *m = &ret->probes.v[i];
		const char *file = path_of(b, m->file, at->node->first);
		good = file != NULL;
		if (b->found.scope == BIND_BY_PID && b->given->proc &&
		    !dialect_has_libbpf_usdt(b->given->version) && has_namesake(b, m))
			b->found.scope = BIND_BY_FILTER;
		if (good && attach_is_by_address(b, m)) {
			bind_by_address(b, at, m, file);
		} else if (good) {
			struct str one = str_printf(
			    b->arena, STR_FMT ":%s:" STR_FMT ":" STR_FMT, STR_ARG(at->kind), file,
			    STR_ARG(dialect_spell_name(b->arena, m->probe->provider).s),
			    STR_ARG(dialect_spell_name(b->arena, m->probe->name).s));
			vec_push(b->arena, &at->bound, one);
		}
		if (good && b->given->verbose)
			diag_note(b->diag, NULL, STR_FMT ":" STR_FMT " is in " STR_FMT "%s",
				  STR_ARG(m->probe->provider), STR_ARG(m->probe->name),
				  STR_ARG(m->file->path),
				  attach_is_by_address(b, m) ? ", attached to by address" : "");
		b->found.n_attach++;
	}
	return good;
}

/** Has @img what @at names? Patterns, addresses and names of other languages are bpftrace's. */
static bool has_it(struct img *img, const struct script_attach *at, struct str name)
{
	uint64_t addr;
	struct sdt_list list;
	if (at->provider->place != PLACE_USDT)
		return at->fields.n != 2 || !codeattach_is_symbol(name) ||
		       str_find(name, '@') < name.n || img_find_function(img, name, &addr);
	struct str provider = at->fields.n == 3 ? at->fields.v[1] : STR("");
	sdt_read(img, &list);
	return at->fields.n > 3 || str_has(name, "*") || str_has(provider, "*") ||
	       sdt_find(&list, provider, name, NULL);
}

/** Does it name its file? */
static bool names_file(const struct script_attach *at)
{
	struct str path =
	    at->provider->whose == OF_FILE && at->fields.n >= 2 ? at->fields.v[0] : STR("");
	return str_find(path, '/') < path.n && !str_has(path, "*") && !at->missing.n;
}

static struct targetfile *find_file(const struct bind *b, struct str path)
{
	for (size_t i = 0; b->given->files && i < b->given->files->list.n; i++)
		if (path_means(&b->given->files->list.v[i], path))
			return &b->given->files->list.v[i];
	return NULL;
}

/** For who runs bpftrace, or for the process, where bpftrace looks as well. */
static bool exists(const struct bind *b, struct str path)
{
	struct stat st;
	size_t end = str_find(path, '!'); // ARCHIVE.zip!/FILE, which libbpf opens
	bool is_in_archive = str_has_prefix(str_from_offset(path, end), STR("!/"));
	if (path_stat(is_in_archive ? str_slice(path, 0, end) : path, &st))
		return true;
	int fd = !b->given->proc || path.p[0] != '/'
		     ? -1
		     : proc_open_file(PROCFS, b->given->proc->pid,
				      arena_printf(b->arena, "root" STR_FMT, STR_ARG(path)));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/**
 * A file that is none of the target's: what it does not have 0.17 drops without a word. What is no
 * ELF file is bpftrace's to complain of.
 */
static bool check_elsewhere(const struct bind *b, const struct script_attach *at)
{
	struct str path = at->fields.v[0], name = at->fields.v[at->fields.n - 1];
	struct diag *silent = arena_new(b->arena, struct diag);
	struct img *img;
	if (names_file(at) && !exists(b, path) && !optional_covers(b, at, name))
		return diag_error(b->diag, tok_at(at->node->first), STR_FMT " does not exist",
				  STR_ARG(path));
	if (!names_file(at) || !img_open(b->arena, silent, str_dup(b->arena, path), path, &img))
		return true;
	bool good = has_it(img, at, str_slice(name, 0, str_find(name, '+'))) ||
		    optional_covers(b, at, name);
	if (!good)
		diag_error(b->diag, tok_at(at->node->first), "no %s " STR_FMT " in " STR_FMT,
			   at->provider->place == PLACE_USDT ? "USDT probe" : "function",
			   STR_ARG(name), STR_ARG(path));
	img->diag = b->diag;
	// To look for the package of a file takes 30 ms.
	if (!good && at->provider->place != PLACE_USDT &&
	    map_add(b->arena, &b->cache->reported_stripped, path))
		debugfile_note_stripped(img);
	img_close(img);
	return good;
}

/** The file that has the probe @provider:@name. */
static struct targetfile *probe_of(const struct bind *b, struct str provider, struct str name)
{
	return vec_find(struct targetfile, tf, &b->given->files->list,
			sdt_find(targetfile_probes(b->given->files, tf), provider, name, NULL));
}

/** 0.17 would abort. A newer one than we know, and a pattern of kinds, may find more. */
static bool check_kind(const struct bind *b, const struct script_attach *at)
{
	if (at->provider->name || !str_is_ident(at->kind) || b->given->version > DIALECT_NEWEST)
		return true;
	const char *near = vocabulary_nearest_provider(at->kind);
	struct targetfile *of =
	    at->fields.n == 1 && b->given->files ? probe_of(b, at->kind, at->fields.v[0]) : NULL;
	if (of)
		near = arena_printf(b->arena, "usdt:__EXE__:" STR_FMT ":" STR_FMT,
				    STR_ARG(at->kind), STR_ARG(at->fields.v[0]));
	diag_error(b->diag, tok_at(at->node->first), "unknown probe type " STR_FMT,
		   STR_ARG(at->kind));
	return near && diag_note(b->diag, NULL, "did you mean %s?", near);
}

static bool bind_attach(struct bind *b, struct script_attach *at, struct attach_clause *ret)
{
	// `begin` is BEGIN, by which every version knows it.
	if (at->provider->when == WHEN_BEGIN || at->provider->when == WHEN_END)
		at->kind = at->node->first->text = str_from(at->provider->name);
	if (!check_kind(b, at))
		return false;
	if (at->provider->whose != OF_FILE || at->fields.n < 2 || at->missing.n) {
		ret->has_other = ret->has_unplaced = true;
		b->found.n_attach++;
		return true;
	}
	struct str path = at->fields.v[0];
	bool is_usdt = at->provider->place == PLACE_USDT, good = true;
	size_t n_places = ret->near.places.n;
	if (str_eqz(path, "__EXE__") && !b->given->files)
		return bind_report_no_target(b, at->node->first);
	const struct targetfile *tf = find_file(b, path);
	bool is_bound = tf && (!tf->is_named || codeattach_finds(b, at));
	if (!str_eqz(path, "__EXE__") && !is_bound)
		good = check_elsewhere(b, at);
	if (!good || (!tf && !str_eqz(path, "__EXE__"))) {
		b->found.n_attach++;
	} else if (is_usdt) {
		good = at->fields.n > 3 || bind_usdt(b, at, ret);
	} else {
		good = codeattach_bind(b, at, ret);
	}
	if (at->bound.n)
		change(b->arena, at->node, str_join(b->arena, at->bound.v, at->bound.n, ", "));
	ret->has_user |= !at->absent;
	ret->has_uprobe |= !at->absent && !is_usdt;
	ret->has_unplaced |=
	    !at->absent && (ret->near.places.n == n_places || at->provider->place == PLACE_RETURN);
	return good;
}

/** Adds what the attach points of a script cost: places of probes, by @names or by patterns. */
static void add_costs(const struct bind *b, const struct script_attach *at, bool by_pattern,
		      struct map *costs, unsigned *n)
{
	bool is_usdt = at->provider->place == PLACE_USDT;
	if (!is_usdt || at->fields.n < 2 || at->fields.n > 3)
		return;
	struct str provider = at->fields.n == 3 ? at->fields.v[1] : STR(""),
		   name = at->fields.v[at->fields.n - 1];
	if ((str_has(name, "*") || str_has(provider, "*")) != by_pattern)
		return;
	for (struct attach_match m = {0}; attach_next(b, at, &m);) {
		uintptr_t cost = attach_why_not(b, &m).n ? 0 : attach_count_places(b, &m);
		*n += (unsigned)cost;
		map_put_ptr(b->arena, costs, m.probe,
			    (void *)(cost + (uintptr_t)map_get_ptr(costs, m.probe)));
	}
}

void attach_choose(struct bind *b)
{
	unsigned most = dialect_max_usdt(b->given->version), named = 0, all = 0;
	struct map costs[2] = {{0}, {0}};
	if (!b->given->files || most == UINT_MAX)
		return;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < b->found.script.clauses.n; i++)
			for (size_t n = 0; n < b->found.script.clauses.v[i]->attach.n; n++)
				add_costs(b, &b->found.script.clauses.v[i]->attach.v[n], k,
					  &costs[k], k ? &all : &named);
	unsigned room = named < most ? most - named : 0;
	for (struct map_entry *e = NULL; all > room && (e = map_next(&costs[1], e));) {
		uintptr_t cost = (uintptr_t)e->value;
		if (cost <= room)
			room -= (unsigned)cost;
		else
			map_put(b->arena, &b->found.left, e->key, e->value);
	}
}

/**
 * Puts the values of $1, $2 ... in. Where none are given (`check`), a path that is one of them is the
 * target's file; what else is not known cannot be looked up.
 */
static bool fill_parameters(const struct bind *b, struct script_attach *at)
{
	script_split_attach(b->arena, at, b->given->args);
	if (!at->missing.n || at->provider->whose != OF_FILE)
		return true;
	if (b->given->args)
		return diag_error(b->diag, tok_at(at->node->first),
				  STR_FMT " has no value: pass it after --", STR_ARG(at->missing));
	if (b->given->files && at->n_missing == 1 && str_eq(at->fields.v[0], at->missing)) {
		at->fields.v[0] = STR("__EXE__");
		at->missing = STR("");
	} else if (b->given->files) {
		diag_warning(b->diag, tok_at(at->node->first),
			     "not looked up: " STR_FMT " has no value; pass it after --",
			     STR_ARG(at->missing));
	}
	return true;
}

bool attach_add_files(const struct bind *b)
{
	bool good = true;
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		struct script_clause *c = b->found.script.clauses.v[i];
		vec_each(struct script_attach, at, &c->attach) {
			if (!fill_parameters(b, at) ||
			    (at->provider->whose == OF_FILE && at->fields.n >= 2 &&
			     !path_search(b, at->node->first, &at->fields.v[0]))) {
				good = false;
				at->missing = STR("?"); // nothing more is said of it
			}
			if (b->given->files && names_file(at) && !find_file(b, at->fields.v[0]))
				targetfiles_add_named(b->given->files, at->fields.v[0]);
		}
	}
	return good;
}

bool attach_bind_clause(struct bind *b, struct script_clause *c, struct attach_clause *ret)
{
	*ret = (struct attach_clause){.clause = c};
	bool good = true;
	for (size_t i = 0; i < c->attach.n; i++)
		good &= bind_attach(b, &c->attach.v[i], ret);
	return good;
}

unsigned attach_count_programs(const struct bind *b)
{
	unsigned n = b->found.n_attach + (b->given->has_family ? FILTER_FAMILY_CLAUSES : 0);
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++)
			n += (unsigned)b->found.clauses[i]->probes.v[k].probe->n_sites - 1;
	return n;
}
