#include "bind/codeattach.h"

#include "base/file.h"
#include "bind/optional.h"
#include "bind/path.h"
#include "dialect/dialect.h"
#include "dwarf/dwfilter.h"
#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "lang/change.h"
#include "probe/attachable.h"

/** Each is a program that bpftrace compiles and attaches; and patterns are not looked into beyond it. */
enum { MANY = 300 };
/** Instances of a template, say; bpftrace attaches to no more probes than these by itself. */
enum { MANY_PLACES = 1024 };

/** An attach point, and what it turns out to mean. */
struct attaching {
	struct bind *b;
	struct script_attach *at;
	struct attach_clause *ret;
	struct str path, name;
	struct diag_place place;
	struct targetfile *file;
	struct codeplaces places;
	bool needs_list; // a pattern: bpftrace would not do with its functions what is meant,
	bool is_refused; // as the kernel does not probe one of them
	bool is_wrong;	 // which was said
};

bool codeattach_is_symbol(struct str name)
{
	return str_is_made_of(name, ALPHABET_SYMBOL) && !isdigit((unsigned char)name.p[0]);
}

/** A pattern as bpftrace takes it: with *. */
static bool is_pattern(struct str name)
{
	return str_is_made_of(name, ALPHABET_SYMBOLS) && str_find(name, '*') < name.n;
}

/** As the source or nm -C has it: acme::server::handle(int), put<int>, name[abi:cxx11]. */
static bool is_written(struct str name)
{
	return str_contains(name, STR("::")) || str_has(name, "(<") ||
	       str_contains(name, STR("[abi:"));
}

/** The next file that the attach point means, opened; @i is 0 at first. */
static struct targetfile *next_file(const struct bind *b, struct str path, size_t *i)
{
	while (*i < b->given->files->list.n) {
		struct targetfile *tf = &b->given->files->list.v[(*i)++];
		if (path_means(tf, path) && targetfile_open(b->given->files, tf))
			return tf;
	}
	return NULL;
}

// --- what is wrong

struct nearest {
	struct arena *arena;
	struct str wanted, name;
	unsigned best;
};

/** Of C++ the function of that name in another scope, too. */
static bool try_symbol(void *ctx, const struct img_symbol *sym)
{
	struct nearest *n = ctx;
	struct str name = demangle_name(n->arena, sym->name);
	enum demangle_kind kind = demangle_kind_of(sym->name);
	if (kind == DEMANGLE_PIECE || kind == DEMANGLE_TLS)
		return true;
	struct str last = name;
	for (size_t i = name.n; i > 0 && last.n == name.n; i--)
		if (name.p[i - 1] == ':')
			last = str_from_offset(name, i);
	if (str_is_nearer(n->wanted, name, &n->best) || str_is_nearer(n->wanted, last, &n->best))
		n->name = name;
	return n->best > 0;
}

struct str codeattach_nearest(struct arena *a, struct img *img, struct str wanted, unsigned *best)
{
	struct nearest n = {a, wanted, STR(""), *best};
	if (n.best)
		img_walk(img, IMG_FUNCTIONS, try_symbol, &n);
	*best = n.best;
	return n.name;
}

/** A file that the attach point does not mean has the function. */
static struct targetfile *find_elsewhere(struct attaching *w)
{
	const struct bind *b = w->b;
	struct codeplaces places = {0};
	return vec_find(struct targetfile, tf, &b->given->files->list,
			b->given->proc && !tf->is_named && !path_means(tf, w->path) &&
			    !is_pattern(w->name) && targetfile_open(b->given->files, tf) &&
			    codeplace_function(b->arena, &tf->bin, w->name, &places));
}

static bool report_many(const struct attaching *w, struct str what, size_t n, int most)
{
	return diag_error(w->b->diag, &w->place,
			  STR_FMT " is at %zu places: at most %d can be traced at once",
			  STR_ARG(what), n, most);
}

static bool report_no_function(struct attaching *w)
{
	const struct bind *b = w->b;
	struct str name = str_slice(w->name, 0, str_find(w->name, '(')), near = STR(""), one;
	unsigned best = UINT_MAX;
	struct img *first = NULL;
	struct targetfile *tf;
	for (size_t i = 0; (tf = next_file(b, w->path, &i));) {
		if (!w->places.piece.n && !is_pattern(w->name) &&
		    (one = codeattach_nearest(b->arena, tf->bin.img, name, &best)).n)
			near = one;
		first = first ? first : tf->bin.img;
	}
	b->given->files->n_missing++;
	diag_error(b->diag, &w->place, "no function %s" STR_FMT " in %s",
		   is_pattern(w->name) ? "matches " : "", STR_ARG(w->name),
		   path_searched(b, w->path));
	if (w->places.piece.n)
		return diag_note(b->diag, NULL,
				 STR_FMT " is a part that gcc split off " STR_FMT
					 "(): not every call runs it",
				 STR_ARG(w->places.piece), STR_ARG(w->name));
	if (first)
		debugfile_note_stripped(first);
	struct targetfile *other = find_elsewhere(w);
	if (other)
		return path_note_elsewhere(b, other, w->at->kind, STR(""), w->name);
	if (near.n)
		diag_note(b->diag, NULL, "did you mean " STR_FMT "?", STR_ARG(near));
	targetfiles_note_skips(b->given->files);
	return false;
}

const char *codeattach_callers(struct arena *a, const struct dwinlined *d)
{
	size_t n = d->n_callers < 3 ? d->n_callers : 3, others = d->n_callers - n;
	struct str text = STR("");
	for (size_t i = 0; i < n; i++)
		text = str_printf(a, STR_FMT "%s" STR_FMT "()", STR_ARG(text),
				  i == 0		  ? ""
				  : i + 1 == n && !others ? " and "
							  : ", ",
				  STR_ARG(d->callers[i]));
	if (others)
		return arena_printf(a, STR_FMT " and %zu other%s", STR_ARG(text), others,
				    others == 1 ? "" : "s");
	return str_dup(a, text);
}

static void report_inlined(const struct bind *b, const struct diag_place *at,
			   const struct dwinlined *d, size_t n, const char *more)
{
	diag_finding(b->diag, "inlined", DIAG_WARNING, at,
		     "%zu inlined cop%s of " STR_FMT "() %s not seen by this probe: in %s%s", n,
		     n == 1 ? "y" : "ies", STR_ARG(d->name), n == 1 ? "is" : "are",
		     codeattach_callers(b->arena, d), more);
}

/**
 * The compiler has also put the function into others, where no uprobe is. Of a pattern the first such
 * function is named, also one that has no code of its own.
 */
static void warn_of_inlined(const struct attaching *w, size_t from)
{
	const struct bind *b = w->b;
	const struct context *near = &w->ret->near;
	struct dwsrc *src = w->file->bin.src;
	const struct dwinlined *first = NULL, *d;
	size_t n = 0, k = 0;
	bool is_large; // it need not be said: this is a warning anyway
	if (b->given->is_trace || near->places.n - from > MANY)
		return;
	for (size_t i = from; i < near->places.n || is_pattern(w->name); i++) {
		d = i < near->places.n
			? dwsite_inlined_at(near->places.v[i].src, near->places.v[i].addr)
			: dwsite_inlined_named(src, w->name, &is_large, &k);
		if (!d && i >= near->places.n)
			break;
		if (!d || !map_add(b->arena, &b->cache->reported_inlined, d->symbol))
			continue;
		first = first ? first : d;
		n++;
	}
	if (!first)
		return;
	const char *more =
	    n > 1 ? arena_printf(b->arena, "; %zu more functions that match have copies", n - 1)
		  : "";
	report_inlined(b, &w->place, first, first->n, more);
}

// --- places

static bool is_return(const struct attaching *w)
{
	return w->at->provider->place == PLACE_RETURN;
}

/** The user decides: whether anything is thrown through the function is not known. */
static void warn_of_return(const struct attaching *w)
{
	const char *unless, *what;
	if (!is_return(w) || !map_add(w->b->arena, &w->b->cache->reported_returns, w->file->path) ||
	    !targetfile_open(w->b->given->files, w->file))
		return;
	what = attachable_danger(w->file->bin.img, &unless);
	if (what)
		diag_warning(w->b->diag, &w->place,
			     STR_FMT " has %s: a return probe can crash the program, unless %s",
			     STR_ARG(w->file->path), what, unless);
}

/** The clause, or a macro that it may call, reads registers of a call. */
static bool reads_arguments(const struct attaching *w)
{
	const struct script_clause *c = w->ret->clause;
	bool reads = c->args.n || c->named_args.n;
	for (size_t i = 0; i < w->b->found.script.clauses.n; i++) {
		const struct script_clause *other = w->b->found.script.clauses.v[i];
		reads |= other->node->kind == NODE_MACRO && other->args.n;
	}
	return reads;
}

/** The script pairs calls of the function with their returns, which inlined copies do not have. */
static bool has_return(const struct attaching *w)
{
	for (size_t i = 0; i < w->b->found.script.clauses.n; i++) {
		const struct script_clause *c = w->b->found.script.clauses.v[i];
		vec_each(const struct script_attach, at, &c->attach)
			if (at->provider->place == PLACE_RETURN &&
			    provider_is_function(at->provider) &&
			    str_eq(script_attach_name(w->b->arena, at), w->name))
				return true;
	}
	return false;
}

/** Why inlined copies are not attached to; NULL: they are. */
static const char *why_no_copies(const struct attaching *w)
{
	if (is_return(w) || has_return(w))
		return "an inlined copy does not return";
	if (!dialect_attaches_inside(w->b->given->version))
		return arena_printf(w->b->arena,
				    "bpftrace " DIALECT_FMT " attaches only to function entries",
				    DIALECT_ARG(w->b->given->version));
	if (reads_arguments(w))
		return "an inlined copy has no argN and args: use vars.NAME";
	return w->places.n_inlined > MANY ? "there are too many of them" : NULL;
}

static void drop(struct codeplaces *p, enum codeplace_how how)
{
	size_t n = 0;
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.v[i].how != how)
			p->list.v[n++] = p->list.v[i];
	p->list.n = n;
}

/** argN of a clone may be another parameter than that of the function. */
static void choose_clones(struct attaching *w)
{
	const struct bind *b = w->b;
	size_t n_entries = 0, n_clones = 0;
	const struct codeplace *first = NULL;
	vec_each(const struct codeplace, p, &w->places.list) {
		n_entries += p->how == CODEPLACE_ENTRY;
		n_clones += p->how == CODEPLACE_CLONE;
		first = !first && p->how == CODEPLACE_CLONE ? p : first;
	}
	if (!first || !reads_arguments(w))
		return;
	if (n_entries)
		drop(&w->places, CODEPLACE_CLONE);
	if (n_entries && !b->given->is_generated)
		diag_finding(b->diag, "inlined", DIAG_WARNING, &w->place,
			     "%zu clone%s of " STR_FMT "() %s not seen by this probe, as %s "
			     "parameters may be others: " STR_FMT,
			     n_clones, n_clones == 1 ? "" : "s", STR_ARG(w->name),
			     n_clones == 1 ? "is" : "are", n_clones == 1 ? "its" : "their",
			     STR_ARG(first->symbol));
	else if (w->ret->clause->args.n)
		diag_warning(b->diag, &w->place,
			     STR_FMT
			     " is a clone whose parameters may be others than those of " STR_FMT
			     "(): argN is right only if it has them all; use args.NAME",
			     STR_ARG(first->symbol), STR_ARG(w->name));
}

/** Inlined copies, of all that the name means, are not attached to. */
static void warn_of_missed(const struct attaching *w, const char *why)
{
	const struct bind *b = w->b;
	const struct dwinlined *d = w->places.inlined;
	if (b->given->is_trace || optional_is_alternative(b, w->ret->clause, w->at, w->name) ||
	    !map_add(b->arena, &b->cache->reported_inlined, d->symbol))
		return;
	report_inlined(b, &w->place, d, w->places.n_inlined, "");
	if (reads_arguments(w))
		diag_note(b->diag, NULL, "%s", why);
}

/** False, with an error, when nothing is left. */
static bool choose(struct attaching *w)
{
	const struct bind *b = w->b;
	const char *why = why_no_copies(w);
	const struct dwinlined *d = w->places.inlined;
	choose_clones(w);
	if (d && why)
		drop(&w->places, CODEPLACE_COPY);
	if (!w->places.list.n) {
		w->at->absent = optional_covers(b, w->at, w->name);
		if (w->at->absent)
			return true;
		b->given->files->n_missing++;
		diag_error(b->diag, &w->place,
			   STR_FMT "() has no code to probe: it is inlined in %s", STR_ARG(d->name),
			   codeattach_callers(b->arena, d));
		return diag_note(b->diag, NULL, "%s", why ? why : "it is not known where");
	}
	if (d && !why && w->places.n_inlined && !b->given->is_generated &&
	    map_add(b->arena, &b->cache->reported_inlined, d->symbol))
		diag_note(b->diag, NULL, "%zu inlined cop%s of " STR_FMT "() %s traced%s: in %s%s",
			  w->places.n_inlined, w->places.n_inlined == 1 ? "y" : "ies",
			  STR_ARG(d->name), w->places.n_inlined == 1 ? "is" : "are",
			  w->places.n_inlined < w->places.list.n ? ", too" : "",
			  codeattach_callers(b->arena, d),
			  dwfilter_is_large(w->file->bin.src) &&
				  w->places.n_inlined < w->places.list.n
			      ? "; the debug information is too large to look for copies in other "
				"source files"
			      : "");
	return true;
}

// --- writing

/** The symbol where bpftrace finds that place by it, else the address. */
static struct str spell_place(const struct attaching *w, const struct codeplace *p)
{
	bool is_one = p->symbol.n && p->how == CODEPLACE_ENTRY &&
		      str_is_made_of(p->symbol, ALPHABET_ATTACH_FIELD);
	vec_each(const struct codeplace, other, &w->places.list)
		is_one &= other == p || !str_eq(other->symbol, p->symbol);
	return is_one ? p->symbol : str_printf(w->b->arena, "0x%" PRIx64, p->addr);
}

static void note_file(const struct attaching *w, struct str where)
{
	if (w->b->given->verbose)
		diag_note(w->b->diag, NULL, STR_FMT " is in " STR_FMT "%s" STR_FMT,
			  STR_ARG(w->name), STR_ARG(w->file->path), where.n ? ", " : "",
			  STR_ARG(where));
}

static void note_place(const struct attaching *w, const struct codeplace *p)
{
	static const char *const hows[] = {"", "clone ", "inlined copy of ", ""};
	struct str where = codeplace_where(w->b->arena, &w->file->bin, p->addr, true);
	diag_note(w->b->diag, NULL, "0x%" PRIx64 " is %s" STR_FMT "%s" STR_FMT, p->addr,
		  hows[p->how], STR_ARG(p->how == CODEPLACE_CLONE ? p->symbol : p->name),
		  where.n ? ", " : "", STR_ARG(where));
}

static bool report_shadow(const struct attaching *w, struct str shadow)
{
	return diag_error(w->b->diag, &w->place,
			  "bpftrace cannot attach to " STR_FMT
			  ": several functions are called " STR_FMT
			  ", and bpftrace may attach to another",
			  STR_ARG(w->name), STR_ARG(shadow));
}

/** At @addr, where it is the only place. */
static bool check_refusal(const struct attaching *w, uint64_t addr)
{
	const char *why = attachable_refusal(w->file->bin.img, addr, is_return(w));
	return !why || diag_error(w->b->diag, &w->place, STR_FMT " cannot be traced: %s",
				  STR_ARG(w->name), why);
}

/** Leaves out places that the kernel refuses, or bpftrace would take for others. False, with an error, when nothing is left. */
static bool drop_places(struct attaching *w)
{
	const struct bind *b = w->b;
	struct img *img = w->file->bin.img;
	struct codeplaces *p = &w->places;
	struct codeplace first = {0};
	struct str shadow = STR("");
	const char *refusal = NULL;
	size_t n = 0, n_all = p->list.n;
	for (size_t i = 0; i < n_all; i++) {
		struct codeplace at = p->list.v[i];
		struct str text = spell_place(w, &p->list.v[i]), name = STR("");
		const char *why = attachable_refusal(img, at.addr, is_return(w));
		if (!str_is_made_of(text, ALPHABET_SYMBOL) || !str_eq(text, at.symbol))
			name = attachable_shadow(b->arena, img, at.addr);
		bool is_dropped = name.n || why;
		if (is_dropped && n == i) {
			first = at;
			shadow = name;
			refusal = why;
		}
		p->list.v[n] = at;
		n += !is_dropped;
	}
	p->list.n = n;
	if (n == n_all)
		return true;
	if (!n)
		return refusal ? check_refusal(w, first.addr) : report_shadow(w, shadow);
	if (b->given->is_generated && !refusal)
		return true;
	struct str where = codeplace_where(b->arena, &w->file->bin, first.addr, true);
	const char *what = refusal ? arena_printf(b->arena, ", as %s", refusal)
				   : arena_printf(b->arena,
						  ": bpftrace attaches to the first of several "
						  "functions called " STR_FMT ", not this",
						  STR_ARG(shadow));
	diag_warning(b->diag, &w->place,
		     "%zu of %zu places of " STR_FMT " %s not traced%s: " STR_FMT, n_all - n, n_all,
		     STR_ARG(w->name), n_all - n == 1 ? "is" : "are", what,
		     STR_ARG(where.n ? where : first.symbol));
	return true;
}

/** Writes an attach point for each place. */
static bool write_places(struct attaching *w)
{
	struct bind *b = w->b;
	const char *file = path_of(b, w->file, w->at->node->first);
	if (!file || !drop_places(w))
		return false;
	warn_of_return(w);
	note_file(w, STR(""));
	bool are_entries = true;
	vec_each(const struct codeplace, p, &w->places.list) {
		struct str one = str_printf(b->arena, STR_FMT ":%s:" STR_FMT, STR_ARG(w->at->kind),
					    file, STR_ARG(spell_place(w, p)));
		vec_push(b->arena, &w->at->bound, one);
		context_add(b->arena, &w->ret->near,
			    &(struct context_place){
				.src = w->file->bin.src, .addr = p->addr, .asked = p->asked});
		if (is_return(w) && str_contains(p->symbol, STR(".isra.")))
			w->ret->isra = p->symbol;
		are_entries &=
		    p->how == CODEPLACE_ENTRY || (p->how == CODEPLACE_CLONE && !is_return(w));
		if (b->given->verbose && (w->places.list.n > 1 || p->how != CODEPLACE_ENTRY))
			note_place(w, p);
		b->found.n_attach++;
	}
	w->at->n_entries = are_entries ? (unsigned)w->places.list.n : 0;
	return true;
}

// --- functions

/** @n of what the name means have no size, without which bpftrace does not know where instructions begin. */
static void report_sizeless(const struct attaching *w, size_t n)
{
	const char *what =
	    is_pattern(w->name) ? arena_printf(w->b->arena, "%zu of the functions ", n) : "";
	diag_report(w->b->diag, w->places.list.n ? DIAG_WARNING : DIAG_ERROR, NULL, &w->place,
		    "bpftrace cannot attach to %s" STR_FMT ": no size in the symbol table", what,
		    STR_ARG(w->name));
}

/** False, with an error, when nothing is left. */
static bool drop_sizeless(struct attaching *w)
{
	struct codeplaces *p = &w->places;
	size_t n = 0, n_all = p->list.n;
	if (w->b->given->is_unsafe && !dialect_refuses_sizeless(w->b->given->version))
		return true;
	for (size_t i = 0; i < n_all; i++) {
		struct codeplace at = p->list.v[i];
		bool is_sizeless = at.symbol.n && !at.size;
		if (is_sizeless && !img_covers(w->file->bin.img, at.addr, true))
			continue;
		at.symbol = is_sizeless ? STR("") : at.symbol; // another name of it has one
		p->list.v[n++] = at;
	}
	p->list.n = n;
	if (n < n_all)
		report_sizeless(w, n_all - n);
	return n > 0;
}

/** The executable before its libraries, as the linker would have it; what is only inlined at last. */
static bool find_function(struct attaching *w)
{
	struct str piece = STR("");
	for (size_t i = 0; (w->file = next_file(w->b, w->path, &i));) {
		if (codeplace_function(w->b->arena, &w->file->bin, w->name, &w->places))
			return true;
		piece = piece.n ? piece : w->places.piece;
	}
	for (size_t i = 0; (w->file = next_file(w->b, w->path, &i));)
		if (codeplace_inlined(w->b->arena, &w->file->bin, w->name, &w->places))
			return true;
	w->places.piece = piece;
	return false;
}

/** What the loader has chosen for an ifunc is in a word of the process, set for the file's own calls. */
static bool read_ifunc(const struct attaching *w, uint64_t *addr)
{
	const struct proc_file *f = w->file->mapped;
	struct img *img = w->file->bin.img;
	uint64_t bias, slot, value;
	if (!f || !w->b->given->proc || !img_load_bias(img, f->start, f->offset, &bias) ||
	    !img_find_ifunc_slot(img, *addr, &slot))
		return false;
	int mem = proc_open_file(PROCFS, w->b->given->proc->pid, "mem");
	bool found = mem >= 0 && file_read_at(mem, &value, sizeof(value), slot + bias) &&
		     img_is_function(img, value - bias);
	if (mem >= 0)
		close(mem);
	if (found)
		*addr = value - bias;
	return found;
}

/** Of several versions of a symbol those that nobody in the file calls are not known. */
static bool resolve_ifuncs(struct attaching *w)
{
	struct codeplaces *p = &w->places;
	size_t n = 0, n_ifuncs = 0;
	struct map seen = {0};
	for (size_t i = 0; i < p->list.n; i++)
		n_ifuncs += p->list.v[i].is_ifunc;
	for (size_t i = 0; n_ifuncs && i < p->list.n; i++)
		p->list.v[i].symbol = STR(""); // bpftrace would take what the loader calls
	for (size_t i = 0; i < p->list.n; i++) {
		struct codeplace at = p->list.v[i];
		bool is_known = !at.is_ifunc || read_ifunc(w, &at.addr);
		if (is_known && map_add_u64(w->b->arena, &seen, at.addr))
			p->list.v[n++] = at;
	}
	p->list.n = n;
	if (n || !n_ifuncs)
		return true;
	return diag_error(w->b->diag, &w->place,
			  STR_FMT
			  "() is chosen when the program is loaded (ifunc), and what was "
			  "chosen is not known: use the name of that function, or an address",
			  STR_ARG(w->name));
}

static bool bind_function(struct attaching *w)
{
	if (!find_function(w)) {
		w->at->absent = optional_covers(w->b, w->at, w->name);
		return w->at->absent || report_no_function(w);
	}
	if (w->places.list.n > MANY_PLACES)
		return report_many(w, w->name, w->places.list.n, MANY_PLACES);
	bool has_copies = w->places.inlined != NULL;
	const char *why = why_no_copies(w);
	if (!resolve_ifuncs(w) || !drop_sizeless(w) || !choose(w))
		return false;
	// gcc expands functions in thunks of classes with several bases, and does not describe that.
	if (w->places.thunk.n && !w->b->given->is_generated)
		diag_finding(w->b->diag, "inlined", DIAG_WARNING, &w->place,
			     "inlined copies of " STR_FMT "() in " STR_FMT
			     " are not seen by this probe: it has no debug information",
			     STR_ARG(w->name), STR_ARG(w->places.thunk));
	if (w->at->absent)
		return true;
	bool good = write_places(w);
	if (has_copies && why)
		warn_of_missed(w, why);
	return good;
}

// --- what bpftrace looks up

struct search {
	struct arena *arena;
	struct dwsrc *src;
	struct str pattern;
	struct context *near;
	bool found;
	struct map addrs; // name -> the address of the first such function
	struct codeplaces *places;
	size_t n_sizeless;
	bool is_return, is_refused; // one of them is
	struct map twins;	    // others of a name: their addresses
	struct str twin;
};

/** As a function that is named: parts that gcc has split off are none, and one without a size is not attached to. */
static void add_place(struct search *s, const struct img_symbol *sym)
{
	enum demangle_kind kind = demangle_kind_of(sym->name);
	struct codeplace p = {.how = kind == DEMANGLE_CLONE ? CODEPLACE_CLONE : CODEPLACE_ENTRY,
			      .kind = kind,
			      .asked = {.how = DWASKED_ENTRY},
			      .addr = sym->addr,
			      .size = sym->size,
			      .symbol = sym->name,
			      .name = sym->name};
	if (sym->size && kind != DEMANGLE_PIECE)
		vec_push(s->arena, &s->places->list, p);
}

static bool fits(void *ctx, const struct img_symbol *sym)
{
	struct search *s = ctx;
	if (!str_glob(s->pattern, sym->name))
		return true;
	s->found = true;
	uintptr_t first = (uintptr_t)map_get(&s->addrs, sym->name);
	s->n_sizeless += !sym->size;
	s->is_refused |= attachable_refusal(s->src->img, sym->addr, s->is_return) != NULL;
	if (!first) {
		add_place(s, sym);
		map_put(s->arena, &s->addrs, sym->name, (void *)(uintptr_t)sym->addr);
	} else if (first != sym->addr) {
		map_add_u64(s->arena, &s->twins, sym->addr);
		s->twin = sym->name;
	}
	context_add(s->arena, s->near,
		    &(struct context_place){
			.src = s->src, .addr = sym->addr, .asked = {.how = DWASKED_ENTRY}});
	return true;
}

/** What a record may have, too: `probe`. */
static bool may_name_probe(const struct node *n)
{
	return node_is(n, NODE_NAME, "probe") || node_is(n, NODE_CALL, "printf") ||
	       node_is(n, NODE_CALL, "print");
}

/** Of several functions of a name 0.17 to 0.22 attach to the first, and so does 0.27 where the clause has `probe`. */
static bool attaches_to_all(const struct attaching *w)
{
	return dialect_attaches_patterns_at_once(w->b->given->version) &&
	       dialect_kernel_has_links() && !w->needs_list &&
	       !node_find(w->ret->clause->node, may_name_probe);
}

static bool find_pattern(struct attaching *w)
{
	for (size_t i = 0; (w->file = next_file(w->b, w->path, &i));) {
		struct search s = {.arena = w->b->arena,
				   .src = w->file->bin.src,
				   .pattern = w->name,
				   .is_return = is_return(w),
				   .near = &w->ret->near,
				   .places = &w->places};
		img_walk(w->file->bin.img, IMG_FUNCTIONS, fits, &s);
		if (dialect_refuses_sizeless(w->b->given->version) && s.n_sizeless) {
			s.is_refused = true;
			report_sizeless(w, s.n_sizeless);
		}
		w->is_refused = s.is_refused;
		w->needs_list = s.is_refused || w->ret->clause->named_args.n;
		if (s.twins.n && !w->b->given->is_generated && !attaches_to_all(w))
			diag_warning(
			    w->b->diag, &w->place,
			    "%zu of these functions may not be traced: bpftrace may attach "
			    "only to the first of several called " STR_FMT,
			    s.twins.n, STR_ARG(s.twin));
		if (s.found)
			return true;
	}
	return false;
}

/** What is written means this address, where bpftrace may take other code. */
static bool check_shadow(struct attaching *w, uint64_t addr)
{
	struct str shadow = attachable_shadow(w->b->arena, w->file->bin.img, addr);
	return !shadow.n || report_shadow(w, shadow);
}

/** What a clause at a place that is no call, @what, reads as if it were one. */
static bool check_arguments(const struct attaching *w, const char *what)
{
	const struct bind *b = w->b;
	if (w->ret->clause->named_args.n)
		return diag_error(b->diag, &w->place,
				  "args are those of a call, which %s is not: use vars.NAME", what);
	if (reads_arguments(w))
		diag_finding(b->diag, "argument", DIAG_WARNING, &w->place,
			     "argN is a register, which holds an argument only where the function "
			     "begins: use vars.NAME");
	return true;
}

/** Is @addr where this bpftrace can attach? */
static bool check_inside(const struct attaching *w, uint64_t addr)
{
	unsigned v = w->b->given->version;
	return dialect_attaches_inside(v) || img_is_function(w->file->bin.img, addr) ||
	       diag_error(w->b->diag, &w->place,
			  "bpftrace " DIALECT_FMT " attaches only to function entries: " STR_FMT
			  " is inside a function",
			  DIALECT_ARG(v), STR_ARG(w->name));
}

/** put+4 and 0x11a4; a name of another language is not known. */
static bool find_address(struct attaching *w)
{
	size_t plus = str_find(w->name, '+');
	uint64_t off = 0, addr = 0;
	struct str name = str_slice(w->name, 0, plus);
	bool has_off = str_to_u64(str_from_offset(w->name, plus + 1), &off) || plus == w->name.n;
	for (size_t i = 0; (w->file = next_file(w->b, w->path, &i));) {
		bool is_address = str_to_u64(name, &addr);
		if (!is_address && codeattach_is_symbol(name) &&
		    !img_find_function(w->file->bin.img, name, &addr))
			continue;
		if (has_off && (is_address || off) &&
		    (!check_shadow(w, addr + off) || !check_refusal(w, addr + off) ||
		     (img_covers(w->file->bin.img, addr + off, false) &&
		      !img_is_function(w->file->bin.img, addr + off) &&
		      (!check_inside(w, addr + off) ||
		       !check_arguments(w, "an address inside a function")))))
			w->is_wrong = true;
		if (has_off && (is_address || codeattach_is_symbol(name)))
			context_add(w->b->arena, &w->ret->near,
				    &(struct context_place){.src = w->file->bin.src,
							    .addr = addr + off,
							    .asked = {.how = is_address || off
										 ? DWASKED_ADDRESS
										 : DWASKED_ENTRY}});
		w->at->n_entries = is_address && plus == w->name.n;
		return true;
	}
	return false;
}

/** The file is chosen, the rest stays as written: patterns, addresses, LANGUAGE:FUNCTION. */
static bool bind_as_written(struct attaching *w)
{
	struct bind *b = w->b;
	size_t from = w->ret->near.places.n;
	struct strbuf text = {0};
	uint64_t addr;
	if (!(is_pattern(w->name) ? find_pattern(w) : find_address(w))) {
		w->at->absent = optional_covers(b, w->at, w->name);
		return w->at->absent || report_no_function(w);
	}
	if (w->is_refused && w->places.list.n > MANY)
		return report_many(w, w->name, w->places.list.n, MANY);
	if (w->needs_list && w->places.list.n <= MANY) {
		w->ret->near.places.n = from;
		choose_clones(w);
		bool good = write_places(w);
		warn_of_inlined(w, from);
		return good;
	}
	const char *file = path_of(b, w->file, w->at->node->first);
	if (!file || w->is_wrong)
		return false;
	warn_of_return(w);
	if (is_pattern(w->name))
		warn_of_inlined(w, from);
	note_file(w, str_to_u64(w->name, &addr)
			 ? codeplace_where(b->arena, &w->file->bin, addr, true)
			 : STR(""));
	strbuf_addf(&text, STR_FMT ":%s", STR_ARG(w->at->kind), file);
	for (size_t i = 1; i < w->at->fields.n; i++) {
		struct str f = w->at->fields.v[i];
		strbuf_addc(&text, ':');
		strbuf_adds(&text, str_is_made_of(f, ALPHABET_ATTACH_FIELD)
				       ? f
				       : word_quote(b->arena, f).s);
	}
	if (w->at->n_entries)
		vec_push(b->arena, &w->at->bound, str_copy(b->arena, strbuf_str(&text)));
	change(b->arena, w->at->node, strbuf_str(&text));
	strbuf_fini(&text);
	b->found.n_attach++;
	return true;
}

// --- source lines

bool codeattach_check_line(struct diag *d, const struct diag_place *at, struct str file,
			   unsigned line, const struct codeplace_lines *s)
{
	if (!line)
		return diag_error(d, at, STR_FMT ":0: the first line of a file is 1",
				  STR_ARG(file));
	if (codeplace_is_ambiguous(d, at, file, s))
		return false;
	if (!s->list.n && s->next)
		return diag_error(d, at,
				  STR_FMT ":%u has no code: the next line that has some is %u",
				  STR_ARG(file), line, s->next);
	if (!s->list.n)
		return diag_error(d, at, STR_FMT ":%u has no code, and no line after it has any",
				  STR_ARG(file), line);
	return s->list.n <= MANY ||
	       diag_error(d, at, STR_FMT ":%u is at %zu places: at most %d can be traced at once",
			  STR_ARG(file), line, s->list.n, MANY);
}

static bool bind_line(struct attaching *w, struct str file, unsigned line)
{
	const struct bind *b = w->b;
	struct codeplace_lines s = {0};
	if (is_return(w))
		return diag_error(b->diag, &w->place, "a source line has no return");
	for (size_t i = 0; !s.file.n && (w->file = next_file(b, w->path, &i));)
		codeplace_find_lines(w->file->bin.src, file, line, line, &s);
	if (!w->file) {
		b->given->files->n_missing++;
		diag_error(b->diag, &w->place, "no source file " STR_FMT " in %s", STR_ARG(file),
			   path_searched(b, w->path));
		return diag_note(b->diag, NULL,
				 "source lines are known only for code compiled with -g");
	}
	if (!codeattach_check_line(b->diag, &w->place, file, line, &s))
		return false;
	for (size_t i = 0; i < s.list.n; i++)
		vec_push(b->arena, &w->places.list,
			 (struct codeplace){.how = CODEPLACE_LINE,
					    .addr = s.list.v[i].addr,
					    .name = w->name,
					    .asked = {DWASKED_LINE, str_base(file), line}});
	vec_each(const struct codeplace, p, &w->places.list)
		if (!check_inside(w, p->addr))
			return false;
	if (!check_arguments(w, "a source line"))
		return false;
	return write_places(w);
}

bool codeattach_bind(struct bind *b, struct script_attach *at, struct attach_clause *ret)
{
	struct attaching w = {.b = b,
			      .at = at,
			      .ret = ret,
			      .path = at->fields.v[0],
			      .name = script_attach_name(b->arena, at),
			      .place = tok_place(at->node->first)};
	struct str file;
	unsigned line;
	if (at->fields.n == 3 && codeplace_parse_lines(w.name, &file, &line, NULL))
		return bind_line(&w, file, line);
	if (at->fields.n == 3 && str_has(at->fields.v[1], ".")) // no language has one
		return diag_error(b->diag, &w.place,
				  STR_FMT ": an attach point is at one line, FILE:LINE",
				  STR_ARG(w.name));
	bool is_scoped = at->fields.n > 3 && !at->fields.v[2].n; // PATH:ns::FUNCTION
	if ((at->fields.n == 2 || is_scoped) &&
	    (codeattach_is_symbol(w.name) || is_written(w.name)))
		return bind_function(&w);
	return bind_as_written(&w);
}

bool codeattach_finds(const struct bind *b, const struct script_attach *at)
{
	struct attaching w = {.b = (struct bind *)b, .path = at->fields.v[0]};
	w.name = script_attach_name(b->arena, at);
	return at->fields.n != 2 || !codeattach_is_symbol(w.name) || find_function(&w);
}
