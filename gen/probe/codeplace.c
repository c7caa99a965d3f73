#include "probe/codeplace.h"

#include <dwarf.h>

#include "dwarf/dwfilter.h"
#include "elf/branch.h"
#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "source/defines.h"

struct finder {
	struct arena *a;
	struct dwsrc *src;
	struct str name;
	struct map addrs, exact;
	struct codeplaces *ret;
	VEC(struct codeplace) mangled; // of another name than that symbol
	VEC(struct codeplace) thunks;  // of any name
	enum demangle_fit least;       // how well a function that is meant fits
};

/** An instance of a template no longer suits once another function is found that is written as f->name. */
static bool suits(struct finder *f, struct str name)
{
	enum demangle_fit fit = name.n ? demangle_fit(f->a, f->name, name) : DEMANGLE_OTHER;
	if (fit > f->least)
		f->least = fit;
	return fit && fit == f->least;
}

/** Does the user who writes f->name mean the function of this symbol, @name? In debug information one of Rust has another name, @written. */
static bool fits(struct finder *f, struct str symbol, struct str name, struct str written)
{
	bool has_two = !name.n || demangle_is_rust(symbol);
	return suits(f, name) || (has_two && suits(f, written));
}

/** The name of a symbol that may fit, if it does; else empty. */
static struct str find_name(struct finder *f, const struct img_symbol *sym)
{
	struct dwsite site;
	struct str name = demangle_symbol(f->a, sym->name), written = STR("");
	if ((!name.n || demangle_is_rust(sym->name)) && dwsite_at(f->src, sym->addr, NULL, &site))
		written = dwsite_written(f->src, &site);
	return !fits(f, sym->name, name, written) ? STR("") : name.n ? name : written;
}

static bool take_symbol(void *ctx, const struct img_symbol *sym)
{
	struct finder *f = ctx;
	struct str base = str_slice(sym->name, 0, str_find(sym->name, '.'));
	enum demangle_kind kind = demangle_kind_of(sym->name);
	bool is_exact = str_eq(sym->name, f->name), is_base = base.n && str_eq(base, f->name);
	bool may_fit = !is_base && demangle_may_fit(f->name, sym->name);
	struct str name = may_fit ? find_name(f, sym) : STR("");
	bool is_mangled = name.n > 0;
	if (!is_exact && !is_base && !is_mangled)
		return true;
	if (!is_exact && kind == DEMANGLE_PIECE) {
		f->ret->piece = sym->name;
		return true;
	}
	if (!is_exact && kind == DEMANGLE_TLS)
		return true;
	bool is_whole = is_exact || kind == DEMANGLE_FUNCTION;
	struct codeplace p = {.how = is_whole ? CODEPLACE_ENTRY : CODEPLACE_CLONE,
			      .asked = {.how = DWASKED_ENTRY},
			      .kind = kind,
			      .addr = sym->addr,
			      .size = sym->size,
			      .is_ifunc = sym->is_ifunc,
			      .symbol = sym->name,
			      .name = name.n ? name : demangle_written(f->a, sym->name)};
	if (is_mangled) {
		vec_push(f->a, &f->mangled, p);
		return true;
	}
	if (is_exact)
		map_add_u64(f->a, &f->exact, sym->addr);
	if (map_add_u64(f->a, &f->addrs, sym->addr))
		vec_push(f->a, &f->ret->list, p);
	return true;
}

bool codeplace_calls_variant(struct dwsrc *src, const struct codeplace *one,
			     const struct codeplace *other)
{
	size_t at = demangle_find_variant(one->symbol, other->symbol);
	bool is_thunk = one->kind == DEMANGLE_THUNK;
	return one != other && (is_thunk || (at && one->symbol.p[at] < other->symbol.p[at])) &&
	       str_eq(demangle_thunk_of(one->name), demangle_thunk_of(other->name)) &&
	       branch_leads_to(src->img, one->addr, one->size, other->addr) &&
	       (is_thunk || !dwsite_has_body(src, one->addr));
}

/** Adds functions of a mangled name, without thunks and destructors that only lead to another one of them. */
static void add_mangled(struct finder *f)
{
	bool are_few = f->mangled.n < CODEPLACE_MANY_VARIANTS;
	vec_each(const struct codeplace, p, &f->mangled) {
		bool is_instance = demangle_fit(f->a, f->name, p->name) == DEMANGLE_INSTANCE;
		if (!(is_instance && f->least == DEMANGLE_SAME) &&
		    !(are_few && vec_any(struct codeplace, other, &f->mangled,
					 codeplace_calls_variant(f->src, p, other))) &&
		    map_add_u64(f->a, &f->addrs, p->addr))
			vec_push(f->a, &f->ret->list, *p);
	}
}

/** Is the copy at @addr, of the function @name, the body of a thunk of it? */
static bool is_in_thunk(const struct finder *f, struct str name, uint64_t addr)
{
	return f->mangled.n < CODEPLACE_MANY_VARIANTS &&
	       vec_any(const struct codeplace, p, &f->mangled,
		       p->kind == DEMANGLE_THUNK && addr - p->addr < p->size &&
			   str_eq(demangle_thunk_of(p->name), name));
}

/** Copies of @d, which are at no place that is in the list already. */
static void add_copies(struct finder *f, const struct dwinlined *d)
{
	struct str name = demangle_symbol(f->a, d->symbol);
	name = name.n ? name : d->written;
	f->ret->inlined = f->ret->inlined ? f->ret->inlined : d;
	for (size_t i = 0; i < d->entries.n; i++) {
		if (is_in_thunk(f, name, d->entries.v[i]) ||
		    !map_add_u64(f->a, &f->addrs, d->entries.v[i]))
			continue;
		vec_push(f->a, &f->ret->list,
			 (struct codeplace){.how = CODEPLACE_COPY,
					    .addr = d->entries.v[i],
					    .name = name,
					    .asked = {.how = DWASKED_ENTRY, .name = d->symbol}});
		f->ret->n_inlined++;
	}
}

static bool is_meant(struct finder *f, const struct dwinlined *d)
{
	struct str name = demangle_symbol(f->a, d->symbol);
	// Without a symbol its parameters are not known: one of that name is not it, and nor is an instance then.
	size_t open = str_find(f->name, '(');
	if (!name.n && open < f->name.n &&
	    demangle_fit(f->a, str_slice(f->name, 0, open), d->written) == DEMANGLE_SAME)
		f->least = DEMANGLE_SAME;
	return str_eq(d->symbol, f->name) || fits(f, d->symbol, name, d->written);
}

static bool is_meant_die(void *ctx, struct dwsrc *src, Dwarf_Die *function)
{
	struct finder *f = ctx;
	struct dwinlined d = {.name = str_from(dwsrc_name(function)),
			      .symbol = str_from(dwsrc_symbol(function)),
			      .written = dwname_whole(src, *function)};
	d.symbol = d.symbol.n ? d.symbol : d.name;
	return is_meant(f, &d);
}

/** A word that the debug information of a function called @name has: of "acme::put<int>(char *)" it is put or int. */
static struct str word_of(struct str name)
{
	return dwsrc_word(str_last(str_slice(name, 0, str_find(name, '(')), ':'));
}

/** A function with a copy of the one that is looked for, and its thunk. */
struct hidden {
	const struct finder *finder;
	const struct codeplace *thunk;
	struct str symbol; // of the function
	bool found;
};

static bool try_function(void *ctx, const struct img_symbol *sym)
{
	struct hidden *h = ctx;
	struct dwsite site;
	if (!str_eq(sym->name, h->symbol))
		return true;
	h->found =
	    vec_any(const struct codeplace, p, &h->finder->ret->list,
		    p->how == CODEPLACE_COPY && p->addr - sym->addr < sym->size) &&
	    !branch_leads_to(h->finder->src->img, h->thunk->addr, h->thunk->size, sym->addr) &&
	    !dwsite_at(h->finder->src, h->thunk->addr, NULL, &site);
	return false;
}

static bool add_thunk(void *ctx, const struct img_symbol *sym)
{
	struct finder *f = ctx;
	if (demangle_kind_of(sym->name) == DEMANGLE_THUNK)
		vec_push(
		    f->a, &f->thunks,
		    (struct codeplace){.addr = sym->addr, .size = sym->size, .symbol = sym->name});
	return f->thunks.n < CODEPLACE_MANY_VARIANTS;
}

/** Finds a thunk that has what its function has, copies of ours among it, and of which nothing is known. */
static void find_hidden(struct finder *f)
{
	if (f->ret->n_inlined)
		img_walk(f->src->img, IMG_FUNCTIONS, add_thunk, f);
	vec_each(const struct codeplace, p, &f->thunks) {
		struct hidden h = {
		    .finder = f, .thunk = p, .symbol = demangle_thunk_symbol(f->a, p->symbol)};
		img_walk(f->src->img, IMG_FUNCTIONS, try_function, &h);
		if (h.found) {
			f->ret->thunk = demangle_written(f->a, p->symbol);
			return;
		}
	}
}

/** Of what is large only those that are known: the others would take seconds. */
static const struct dwinlined *inlined_next(struct finder *f, struct str word, size_t *i)
{
	return !dwsrc_open(f->src) || dwfilter_is_large(f->src)
		   ? dwsite_inlined_known(f->src, i)
		   : dwsite_inlined_next(f->src, word, is_meant_die, f, i);
}

/** Whether a function that is nowhere but in its callers fits better than the instances that are known. */
static void ask_copies(struct finder *f, struct str word)
{
	const struct dwinlined *d;
	for (size_t i = 0; f->least == DEMANGLE_INSTANCE && (d = inlined_next(f, word, &i));)
		is_meant(f, d);
}

bool codeplace_function(struct arena *a, struct binary *bin, struct str name,
			struct codeplaces *ret)
{
	struct finder f = {.a = a, .src = bin->src, .name = name, .ret = ret};
	const struct dwinlined *d;
	*ret = (struct codeplaces){0};
	img_walk(bin->img, IMG_FUNCTIONS, take_symbol, &f);
	struct str word = word_of(name);
	ask_copies(&f, word);
	if (!f.exact.n)
		add_mangled(&f);
	size_t n_functions = ret->list.n;
	for (size_t i = 0; i < n_functions; i++)
		if ((d = dwsite_inlined_at(bin->src, ret->list.v[i].addr)))
			add_copies(&f, d);
	// Overloads, instances and static functions of that name that are nowhere but in their callers.
	for (size_t i = 0; n_functions && (d = inlined_next(&f, word, &i));)
		if (f.exact.n ? str_eq(d->symbol, name)
			      : str_has_prefix(d->name, word) && is_meant(&f, d))
			add_copies(&f, d);
	find_hidden(&f);
	return n_functions > 0;
}

bool codeplace_inlined(struct arena *a, struct binary *bin, struct str name, struct codeplaces *ret)
{
	struct finder f = {.a = a, .src = bin->src, .name = name, .ret = ret};
	const struct dwinlined *d;
	*ret = (struct codeplaces){0};
	// An index of all of its code takes ten times as long.
	struct str word = word_of(name);
	if (!dwfilter_open_for(bin->src, word) || !dwfilter_may_have(bin->src, word))
		return false;
	for (size_t i = 0; (d = dwsite_inlined_next(bin->src, word, is_meant_die, &f, &i));)
		is_meant(&f, d);
	for (size_t i = 0; (d = dwsite_inlined_next(bin->src, word, is_meant_die, &f, &i));)
		if (is_meant(&f, d))
			add_copies(&f, d);
	find_hidden(&f);
	return ret->inlined != NULL;
}

bool codeplace_parse_lines(struct str text, struct str *file, unsigned *first, unsigned *last)
{
	uint64_t from, to;
	size_t colon = text.n;
	while (colon && text.p[colon - 1] != ':')
		colon--;
	struct str numbers = str_from_offset(text, colon);
	size_t dash = last ? str_find(numbers, '-') : numbers.n;
	if (colon < 2 || !str_to_u64(str_slice(numbers, 0, dash), &from))
		return false;
	to = from;
	if ((dash < numbers.n && !str_to_u64(str_from_offset(numbers, dash + 1), &to)) ||
	    from > UINT_MAX || to > UINT_MAX)
		return false;
	*file = str_slice(text, 0, colon - 1);
	*first = (unsigned)(from < to ? from : to);
	if (last)
		*last = (unsigned)(from < to ? to : from);
	return true;
}

struct str codeplace_where(struct arena *a, struct binary *bin, uint64_t addr, bool with_line)
{
	struct dwsite site;
	if (!dwsite_at(bin->src, addr, NULL, &site))
		return STR("");
	struct str ret = str_printf(a, STR_FMT "()", STR_ARG(site.function));
	if (site.caller.n)
		ret =
		    str_printf(a, STR_FMT " in " STR_FMT "()", STR_ARG(ret), STR_ARG(site.caller));
	return with_line && site.line ? str_printf(a, STR_FMT " at " STR_FMT ":%u", STR_ARG(ret),
						   STR_ARG(site.file), site.line)
				      : ret;
}

// --- source lines

struct line_finder {
	struct dwsrc *src;
	struct str file;
	unsigned first, last;
	uint64_t bias;
	struct map seen;  // address and line
	struct map names; // of this unit: libdw's name of a file that is meant
	struct codeplace_lines *ret;
};

/** @dir/@path without . and .. in it. */
static struct str whole_path(struct arena *a, struct str dir, struct str path)
{
	char buf[DEFINES_PATH];
	if (str_has_prefix(path, STR("/")))
		dir = STR("");
	bool is_absolute = str_has_prefix(dir.n ? dir : path, STR("/"));
	return str_copy(a, defines_path(buf, dir, path, is_absolute));
}

static bool ends_in(struct str path, struct str file)
{
	while (str_take(&file, STR("./")))
		;
	return str_eq(path, file) || (str_has_suffix(path, file) && path.n > file.n && file.n &&
				      (file.p[0] == '/' || path.p[path.n - file.n - 1] == '/'));
}

/** Names of @unit's files that are meant; false when it has none. */
static bool find_files(struct line_finder *f, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n;
	const char *dir = dwsrc_string(unit, DW_AT_comp_dir);
	f->names = (struct map){0};
	if (!dwsite_may_read_lines(f->src, unit) || dwarf_getsrcfiles(unit, &files, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);
		struct str path = str_from(name);
		if (!name || !str_has_suffix(path, str_base(f->file)))
			continue;
		path = whole_path(f->src->arena, str_from(dir), path);
		if (!ends_in(path, f->file))
			continue;
		map_put_ptr(f->src->arena, &f->names, name, str_dup(f->src->arena, path));
	}
	return f->names.n > 0;
}

/** The innermost block or function around @addr, or NULL. */
static const void *block_at(struct line_finder *f, uint64_t addr)
{
	struct dwsite site;
	return dwsite_at(f->src, addr, NULL, &site) ? site.dies.v[0].addr : NULL;
}

struct row {
	uint64_t addr;
	unsigned line;	  // 0: another file's, or the end of a sequence
	const char *path; // of the file that is meant, or NULL
};

static void read_row(struct line_finder *f, Dwarf_Line *l, bool is_end, struct row *ret)
{
	Dwarf_Addr addr = 0;
	int line = 0;
	const char *name = dwarf_linesrc(l, NULL, NULL);
	ret->path = name ? map_get_ptr(&f->names, name) : NULL;
	dwarf_lineaddr(l, &addr);
	dwarf_lineno(l, &line);
	ret->addr = addr + f->bias;
	ret->line = ret->path && !is_end && line > 0 ? (unsigned)line : 0;
}

static void add_row(struct line_finder *f, const struct row *r, const struct row *before)
{
	uint64_t off;
	char byte;
	// Of functions that the linker has removed there is no code.
	if (!img_read_code(f->src->img, r->addr, &byte, 1, &off))
		return;
	struct str path = str_from(r->path);
	if (!f->ret->file.n)
		f->ret->file = path;
	else if (!str_eq(path, f->ret->file))
		f->ret->other = path;
	if (r->line > f->last && (!f->ret->next || r->line < f->ret->next))
		f->ret->next = r->line;
	if (r->line < f->first || r->line > f->last)
		return;
	struct str key = str_printf(f->src->arena, "%llx %u", (unsigned long long)r->addr, r->line);
	if (!map_add(f->src->arena, &f->seen, key))
		return;
	if (before->line == r->line && before->path == r->path &&
	    block_at(f, before->addr) == block_at(f, r->addr))
		return;
	vec_push(f->src->arena, &f->ret->list, (struct codeplace_line){r->addr, r->line});
}

static void find_in_unit(struct line_finder *f, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;
	struct row before = {0};
	if (!unit->cu || !find_files(f, unit) || dwarf_getsrclines(unit, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		bool begins = false, is_end = false;
		struct row r;
		if (!l || dwarf_linebeginstatement(l, &begins) != 0 ||
		    dwarf_lineendsequence(l, &is_end) != 0 || (!begins && !is_end))
			continue;
		read_row(f, l, is_end, &r);
		if (r.line)
			add_row(f, &r, &before);
		before = r;
	}
}

bool codeplace_is_ambiguous(struct diag *d, const struct diag_place *at, struct str file,
			    const struct codeplace_lines *s)
{
	return s->other.n && !diag_error(d, at,
					 STR_FMT " is ambiguous: " STR_FMT " or " STR_FMT
						 "? Write more of its path",
					 STR_ARG(file), STR_ARG(s->file), STR_ARG(s->other));
}

void codeplace_find_lines(struct dwsrc *src, struct str file, unsigned first, unsigned last,
			  struct codeplace_lines *ret)
{
	struct debuginfo *di;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	*ret = (struct codeplace_lines){0};
	if (!file.n || !dwsrc_open(src) || !img_debuginfo(src->img, &di))
		return;
	struct line_finder f = {
	    .src = src, .file = file, .first = first, .last = last, .bias = di->bias, .ret = ret};
	while (!src->is_spent && dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		find_in_unit(&f, &unit);
}
