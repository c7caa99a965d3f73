#include "template/skeleton_priv.h"

#include "bind/argread.h"
#include "ctype/cxxclass.h"
#include "emit/emit.h"
#include "probe/codeplace.h"
#include "probe/attachable.h"
#include "dialect/dialect.h"

/** USDT_BITS() of the header leaves these typedefs. */
static bool is_typedef(const struct ctype *t, const char *name)
{
	return t && t->kind == CTYPE_TYPEDEF && str_eqz(t->name, name);
}

/** This bpftrace gets a value, and the right one, at every site. */
static bool can_read(const struct skeleton *sk, const struct skeleton_probe *p, unsigned index)
{
	const struct targetfile *tf = p->file;
	const struct probeargs *pa = &p->args;
	const struct probearg *arg = &pa->args[index];
	struct str text = STR("");
	bool is_one = true, is_needed = attachable_by_address(sk->arena, tf->bin.img->machine,
							      p->probe, sk->version);
	if (!is_needed && dialect_has_libbpf_usdt(sk->version) &&
	    index > dialect_max_arg(sk->version))
		return false;
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct sdtarg *operand = &pa->sites[i].args[index].operand;
		is_needed |= argread_needs(sk->version, index, operand);
		is_one &=
		    argread_join(sk->arena, tf->bin.img, pa->sites[i].site->pc, operand, &text);
	}
	return !arg->is_float && !arg->is_optional && (!is_needed || is_one);
}

/** Of the argument's value, as far as it is known. */
static unsigned bits_of(const struct probearg *arg)
{
	struct ctype *t = ctype_strip(arg->type);
	uint64_t size = arg->sizes_differ ? 8 : arg->size;
	if (ctype_is_number(t) && t->size < size)
		size = t->size;
	return size && size < 8 ? (unsigned)size * 8 : 64;
}

static struct value value_of(const struct probearg *arg)
{
	struct ctype *t = ctype_strip(arg->type);
	unsigned bits = bits_of(arg);
	// 8 bytes of which nothing is known may be an address.
	bool may_be_address = arg->is_unlike_int64 && (arg->sizes_differ || !arg->is_number);
	if (!t && !may_be_address)
		return (struct value){.type =
					  value_integer(bits, arg->is_signed || arg->sizes_differ)};
	if (is_typedef(arg->type, "usdt_float_bits"))
		return (struct value){.type = &value_float};
	if (is_typedef(arg->type, "usdt_double_bits"))
		return (struct value){.type = &value_double};
	switch (t ? t->kind : CTYPE_VOID) {
	case CTYPE_INT:
		if (!t->is_char)
			return (struct value){.type = value_integer(bits, t->is_signed)};
		return (struct value){.type = t};
	case CTYPE_BOOL:
	case CTYPE_ENUM:
	case CTYPE_POINTER:
	case CTYPE_REFERENCE:
		return (struct value){.how = ctype_is_text(t) ? VALUE_STRING : VALUE_PLAIN,
				      .type = t};
	default:
		return (struct value){.type =
					  arg->sizes_differ ? &value_bits : value_untyped(bits)};
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

void skeleton_shape_field(struct skeleton *sk, struct skeleton_field *f, bool is_readable)
{
	struct ctype *t = ctype_strip(f->arg->type);
	const struct enumtab *names = enumtab_of(sk->arena, f->arg->type);
	unsigned bits = bits_of(f->arg);
	f->shape.name = f->arg->name;
	f->shape.value = value_of(f->arg);
	if (!is_readable) {
		f->shape.value = (struct value){.how = VALUE_HIDDEN};
	} else if (t && t->kind == CTYPE_ENUM) {
		// An enum without a tag is known by its typedef.
		struct str tag = t->name.n ? t->name : f->arg->type->name;
		bool has_names = names && word_take(tag, ALPHABET_SCOPED_WORD, &f->enum_name);
		bool is_signed = has_names ? names->is_signed : f->arg->is_signed;
		f->shape.value.names = has_names ? names : NULL;
		f->shape.value.type = value_integer(bits, is_signed);
	}
}

static void add_fields(struct skeleton *sk, struct skeleton_probe *p)
{
	p->fields = arena_array(sk->arena, struct skeleton_field, p->args.n_args + 1);
	for (size_t i = 0; i < p->args.n_args; i++) {
		if (p->args.args[i].is_constant)
			continue;
		struct skeleton_field *f = &p->fields[p->n_fields++];
		struct probearg *arg = &p->args.args[i];
		if (arg->other_names.n) { // none is right for all events
			arg->name = str_printf(sk->arena, "arg%zu", i);
			arg->has_name = false;
		}
		f->arg = arg;
		f->index = (unsigned)i;
		f->value = word_ident(sk->arena, STR(""), "arg", i);
		f->name = word_ident(sk->arena, f->arg->name, "arg", i);
		f->by_name = str_eq(f->name.s, f->arg->name) && is_by_name(&p->args, i);
		skeleton_shape_field(sk, f, can_read(sk, p, f->index));
	}
}

/** Counts @p among the skipped where bpftrace cannot attach to it, or not to one more. */
static bool is_skipped(struct skeleton *sk, const struct targetfile *tf, const struct sdt_probe *p)
{
	unsigned n = sdt_count_places(sk->arena, p), most = dialect_max_usdt(sk->version);
	if (attachable_by_address(sk->arena, tf->bin.img->machine, p, sk->version))
		n = 0;
	struct str why = attachable_why_not(sk->arena, tf->bin.img, p, sk->version);
	bool is_over = n > most - sk->n_places;
	skipped_match(&sk->files->skipped, sk->files->arena, p);
	if (why.n || is_over) {
		skipped_add(&sk->files->skipped, sk->files->arena, p, why);
		return true;
	}
	sk->n_places += n;
	return false;
}

void skeleton_add(struct skeleton *sk, struct skeleton_probe *p)
{
	uintptr_t first = (uintptr_t)map_get(&sk->named, p->label);
	if (first && sk->probes.v[first - 1].file != p->file)
		p->needs_path = sk->probes.v[first - 1].needs_path = true;
	vec_push(sk->arena, &sk->probes, *p);
	if (!first)
		map_put(sk->arena, &sk->named, p->label, (void *)(uintptr_t)sk->probes.n);
}

/** Without debug information enumerators and structs are numbers: once for each file. */
static void note_no_types(struct skeleton *sk, const struct skeleton_probe *p)
{
	bool lacks = false;
	for (size_t i = 0; i < p->args.n_args; i++)
		lacks |= !p->args.args[i].type || p->args.args[i].is_kind;
	if (lacks && !binary_has_debuginfo(&p->file->bin) &&
	    map_add(sk->arena, &sk->untyped, p->file->path))
		diag_note(sk->diag, NULL,
			  STR_FMT " has no debug information (-g): enums and structs are numbers",
			  STR_ARG(p->file->path));
}

static void add_probe(struct skeleton *sk, struct targetfile *tf, const struct sdt_probe *p)
{
	struct skeleton_probe sp = {.file = tf, .probe = p, .kind = "usdt"};
	if (is_skipped(sk, tf, p))
		return;
	probeargs_read(&tf->bin, sk->files->signatures, p, &sp.args);
	note_no_types(sk, &sp);
	add_fields(sk, &sp);
	sp.label =
	    str_printf(sk->arena, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name));
	sp.what = word_join(sk->arena, dialect_spell_name(sk->arena, p->provider), ":",
			    dialect_spell_name(sk->arena, p->name));
	skeleton_add(sk, &sp);
}

struct str skeleton_usdt_pattern(struct str pattern)
{
	struct str rest = pattern;
	// usdt:PROVIDER:NAME, as -l has it; a provider may be called usdt.
	if (!str_take(&pattern, STR("usdt:__EXE__:")) && str_take(&rest, STR("usdt:")) &&
	    str_has(rest, ":"))
		return rest;
	return pattern;
}

/** The function that @name means, or empty. */
static struct str find_function(const struct skeleton *sk, struct str name)
{
	struct codeplaces places;
	const struct dwinlined *d = NULL;
	vec_each(struct targetfile, tf, &sk->files->list) {
		if (!targetfile_open(sk->files, tf))
			continue;
		if (codeplace_function(sk->arena, &tf->bin, name, &places))
			return name;
		size_t i = 0;
		d = d ? d : dwsite_inlined_named(tf->bin.src, name, NULL, &i);
	}
	return d ? d->written : STR("");
}

static bool add_pattern(struct skeleton *sk, struct str pattern)
{
	if (sk->calls || str_has_prefix(pattern, STR("uprobe:")) ||
	    str_has_prefix(pattern, STR("uretprobe:")))
		return skeleton_add_functions(sk, pattern);
	pattern = skeleton_usdt_pattern(pattern);
	const struct provider *kind =
	    vocabulary_provider(str_slice(pattern, 0, str_find(pattern, ':')));
	if (kind->name && kind->whose == OF_MACHINE && str_has(pattern, ":"))
		return diag_error(
		    sk->diag, NULL,
		    "-t traces probes and functions of programs: for %ss, use -e '" STR_FMT
		    " { ... }'",
		    kind->name, STR_ARG(pattern));
	size_t colon = str_find(pattern, ':');
	struct str provider = colon < pattern.n ? str_slice(pattern, 0, colon) : STR("");
	struct str name = colon < pattern.n ? str_from_offset(pattern, colon + 1) : pattern;
	const struct sdt_probe *near = NULL;
	struct str function;
	unsigned best = UINT_MAX;
	bool found = false, has_probes = false;
	vec_each(struct targetfile, tf, &sk->files->list) {
		const struct sdt_list *list = targetfile_probes(sk->files, tf);
		has_probes |= list && list->n_probes;
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
	sk->files->n_missing++;
	diag_error(sk->diag, NULL, "no probe matches '" STR_FMT "'", STR_ARG(pattern));
	if (str_contains(pattern, STR(",")))
		diag_note(sk->diag, NULL, "give each pattern a -t of its own");
	else if ((function = find_function(sk, pattern)).n)
		diag_note(sk->diag, NULL, "it is a function: use 'uprobe:" STR_FMT "'",
			  STR_ARG(function));
	else if (!has_probes)
		diag_note(sk->diag, NULL, STR_FMT " has no USDT probes; functions are uprobe:NAME",
			  STR_ARG(sk->files->list.v[0].path));
	else if (!near)
		diag_note(sk->diag, NULL, "functions are uprobe:NAME");
	if (near)
		diag_note(sk->diag, NULL, "did you mean '" STR_FMT ":" STR_FMT "'?",
			  STR_ARG(near->provider), STR_ARG(near->name));
	targetfiles_note_skips(sk->files);
	return false;
}

bool skeleton_collect(struct skeleton *sk, const char *const *patterns, size_t n)
{
	if (!dialect_attaches_inside(sk->version))
		sk->copies = SKELETON_AS_NAMED;
	bool good = true;
	for (size_t i = 0; i < n; i++)
		good &= add_pattern(sk, str_from(patterns[i]));
	for (size_t i = 0; i < sk->probes.n; i++) {
		struct skeleton_probe *p = &sk->probes.v[i];
		if (!p->needs_path || str_is_made_of(p->file->path, ALPHABET_QUOTED_PATH))
			continue;
		diag_warning(sk->diag, NULL,
			     STR_FMT " of " STR_FMT
				     " is skipped: bpftrace does not accept its path",
			     STR_ARG(p->label), STR_ARG(p->file->path));
		memmove(p, p + 1, (--sk->probes.n - i) * sizeof(*p));
		i--;
	}
	return good && sk->probes.n;
}

// --- writing

static void write_point(const struct skeleton_probe *p, const char *kind, struct code *out)
{
	code_f(out, "\n%s:", kind);
	if (p->needs_path)
		code_string(out, p->file->path, SIZE_MAX);
	else
		code_z(out, "__EXE__");
	code_z(out, ":");
	code_word(out, p->what);
}

void skeleton_write_points(const struct skeleton_points *points, const char *kind, struct code *out)
{
	for (size_t i = 0; i < points->n; i++) {
		code_z(out, i ? "," : "");
		write_point(&points->v[i], kind, out);
	}
	code_z(out, "\n");
}

void skeleton_write_head(const struct skeleton_probe *p, struct condition *filter, struct code *out)
{
	write_point(p, p->kind, out);
	code_z(out, "\n");
	if (filter)
		condition_write(filter, p, "/(", ")/\n", out);
}

const struct skeleton_field *skeleton_find_field(struct arena *a, const struct skeleton_probe *p,
						 struct str word)
{
	str_take(&word, STR("args."));
	list_each(const struct skeleton_field, f, p->fields, p->n_fields)
		if (str_eq(f->shape.name, word) || str_eq(str_printf(a, "arg%u", f->index), word))
			return f;
	return NULL;
}

void skeleton_write_value(const struct skeleton_field *f, bool by_name, struct code *out)
{
	struct ctype *t = f->arg ? ctype_strip(f->arg->type) : NULL;
	if (f->n_float_bits && !by_name) {
		code_f(out, "*(uint%u *)&", f->n_float_bits);
		code_word(out, f->value);
	} else if (by_name && f->by_name) {
		code_z(out, "args.");
		code_word(out, f->name);
	} else if (t && probearg_is_sized_by_type(f->arg) && t->size < 8 &&
		   (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM)) {
		code_f(out, "(%sint64)(%sint%u)arg%u", t->is_signed ? "" : "u",
		       t->is_signed ? "" : "u", (unsigned)t->size * 8, f->index);
	} else {
		code_z(out, f->is_memory && !by_name ? "&" : "");
		code_word(out, f->value);
	}
}

/** As a template prints a struct or an array that is a variable. */
enum memory_how { MEMORY_NONE, MEMORY_STRUCT, MEMORY_TEXT, MEMORY_ADDRESS };
static enum memory_how memory_how(const struct skeleton_field *f)
{
	struct ctype *t = f->is_memory ? ctype_pointee(ctype_strip(f->arg->type)) : NULL;
	struct ctype *of = t && t->kind == CTYPE_ARRAY ? ctype_strip(t->of) : NULL;
	if (!f->is_memory)
		return MEMORY_NONE;
	return !of ? MEMORY_STRUCT : of->is_char ? MEMORY_TEXT : MEMORY_ADDRESS;
}

bool skeleton_is_text(const struct skeleton_field *f, bool *ret_value)
{
	enum memory_how how = memory_how(f);
	*ret_value = how == MEMORY_NONE || how == MEMORY_TEXT;
	return how == MEMORY_TEXT || f->shape.value.how == VALUE_STRING;
}

void skeleton_write_shown(const struct skeleton_field *f, struct code *out)
{
	bool is_text = f->shape.value.how == VALUE_STRING || memory_how(f) == MEMORY_TEXT;
	bool is_call = is_text || value_is_code(&f->shape.value);
	code_z(out, is_text ? "str(" : is_call ? "usym(" : "");
	skeleton_write_value(f, memory_how(f) != MEMORY_ADDRESS, out);
	code_z(out, is_call ? ")" : "");
}

/** A struct is written by its name only, `*args.o->next`. */
static bool is_in_template(const struct skeleton_field *f)
{
	return f->shape.value.how != VALUE_HIDDEN && !f->n_float_bits && (f->by_name || !f->from);
}

static const char *conversion(const struct skeleton_field *f)
{
	const struct value *v = &f->shape.value;
	enum memory_how memory = memory_how(f);
	if (memory == MEMORY_STRUCT)
		return "%s";
	if (v->how == VALUE_STRING || memory == MEMORY_TEXT)
		return "\\\"%s\\\"";
	if (v->names || value_is_code(v) || (value_has_parts(v) && f->by_name))
		return "%s";
	if (v->type->is_char)
		return "'%c'";
	if (v->type->kind != CTYPE_INT && v->type->kind != CTYPE_BOOL)
		return "0x%lx";
	return v->type->is_signed ? "%ld" : "%lu";
}

/** The last characters of @label that a literal of @most bytes holds. */
static struct str end_of(struct str label, unsigned most)
{
	size_t at = label.n;
	for (; at; at--) {
		unsigned n = label.p[at - 1] == '"' || label.p[at - 1] == '\\' ? 2 : 1;
		if (n > most)
			break;
		most -= n;
	}
	while (at < label.n && (label.p[at] & 0xc0) == 0x80) // no part of a character of UTF-8
		at++;
	return str_from_offset(label, at);
}

struct safe_word skeleton_quote_label(const struct skeleton *sk, const struct skeleton_probe *p)
{
	enum { ROOM = sizeof("... (4095)") - 1 };
	unsigned most = dialect_max_literal(sk->version), n_alike = 0;
	struct str end = end_of(p->label, most - ROOM);
	if (end_of(p->label, most).n == p->label.n)
		return word_quote(sk->arena, p->label);
	for (size_t i = 0; !str_eq(sk->probes.v[i].label, p->label); i++)
		n_alike += str_eq(end_of(sk->probes.v[i].label, most - ROOM), end);
	const char *number = n_alike ? arena_printf(sk->arena, " (%u)", n_alike + 1) : "";
	return word_quote(sk->arena,
			  str_printf(sk->arena, "..." STR_FMT "%s", STR_ARG(end), number));
}

static void write_declaration(struct arena *a, const struct skeleton_probe *p, struct code *out)
{
	code_z(out, "\n// ");
	if (!p->probe) {
		code_comment(out, p->declaration);
		return;
	}
	code_comment(out, p->probe->name);
	code_z(out, "(");
	code_comment(out, probearg_list(a, p->args.args, p->args.n_args));
	code_z(out, ")");
}

static void write_omitted(const struct skeleton *sk, const struct skeleton_probe *p,
			  const struct skeleton_field *f, struct code *out)
{
	code_z(out, "// ");
	if (p->probe)
		code_word(out, f->value);
	else
		code_comment(out, f->arg->name);
	code_f(out, " is omitted: bpftrace " DIALECT_FMT " cannot read it here\n",
	       DIALECT_ARG(sk->version));
}

static void write_clause(const struct skeleton *sk, const struct skeleton_probe *p,
			 struct code *out)
{
	struct arena a = {0};
	write_declaration(&a, p, out);
	skeleton_write_head(p, sk->filter, out);
	struct safe_word label;
	code_z(out, "{\n\tprintf(\"%s %s[%d] ");
	// 0.17 and 0.23 take the s of %%s for a conversion.
	bool is_value = !word_take(p->label, ALPHABET_LABEL, &label);
	if (is_value)
		code_z(out, "%s");
	else
		code_word(out, label);
	list_each(const struct skeleton_field, f, p->fields, p->n_fields) {
		if (!is_in_template(f))
			continue;
		code_z(out, " ");
		code_word(out, f->name);
		code_f(out, "=%s", conversion(f));
	}
	// A stack begins and ends with a newline.
	code_z(out, sk->has_stack ? "%s" : "\\n");
	code_z(out, "\",\n\t       strftime(\"%H:%M:%S.%f\", nsecs), comm, tid");
	if (is_value) {
		code_z(out, ", ");
		code_word(out, skeleton_quote_label(sk, p));
	}
	list_each(const struct skeleton_field, f, p->fields, p->n_fields) {
		if (!is_in_template(f))
			continue;
		code_z(out, ", ");
		if (value_has_parts(&f->shape.value) && f->by_name)
			code_z(out, "*");
		if (f->shape.value.names) {
			code_z(out, "enum_name(");
			code_word(out, f->enum_name);
			code_z(out, ", ");
		}
		skeleton_write_shown(f, out);
		code_z(out, f->shape.value.names ? ")" : "");
	}
	code_z(out, sk->has_stack ? ", ustack);\n}\n" : ");\n}\n");
	for (size_t i = 0; i < p->n_fields; i++)
		if (p->fields[i].shape.value.how == VALUE_HIDDEN)
			write_omitted(sk, p, &p->fields[i], out);
	arena_fini(&a);
}

void skeleton_write_template(const struct skeleton *sk, struct code *out)
{
	code_z(out, "// Every event of these probes. Written by btgen as a starting point.\n"
		    "#pragma gate\n");
	for (size_t i = 0; i < sk->probes.n; i++)
		write_clause(sk, &sk->probes.v[i], out);
}

// --- records

/** @n_own numbers of btgen's, then the fields of @p. */
static void add_shape(const struct skeleton *sk, const struct skeleton_probe *p,
		      enum shape_style style, size_t n_own, struct shapes *ret)
{
	struct shape s = {.style = style, .probe = p->label, .is_counted = true, .is_event = true};
	s.kind = str_from(p->kind);
	s.n_fields = n_own + p->n_fields;
	s.fields = arena_array(ret->arena, struct shape_field, s.n_fields + 1);
	for (size_t i = 0; i < n_own; i++)
		s.fields[i].value.type = value_integer(64, false);
	for (size_t i = 0; i < p->n_fields; i++)
		s.fields[n_own + i] = p->fields[i].shape;
	if (sk->has_stack)
		s.fields[s.n_fields++] = (struct shape_field){
		    .name = STR("ustack"),
		    .value = {.how = VALUE_STACK, .n_frames = SHAPE_MOST_FRAMES}};
	vec_push(ret->arena, &ret->list, s);
}

/** `$p3 = argN; $p4 = *(uint64 *)($p3 + 24); ` for the pointees. */
static void write_addresses(const struct skeleton_probe *p, struct code *out)
{
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct skeleton_field *f = &p->fields[i];
		if (!value_has_parts(&f->shape.value) || f->spread)
			continue;
		code_f(out, "$p%zu = ", i);
		if (f->from)
			code_f(out, "*(uint64 *)($p%zu + %llu)", f->from - 1,
			       (unsigned long long)f->offset);
		else
			code_z(out, "(uint64)");
		if (!f->from)
			skeleton_write_value(f, false, out);
		code_z(out, "; ");
	}
}

/** The address in $p3, and the numbers that the struct there is. */
static void write_struct(const struct skeleton *sk, const struct skeleton_field *f, size_t i,
			 struct code *out)
{
	struct safe_word address = word_ident(sk->arena, STR(""), "$p", i);
	struct strbuf text = {0};
	if (f->spread) { // no address
		code_z(out, ", -1");
		for (size_t k = 0; k < (f->shape.value.n_bytes + 7) / 8; k++)
			code_f(out, ", (uint64)arg%zu", f->spread - 1 + k);
		return;
	}
	code_z(out, ", ");
	code_word(out, address);
	for (size_t k = 0; k < (f->shape.value.n_bytes + 7) / 8; k++) {
		code_z(out, ", ");
		strbuf_clear(&text);
		shape_write_word(address.s, f->shape.value.n_bytes, k, &text);
		code_text(out, strbuf_str(&text));
	}
	strbuf_fini(&text);
}

/** The text of the std::string or std::string_view that is at $p3, or in registers. */
static void write_class_text(const struct skeleton_field *f, size_t i, struct code *out)
{
	struct cxxclass c;
	if (!cxxclass_read(f->shape.value.type, &c))
		return; // as it was when it got a text
	unsigned long long text = c.first.off, length = c.second.off;
	if (f->spread)
		code_f(out, ", str((uint64)arg%llu, (uint64)arg%llu), $key",
		       f->spread - 1 + text / 8, f->spread - 1 + length / 8);
	else
		code_f(out, ", str(*(uint64 *)($p%zu + %llu), *(uint64 *)($p%zu + %llu)), $key", i,
		       text, i, length);
}

/**
 * Before 0.24 numbers are printed by their conversion, and only a usdt probe's argN may be narrow. From then on argN of usdt
 * probes is an int64, and so is a signed result as it is lowered: there a cast that changes nothing is warned of.
 */
static bool needs_cast(const struct skeleton *sk, const struct skeleton_probe *p,
		       const struct skeleton_field *f)
{
	const struct ctype *t = f->shape.value.type;
	bool is_result = str_eqz(f->value.s, "retval") && t && t->is_signed && !t->is_char;
	if (dialect_has_own_printf(sk->version))
		return !p->probe && !is_result;
	return p->probe || !dialect_searches_casts(sk->version);
}

/** The arguments of the printf() of a record: numbers, $key, then texts, each followed by $key. */
static void write_record_values(const struct skeleton *sk, const struct skeleton_probe *p,
				const char *more, struct code *out)
{
	code_f(out, "nsecs, cpu, pid, tid%s", more);
	for (size_t i = 0; i < p->n_fields; i++) {
		if (p->fields[i].shape.value.how == VALUE_HIDDEN)
			continue;
		if (value_has_parts(&p->fields[i].shape.value)) {
			write_struct(sk, &p->fields[i], i, out);
			continue;
		}
		bool cast = needs_cast(sk, p, &p->fields[i]);
		code_z(out, cast ? ", (int64)(" : ", ");
		skeleton_write_value(&p->fields[i], false, out);
		code_z(out, cast ? ")" : "");
	}
	code_z(out, sk->has_stack ? ", " EMIT_PLACE ", " EMIT_CALLER : "");
	code_z(out, p->label.n ? ", $key, comm, $key" : ", $key, comm, $key, func, $key");
	for (size_t i = 0; i < p->n_fields; i++) {
		if (p->fields[i].shape.value.has_text) {
			write_class_text(&p->fields[i], i, out);
		} else if (p->fields[i].shape.value.how == VALUE_STRING) {
			code_z(out, ", str(");
			code_word(out, p->fields[i].value);
			code_z(out, "), $key");
		}
	}
	code_z(out, sk->has_stack ? ", ustack, $key" : "");
}

void skeleton_write_record(const struct skeleton *sk, const struct skeleton_probe *p,
			   enum shape_style style, size_t n_own, const char *more,
			   struct shapes *ret, struct code *out)
{
	struct strbuf format = {0};
	size_t number = ret->list.n;
	add_shape(sk, p, style, n_own, ret);
	code_f(out, "{ %s[%zu] = count(); $key = %s; ", ret->counts, number, ret->key);
	write_addresses(p, out);
	code_z(out, "printf(\"");
	shape_write_format(ret, number, &format);
	code_text(out, strbuf_str(&format));
	code_z(out, "\", ");
	write_record_values(sk, p, more, out);
	code_z(out, "); }\n");
	strbuf_fini(&format);
}
