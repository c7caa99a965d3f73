// Functions whose clauses are alike, as few patterns. From 0.23 on bpftrace attaches one program to all functions of a
// pattern at once, through one link (uprobe_multi, since Linux 6.6); each function of a list is a program of its own to
// compile, load and attach.
//
// A pattern stands for functions only if it matches no other name in the file: no piece of a function (f.cold), whose
// return probe would overwrite a variable on the stack, and none that the kernel refuses to probe. So PREFIX* is split
// into longer prefixes and single names until each is exact. A function that is more places than its symbol, as clones
// and inlined copies, keeps a clause of its own.
#include "dialect/dialect.h"
#include "elf/demangle.h"
#include "elf/imgsym.h"
#include "probe/codeplace.h"
#include "template/skeleton_priv.h"

enum { MAX_DEPTH = 64 };

struct symbol {
	struct str name;
	const struct skeleton_probe *is; // or another function
};

struct merge {
	const struct skeleton *sk;
	struct targetfile *file; // of which are all that are merged
	struct map merged;	 // these probes, but for
	struct map unsure;	 // those whose name or place is another's, too
	struct map labels;	 // of the probes
	struct map own;
	const char *kind;	 // and of its probes:
	struct map names, addrs; // -> the probe
	struct map seen;
	struct str prefix; // of all names
	VEC(struct symbol) symbols;
	uint64_t start; // mm->start_code
	VEC(struct skeleton_probe) points;
	VEC(struct skeleton_rest) rest;
	bool is_wrong;
};

static size_t count_common(struct str a, struct str b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

static bool is_return(const char *kind)
{
	return vocabulary_provider(str_from(kind))->place == PLACE_RETURN;
}

/** Is @p, by its name in a clause, the one place where its symbol is? */
static bool is_simple(const struct merge *m, const struct skeleton_probe *p)
{
	struct arena *a = m->sk->arena;
	struct str label = str_printf(a, "%s:" STR_FMT, p->kind, STR_ARG(p->what.s));
	struct codeplaces places;
	bool has_returns = m->sk->calls || is_return(p->kind);
	size_t n = 0;
	if ((m->sk->calls && !str_eq(label, p->label)) ||
	    !str_is_made_of(p->what.s, ALPHABET_SYMBOL) || str_has(p->what.s, "*?[]:@") ||
	    !codeplace_function(a, &p->file->bin, p->what.s, &places))
		return false;
	vec_each(const struct codeplace, place, &places.list) {
		if (place->how == CODEPLACE_COPY && has_returns) // which have none
			continue;
		if (n++ || place->how != CODEPLACE_ENTRY || place->addr != p->addr)
			return false;
	}
	return n == 1 && !places.thunk.n;
}

/** Of one kind, in one file. */
static void take_probes(struct merge *m, bool of_returns)
{
	vec_each(const struct skeleton_probe, p, &m->sk->probes) {
		if (is_return(p->kind) != of_returns || p->file != m->file || !is_simple(m, p))
			continue;
		m->kind = p->kind;
		map_add_ptr(m->sk->arena, &m->merged, p);
		if (!map_add(m->sk->arena, &m->labels,
			     p->label)) // one number for both: its own clause
			map_add_ptr(m->sk->arena, &m->unsure, p);
		m->prefix = m->names.n ? str_slice(m->prefix, 0, count_common(m->prefix, p->what.s))
				       : p->what.s;
		map_put(m->sk->arena, &m->names, p->what.s, (void *)p);
		map_put_u64(m->sk->arena, &m->addrs, p->addr, (void *)p);
	}
}

/** Its own symbols are those that bpftrace has as well. */
static bool note_own(void *ctx, const struct img_symbol *sym)
{
	struct merge *m = ctx;
	map_add(m->sk->arena, &m->own, sym->name);
	return true;
}

/** Also of those that are not defined here: in a program at fixed addresses they have one, in its PLT. */
static bool add_symbol(void *ctx, const struct img_symbol *sym)
{
	struct merge *m = ctx;
	struct arena *a = m->sk->arena;
	const struct skeleton_probe *p = map_get(&m->names, sym->name);
	const struct skeleton_probe *same = map_get_u64(&m->addrs, sym->addr);
	if (same && same != p) // of two names at one place bpftrace may give the other
		map_add_ptr(a, &m->unsure, same);
	if (p && (same != p || sym->is_undefined || !map_get(&m->own, sym->name)))
		map_add_ptr(a, &m->unsure, p);
	if (str_has_prefix(sym->name, m->prefix) && map_add(a, &m->seen, sym->name))
		vec_push(a, &m->symbols, (struct symbol){sym->name, p});
	return true;
}

static bool is_meant(const struct merge *m, const struct symbol *s)
{
	return s->is && !map_get_ptr(&m->unsure, s->is);
}

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int order = memcmp(x->name.p, y->name.p, n);
	return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static void add_point(struct merge *m, struct str name, const char *rest)
{
	struct skeleton_probe p = {.file = m->file, .kind = m->kind};
	struct safe_word word = word_own("");
	m->is_wrong |= name.n && !word_take(name, ALPHABET_SYMBOL, &word);
	p.what = word_join(m->sk->arena, word, rest, word_own(""));
	p.needs_path = p.file != m->sk->files->list.v;
	vec_push(m->sk->arena, &m->points, p);
}

/** The symbols from @from to the one before @to, which alone begin with what they have in common. */
static void split(struct merge *m, size_t from, size_t to, unsigned depth)
{
	const struct symbol *all = m->symbols.v;
	struct str first = all[from].name, last = all[to - 1].name;
	size_t n_meant = 0, n = count_common(first, last);
	for (size_t i = from; i < to; i++)
		n_meant += is_meant(m, &all[i]);
	m->is_wrong |= depth == MAX_DEPTH;
	if (!n_meant || m->is_wrong)
		return;
	if (n_meant == to - from) {
		add_point(m, str_slice(first, 0, n), to - from > 1 ? "*" : "");
		return;
	}
	if (first.n == n && is_meant(m, &all[from]))
		add_point(m, first, "");
	for (size_t i = from + (first.n == n), k; i < to; i = k) {
		for (k = i + 1; k < to && all[k].name.p[n] == all[i].name.p[n];)
			k++;
		split(m, i, k, depth + 1);
	}
}

// An executable's functions have the same distance from the beginning of its code in each process that runs it, also
// after exec(). The numbers of the rest are smaller than those of entries, and these smaller than those of returns.
enum { ENTRIES = 4096 };
#define RETURNS (1ULL << 40)

const char *skeleton_place(const struct skeleton_points *points, const char *kind)
{
	if (!is_return(kind))
		return points->by_start ? "reg(\"ip\") - curtask->mm->start_code + 4096"
					: "reg(\"ip\")";
	// A symbol whose first number in memory it is.
	return points->by_start ? "*kptr((uint64 *)func) - curtask->mm->start_code + 1099511627776"
				: "*kptr((uint64 *)func)";
}

/** The event's number of each: where it is in the process, of the rest another one, for each label one. */
static bool number_probes(struct merge *m, struct shapes *run)
{
	const struct targetfile *tf = m->file;
	struct arena *a = m->sk->arena;
	struct enumtab *t = &run->functions;
	struct map labels = {0};
	uint64_t bias;
	if (!img_load_bias(tf->bin.img, tf->mapped->start, tf->mapped->offset, &bias))
		return false;
	*t = (struct enumtab){.name = STR(SHAPE_FUNCTIONS), .size = 8};
	t->of_code = m->start ? STR("") : str_printf(a, "%s:", m->sk->probes.v[0].kind);
	t->items = arena_array(a, struct enumtab_item, m->sk->probes.n);
	for (unsigned pass = 0; pass < 2; pass++) {
		vec_each(const struct skeleton_probe, p, &m->sk->probes) {
			bool merged = map_get_ptr(&m->merged, p) && !map_get_ptr(&m->unsure, p);
			uint64_t first = !m->start ? 0 : is_return(p->kind) ? RETURNS : ENTRIES;
			struct enumtab_item *item = map_get(&labels, p->label);
			if (merged != !pass)
				continue;
			if (!item) {
				item = &t->items[t->n_items++];
				*item = (struct enumtab_item){
				    .name = demangle_written(a, p->what.s),
				    .text = p->label,
				    .value = (int64_t)(merged ? p->addr + bias - m->start + first
							      : t->n_items)};
				map_put(a, &labels, p->label, item);
				map_put_u64(a, &t->by_value, (uint64_t)item->value, item);
			}
			if (!merged)
				vec_push(a, &m->rest, (struct skeleton_rest){p, item->value});
		}
	}
	return true;
}

/** Does the process run this file, as the kernel sees it? Not with ld.so as a command. */
static void find_start(struct merge *m)
{
	const struct proc_file *file = m->file->mapped;
	uint64_t start = proc_start_code(m->sk->files->proc);
	if (!m->sk->calls && skeleton_has_kernel_types() && start >= file->start &&
	    start < file->end)
		m->start = start;
}

static bool merge_kind(struct merge *m, struct img *img, bool of_returns)
{
	m->names = m->addrs = m->seen = (struct map){0};
	m->symbols.n = 0;
	take_probes(m, of_returns);
	if (!m->names.n)
		return true;
	img_walk(img, IMG_ANY, add_symbol, m);
	qsort(m->symbols.v, m->symbols.n, sizeof(*m->symbols.v), compare);
	split(m, 0, m->symbols.n, 0);
	return !m->is_wrong;
}

bool skeleton_merge(const struct skeleton *sk, struct shapes *run, struct skeleton_points *ret)
{
	struct merge m = {.sk = sk, .file = sk->probes.v[0].file};
	bool has_usdt = vec_any(const struct skeleton_probe, p, &sk->probes, p->probe != NULL);
	bool is_mixed = vec_any(const struct skeleton_probe, p, &sk->probes,
				strcmp(p->kind, sk->probes.v[0].kind) != 0);
	*ret = (struct skeleton_points){0};
	struct img *img = sk->may_merge ? targetfile_open(sk->files, m.file) : NULL;
	if (!img || has_usdt || !m.file->mapped || m.file->mapped->is_twice)
		return false;
	find_start(&m);
	if (!m.start && (is_mixed || !sk->is_one))
		return false;
	img_walk(img, IMG_FUNCTIONS | IMG_OWN, note_own, &m);
	if (!merge_kind(&m, img, false) || !merge_kind(&m, img, true) || !number_probes(&m, run) ||
	    m.points.n + m.rest.n >= sk->probes.n) {
		run->functions = (struct enumtab){0};
		return false;
	}
	*ret = (struct skeleton_points){m.points.v, m.points.n, m.rest.v, m.rest.n, m.start != 0};
	return true;
}

bool skeleton_check_clauses(const struct skeleton *sk, size_t n, unsigned max)
{
	return n <= max ||
	       diag_error(sk->diag, NULL,
			  "%zu functions match, and %zu of them need probes of their own: at most "
			  "%u can be traced at once",
			  sk->probes.n, n, max);
}
