#include "template/skeleton_find.h"

#include "elf/imgsym.h"
#include "probe/attachable.h"

bool finder_means(const struct finder *f, const struct targetfile *tf)
{
	return !f->file.n || str_eqz(f->file, "__EXE__") || str_glob(f->file, tf->path) ||
	       str_glob(f->file, str_base(tf->path));
}

static bool is_writable(struct str name, struct safe_word *ret)
{
	return word_take(name, ALPHABET_SYMBOL, ret) && !(name.p[0] >= '0' && name.p[0] <= '9');
}

/** By the symbol, or by the name in the source: acme::* */
static bool is_named(const struct finder *f, struct str symbol)
{
	return str_glob(f->name, symbol) || (str_has_prefix(symbol, STR("_")) &&
					     demangle_matches(f->sk->arena, f->name, symbol));
}

/** What is inlined may begin where another function does. A constructor of gcc has no parameters there. */
static bool add_label(struct finder *f, uint64_t addr, struct str label)
{
	struct arena *a = f->sk->arena;
	struct str bare = demangle_bare(a, label);
	return map_add(a, &f->labels, str_printf(a, "0x%" PRIx64 " " STR_FMT, addr, STR_ARG(bare)));
}

/** Are return probes written for what is found? */
static bool has_returns(const struct finder *f)
{
	return f->is_return || f->sk->calls;
}

static bool add_symbol(void *ctx, const struct img_symbol *sym)
{
	struct finder *f = ctx;
	struct arena *a = f->sk->arena;
	struct safe_word name;
	enum demangle_kind kind = demangle_kind_of(sym->name);
	if (!is_named(f, sym->name) || kind == DEMANGLE_PIECE ||
	    (f->source.n && !dwsite_is_from(f->at->bin.src, sym->addr, f->source)))
		return true;
	struct str label = demangle_written(a, sym->name);
	if (!f->sk->is_list && add_label(f, sym->addr, label) && !str_eq(label, sym->name))
		map_add(a, &f->labels, label);
	const char *why = attachable_refusal(f->at->bin.img, sym->addr, has_returns(f));
	f->why = f->why ? f->why : why;
	// As _init and _fini: bpftrace ends when it is to attach to one without a size.
	unsigned *lacks = !is_writable(sym->name, &name) ? &f->n_odd
			  : sym->is_ifunc		 ? &f->n_ifuncs
			  : !sym->size			 ? &f->n_unsized
			  : why				 ? &f->n_refused
							 : NULL;
	if (lacks) {
		++*lacks;
		return true;
	}
	if (!map_get(&f->owners, sym->name))
		map_put(a, &f->owners, sym->name, f->at);
	uintptr_t same_name = (uintptr_t)map_get(&f->names, sym->name);
	uintptr_t same_addr = (uintptr_t)map_get_u64(&f->addrs, sym->addr);
	if (same_name && !(f->sk->is_list && !same_addr)) {
		struct function *other = &f->found.v[same_name - 1];
		other->n_same += !same_addr && other->place.addr != sym->addr;
		return true;
	}
	struct codeplace place = {
	    .kind = kind, .addr = sym->addr, .size = sym->size, .symbol = sym->name, .name = label};
	if (same_addr) {
		struct function *other = &f->found.v[same_addr - 1];
		if (name.s.n < other->name.s.n) {
			place.name = other->place.name;
			other->place = place;
			other->name = name;
		}
	} else {
		// In a template $1 is an argument of the script.
		vec_push(a, &f->found,
			 (struct function){.file = f->at,
					   .place = place,
					   .name = name,
					   .by_address = str_has(sym->name, "$")});
		same_addr = f->found.n;
		map_put_u64(a, &f->addrs, sym->addr, (void *)same_addr);
	}
	map_put(a, &f->names, sym->name, (void *)same_addr);
	return true;
}

/** @p, which bpftrace would take for the first function called @shadow. */
static void drop_shadowed(struct finder *f, const struct codeplace *p, struct str shadow)
{
	for (size_t i = 0; i < f->found.n; i++)
		if (f->found.v[i].file == f->at && str_eq(f->found.v[i].name.s, p->symbol)) {
			f->found.v[i].n_same++;
			return;
		}
	f->n_shadowed++;
	f->shadowed = shadow;
}

bool finder_traces_copies(const struct finder *f)
{
	return f->sk->copies == SKELETON_COPIES && !f->is_return;
}

/** Unless it cannot be traced. */
static void add_place(struct finder *f, const struct function *fn)
{
	struct arena *a = f->sk->arena;
	const struct codeplace *p = &fn->place;
	struct str shadow = attachable_shadow(a, f->at->bin.img, p->addr);
	if (function_is_copy(fn) && !finder_traces_copies(f))
		return;
	if (shadow.n && !f->sk->is_list) {
		drop_shadowed(f, p, shadow);
		return;
	}
	if (p->symbol.n && !map_get(&f->owners, p->symbol))
		map_put(a, &f->owners, p->symbol, f->at);
	const char *why = attachable_refusal(f->at->bin.img, p->addr, has_returns(f));
	f->why = f->why ? f->why : why;
	// As _init and _fini: bpftrace ends when it is to attach to one.
	if (!function_is_copy(fn) && !p->size)
		f->n_unsized++;
	else if (why)
		f->n_refused++;
	else
		vec_push(a, &f->found, *fn);
}

/** What the name means in f->at, by codeplace.h. */
static void add_places(struct finder *f, const struct codeplaces *places)
{
	struct arena *a = f->sk->arena;
	for (size_t i = 0; i < places->list.n; i++) {
		struct function fn = {.file = f->at, .place.name = f->name};
		if (!places->list.v[i].is_ifunc || !is_writable(f->name, &fn.name))
			continue;
		map_put(a, &f->owners, f->name, f->at);
		vec_push(a, &f->found, fn); // what the loader has chosen is found where it is bound
		return;
	}
	bool has_clone =
	    vec_any(const struct codeplace, p, &places->list, p->how == CODEPLACE_CLONE);
	f->thunk = places->thunk.n ? places->thunk : f->thunk;
	vec_each(const struct codeplace, p, &places->list) {
		struct function fn = {.file = f->at, .place = *p, .name = word_own("?")};
		fn.by_address = (places->n_inlined && f->sk->copies != SKELETON_AS_NAMED) ||
				has_clone || p->how != CODEPLACE_ENTRY ||
				!is_writable(p->symbol, &fn.name) || str_has(p->symbol, "$");
		fn.has_copies = places->n_inlined && finder_traces_copies(f);
		if (f->sk->is_list) // its symbol is shown, also of a clone
			is_writable(p->symbol, &fn.name);
		add_place(f, &fn);
	}
}

/** Functions that are only inlined, where no file has the name. */
static void add_inlined(struct finder *f)
{
	struct targetfiles *files = f->sk->files;
	for (size_t i = 0; i < files->list.n && !f->found.n && f->sk->copies == SKELETON_COPIES;
	     i++) {
		struct codeplaces places;
		f->at = &files->list.v[i];
		if (finder_means(f, f->at) && targetfile_open(files, f->at) &&
		    codeplace_inlined(f->sk->arena, &f->at->bin, f->name, &places))
			add_places(f, &places);
	}
}

/** A function that has clones among those of a pattern: in a clause its name means these, too. */
static void part_clones(struct finder *f)
{
	for (size_t i = 0; i < f->found.n; i++) {
		struct str symbol = f->found.v[i].name.s;
		size_t dot = str_find(symbol, '.');
		uintptr_t base = dot && dot < symbol.n
				     ? (uintptr_t)map_get(&f->names, str_slice(symbol, 0, dot))
				     : 0;
		if (base && f->found.v[i].file == f->at)
			f->found.v[base - 1].by_address = true;
	}
}

/** Leaves out what only leads to another function of the pattern, from @from on: a call counts there. */
static void drop_variants(struct finder *f, size_t from)
{
	size_t n = f->found.n, kept = from;
	struct function *v = f->found.v;
	if (n - from > CODEPLACE_MANY_VARIANTS)
		return;
	for (size_t i = from; i < n; i++)
		for (size_t k = from; k < n && !v[i].leads_on; k++)
			v[i].leads_on =
			    codeplace_calls_variant(f->at->bin.src, &v[i].place, &v[k].place);
	for (size_t i = from; i < n; i++)
		if (!v[i].leads_on)
			v[kept++] = v[i];
	f->found.n = kept;
}

static void add_copy(struct finder *f, struct codeplace p)
{
	if (add_label(f, p.addr, p.name))
		add_place(
		    f, &(struct function){
			   .file = f->at, .place = p, .name = word_own("?"), .by_address = true});
}

static bool has_room(const struct finder *f, size_t n)
{
	return f->sk->probes.n + f->found.n + n <= SKELETON_MAX_FUNCTIONS;
}

/** The inlined copies of a pattern's functions, from @from on, each once: several destructors have the same. */
static void add_copies(struct finder *f, size_t from)
{
	struct arena *a = f->sk->arena;
	size_t n = f->found.n;
	struct codeplaces places;
	if (!finder_traces_copies(f) || n > SKELETON_MAX_FUNCTIONS)
		return;
	for (size_t i = from; i < n; i++) {
		struct function fn = f->found.v[i];
		struct str name = demangle_symbol(a, fn.name.s);
		const struct dwinlined *d = dwsite_inlined_at(f->at->bin.src, fn.place.addr);
		if (!d || attachable_shadow(a, f->at->bin.img, fn.place.addr).n)
			continue;
		f->found.v[i].by_address = true; // its name means all copies again
		if (!codeplace_function(a, &f->at->bin, name.n ? name : fn.name.s, &places))
			continue;
		f->thunk = places.thunk.n ? places.thunk : f->thunk;
		if (!has_room(f, places.n_inlined))
			continue;
		f->found.v[i].has_copies = d->entries.n >= d->n;
		vec_each(struct codeplace, p, &places.list) {
			p->name = fn.place.name;
			if (p->how == CODEPLACE_COPY)
				add_copy(f, *p);
		}
	}
}

void finder_note_missed(struct finder *f, const struct dwinlined *d)
{
	if (!d ||
	    !map_add_ptr(f->sk->arena, &f->missed, d)) // a function in C with code matches twice
		return;
	f->inlined = f->inlined ? f->inlined : d;
	f->n_inlined++;
}

/** Copies of functions that match the pattern and have no code of their own; of what is large only those that are known. */
static void add_bodiless(struct finder *f)
{
	struct dwsrc *src = f->at->bin.src;
	const struct dwinlined *d;
	bool is_large = false;
	for (size_t i = 0; (d = dwsite_inlined_named(src, f->name, &is_large, &i));) {
		struct str label = demangle_written(f->sk->arena, d->symbol);
		bool is_c = str_eq(label, d->symbol);
		if (map_get(&f->labels, label) ||
		    (f->source.n && d->entries.n &&
		     !dwsite_is_from(src, d->entries.v[0], f->source)))
			continue;
		size_t n = finder_traces_copies(f) && has_room(f, d->entries.n) ? d->entries.n : 0;
		if (n < d->n)
			finder_note_missed(f, d);
		for (size_t k = 0; k < n; k++)
			add_copy(f, (struct codeplace){
					.how = CODEPLACE_COPY,
					.addr = d->entries.v[k],
					.name = is_c ? d->written : label,
					.asked = {.how = DWASKED_ENTRY, .name = d->symbol}});
	}
	f->large = is_large ? f->at : f->large;
}

bool finder_find(struct finder *f)
{
	struct targetfiles *files = f->sk->files;
	bool has_file = false;
	for (size_t i = 0; i < files->list.n; i++) {
		f->at = &files->list.v[i];
		if (!finder_means(f, f->at))
			continue;
		has_file = true;
		struct img *img = targetfile_open(files, f->at);
		f->names = f->addrs = f->labels = (struct map){0};
		struct codeplaces places;
		if (img && str_has(f->name, "*?")) {
			size_t from = f->found.n;
			img_walk(img, IMG_FUNCTIONS, add_symbol, f);
			part_clones(f);
			if (f->sk->is_list)
				continue;
			drop_variants(f, from);
			add_copies(f, from);
			if (f->found.n > from || f->at == files->list.v)
				add_bodiless(f);
		} else if (img && codeplace_function(f->sk->arena, &f->at->bin, f->name, &places))
			add_places(f, &places);
	}
	if (!f->found.n)
		add_inlined(f);
	return has_file;
}
