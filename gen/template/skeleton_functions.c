// -t 'uprobe:PATTERN': calls of functions with their parameters, 'uretprobe:PATTERN': with their results.
#include "template/skeleton_find.h"

#include "bind/codeattach.h"
#include "elf/debugfile.h"
#include "probe/attachable.h"
#include "probe/funcargs.h"

enum { MAX_PATIENCE = 1000 };

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
	bool is_known =
	    !function_is_copy(fn) && funcargs_read(fn->file->bin.src, fn->place.addr, &args);
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

void skeleton_add_variable(struct skeleton *sk, struct skeleton_probe *p, const struct namedvar *v)
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
			skeleton_add_variable(sk, p, v);
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
	if (function_is_copy(fn)) {
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
	if (!function_is_copy(fn) && !fn->has_copies)
		finder_note_missed(f, dwsite_inlined_at(fn->file->bin.src, fn->place.addr));
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
		struct img *img = finder_means(f, tf) ? targetfile_open(files, tf) : NULL;
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
	if (f->thunk.n && finder_traces_copies(f))
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

bool skeleton_add_functions(struct skeleton *sk, struct str pattern)
{
	struct finder f = {.sk = sk};
	bool good;
	if (skeleton_add_line(sk, pattern, &good))
		return good;
	read_pattern(&f, pattern);
	if (!finder_find(&f)) {
		sk->files->n_missing++;
		return diag_error(sk->diag, NULL,
				  "'" STR_FMT "': no file of the program is " STR_FMT,
				  STR_ARG(pattern), STR_ARG(f.file));
	}
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
		    STR_ARG(function_is_copy(fn) ? fn->place.name : STR("")));
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
