#include "bind/namedarg.h"

#include "elf/debugfile.h"
#include "dialect/dialect.h"
#include "probe/argtype.h"
#include "probe/funcargs.h"

/** One use of a name, and what it was found to be. */
struct named {
	const struct node *named;
	struct str name;
	size_t index;
	const struct probearg *arg; /**< of the first probe */
	const struct attach_match *match;
};

/** What is known about the arguments of a probe; worked out once, and kept in @memory. */
static const struct probeargs *remember(const struct bind *b, struct map *memory,
					const struct attach_match *m)
{
	struct probeargs *known = map_get_ptr(memory, m->probe);
	if (known)
		return known;
	struct probeargs *pa = arena_new(b->arena, struct probeargs);
	probeargs_read(&m->file->bin, b->given->files->signatures, m->probe, pa);
	map_put_ptr(b->arena, memory, m->probe, pa);
	return pa;
}

const struct operands *namedarg_operands(const struct bind *b, const struct attach_match *m,
					 const struct sdt_site *site)
{
	struct operands *known = map_get_ptr(&b->cache->operands, site);
	if (known)
		return known;
	known = arena_new(b->arena, struct operands);
	sdtarg_parse(b->arena, m->file->bin.img->machine, site->args, &known->v, &known->n);
	map_put_ptr(b->arena, &b->cache->operands, site, known);
	return known;
}

static const struct probeargs *args_of(const struct bind *b, const struct attach_match *m)
{
	return remember(b, &b->cache->probeargs, m);
}

const struct probeargs *namedarg_all(const struct bind *b, const struct attach_match *m)
{
	if (!b->given->cheap_only || map_get_ptr(&b->cache->probeargs, m->probe))
		return args_of(b, m);
	m->file->bin.cheap_only = true;
	const struct probeargs *pa = remember(b, &b->cache->cheap_args, m);
	m->file->bin.cheap_only = false;
	return pa;
}

static const char *probe_name(const struct bind *b, const struct attach_match *m)
{
	return arena_printf(b->arena, STR_FMT ":" STR_FMT, STR_ARG(m->probe->provider),
			    STR_ARG(m->probe->name));
}

/** What the probe does have. */
static void report_names(const struct bind *b, const struct attach_match *m,
			 const struct probeargs *pa, struct str wanted)
{
	struct str near = {0};
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < pa->n_args; i++)
		if (pa->args[i].has_name && str_is_nearer(wanted, pa->args[i].name, &best))
			near = pa->args[i].name;
	if (near.n)
		diag_note(b->diag, NULL, "did you mean args." STR_FMT "?", STR_ARG(near));
	if (pa->n_args)
		diag_note(b->diag, NULL, "it is %s(" STR_FMT ")", probe_name(b, m),
			  STR_ARG(probearg_list(b->arena, pa->args, pa->n_args)));
	else
		diag_note(b->diag, NULL, "%s has no arguments", probe_name(b, m));
}

/** Sites may call different arguments by one name: then it means none of them. */
static bool check_sites(const struct bind *b, const struct named *u, const struct attach_match *m,
			const struct probeargs *pa)
{
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probesite *s = &pa->sites[i];
		for (size_t k = 0; k < s->n_args; k++)
			if (k != u->index && str_eq(s->args[k].name, u->name))
				return diag_error(b->diag, tok_at(u->named->name),
						  "the sites of %s disagree: " STR_FMT
						  " is arg%zu at one and arg%zu at another",
						  probe_name(b, m), STR_ARG(u->name), u->index, k);
	}
	if (!pa->args[u->index].types_differ)
		return true;
	diag_error(b->diag, tok_at(u->named->name),
		   "the sites of %s disagree about the type of " STR_FMT, probe_name(b, m),
		   STR_ARG(u->name));
	struct str first = {0};
	for (size_t i = 0, said = 0; i < pa->n_sites && said < 4; i++) {
		const struct probesite *s = &pa->sites[i];
		if (u->index >= s->n_args || !s->args[u->index].type)
			continue;
		struct str type = ctype_spell(b->arena, s->args[u->index].type);
		diag_note(b->diag, NULL, STR_FMT ":%u has %s" STR_FMT, STR_ARG(s->file), s->line,
			  said++ && str_eq(type, first) ? "its own " : "", STR_ARG(type));
		first = said == 1 ? type : first;
	}
	diag_note(b->diag, NULL, "arg%zu is the plain value", u->index);
	return false;
}

/** At another site of @m the argument has another name: is it the same thing? */
static void warn_of_names(const struct bind *b, const struct named *u, const struct attach_match *m,
			  const struct probeargs *pa)
{
	for (size_t i = 0; i < pa->n_sites; i++) {
		const struct probesite *s = &pa->sites[i];
		const struct probearg *arg = u->index < s->n_args ? &s->args[u->index] : NULL;
		if (!arg || !arg->has_name || str_eq(arg->name, u->name) ||
		    str_eq(arg->listed_name, u->name))
			continue;
		diag_warning(b->diag, tok_at(u->named->name),
			     "not all sites of %s name it " STR_FMT ": in " STR_FMT
			     "%s arg%zu is " STR_FMT,
			     probe_name(b, m), STR_ARG(u->name), STR_ARG(s->function),
			     s->function.n ? "()" : "another", u->index, STR_ARG(arg->name));
		return;
	}
}

/**
 * Files may have types of their own under one name: what @t is or leads to, if that has members or
 * enumerators.
 */
static struct ctype *definition_of(struct ctype *t)
{
	t = ctype_strip(t);
	for (unsigned i = 0; i < 8 && t && t->kind == CTYPE_POINTER; i++)
		t = ctype_strip(t->of);
	bool can_differ = t && (ctype_is_aggregate(t) || t->kind == CTYPE_ENUM);
	return can_differ && ctype_complete(t) ? t : NULL;
}

static bool check_definitions(const struct bind *b, const struct attach_match *m,
			      const struct named *u, const struct probearg *arg)
{
	struct ctype *one = definition_of(u->arg->type), *other = definition_of(arg->type);
	if (!one || !other || one == other || ctype_is_same(one, other))
		return true;
	return diag_error(b->diag, tok_at(u->named->name),
			  "the probes of this clause disagree about the type of " STR_FMT
			  ": " STR_FMT " of " STR_FMT " in %s, of " STR_FMT
			  " in %s: write two clauses",
			  STR_ARG(u->name), STR_ARG(ctype_spell(b->arena, one)), STR_ARG(one->unit),
			  probe_name(b, u->match), STR_ARG(other->unit), probe_name(b, m));
}

/** Finds the argument in one probe and compares it with what the probes before had. */
static bool look_up(const struct bind *b, const struct attach_match *m, struct named *u)
{
	const struct probeargs *pa = args_of(b, m);
	struct diag_place at = tok_place(u->named->name);
	size_t index;
	if (!probeargs_find(pa, u->name, &index)) {
		diag_error(b->diag, &at, "probe %s has no argument " STR_FMT, probe_name(b, m),
			   STR_ARG(u->name));
		report_names(b, m, pa, u->name);
		return false;
	}
	const struct probearg *arg = &pa->args[index];
	if (u->match && index != u->index)
		return diag_error(b->diag, &at,
				  "the probes of this clause disagree: " STR_FMT
				  " is arg%zu of %s and arg%zu of %s",
				  STR_ARG(u->name), u->index, probe_name(b, u->match), index,
				  probe_name(b, m));
	struct str type = probearg_type_text(b->arena, arg);
	if (u->match && !str_eq(type, probearg_type_text(b->arena, u->arg)))
		return diag_error(b->diag, &at,
				  "the probes of this clause disagree about the type of " STR_FMT
				  ": " STR_FMT " in %s, " STR_FMT " in %s",
				  STR_ARG(u->name), STR_ARG(probearg_type_text(b->arena, u->arg)),
				  probe_name(b, u->match), STR_ARG(type), probe_name(b, m));
	if (u->match && !check_definitions(b, m, u, arg))
		return false;
	u->index = index;
	u->arg = arg;
	u->match = m;
	if (str_is_digits(u->name))
		return true;
	if (!check_sites(b, u, m, pa))
		return false;
	if (!str_eqz(u->name, arena_printf(b->arena, "arg%zu", u->index)))
		warn_of_names(b, u, m, pa);
	return true;
}

static struct str namedarg_name(const struct token *name)
{
	struct str s = name->text; // in args.3 it is `.3`, one token
	str_take(&s, STR("."));
	return s;
}

const struct probearg *namedarg_find(const struct bind *b, const struct attach_clause *c,
				     const struct token *name, unsigned *index)
{
	size_t i;
	const struct funcarg *param =
	    c->params ? funcargs_find(c->params, namedarg_name(name)) : NULL;
	if (param && param->number >= 0) {
		*index = (unsigned)param->number;
		return &param->arg;
	}
	if (!c->probes.n || c->has_other || c->has_uprobe)
		return NULL;
	const struct probeargs *pa = args_of(b, &c->probes.v[0]);
	if (!probeargs_find(pa, namedarg_name(name), &i))
		return NULL;
	*index = (unsigned)i;
	return &pa->args[i];
}

const struct probearg *namedarg_at(const struct bind *b, const struct attach_match *m, unsigned n)
{
	const struct probeargs *pa = namedarg_all(b, m);
	return n < pa->n_args ? &pa->args[n] : NULL;
}

void namedarg_site(const struct bind *b, const struct attach_match *m, struct str *file,
		   unsigned *line)
{
	const struct probeargs *pa = namedarg_all(b, m);
	*file = pa->n_sites ? pa->sites[0].file : STR("");
	*line = pa->n_sites ? pa->sites[0].line : 0;
}

bool namedarg_is_only(const struct attach_clause *c, enum provider_place place)
{
	size_t present = 0;
	vec_each(const struct script_attach, at, &c->clause->attach) {
		if (at->absent)
			continue; // it will be dropped, bind/optional.h
		if (at->provider->place != place || !at->n_entries)
			return false;
		present += at->n_entries;
	}
	return present && c->near.places.n == present;
}

static struct funcargs *read_params(const struct bind *b, const struct context_place *p)
{
	struct funcargs *f = arena_new(b->arena, struct funcargs);
	return funcargs_read(p->src, p->addr, f) ? f : NULL;
}

bool namedarg_note_declaration(const struct bind *b, const struct funcargs *f)
{
	return diag_note(b->diag, NULL, "it is " STR_FMT,
			 STR_ARG(funcargs_declaration(b->arena, f)));
}

/** The debug information does not say where parameter @arg of @f is. */
static bool report_unplaced(const struct bind *b, const struct diag_place *at,
			    const struct funcargs *f, const struct funcarg *arg)
{
	diag_error(b->diag, at,
		   "the debug information has no location for parameter " STR_FMT " of " STR_FMT
		   "(): if the function uses it, it is arg%d",
		   STR_ARG(arg->arg.name), STR_ARG(f->function), arg->expected);
	return namedarg_note_declaration(b, f);
}

/** A use of a parameter that each of the functions must have, in one register and of one type. */
static bool check_param(const struct bind *b, struct attach_clause *c, struct node *named)
{
	const struct token *use = named->name;
	struct str name = namedarg_name(use);
	struct diag_place at = tok_place(use);
	const struct funcarg *first = NULL;
	for (size_t i = 0; i < c->near.places.n; i++) {
		const struct funcargs *f = i ? read_params(b, &c->near.places.v[i]) : c->params;
		const struct funcarg *now = f ? funcargs_find(f, name) : NULL;
		if (!f)
			return diag_error(b->diag, &at,
					  "no debug information about the parameters of some "
					  "functions of this clause: write two clauses");
		if (!now) {
			diag_error(b->diag, &at, STR_FMT "() has no parameter " STR_FMT,
				   STR_ARG(f->function), STR_ARG(name));
			return namedarg_note_declaration(b, f);
		}
		if (now->number < 0 && now->expected >= 0)
			return report_unplaced(b, &at, f, now);
		first = first ? first : now;
		if (now->number != first->number ||
		    !argtype_is_same(b->arena, now->arg.type, first->arg.type))
			return diag_error(b->diag, &at,
					  "the functions of this clause disagree about " STR_FMT
					  ": write two clauses",
					  STR_ARG(name));
	}
	if (first && first->number < 0)
		vec_push(b->arena, &c->unpassed, named);
	return true;
}

/**
 * args.NAME of functions; where nothing is known of them it is bpftrace's own: of a file that was not
 * read here 0.17 may read the debug information, as Debian's does.
 */
static bool resolve_params(const struct bind *b, struct attach_clause *c)
{
	bool good = true;
	if (!c->clause->named_args.n || !c->has_uprobe || c->has_other)
		return true;
	// Elsewhere the registers hold other things.
	c->params = namedarg_is_only(c, PLACE_ENTRY) ? read_params(b, &c->near.places.v[0]) : NULL;
	for (size_t i = 0; i < c->clause->named_args.n; i++) {
		const struct token *use = c->clause->named_args.v[i]->name;
		if (c->params)
			good &= check_param(b, c, c->clause->named_args.v[i]);
		else if (!dialect_has_function_args(b->given->version) && c->near.places.n)
			good = diag_error(b->diag, tok_at(use),
					  "bpftrace " DIALECT_FMT
					  " does not support args for functions, and there is no "
					  "debug information about the parameters: use arg0 to "
					  "arg5",
					  DIALECT_ARG(b->given->version));
	}
	return good;
}

/** `args.x` of tracepoints is bpftrace's own. */
bool namedarg_resolve(const struct bind *b, struct attach_clause *c)
{
	bool good = true;
	if (!c->probes.n)
		return resolve_params(b, c);
	for (size_t i = 0; i < c->clause->named_args.n; i++) {
		const struct node *named = c->clause->named_args.v[i];
		struct named u = {.named = named, .name = namedarg_name(named->name)};
		if (c->has_other || c->has_uprobe) {
			good = diag_error(b->diag, tok_at(named->name),
					  "this clause mixes usdt probes with others, whose args "
					  "are different: write two clauses");
			continue;
		}
		bool found = true;
		for (size_t k = 0; k < c->probes.n && found; k++)
			found = look_up(b, &c->probes.v[k], &u);
		if (found)
			vec_push(b->arena, &c->clause->args,
				 (struct script_arg){named->first, (unsigned)u.index});
		good &= found;
	}
	return good;
}

bool namedarg_report_stripped(const struct attach_match *m, const struct diag_place *at,
			      const char *wanted_for)
{
	const struct binary *bin = &m->file->bin;
	return bin->src && !dwsrc_open(bin->src) &&
	       !debugfile_report_missing(bin->img, at, wanted_for);
}
