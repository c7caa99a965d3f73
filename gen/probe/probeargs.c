#include "probe/probeargs.h"

#include "btf/typenote.h"
#include "elf/debugfile.h"
#include "probe/arginfer.h"
#include "source/provider.h"
#include "probe/argsig.h"
#include "probe/argtype.h"

/** Arguments that a note has a kind of. */
enum { MAX_KINDS = 12 };

/** What is known before sites are compared. */
struct site_work {
	struct arginfer_arg *guesses; /**< one for each operand; NULL for a site that declares */
	struct dwsrc *src;	      /**< NULL: no debug information */
	Dwarf_Die unit;		      /**< with has_unit: whose code the site is in */
	const char *path;	      /**< of its source file, or NULL */
	bool has_unit;
	const struct argnote *note; /**< NULL: none */
};

static void read_operands(struct binary *b, struct probesite *s)
{
	struct sdtarg *operands;
	sdtarg_parse(b->arena, b->img->machine, s->site->args, &operands, &s->n_args);
	s->args = arena_array(b->arena, struct probearg, s->n_args);
	for (size_t i = 0; i < s->n_args; i++)
		s->args[i] = (struct probearg){.operand = operands[i],
					       .size = operands[i].size,
					       .is_signed = operands[i].is_signed,
					       .is_float = operands[i].is_float};
}

/**
 * Names go into programs: only an identifier is accepted from a file. An argument @k that the source calls
 * arg1 has no name: args.arg1 is bpftrace's arg1.
 */
static bool is_good_name(struct str name, size_t k)
{
	uint64_t n;
	bool is_number =
	    str_has_prefix(name, STR("arg")) && str_to_u64(str_from_offset(name, 3), &n);
	return name.n && name.n <= 64 && str_is_ident(name) && (!is_number || n == k);
}

static void take_note(struct img *img, const struct argnote *note, struct dwsrc *src,
		      const struct dwsite *scope, struct probesite *s)
{
	bool named = note->n_args == s->n_args;
	struct ctype **types = arena_array(img->arena, struct ctype *, s->n_args + 1);
	if (scope && s->n_args)
		argtype_declared(src, scope, note->id, s->n_args, types);
	s->file = note->file;
	s->line = note->line;
	for (size_t i = 0; i < s->n_args; i++) {
		struct probearg *arg = &s->args[i];
		if (named) {
			arg->name = is_good_name(note->args[i].name, i) ? note->args[i].name
									: (struct str){0};
			arg->unit = note->args[i].unit;
			arg->doc = note->args[i].doc;
			arg->expr = note->args[i].expr;
			arg->has_name = arg->name.n &&
					!str_eqz(arg->name, arena_printf(img->arena, "arg%zu", i));
		}
		if (types[i] && argtype_fits(types[i], &arg->operand))
			arg->type = types[i];
		if (named || arg->type)
			arg->from = PROBEARG_DECLARED;
	}
}

/**
 * How long strings can be: a declared type is that of a pointer, but the expression may be an
 * array.
 */
static void find_string_max(struct dwsrc *src, const struct dwsite *scope, struct probesite *s)
{
	struct argloc at;
	bool ready = false;
	for (size_t i = 0; i < s->n_args; i++) {
		if (!s->args[i].expr.n || !ctype_is_text(s->args[i].type))
			continue;
		if (!ready)
			argloc_init(&at, src, scope, false);
		ready = true;
		s->args[i].string_max = argsrc_string_max(&at, s->args[i].expr);
	}
}

/** Of the site @s, whose arguments are inferred. */
static void settle_names(struct probesite *s)
{
	for (size_t i = 0; i < s->n_args; i++) {
		struct probearg *arg = &s->args[i];
		arg->has_name = is_good_name(arg->name, i);
		arg->name = arg->has_name ? arg->name : (struct str){0};
		arg->is_constant &= arg->operand.kind == SDTARG_CONST;
		arg->constant = (uint64_t)arg->operand.value;
		if (arg->has_name || arg->type)
			arg->from = PROBEARG_INFERRED;
	}
}

/** What .BTF knows of a site that declares its arguments. */
static void take_btf(struct binary *b, const struct argnote *note, struct probesite *s)
{
	struct kbtf *btf = binary_btf(b);
	for (size_t i = 0; btf && i < s->n_args; i++) {
		struct probearg *arg = &s->args[i];
		struct ctype *t =
		    argtype_named(b->img->arena, btf, binary_notes(b), note, i, &arg->operand);
		if (!t)
			continue;
		arg->type = t;
		arg->from = PROBEARG_DECLARED;
	}
}

/** What `btgen embed` of 0.1 knows of a site that declares its arguments, and of one that does not. */
static void take_kept(struct binary *b, const struct sdt_probe *p, bool is_declared,
		      struct probesite *s)
{
	struct typenote *note = binary_types(b);
	struct typenote_arg *kept;
	size_t n;
	if (!note || !typenote_find(note, s->site->pc, p->provider, p->name, &kept, &n) ||
	    n != s->n_args)
		return;
	for (size_t i = 0; i < n; i++) {
		struct probearg *arg = &s->args[i];
		struct ctype *array = ctype_strip(kept[i].type);
		struct ctype *type = argtype_of_value(b->img->arena, kept[i].type);
		if (type && argtype_fits(type, &arg->operand)) {
			arg->type = type;
			arg->string_max = array->kind == CTYPE_ARRAY ? array->count : 0;
		}
		if (!is_declared && is_good_name(kept[i].name, i)) {
			arg->name = kept[i].name;
			arg->has_name = true;
		}
		if (is_declared || arg->type || arg->has_name)
			arg->from = is_declared ? PROBEARG_DECLARED : PROBEARG_INFERRED;
	}
}

static void name_all(struct arena *a, struct probearg *args, size_t n)
{
	struct str *names = arena_array(a, struct str, n + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = args[i].name;
	argname_number(a, names, n);
	for (size_t i = 0; i < n; i++)
		args[i].name = names[i];
}

static void read_site(struct binary *b, const struct sdt_probe *p, struct probesite *s,
		      struct site_work *w)
{
	struct img *img = b->img;
	bool may_read = !b->cheap_only || img_has_dwarf(img);
	struct dwsrc *src = may_read && dwsrc_open(b->src) ? b->src : NULL;
	struct dwsite scope;
	read_operands(b, s);
	bool found = src && dwsite_at(src, s->site->pc, NULL, &scope);
	uint64_t n_before = src ? src->n_visits : 0;
	if (found || src) {
		s->function = scope.function;
		s->caller = scope.caller;
		s->file = scope.file;
		s->line = scope.line;
	}
	struct argnote *note = argnote_find(binary_notes(b), s->site->pc, p->provider, p->name);
	w->note = note;
	w->src = src;
	w->has_unit = found;
	if (found) {
		w->unit = scope.unit;
		w->path = scope.full_path;
	}
	if (note) {
		take_note(img, note, src, found ? &scope : NULL, s);
		if (found)
			find_string_max(src, &scope, s);
	} else if (found && s->n_args) {
		w->guesses = arginfer_site(src, &scope, p->name, s);
	}
	if (!found && note)
		take_btf(b, note, s);
	if (!found)
		take_kept(b, p, note != NULL, s);
	if (src)
		dwsite_spend(src, n_before);
}

/** NULL: site @i has none of that number. */
static struct probearg *arg_of(const struct probeargs *pa, size_t i, size_t k)
{
	return k < pa->sites[i].n_args ? &pa->sites[i].args[k] : NULL;
}

/** @is_firm: @t is not only the type of a constant, which its literal has. */
static bool may_be(struct ctype *t, bool is_firm, const struct probearg *arg)
{
	if (arg->operand.kind == SDTARG_CONST)
		return argtype_may_be(t, arg->kind) ||
		       (!arg->operand.value && ctype_pointee(t)); // NULL
	return argtype_may_be(t, arg->kind) && (!is_firm || argtype_fits(t, &arg->operand));
}

/** The type of argument @k, if all sites with a type have the same, and no note contradicts it. */
static void merge_types(struct arena *a, const struct probeargs *pa, size_t k, struct probearg *ret)
{
	bool is_firm = false;
	for (size_t i = 0; i < pa->n_sites; i++) {
		struct probearg *arg = arg_of(pa, i, k);
		if (!arg || !arg->type)
			continue;
		is_firm |= arg->operand.kind != SDTARG_CONST;
		ret->type = ret->type ? argtype_common(a, ret->type, arg->type) : arg->type;
		ret->types_differ = !ret->type;
		if (ret->types_differ)
			return;
	}
	for (size_t i = 0; ret->type && i < pa->n_sites; i++) {
		const struct probearg *arg = arg_of(pa, i, k);
		ret->types_differ = arg && !arg->type && !may_be(ret->type, is_firm, arg);
		if (ret->types_differ)
			ret->type = NULL;
	}
}

static bool has_name(const struct probearg *arg, struct str name)
{
	if (str_eq(arg->name, name) || (name.n && str_eq(arg->listed_name, name)))
		return true;
	return vec_any(const struct str, other, &arg->other_names, str_eq(*other, name));
}

static void merge_arg(struct arena *a, const struct probeargs *pa, size_t k, struct probearg *ret)
{
	bool first = true;
	struct map names = {0};
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probearg *arg = arg_of(pa, i, k);
		ret->is_optional |= !arg;
		if (!arg)
			continue;
		// The longest that a string can be, if each site has a limit.
		uint64_t max = ret->string_max, now = arg->string_max;
		ret->string_max = !first && (!max || !now) ? 0 : max > now ? max : now;
		if (first) {
			ret->size = arg->size;
			ret->is_signed = arg->is_signed;
			ret->is_float = arg->is_float;
			ret->is_number = true;
			ret->is_constant = true;
			ret->constant = arg->constant;
			first = false;
		} else if (ret->size != arg->size || ret->is_signed != arg->is_signed ||
			   ret->is_float != arg->is_float) {
			ret->sizes_differ = true;
		}
		ret->is_unlike_int64 |= arg->is_float || (arg->size == 8 && !arg->is_signed);
		ret->is_kind |= arg->is_kind;
		ret->is_number &= arg->is_number;
		ret->is_constant &= arg->is_constant && ret->constant == arg->constant;
		if (arg->from > ret->from)
			ret->from = arg->from;
		if (!ret->unit.n)
			ret->unit = arg->unit;
		if (!ret->doc.n)
			ret->doc = arg->doc;
		if (!ret->listed_name.n)
			ret->listed_name = arg->listed_name;
		if (!arg->has_name || (ret->has_name && str_eq(ret->name, arg->name)) ||
		    (pa->n_sites > 1 && !map_add(a, &names, arg->name)))
			continue;
		if (!ret->has_name) {
			ret->has_name = true;
			ret->name = arg->name;
			ret->expr = arg->expr;
		} else {
			vec_push(a, &ret->other_names, arg->name);
		}
	}
	merge_types(a, pa, k, ret);
}

static void merge(struct arena *a, struct probeargs *pa)
{
	pa->n_args_least = pa->n_sites ? SIZE_MAX : 0;
	for (size_t i = 0; i < pa->n_sites; i++) {
		size_t n = pa->sites[i].n_args;
		pa->n_args = n > pa->n_args ? n : pa->n_args;
		pa->n_args_least = n < pa->n_args_least ? n : pa->n_args_least;
	}
	pa->args = arena_array(a, struct probearg, pa->n_args);
	for (size_t k = 0; k < pa->n_args; k++)
		merge_arg(a, pa, k, &pa->args[k]);
	name_all(a, pa->args, pa->n_args);
}

/** The kinds from the note of the site; types only if @known is false: no site has one. */
static void take_kinds(struct arena *a, const struct argnote *note, const bool *known,
		       struct probesite *s)
{
	for (size_t k = 0; k < s->n_args && k < MAX_KINDS; k++) {
		struct probearg *arg = &s->args[k];
		arg->kind = argnote_kind(note, k);
		arg->is_number = arg->kind == ARGNOTE_NUMBER;
		bool is_bits = k < note->n_args && note->args[k].is_bits;
		bool is_wanted = !arg->type && (!known[k] || is_bits);
		if (is_wanted)
			arg->type = argtype_of_kind(a, note, k, &arg->operand);
		arg->is_kind = is_wanted && arg->type;
		if (arg->is_kind)
			arg->from = PROBEARG_DECLARED;
	}
}

static void take_all_kinds(struct arena *a, const struct site_work *work, struct probeargs *pa)
{
	bool known[MAX_KINDS] = {false};
	for (size_t i = 0; i < pa->n_sites; i++)
		for (size_t k = 0; k < pa->sites[i].n_args && k < MAX_KINDS; k++)
			known[k] |= pa->sites[i].args[k].type != NULL;
	for (size_t i = 0; i < pa->n_sites; i++)
		if (work[i].note)
			take_kinds(a, work[i].note, known, &pa->sites[i]);
}

/** The project's own file goes before a list. */
static void take_signature(struct binary *b, struct site_work *work, struct probesigs *signatures,
			   const struct sdt_probe *probe, struct probeargs *ret)
{
	struct argsig_types in = {.src = work->src, .unit = work->has_unit ? &work->unit : NULL};
	const struct probesig *sig = probesig_find(signatures, probe->provider, probe->name);
	struct probesig *own = NULL;
	if (!probe->n_sites)
		return;
	if (work->path && work->guesses)
		own =
		    provider_find(work->src, work->path, &work->unit, probe->provider, probe->name);
	if (own)
		own->other = sig;
	if (!in.src && binary_btf(b))
		in.btf = kbtf_source(b->btf);
	if (own || sig)
		argsig_take(b->arena, &in, own ? own : sig, ret);
	if (!sig)
		ret->unlisted.n = 0;
}

void probeargs_read(struct binary *b, struct probesigs *signatures, const struct sdt_probe *probe,
		    struct probeargs *ret)
{
	struct arena *a = b->arena;
	*ret = (struct probeargs){.n_sites = probe->n_sites};
	ret->sites = arena_array(a, struct probesite, probe->n_sites);
	struct site_work *work = arena_array(a, struct site_work, probe->n_sites + 1);
	VEC(struct arginfer_site) guessed = {0};
	for (size_t i = 0; i < probe->n_sites; i++) {
		ret->sites[i].site = &probe->sites[i];
		read_site(b, probe, &ret->sites[i], &work[i]);
		if (work[i].guesses)
			vec_push(a, &guessed,
				 (struct arginfer_site){work[i].guesses, ret->sites[i].n_args});
	}
	arginfer_intersect(a, guessed.v, guessed.n);
	for (size_t i = 0; i < probe->n_sites; i++)
		if (work[i].guesses)
			settle_names(&ret->sites[i]);
	take_signature(b, work, signatures, probe, ret);
	take_all_kinds(a, work, ret);
	for (size_t i = 0; i < probe->n_sites; i++)
		name_all(a, ret->sites[i].args, ret->sites[i].n_args);
	merge(a, ret);
	ret->doc = argnote_doc(binary_notes(b), probe->provider, probe->name);
}

bool probeargs_find(const struct probeargs *pa, struct str name, size_t *ret)
{
	uint64_t n;
	for (int any = 0; any < 2; any++)
		for (*ret = 0; *ret < pa->n_args; ++*ret)
			if (any ? has_name(&pa->args[*ret], name)
				: str_eq(pa->args[*ret].name, name))
				return true;
	str_take(&name, STR("arg"));
	if (!str_to_u64(name, &n) || n >= pa->n_args)
		return false;
	*ret = n;
	return true;
}
