// -t 'uprobe:PATTERN': calls of functions with their parameters, 'uretprobe:PATTERN': with their results.
//
// Those of a pattern are the functions of the symbol tables, as bpftrace finds them by their names, each
// once: of several names of one address the shortest is taken, and pieces that the compiler has split off
// (f.cold, f.part.0) are no functions: bpftrace has no such names. A name means what it does in a
// template, probe/codeplace.h.
#include "template/skeleton_priv.h"

#include "bind/codeattach.h"
#include "bind/namedvar.h"
#include "dialect/dialect.h"
#include "elf/debugfile.h"
#include "elf/imgsym.h"
#include "probe/attachable.h"
#include "probe/funcargs.h"

enum { MAX_PATIENCE = 1000 };

struct function {
	struct targetfile *file;
	struct codeplace place; // its name is the label
	struct safe_word name;
	bool by_address; // no name means it alone
	bool has_copies; // which are found, too
	bool leads_on;	 // to another one, where a call counts
	unsigned n_same; // others of that name, which bpftrace does not find
};

struct finder {
	struct skeleton *sk;
	bool is_return;
	struct str file, name; // patterns; no file: any
	struct str source;     // of the source file, likewise
	struct targetfile *at; // whose symbols are walked
	VEC(struct function) found;
	struct map names, addrs; // of `at` -> 1 + index in `found`
	struct map owners;	 // name -> the first file that has it
	struct map labels;  // of C++ functions of `at` that have code; address and label of copies
	unsigned n_odd;	    // whose names bpftrace does not take
	unsigned n_ifuncs;  // that the loader chooses: only their names are here
	unsigned n_unsized; // to which it does not attach
	unsigned n_refused; // the kernel does not, for `why`
	const char *why;
	unsigned n_unknown;		 // whose parameters are not known
	struct str unknown;		 // one of them
	unsigned n_copies, n_bare;	 // inlined, which are probes; those without arguments
	unsigned n_shadowed;		 // places that bpftrace takes for others
	struct str shadowed;		 // the name of one
	const struct dwinlined *inlined; // a function that has copies which are not traced
	struct map missed;		 // all of them
	size_t n_inlined;		 // and how many
	const struct targetfile *large;	 // what is only inlined was not searched for in it
	struct str thunk;		 // has copies of which nothing is known
};

// --- finding ---

static bool is_meant(const struct finder *f, const struct targetfile *tf)
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

static bool traces_copies(const struct finder *f)
{
	return f->sk->copies == SKELETON_COPIES && !f->is_return;
}

static bool is_copy(const struct function *fn)
{
	return fn->place.how == CODEPLACE_COPY;
}

/** Unless it cannot be traced. */
static void add_place(struct finder *f, const struct function *fn)
{
	struct arena *a = f->sk->arena;
	const struct codeplace *p = &fn->place;
	struct str shadow = attachable_shadow(a, f->at->bin.img, p->addr);
	if (is_copy(fn) && !traces_copies(f))
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
	if (!is_copy(fn) && !p->size)
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
		fn.has_copies = places->n_inlined && traces_copies(f);
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
		if (is_meant(f, f->at) && targetfile_open(files, f->at) &&
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
	if (!traces_copies(f) || n > SKELETON_MAX_FUNCTIONS)
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

/** Copies of a function, or NULL, that are not traced. */
static void note_missed(struct finder *f, const struct dwinlined *d)
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
		size_t n = traces_copies(f) && has_room(f, d->entries.n) ? d->entries.n : 0;
		if (n < d->n)
			note_missed(f, d);
		for (size_t k = 0; k < n; k++)
			add_copy(f, (struct codeplace){
					.how = CODEPLACE_COPY,
					.addr = d->entries.v[k],
					.name = is_c ? d->written : label,
					.asked = {.how = DWASKED_ENTRY, .name = d->symbol}});
	}
	f->large = is_large ? f->at : f->large;
}

/** False if no file has the name of the pattern. */
static bool find_all(struct finder *f)
{
	struct targetfiles *files = f->sk->files;
	bool has_file = false;
	for (size_t i = 0; i < files->list.n; i++) {
		f->at = &files->list.v[i];
		if (!is_meant(f, f->at))
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
	return has_file;
}

// --- what is shown of them ---

static struct skeleton_field *push_field(struct skeleton *sk, struct skeleton_probe *p,
					 const struct probearg *arg, struct safe_word value,
					 bool is_readable)
{
	struct skeleton_field *f = &p->fields[p->n_fields++];
	struct probearg *own = arena_new(sk->arena, struct probearg);
	const struct ctype *t = ctype_strip(arg->type);
	*own = *arg;
	own->size = 8; // of the register
	own->is_signed = t && t->is_signed;
	f->arg = own;
	f->value = value;
	skeleton_shape_field(sk, f, is_readable);
	return f;
}

static void add_params(struct skeleton *sk, struct skeleton_probe *p, const struct funcargs *args)
{
	p->fields = arena_array(sk->arena, struct skeleton_field, args->list.n + 1);
	for (size_t i = 0; i < args->list.n; i++) {
		const struct funcarg *from = &args->list.v[i];
		struct probearg arg = from->arg;
		bool by_address = from->address >= 0;
		int number = by_address ? from->address : from->number;
		bool has_number = number >= 0;
		struct safe_word value = has_number
					     ? word_ident(sk->arena, STR(""), "arg", (size_t)number)
					     : word_own("?");
		if (by_address) // as of a reference
			arg.type = ctype_new_pointer(sk->arena, arg.type, sizeof(uint64_t));
		if (!arg.name.n && !has_number)
			continue;
		if (!arg.name.n)
			arg.name = value.s;
		struct safe_word name = word_ident(sk->arena, arg.name, "arg", i);
		bool is_word = arg.has_name && str_eq(name.s, from->arg.name);
		bool by_name = is_word && !by_address &&
			       (has_number ||
				namedvar_is_passed(sk->arena, p->file->bin.src, p->addr, name.s));
		if (by_name && !has_number)
			value = word_join(sk->arena, word_own(""), "args.", name);
		struct skeleton_field *f = push_field(sk, p, &arg, value, has_number || by_name);
		f->index = has_number ? (unsigned)number : UINT_MAX;
		f->name = name;
		f->by_name = by_name;
		f->spread = (unsigned)(from->spread + 1);
	}
}

/** gcc drops a result that no caller wants, and calls what is left f.isra.0. */
static void add_result(struct skeleton *sk, struct skeleton_probe *p, const struct funcargs *args)
{
	struct probearg arg = {.name = STR("retval"), .type = args->result};
	bool is_readable = args->result && !str_contains(p->label, STR(".isra."));
	p->fields = arena_array(sk->arena, struct skeleton_field, 1);
	if (is_readable)
		p->declaration =
		    str_printf(sk->arena, STR_FMT ", which returns " STR_FMT,
			       STR_ARG(p->declaration), STR_ARG(ctype_spell(sk->arena, arg.type)));
	if (args->is_void)
		return;
	struct skeleton_field *f = push_field(sk, p, &arg, word_own("retval"), is_readable);
	f->name = f->value;
	f->index = UINT_MAX;
}

/** `uprobe:ns::f(int n)`: up to the parameters it is a pattern that means it; of a return, its type after two blanks. */
static void add_listed(struct finder *f, const struct function *fn)
{
	struct arena *a = f->sk->arena;
	struct skeleton_probe p = {
	    .file = fn->file, .kind = f->is_return ? "uretprobe" : "uprobe", .what = fn->name};
	struct funcargs args;
	bool is_known = !is_copy(fn) && funcargs_read(fn->file->bin.src, fn->place.addr, &args);
	is_known &= !str_eqz(fn->name.s, "?");
	struct str name = is_known ? demangle_name(a, fn->name.s) : fn->place.name;
	p.label = str_printf(a, "%s:" STR_FMT, p.kind, STR_ARG(name));
	p.declaration = p.label;
	if (is_known)
		p.declaration = str_printf(
		    a, STR_FMT STR_FMT, STR_ARG(p.label),
		    STR_ARG(str_from_offset(funcargs_declaration(a, &args), args.function.n)));
	if (is_known && f->is_return && args.result)
		p.declaration = str_printf(a, STR_FMT "  returns " STR_FMT, STR_ARG(p.declaration),
					   STR_ARG(ctype_spell(a, args.result)));
	skeleton_add(f->sk, &p);
}

static void add_variable(struct skeleton *sk, struct skeleton_probe *p, const struct namedvar *v)
{
	struct probearg arg = {.name = v->name, .type = v->type};
	struct ctype *t = ctype_strip(v->type);
	struct safe_word name = word_ident(sk->arena, v->name, "var", p->n_fields);
	bool is_float = t && t->kind == CTYPE_FLOAT;
	if (v->is_memory && !is_float)
		arg.type = ctype_new_pointer(sk->arena, v->type, sizeof(uint64_t));
	struct skeleton_field *f = push_field(
	    sk, p, &arg, word_join(sk->arena, word_own(""), "vars.", name), v->type != NULL);
	f->index = UINT_MAX;
	f->name = name;
	f->is_memory = v->is_memory && !is_float;
	if (is_float) {
		f->n_float_bits = (unsigned)t->size * 8;
		f->shape.value.type = t->size == sizeof(double) ? &value_double : &value_float;
	}
}

/** Where an inlined copy begins its parameters are variables, unless another copy in it begins there, too. */
static void add_copied(struct skeleton *sk, struct skeleton_probe *p, const struct function *fn)
{
	struct dwsrc *src = fn->file->bin.src;
	struct context_place at = {.src = src, .addr = fn->place.addr};
	struct dwsite copy, innermost;
	struct namedvars vars;
	if (!dwsite_at(src, fn->place.addr, &fn->place.asked, &copy) ||
	    !dwsite_at(src, fn->place.addr, NULL, &innermost) || copy.end != innermost.end)
		return;
	// gcc -O1 leaves the instruction before a copy out of it: what is there is the caller's.
	Dwarf_Die *function = &copy.dies.v[copy.end - 1];
	const char *symbol = dwsrc_symbol(function);
	if (!str_eqz(fn->place.asked.name, *symbol ? symbol : dwsrc_name(function)))
		return;
	namedvar_list(sk->arena, &at, 1, &vars);
	p->fields = arena_array(sk->arena, struct skeleton_field, vars.list.n + 1);
	vec_each(const struct namedvar, v, &vars.list)
		if (v->is_param)
			add_variable(sk, p, v);
}

static void add_function(struct finder *f, const struct function *fn)
{
	struct skeleton *sk = f->sk;
	struct skeleton_probe p = {.file = fn->file,
				   .kind = f->is_return ? "uretprobe" : "uprobe",
				   .what = fn->name,
				   .declaration = fn->name.s,
				   .addr = fn->place.addr};
	struct funcargs args;
	if (fn->n_same && attachable_shadow(sk->arena, fn->file->bin.img, fn->place.addr).n) {
		f->n_shadowed += 1 + fn->n_same; // any of them may be the first
		f->shadowed = fn->name.s;
		return;
	}
	p.label = str_printf(sk->arena, "%s:" STR_FMT, p.kind,
			     STR_ARG(demangle_shorten(sk->arena, fn->place.name)));
	// __EXE__ means the first file that has it.
	p.needs_path = f->file.n || fn->by_address ? fn->file != &sk->files->list.v[0]
						   : fn->file != map_get(&f->owners, fn->name.s);
	if (fn->n_same)
		diag_warning(sk->diag, NULL,
			     "%u functions of " STR_FMT " are named " STR_FMT
			     ": bpftrace attaches to the first",
			     fn->n_same + 1, STR_ARG(fn->file->path), STR_ARG(fn->place.name));
	if (fn->by_address)
		p.what = word_number(sk->arena, fn->place.addr);
	if (is_copy(fn)) {
		f->n_copies++;
		add_copied(sk, &p, fn);
		f->n_bare += p.n_fields == 0;
	} else if (!funcargs_read(fn->file->bin.src, fn->place.addr, &args)) {
		f->n_unknown++;
		f->unknown = demangle_bare(sk->arena, fn->place.name);
	} else {
		p.declaration = funcargs_declaration(sk->arena, &args);
		if (!f->is_return)
			add_params(sk, &p, &args);
		else
			add_result(sk, &p, &args);
	}
	if (!is_copy(fn) && !fn->has_copies)
		note_missed(f, dwsite_inlined_at(fn->file->bin.src, fn->place.addr));
	skeleton_add(sk, &p);
}

struct skeleton_probe skeleton_return_of(struct skeleton *sk, const struct skeleton_probe *p)
{
	struct skeleton_probe ret = *p;
	struct funcargs args;
	ret.kind = "uretprobe";
	ret.label = str_printf(sk->arena, "%s" STR_FMT, ret.kind,
			       STR_ARG(str_from_offset(p->label, str_find(p->label, ':'))));
	ret.n_fields = 0;
	if (funcargs_read(p->file->bin.src, p->addr, &args))
		add_result(sk, &ret, &args);
	return ret;
}

/** `uprobe:ns::f` of `uprobe:ns::f(int)` */
static struct str bare_label(struct skeleton *sk, const struct skeleton_probe *p)
{
	struct str name = str_from_offset(p->label, str_find(p->label, ':') + 1);
	return str_printf(sk->arena, "%s:" STR_FMT, p->kind,
			  STR_ARG(demangle_bare(sk->arena, name)));
}

void skeleton_shorten_labels(struct skeleton *sk)
{
	struct map first = {0}, overloaded = {0}; // bare label -> the label that it is of
	vec_each(struct skeleton_probe, p, &sk->probes) {
		struct str bare = bare_label(sk, p);
		const struct str *other = map_get(&first, bare);
		if (str_eq(bare, p->label))
			continue; // gcc records no linkage name, so no parameters, of a static one
		if (!other)
			map_put(sk->arena, &first, bare, &p->label);
		else if (!str_eq(*other, p->label))
			map_add(sk->arena, &overloaded, bare);
	}
	// Labels change after they have been compared.
	vec_each(struct skeleton_probe, p, &sk->probes) {
		struct str bare = bare_label(sk, p);
		if (!p->probe && !map_get(&overloaded, bare))
			p->label = bare;
	}
}

// --- reports ---

static bool report_none(struct finder *f, struct str pattern)
{
	struct targetfiles *files = f->sk->files;
	struct str near = STR(""), one;
	unsigned best = UINT_MAX;
	struct img *first = NULL;
	files->n_missing++;
	if (f->n_odd)
		return diag_error(f->sk->diag, NULL,
				  "bpftrace does not accept the names of the functions that match "
				  "'" STR_FMT "'",
				  STR_ARG(pattern));
	if (f->n_unsized)
		return diag_error(f->sk->diag, NULL,
				  "functions that match '" STR_FMT
				  "' have no size in the symbol table: bpftrace cannot attach",
				  STR_ARG(pattern));
	if (f->n_refused)
		return diag_error(f->sk->diag, NULL,
				  "the functions that match '" STR_FMT "' cannot be traced: %s",
				  STR_ARG(pattern), f->why);
	diag_error(f->sk->diag, NULL, "no function matches '" STR_FMT "'", STR_ARG(pattern));
	if (f->source.n)
		return false;
	vec_each(struct targetfile, tf, &files->list) {
		struct img *img = is_meant(f, tf) ? targetfile_open(files, tf) : NULL;
		size_t i = 0;
		const struct dwinlined *d =
		    img ? dwsite_inlined_named(tf->bin.src, f->name, NULL, &i) : NULL;
		if (d)
			return diag_note(f->sk->diag, NULL,
					 STR_FMT "() is inlined in %s and has no code of its own",
					 STR_ARG(d->name), codeattach_callers(f->sk->arena, d));
		if (img && (one = codeattach_nearest(f->sk->arena, img, f->name, &best)).n)
			near = one;
		first = first ? first : img;
	}
	if (first)
		debugfile_note_stripped(first);
	if (near.n)
		diag_note(f->sk->diag, NULL, "did you mean '%s" STR_FMT "'?",
			  f->sk->calls	 ? ""
			  : f->is_return ? "uretprobe:"
					 : "uprobe:",
			  STR_ARG(near));
	targetfiles_note_skips(files);
	return false;
}

static unsigned max_functions(const struct skeleton *sk)
{
	return sk->is_list			       ? UINT_MAX
	       : sk->calls && sk->calls->max_functions ? sk->calls->max_functions
	       : sk->may_merge			       ? SKELETON_MAX_MERGED
	       : sk->calls			       ? SKELETON_MAX_CALLS
						       : SKELETON_MAX_FUNCTIONS;
}

/** The source file that has most of those of the first file, but not more than can be traced; @ret_n of them. */
static struct str find_source(struct finder *f, size_t *ret_n)
{
	struct arena *a = f->sk->arena;
	struct map counts = {0};
	struct str best = STR("");
	*ret_n = 0;
	for (size_t round = 0; round < 2; round++)
		vec_each(const struct function, fn, &f->found) {
			if (fn->file != f->found.v[0].file)
				continue;
			struct str path = dwsite_source(fn->file->bin.src, fn->place.addr);
			struct str name = str_copy(a, str_base(path));
			size_t *n = map_get(&counts, name);
			if (!n && path.n)
				map_put(a, &counts, name, n = arena_new(a, size_t));
			if (n && !round)
				++*n;
			else if (n && *n > *ret_n && *n <= max_functions(f->sk)) {
				best = name;
				*ret_n = *n;
			}
		}
	return best;
}

/** What can be typed instead. */
static void note_fewer_calls(struct finder *f, size_t n)
{
	size_t n_source;
	struct str source = f->source.n ? STR("") : find_source(f, &n_source);
	if (n <= MAX_PATIENCE)
		diag_note(f->sk->diag, NULL, "--max-functions %zu traces them all", n);
	if (source.n)
		diag_note(f->sk->diag, NULL,
			  "'" STR_FMT "%s" STR_FMT "@" STR_FMT
			  "' means the %zu of that source file",
			  STR_ARG(f->file), f->file.n ? ":" : "", STR_ARG(f->name), STR_ARG(source),
			  n_source);
}

static bool report_too_many(struct finder *f, struct str pattern)
{
	bool is_one_file = f->found.v[0].file == f->found.v[f->found.n - 1].file;
	diag_error(f->sk->diag, NULL,
		   "%zu functions match '" STR_FMT "': at most %u can be traced at once",
		   f->found.n, STR_ARG(pattern), max_functions(f->sk));
	if (f->sk->calls)
		note_fewer_calls(f, f->found.n + f->sk->probes.n);
	if (is_one_file)
		return false;
	for (size_t i = 0, n = 0, said = 0; i < f->found.n && said < 5; i++) {
		n++;
		const struct targetfile *tf = f->found.v[i].file;
		if (i + 1 < f->found.n && f->found.v[i + 1].file == tf)
			continue;
		diag_note(f->sk->diag, NULL, "%zu in " STR_FMT, n, STR_ARG(tf->path));
		n = 0;
		said++;
	}
	if (f->sk->calls)
		return diag_note(f->sk->diag, NULL, "FILE:PATTERN means those of one file");
	return diag_note(f->sk->diag, NULL, "%s:FILE:PATTERN means those of one file",
			 f->is_return ? "uretprobe" : "uprobe");
}

static void report_less(struct finder *f)
{
	if (f->n_refused)
		diag_warning(f->sk->diag, NULL, "%u function%s of " STR_FMT " %s skipped, as %s",
			     f->n_refused, f->n_refused == 1 ? "" : "s", STR_ARG(f->name),
			     f->n_refused == 1 ? "is" : "are", f->why);
	if (f->n_shadowed)
		diag_warning(f->sk->diag, NULL,
			     "%u place%s of " STR_FMT " %s skipped: bpftrace may attach to another "
			     "of several functions called " STR_FMT,
			     f->n_shadowed, f->n_shadowed == 1 ? "" : "s", STR_ARG(f->name),
			     f->n_shadowed == 1 ? "is" : "are", STR_ARG(f->shadowed));
	if (f->n_ifuncs)
		diag_warning(f->sk->diag, NULL,
			     "%u function%s skipped: the loader chooses %s code (ifunc)",
			     f->n_ifuncs, f->n_ifuncs == 1 ? " is" : "s are",
			     f->n_ifuncs == 1 ? "its" : "their");
	if (f->n_odd)
		diag_warning(f->sk->diag, NULL,
			     "%u function%s skipped: bpftrace does not accept %s", f->n_odd,
			     f->n_odd == 1 ? " is" : "s are",
			     f->n_odd == 1 ? "its name" : "their names");
	if (f->n_copies)
		diag_note(f->sk->diag, NULL, "%u inlined cop%s of " STR_FMT "() %s traced%s%s",
			  f->n_copies, f->n_copies == 1 ? "y" : "ies", STR_ARG(f->name),
			  f->n_copies == 1 ? "is" : "are", f->n_copies < f->found.n ? ", too" : "",
			  f->n_bare == f->n_copies ? ", without arguments"
			  : f->n_bare		   ? ", some without arguments"
						   : "");
	if (f->thunk.n && traces_copies(f))
		diag_warning(f->sk->diag, NULL,
			     "inlined copies of " STR_FMT "() in " STR_FMT
			     " are not seen: it has no debug information",
			     STR_ARG(f->name), STR_ARG(f->thunk));
	if (f->n_inlined)
		diag_warning(
		    f->sk->diag, NULL, "%zu inlined cop%s of " STR_FMT "() %s not seen: in %s%s",
		    f->inlined->n, f->inlined->n == 1 ? "y" : "ies", STR_ARG(f->inlined->name),
		    f->inlined->n == 1 ? "is" : "are", codeattach_callers(f->sk->arena, f->inlined),
		    f->n_inlined == 1
			? ""
			: arena_printf(f->sk->arena, "; %zu more of these functions have copies",
				       f->n_inlined - 1));
	if (f->large)
		diag_note(f->sk->diag, NULL,
			  "the debug information of " STR_FMT
			  " is too large to look for all functions that are only inlined",
			  STR_ARG(f->large->path));
	if (f->n_unknown && !(f->sk->calls && !f->sk->calls->has_args))
		diag_warning(f->sk->diag, NULL,
			     "no debug information about the %s of " STR_FMT
			     "()%s: only the call is shown",
			     f->is_return ? "result" : "parameters", STR_ARG(f->unknown),
			     f->n_unknown == 1
				 ? ""
				 : arena_printf(f->sk->arena, " and %u others", f->n_unknown - 1));
}

/** uprobe:NAME, uretprobe:FILE:NAME; a path may have colons. */
static void read_pattern(struct finder *f, struct str pattern)
{
	f->is_return = str_has_prefix(pattern, STR("uretprobe:"));
	f->name = f->sk->calls ? pattern : str_from_offset(pattern, str_find(pattern, ':') + 1);
	for (size_t i = str_find(f->name, '('); i > 0; i--)
		if (f->name.p[i - 1] == ':' && (i < 2 || f->name.p[i - 2] != ':') &&
		    (i == f->name.n || f->name.p[i] != ':')) {
			f->file = str_slice(f->name, 0, i - 1);
			f->name = str_from_offset(f->name, i);
			break;
		}
	// NAME@SOURCE, as perf probe has it, or @SOURCE.
	bool has_source = str_has(f->name, "@");
	struct str name = str_take_until(&f->name, '@');
	f->source = has_source ? f->name : STR("");
	f->name = name.n || !has_source ? name : STR("*");
}

// --- a source line ---

/** PATH:FILE, PATH@FILE, __EXE__:FILE, FILE: of a source file */
static struct str take_path(struct str *file)
{
	size_t at = file->n;
	while (at && !str_has(STR(":@"), (char[]){file->p[at - 1], 0}))
		at--;
	struct str path = at ? str_slice(*file, 0, at - 1) : STR("");
	*file = str_from_offset(*file, at);
	return path;
}

static void push_line(struct skeleton *sk, struct targetfile *tf, struct safe_word file,
		      unsigned line, const struct codeplace_lines *s, bool needs_path)
{
	struct skeleton_probe p = {
	    .file = tf,
	    .kind = "uprobe",
	    .what = word_join(sk->arena, file, ":", word_ident(sk->arena, STR(""), "", line)),
	    .addr = s->list.v[0].addr,
	    .needs_path = needs_path};
	struct context_place *places = arena_array(sk->arena, struct context_place, s->list.n);
	struct namedvars vars;
	p.label = p.declaration = str_printf(sk->arena, "uprobe:" STR_FMT, STR_ARG(p.what.s));
	if (!map_add(
		sk->arena, &sk->known,
		str_printf(sk->arena, STR_FMT " " STR_FMT, STR_ARG(p.label), STR_ARG(tf->path))))
		return;
	for (size_t i = 0; i < s->list.n; i++)
		places[i] = (struct context_place){.src = tf->bin.src,
						   .addr = s->list.v[i].addr,
						   .asked = {DWASKED_LINE, str_base(file.s), line}};
	namedvar_list(sk->arena, places, s->list.n, &vars);
	p.fields = arena_array(sk->arena, struct skeleton_field, vars.list.n + 1);
	vec_each(const struct namedvar, v, &vars.list)
		add_variable(sk, &p, v);
	skeleton_add(sk, &p);
}

/** Of all files that are meant; what is wrong with the first one's line is reported if none has it. */
static bool add_places_of_line(struct finder *f, struct str file, unsigned line)
{
	struct skeleton *sk = f->sk;
	struct codeplace_lines s, first = {0};
	struct safe_word word;
	bool is_file = false, found = false;
	if (!word_take(file, ALPHABET_PATH, &word))
		return diag_error(sk->diag, NULL, "bpftrace does not accept the path " STR_FMT,
				  STR_ARG(file));
	vec_each(struct targetfile, tf, &sk->files->list) {
		if (!is_meant(f, tf) || !targetfile_open(sk->files, tf))
			continue;
		is_file = true;
		s = (struct codeplace_lines){0};
		codeplace_find_lines(tf->bin.src, file, line, line, &s);
		first = first.file.n ? first : s;
		if (!s.list.n)
			continue;
		if (!codeattach_check_line(sk->diag, NULL, file, line, &s))
			return false;
		if (!dialect_attaches_inside(sk->version))
			return diag_error(sk->diag, NULL,
					  "bpftrace " DIALECT_FMT
					  " attaches only to function entries: " STR_FMT
					  ":%u is inside a function",
					  DIALECT_ARG(sk->version), STR_ARG(file), line);
		push_line(sk, tf, word, line, &s,
			  found || (f->file.n && tf != &sk->files->list.v[0]));
		found = true;
	}
	if (found)
		return true;
	sk->files->n_missing++;
	if (!is_file)
		return diag_error(sk->diag, NULL, "no file of the program is " STR_FMT,
				  STR_ARG(f->file));
	if (!first.file.n)
		return diag_error(sk->diag, NULL, "no file has debug information (-g) of " STR_FMT,
				  STR_ARG(file));
	return codeattach_check_line(sk->diag, NULL, file, line, &first);
}

/** False, without an error, where @pattern is no uprobe:FILE:LINE. */
static bool add_line(struct skeleton *sk, struct str pattern, bool *good)
{
	struct finder f = {.sk = sk, .is_return = str_has_prefix(pattern, STR("uretprobe:"))};
	struct str file;
	unsigned line, last;
	if (sk->calls || sk->is_list ||
	    !codeplace_parse_lines(str_from_offset(pattern, str_find(pattern, ':') + 1), &file,
				   &line, &last))
		return false;
	f.file = take_path(&file);
	*good = f.is_return ? diag_error(sk->diag, NULL, "a source line has no return")
		: last > line
		    ? diag_error(sk->diag, NULL, "-t traces one line of " STR_FMT ", not %u to %u",
				 STR_ARG(file), line, last)
		    : add_places_of_line(&f, file, line);
	return true;
}

bool skeleton_add_functions(struct skeleton *sk, struct str pattern)
{
	struct finder f = {.sk = sk};
	bool good;
	if (add_line(sk, pattern, &good))
		return good;
	read_pattern(&f, pattern);
	if (!find_all(&f)) {
		sk->files->n_missing++;
		return diag_error(sk->diag, NULL,
				  "'" STR_FMT "': no file of the program is " STR_FMT,
				  STR_ARG(pattern), STR_ARG(f.file));
	}
	if (!f.found.n)
		add_inlined(&f);
	if (!f.found.n)
		return report_none(&f, pattern);
	if (f.found.n + (sk->calls ? sk->probes.n : 0) > max_functions(sk))
		return report_too_many(&f, pattern);
	for (size_t i = 0; i < f.found.n; i++) {
		const struct function *fn = &f.found.v[i];
		// Copies of two functions can begin at one address.
		struct str key = str_printf(
		    sk->arena, "%s %llx " STR_FMT " " STR_FMT, f.is_return ? "uretprobe" : "uprobe",
		    (unsigned long long)fn->place.addr, STR_ARG(fn->file->path),
		    STR_ARG(is_copy(fn) ? fn->place.name : STR("")));
		if (!map_add(sk->arena, &sk->known, key))
			continue;
		if (sk->is_list)
			add_listed(&f, fn);
		else
			add_function(&f, fn);
	}
	report_less(&f);
	return true;
}
