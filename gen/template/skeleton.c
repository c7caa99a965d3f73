#include "template/skeleton.h"

#include <limits.h>
#include <string.h>

#include "bind/argread.h"
#include "probe/attachable.h"
#include "usdt/sdtarg.h"
#include "out/dialect.h"

static bool is_string(struct ctype *t)
{
	t = ctype_strip(t);
	struct ctype *to = t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
	return to && to->kind == CTYPE_INT && to->is_char;
}

/** USDT_BITS() of the header leaves these typedefs. */
static bool is_typedef(const struct ctype *t, const char *name)
{
	return t && t->kind == CTYPE_TYPEDEF && str_eqz(t->name, name);
}

/** This bpftrace gets a value, and the right one, at every site. */
static bool can_read(const struct skeleton *sk, const struct targetfile *tf,
		     const struct probeargs *pa, unsigned index)
{
	const struct probearg *arg = &pa->args[index];
	struct str text = STR("");
	bool is_needed = false, is_one = true;
	if (dialect_has_libbpf_usdt(sk->version) && index > dialect_max_arg(sk->version))
		return false;
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct sdtarg *operand = &pa->sites[i].args[index].operand;
		is_needed |= argread_needs(sk->version, index, operand);
		is_one &=
		    argread_join(sk->arena, tf->bin.img, pa->sites[i].site->pc, operand, &text);
	}
	return !arg->is_float && !arg->is_optional && (!is_needed || is_one);
}

static enum skeleton_kind kind_of(const struct probearg *arg)
{
	struct ctype *t = ctype_strip(arg->type), *to;
	if (!t)
		return arg->sizes_differ || (arg->size == 8 && !arg->is_signed) ? SKELETON_HEX
		       : arg->is_signed						? SKELETON_SIGNED
										: SKELETON_UNSIGNED;
	if (is_typedef(arg->type, "usdt_float_bits"))
		return SKELETON_FLOAT;
	if (is_typedef(arg->type, "usdt_double_bits"))
		return SKELETON_DOUBLE;
	switch (t->kind) {
	case CTYPE_BOOL:
		return SKELETON_BOOL;
	case CTYPE_ENUM:
		return SKELETON_ENUM;
	case CTYPE_POINTER:
	case CTYPE_REFERENCE:
		to = ctype_strip(t->of);
		return is_string(t)		      ? SKELETON_STRING
		       : to && to->kind == CTYPE_FUNC ? SKELETON_CODE
						      : SKELETON_HEX;
	case CTYPE_INT:
		return t->is_char     ? SKELETON_CHAR
		       : t->is_signed ? SKELETON_SIGNED
				      : SKELETON_UNSIGNED;
	default:
		return SKELETON_HEX;
	}
}

/** The name means that argument at every site. */
static bool is_by_name(const struct probeargs *pa, size_t index)
{
	const struct probearg *arg = &pa->args[index];
	if (!arg->has_name || arg->types_differ)
		return false;
	for (size_t i = 0; i < pa->n_sites; i++)
		for (size_t k = 0; k < pa->sites[i].n_args; k++)
			if (k != index && str_eq(pa->sites[i].args[k].name, arg->name))
				return false;
	return true;
}

/** What is called differently at different sites has no name that is right for all events. */
static void forget_disputed_name(struct arena *a, struct probearg *arg, size_t index)
{
	if (!arg->other_names.n)
		return;
	arg->name = str_printf(a, "arg%zu", index);
	arg->has_name = false;
}

static void add_fields(struct skeleton *sk, struct skeleton_probe *p)
{
	p->fields = arena_array(sk->arena, struct skeleton_field, p->args.n_args + 1);
	for (size_t i = 0; i < p->args.n_args; i++) {
		if (p->args.args[i].is_constant)
			continue;
		struct skeleton_field *f = &p->fields[p->n_fields++];
		forget_disputed_name(sk->arena, &p->args.args[i], i);
		f->arg = &p->args.args[i];
		f->index = (unsigned)i;
		f->name = f->arg->name;
		f->kind =
		    can_read(sk, p->file, &p->args, f->index) ? kind_of(f->arg) : SKELETON_HIDDEN;
		f->by_name = is_by_name(&p->args, i);
		if (f->kind != SKELETON_ENUM)
			continue;
		struct ctype *t = ctype_strip(f->arg->type);
		// An enum without a tag is known by its typedef.
		f->enum_name = t->name.n ? t->name : f->arg->type->name;
		if (!str_is_made_of(f->enum_name, ALPHABET_SCOPED_WORD) ||
		    !enumtab_from_type(sk->arena, f->arg->type, &f->names) || !f->names.n_items)
			f->kind = f->arg->is_signed ? SKELETON_SIGNED : SKELETON_UNSIGNED;
	}
}

static void add_probe(struct skeleton *sk, struct targetfile *tf, const struct sdt_probe *p)
{
	struct skeleton_probe sp = {.file = tf, .probe = p};
	struct str why = attachable_why_not(sk->arena, tf->bin.img->machine, p,
					    dialect_has_libbpf_usdt(sk->version));
	if (why.n) {
		diag_warning(sk->diag, NULL,
			     "bpftrace 0.%u cannot attach to " STR_FMT ":" STR_FMT
			     ", which is skipped: " STR_FMT,
			     sk->version, STR_ARG(p->provider), STR_ARG(p->name), STR_ARG(why));
		return;
	}
	probeargs_read(&tf->bin, sk->files->signatures, p, &sp.args);
	add_fields(sk, &sp);
	struct str name =
	    str_printf(sk->arena, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name));
	uintptr_t first = (uintptr_t)map_get(&sk->named, name);
	if (first)
		sp.needs_path = sk->probes.v[first - 1].needs_path = true;
	vec_push(sk->arena, &sk->probes, sp);
	if (!first)
		map_put(sk->arena, &sk->named, name, (void *)(uintptr_t)sk->probes.n);
}

static bool add_pattern(struct skeleton *sk, struct str pattern)
{
	size_t colon = str_find(pattern, ':');
	struct str provider = colon < pattern.n ? str_slice(pattern, 0, colon) : STR("");
	struct str name = colon < pattern.n ? str_from_offset(pattern, colon + 1) : pattern;
	const struct sdt_probe *near = NULL;
	unsigned best = UINT_MAX;
	bool found = false;
	for (size_t i = 0; i < sk->files->list.n; i++) {
		struct targetfile *tf = &sk->files->list.v[i];
		const struct sdt_list *list = targetfile_probes(sk->files, tf);
		for (struct sdt_probe *p = NULL; (p = sdt_find(list, provider, name, p));) {
			found = true;
			if (map_add_ptr(sk->arena, &sk->known, p))
				add_probe(sk, tf, p);
		}
	}
	if (found)
		return true;
	for (size_t i = 0; i < sk->files->list.n; i++)
		sdt_find_nearest(targetfile_probes(sk->files, &sk->files->list.v[i]), provider,
				 name, &best, &near);
	diag_error(sk->diag, NULL, "no probe matches '" STR_FMT "'", STR_ARG(pattern));
	if (near)
		diag_note(sk->diag, NULL, "did you mean '" STR_FMT ":" STR_FMT "'?",
			  STR_ARG(near->provider), STR_ARG(near->name));
	return false;
}

bool skeleton_collect(struct skeleton *ret, struct arena *a, struct diag *d,
		      struct targetfiles *files, unsigned version, const char *const *patterns,
		      size_t n)
{
	*ret = (struct skeleton){.arena = a, .diag = d, .files = files, .version = version};
	bool good = true;
	for (size_t i = 0; i < n; i++)
		good &= add_pattern(ret, str_from(patterns[i]));
	for (size_t i = 0; i < ret->probes.n; i++) {
		struct skeleton_probe *p = &ret->probes.v[i];
		if (!p->needs_path || str_is_made_of(p->file->path, ALPHABET_QUOTED_PATH))
			continue;
		diag_warning(d, NULL,
			     STR_FMT ":" STR_FMT " of " STR_FMT
				     " is skipped: bpftrace does not accept that path",
			     STR_ARG(p->probe->provider), STR_ARG(p->probe->name),
			     STR_ARG(p->file->path));
		memmove(p, p + 1, (--ret->probes.n - i) * sizeof(*p));
		i--;
	}
	if (good && !ret->probes.n)
		return diag_error(d, NULL, "no probe is left to trace");
	return good;
}

// --- writing

static void write_attach(const struct skeleton_probe *p, struct strbuf *out)
{
	if (p->needs_path)
		strbuf_addf(out, "usdt:\"" STR_FMT "\":", STR_ARG(p->file->path));
	else
		strbuf_addz(out, "usdt:__EXE__:");
	strbuf_addf(out, STR_FMT ":" STR_FMT, STR_ARG(p->probe->provider), STR_ARG(p->probe->name));
}

/** The argument's value, by name where a template may. */
static void write_value(const struct skeleton_field *f, bool by_name, struct strbuf *out)
{
	struct ctype *t = ctype_strip(f->arg->type);
	if (by_name && f->by_name)
		strbuf_addf(out, "args." STR_FMT, STR_ARG(f->name));
	else if (t && f->arg->sizes_differ && t->size < 8 &&
		 (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM))
		strbuf_addf(out, "(%sint64)(%sint%u)arg%u", t->is_signed ? "" : "u",
			    t->is_signed ? "" : "u", (unsigned)t->size * 8, f->index);
	else
		strbuf_addf(out, "arg%u", f->index);
}

static const char *conversion(const struct skeleton_field *f)
{
	switch (f->kind) {
	case SKELETON_STRING:
		return "\\\"%s\\\"";
	case SKELETON_ENUM:
	case SKELETON_CODE:
		return "%s";
	case SKELETON_SIGNED:
		return "%ld";
	case SKELETON_CHAR:
		return "'%c'";
	case SKELETON_HEX:
	case SKELETON_FLOAT:
	case SKELETON_DOUBLE:
		return "0x%lx";
	case SKELETON_UNSIGNED:
	case SKELETON_BOOL:
	case SKELETON_HIDDEN:
		break;
	}
	return "%lu";
}

static void write_clause(const struct skeleton *sk, const struct skeleton_probe *p,
			 struct strbuf *out)
{
	struct arena a;
	arena_init(&a);
	strbuf_addz(out, "\n// ");
	strbuf_add_printable(out, p->probe->name);
	strbuf_addc(out, '(');
	for (size_t i = 0; i < p->args.n_args; i++) {
		strbuf_addz(out, i ? ", " : "");
		strbuf_add_printable(out, probearg_declaration(&a, &p->args.args[i]));
	}
	strbuf_addz(out, ")\n");
	write_attach(p, out);
	strbuf_addz(out, "\n{\n\tprintf(\"%s %s[%d] ");
	strbuf_addf(out, STR_FMT ":" STR_FMT, STR_ARG(p->probe->provider), STR_ARG(p->probe->name));
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct skeleton_field *f = &p->fields[i];
		if (f->kind != SKELETON_HIDDEN)
			strbuf_addf(out, " " STR_FMT "=%s", STR_ARG(f->name), conversion(f));
	}
	strbuf_addz(out, "\\n\",\n\t       strftime(\"%H:%M:%S.%f\", nsecs), comm, tid");
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct skeleton_field *f = &p->fields[i];
		if (f->kind == SKELETON_HIDDEN)
			continue;
		strbuf_addz(out, ", ");
		if (f->kind == SKELETON_STRING)
			strbuf_addz(out, "str(");
		if (f->kind == SKELETON_ENUM)
			strbuf_addf(out, "enum_name(" STR_FMT ", ", STR_ARG(f->enum_name));
		if (f->kind == SKELETON_CODE)
			strbuf_addz(out, "usym(");
		write_value(f, true, out);
		if (f->kind == SKELETON_STRING || f->kind == SKELETON_ENUM ||
		    f->kind == SKELETON_CODE)
			strbuf_addc(out, ')');
	}
	strbuf_addz(out, ");\n}\n");
	for (size_t i = 0; i < p->n_fields; i++)
		if (p->fields[i].kind == SKELETON_HIDDEN)
			strbuf_addf(out, "// arg%u is omitted: bpftrace 0.%u cannot read it here\n",
				    p->fields[i].index, sk->version);
	arena_fini(&a);
}

void skeleton_write_template(const struct skeleton *sk, struct strbuf *out)
{
	strbuf_addz(
	    out,
	    "// Written by btgen skeleton: prints every event of these probes. To be edited.\n");
	for (size_t i = 0; i < sk->probes.n; i++)
		write_clause(sk, &sk->probes.v[i], out);
}

void skeleton_write_records(const struct skeleton *sk, const struct skeleton_marks *marks,
			    struct strbuf *out)
{
	const char *start = marks->start, *sep = marks->sep, *end = marks->end;
	for (size_t i = 0; i < sk->probes.n; i++) {
		const struct skeleton_probe *p = &sk->probes.v[i];
		write_attach(p, out);
		strbuf_addf(out, " { %s[%zu] = count(); printf(\"%s%zu%s%%lu%s%%d%s%%d%s%%s",
			    marks->counts, i, start, i, sep, sep, sep, sep);
		for (size_t k = 0; k < p->n_fields; k++) {
			enum skeleton_kind kind = p->fields[k].kind;
			if (kind != SKELETON_HIDDEN)
				strbuf_addf(out, "%s%%ld", sep);
			if (kind == SKELETON_STRING)
				strbuf_addf(out, "%s%%s", sep);
		}
		strbuf_addf(out, "%s\\n\", nsecs, pid, tid, comm", end);
		for (size_t k = 0; k < p->n_fields; k++) {
			const struct skeleton_field *f = &p->fields[k];
			if (f->kind == SKELETON_HIDDEN)
				continue;
			// From 0.24 on argN is that, and a cast that changes nothing is warned of.
			bool cast = !dialect_has_libbpf_usdt(sk->version);
			strbuf_addz(out, cast ? ", (int64)(" : ", ");
			write_value(f, false, out);
			strbuf_addz(out, cast ? ")" : "");
			if (f->kind == SKELETON_STRING)
				strbuf_addf(out, ", str(arg%u)", f->index);
		}
		strbuf_addz(out, "); }\n");
	}
}
