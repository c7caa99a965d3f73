#include "bind/namedvar.h"

#include <dwarf.h>
#include <elf.h>
#include <inttypes.h>
#include <limits.h>

#include "bind/argread.h"
#include "bind/namedarg.h"
#include "elf/imgsym.h"
#include "probe/argloc.h"
#include "probe/argtype.h"
#include "probe/funcargs.h"

/** A place of the clause and what is around it. */
struct spot {
	struct dwsrc *src;
	struct dwsite site;
	struct argloc loc;
	struct dwrows rows;
	struct funcargs *params; // of the function; NULL: not known
	bool is_call;		 // its entry, of which only the parameters are asked for
	struct str asked;	 // the line that the script names; other lines may begin there, too
};

static const char in_registers[] = "it is in registers, not in memory";

/** A variable at one address. */
struct found {
	struct argloc_var var;
	bool is_global;
	const char *why_not; // it cannot be read there; NULL: it can
};

// --- where a variable is, and whether its value is there, too ---

static unsigned line_at(const struct spot *s, uint64_t pc)
{
	unsigned line = 0;
	for (size_t i = 0; i < s->rows.list.n && s->rows.list.v[i].pc <= pc; i++)
		line = s->rows.list.v[i].line;
	return line;
}

static bool is_parameter(const struct argloc_var *v)
{
	Dwarf_Die die = v->die;
	return dwarf_tag(&die) == DW_TAG_formal_parameter;
}

static bool is_inlined(const struct spot *s)
{
	return s->site.n_inner < s->site.dies.n;
}

static bool is_same_file(const struct spot *s, const struct argloc_var *v)
{
	Dwarf_Die die = v->die;
	struct str own = dwsite_decl_file(s->src, &die);
	return !own.n || str_eq(own, str_base(s->site.file));
}

/** Is the first code of @line, as far as it goes on without another line, before @pc in the function? */
static bool is_behind(const struct spot *s, unsigned line, uint64_t pc)
{
	bool has_begun = false;
	for (size_t i = 0; i < s->rows.list.n && s->rows.list.v[i].pc <= pc; i++) {
		const struct dwrow *r = &s->rows.list.v[i];
		if (has_begun && r->line != line)
			return true;
		has_begun |= r->line == line && r->pc >= s->rows.entry;
	}
	return false;
}

/** In optimized code what a line does can be anywhere: is more of @line, which @v begins with, at @pc or to come? */
static bool has_more(const struct spot *s, const struct argloc_var *v, unsigned line, uint64_t pc)
{
	Dwarf_Die block = s->site.dies.v[v->block];
	size_t n = s->rows.list.n;
	for (size_t i = 0; i < n; i++) {
		const struct dwrow *r = &s->rows.list.v[i];
		if (r->line == line && (i + 1 == n || r[1].pc > pc) &&
		    dwarf_haspc(&block, r->pc - (s->site.pc - s->site.at)) > 0)
			return true;
	}
	return false;
}

/** Is a parameter of a copy not yet what has been passed? Callers that are not optimized store that before it begins. */
static bool is_unpassed(const struct spot *s, const struct argloc_var *v, unsigned line,
			uint64_t pc)
{
	Dwarf_Addr entry;
	if (!s->rows.may_be_optimized || !is_inlined(s) || !is_parameter(v))
		return false;
	Dwarf_Die copy = s->site.dies.v[s->site.n_inner - 1];
	return !is_behind(s, line, pc) ||
	       (v->at.is_place && dwsite_entry(&copy, &entry) &&
		has_more(s, v, line_at(s, entry + (s->site.pc - s->site.at)), pc));
}

/** Before the function has put its parameters where its code has them. */
static const char *read_in_prologue(struct arena *a, const struct spot *s, const struct argloc *l,
				    struct argloc_var *v)
{
	bool is_passed = s->params && is_parameter(v) && !is_inlined(s);
	const struct funcarg *param = is_passed ? funcargs_find(s->params, v->name) : NULL;
	int reg = param && param->number >= 0
		      ? funcargs_register(s->src->img->machine, param->number)
		      : -1;
	bool is_there = reg >= 0 && v->kind == ARGLOC_REG && v->reg == reg;
	if (is_there || (param && param->is_there))
		return NULL;
	if (l->scope->pc != s->rows.entry || !param)
		return "the function has not stored it yet";
	if (reg < 0)
		return "where it is passed is not known";
	v->at = (struct locexpr){0};
	vec_push(a, &v->at.steps, (struct locexpr_step){LOCEXPR_REGISTER, reg});
	return NULL;
}

/** A frame that is counted from a register that is not, or not yet, or no more the frame's. */
static bool has_frame(const struct spot *s, const struct argloc *l)
{
	struct argloc body;
	struct dwsite site;
	if (l->frame.is_cfa)
		return l->frame.cfa_reg >= 0;
	if (l->frame.base_reg < 0 || l->frame.base_reg != l->frame.cfa_reg)
		return false;
	argloc_move(&s->loc, s->rows.body, &site, &body);
	return body.frame.cfa_reg == l->frame.cfa_reg && body.frame.cfa_off == l->frame.cfa_off;
}

/** A location that holds in all of its block, also where nothing has been stored yet. */
static const char *why_not_stored(struct arena *a, const struct spot *s, const struct argloc *l,
				  struct argloc_var *v)
{
	uint64_t pc = l->scope->pc;
	unsigned line = line_at(s, pc);
	bool is_local = !is_parameter(v) && line && v->line && is_same_file(s, v);
	if (!s->rows.list.n)
		return "there is no line table, which tells where it is stored";
	if (pc >= s->rows.entry && pc < s->rows.body)
		return read_in_prologue(a, s, l, v);
	if (is_local && line < v->line)
		return arena_printf(a, "it is declared on line %u", v->line);
	if (is_local && line == v->line && !is_behind(s, line, pc))
		return "it is declared there, and has no value yet";
	if (is_local && s->rows.is_optimized && has_more(s, v, v->line, pc))
		return "the line that declares it is not complete there";
	return is_unpassed(s, v, line, pc) ? "the inlined function has not stored it yet" : NULL;
}

/** Why the value of @v is not where it is at the address of @l; NULL: it is there, as v->at has it. */
static const char *why_not_at(struct arena *a, const struct spot *s, const struct argloc *l,
			      struct argloc_var *v)
{
	bool is_vague = false;
	if (!v->at.steps.n)
		return v->at.why_not;
	vec_each(const struct locexpr_step, step, &v->at.steps) {
		if (step->op != LOCEXPR_REGISTER)
			continue;
		if (!argread_register(a, s->src->img->machine, (unsigned)step->n))
			return "it is in a register that bpftrace cannot read";
		is_vague = v->is_everywhere;
	}
	const char *why = is_vague ? why_not_stored(a, s, l, v) : NULL;
	if (why)
		return why;
	return (v->at.is_of_frame || (is_vague && v->at.is_place)) && !has_frame(s, l)
		   ? "the frame of the function is not set up there"
		   : NULL;
}

// --- finding it ---

/** The innermost one of that name; of several in one block, as clang has it of catch clauses, none. */
static bool find_local(struct spot *s, struct str name, struct found *ret)
{
	const struct argloc_var *v = NULL;
	for (size_t i = 0; i < s->loc.vars.n; i++) {
		const struct argloc_var *one = &s->loc.vars.v[i];
		if (!str_eq(one->name, name) || (s->is_call && !is_parameter(one)))
			continue;
		if (v && one->block == v->block)
			ret->why_not = "several variables of its block have that name";
		v = v ? v : one;
	}
	if (v)
		ret->var = *v;
	if (ret->why_not)
		ret->var.type = NULL;
	return v && !dwsrc_flag(&ret->var.die, DW_AT_declaration);
}

/** The one symbol of the variable in @img that other files see. */
static bool find_symbol(struct img *img, const struct argloc_var *v, uint64_t *ret)
{
	Dwarf_Die die = v->die;
	struct str symbol = str_from(dwsrc_symbol(&die));
	return argread_find_symbol(img, symbol.n ? symbol : v->name, true, ret);
}

/** A global that the unit only declares is where the file's symbol is; the executable may have a copy of it. */
static void place_global(const struct bind *b, struct spot *s, struct found *ret)
{
	struct argloc_var *v = &ret->var;
	Dwarf_Die die = v->die;
	struct targetfile *exe = &b->given->files->list.v[0];
	struct img *first = targetfile_open(b->given->files, exe);
	bool is_elsewhere = !v->at.steps.n && dwsrc_flag(&die, DW_AT_declaration);
	uint64_t addr;
	if (is_elsewhere && find_symbol(s->src->img, v, &addr)) {
		v->at = (struct locexpr){.is_place = true};
		vec_push(b->arena, &v->at.steps,
			 (struct locexpr_step){LOCEXPR_ADDRESS, (int64_t)addr});
	} else if (is_elsewhere) {
		v->at.why_not = "it is defined in another file";
	}
	if (v->at.steps.n && dwsrc_flag(&die, DW_AT_external) && first && first != s->src->img &&
	    find_symbol(first, v, &addr)) {
		v->at.steps.n = 0;
		v->at.why_not = "the executable has a variable of that name, too";
	}
}

/** What the inlined function was written with, of which nothing is left here. */
static bool is_forgotten(const struct spot *s, struct str name)
{
	struct dwwalk w = {0};
	if (!s->site.n_inner)
		return false;
	Dwarf_Die origin = s->site.dies.v[s->site.n_inner - 1];
	if (!dwsrc_follow(&origin, DW_AT_abstract_origin))
		return false;
	for (Dwarf_Die die = {0}; dwsrc_next_child(s->src, &w, &origin, &die);) {
		int tag = dwarf_tag(&die);
		const char *z = dwarf_diename(&die);
		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && z &&
		    str_eqz(name, z))
			return true;
	}
	return false;
}

/** False when there is none of that name. */
static bool find_variable(const struct bind *b, struct spot *s, struct str name, struct found *ret)
{
	*ret = (struct found){0};
	if (!find_local(s, name, ret)) {
		*ret = (struct found){.is_global = true};
		if (is_forgotten(s, name)) {
			ret->var.name = name;
			ret->why_not = "it is optimized out";
			return true;
		}
		if (!argloc_find_global(&s->loc, name, &ret->var))
			return false;
		place_global(b, s, ret);
	}
	if (!ret->why_not)
		ret->why_not = why_not_at(b->arena, s, &s->loc, &ret->var);
	return true;
}

// --- what is said ---

/** `main+0x1f (main.c:42)` */
static struct str place_name(const struct bind *b, const struct spot *s, uint64_t pc)
{
	const struct dwsite *site = &s->site;
	Dwarf_Die function = site->dies.v[site->dies.n - 1];
	const char *name = dwsrc_name(&function);
	struct str text =
	    str_printf(b->arena, "%s+0x%" PRIx64, name ? name : "?", pc - s->rows.entry);
	unsigned line = line_at(s, pc);
	if (!s->rows.list.n)
		return str_printf(b->arena, "0x%" PRIx64, pc);
	if (pc == s->site.pc && s->asked.n)
		return str_printf(b->arena, STR_FMT " (" STR_FMT ")", STR_ARG(text),
				  STR_ARG(s->asked));
	return line ? str_printf(b->arena, STR_FMT " (" STR_FMT ":%u)", STR_ARG(text),
				 STR_ARG(site->file), line)
		    : text;
}

/** Rows nearest to the place, by lines, where the variable can be read; 0: none. */
static uint64_t find_nearest(const struct bind *b, const struct spot *s, const struct found *f)
{
	enum { MOST = 4096 };
	uint64_t best = 0;
	unsigned line = line_at(s, s->site.pc), distance = UINT_MAX;
	if (f->is_global || !f->var.name.n)
		return 0;
	Dwarf_Die block = s->site.dies.v[f->var.block];
	for (size_t i = 0; i < s->rows.list.n && i < MOST; i++) {
		const struct dwrow *r = &s->rows.list.v[i];
		unsigned far = r->line > line ? r->line - line : line - r->line;
		struct argloc l;
		struct dwsite site;
		if (far >= distance || !r->line ||
		    dwarf_haspc(&block, r->pc - (s->site.pc - s->site.at)) <= 0)
			continue;
		argloc_move(&s->loc, r->pc, &site, &l);
		struct argloc_var v = f->var;
		argloc_locate(&l, &v);
		if (why_not_at(b->arena, s, &l, &v))
			continue;
		best = r->pc;
		distance = far;
	}
	return best;
}

static bool report_unreadable(const struct bind *b, const struct token *use, const struct spot *s,
			      const struct found *f, const char *why)
{
	uint64_t near = find_nearest(b, s, f);
	if (s->is_call)
		diag_error(b->diag, tok_at(use),
			   "bpftrace cannot read parameter " STR_FMT " of " STR_FMT "(): %s",
			   STR_ARG(use->text), STR_ARG(s->site.function), why);
	else
		diag_error(b->diag, tok_at(use),
			   "cannot read variable " STR_FMT " at " STR_FMT ": %s",
			   STR_ARG(use->text), STR_ARG(place_name(b, s, s->site.pc)), why);
	if (s->is_call && s->params)
		namedarg_note_declaration(b, s->params);
	if (why == in_registers)
		diag_note(b->diag, NULL, "its members can be read one by one");
	else if (near)
		diag_note(b->diag, NULL, "the nearest place where it can be read is " STR_FMT "%s",
			  STR_ARG(place_name(b, s, near)), s->is_call ? ", with vars.NAME" : "");
	return false;
}

/** What could be read there instead. */
static bool report_unknown(const struct bind *b, const struct token *use, const struct spot *s)
{
	enum { MOST = 24 };
	struct str near = {0}, list = {0};
	unsigned best = UINT_MAX;
	size_t n = 0;
	struct map said = {0};
	diag_error(b->diag, tok_at(use), "there is no variable " STR_FMT " at " STR_FMT,
		   STR_ARG(use->text), STR_ARG(place_name(b, s, s->site.pc)));
	for (size_t i = 0; i < s->loc.vars.n; i++) {
		struct argloc_var v = s->loc.vars.v[i];
		if (!map_add(b->arena, &said, v.name) || why_not_at(b->arena, s, &s->loc, &v))
			continue;
		if (str_is_nearer(use->text, v.name, &best))
			near = v.name;
		if (n++ < MOST)
			list = str_printf(b->arena, STR_FMT "%s" STR_FMT, STR_ARG(list),
					  n > 1 ? ", " : "", STR_ARG(v.name));
	}
	if (near.n)
		diag_note(b->diag, NULL, "did you mean vars." STR_FMT "?", STR_ARG(near));
	if (n)
		diag_note(b->diag, NULL,
			  "variables of the function that can be read there: " STR_FMT "%s",
			  STR_ARG(list), n > MOST ? " ..." : "");
	else
		diag_note(b->diag, NULL, "no variable of the function can be read there");
	return false;
}

// --- a use ---

/** Why nothing of that type can be read from there; NULL: it can. */
static const char *why_not_type(struct ctype *t, const struct locexpr *e, bool *is_memory)
{
	uint64_t size;
	t = ctype_strip(t);
	*is_memory = t && (ctype_is_aggregate(t) || t->kind == CTYPE_ARRAY);
	if (!t)
		return "its type is not known";
	if (t->kind == CTYPE_FLOAT)
		return "bpftrace has no floating-point numbers";
	if (*is_memory)
		return e->is_place	       ? NULL
		       : ctype_is_aggregate(t) ? in_registers
					       : "it is an array in registers";
	if (!ctype_size(t, &size) || !ctype_is_word(size) || t->kind == CTYPE_FUNC ||
	    t->kind == CTYPE_OPAQUE || t->kind == CTYPE_VOID)
		return "it is not a number of up to 8 bytes";
	return NULL;
}

/**
 * A struct in registers is read member by member: @n becomes the `x.m` that its use goes on to, @f the place of that
 * member, and @ret its type.
 */
static void take_member(const struct bind *b, struct spot *s, struct found *f,
			const struct node **n, struct ctype **ret)
{
	struct ctype_place p = {.type = f->var.type};
	struct str path = {0}, bad;
	struct ctype *in = ctype_strip(p.type);
	if (f->is_global || !in || !ctype_is_aggregate(in) ||
	    (f->var.at.is_place && f->var.at.steps.n))
		return;
	for (const struct node *m; in && ctype_is_aggregate(in); in = ctype_strip(p.type)) {
		m = (*n)->parent;
		f->why_not = in_registers;
		if (m->kind != NODE_MEMBER)
			return;
		path = str_printf(b->arena, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n ? "." : "",
				  STR_ARG(m->name->text));
		if (!ctype_resolve(f->var.type, path, &p, &bad, &in)) {
			f->why_not = arena_printf(b->arena, STR_FMT " has no member " STR_FMT,
						  STR_ARG(ctype_spell(b->arena, in)),
						  STR_ARG(m->name->text));
			return;
		}
		*n = m;
	}
	*ret = ctype_as_pointer(b->arena, p.type);
	f->var.part_off = p.off;
	if (p.bit_size)
		f->why_not = "it is a bit-field in registers";
	if (p.bit_size || !ctype_size(p.type, &f->var.part_size) || !f->var.part_size)
		return;
	argloc_locate(&s->loc, &f->var);
	f->why_not = why_not_at(b->arena, s, &s->loc, &f->var);
}

static struct namedvar make(const struct bind *b, const struct spot *s, struct ctype *t,
			    const struct argloc_var *v, bool is_memory)
{
	uint64_t size = 0;
	if (!is_memory)
		ctype_size(t, &size);
	return (struct namedvar){
	    .name = v->name,
	    .type = t,
	    .is_memory = is_memory,
	    .text = argread_location(b->arena, s->src->img, s->site.pc, &v->at, (unsigned)size)};
}

static bool report_differing(const struct bind *b, const struct token *use,
			     const struct spot *spots, size_t i, const char *what)
{
	diag_error(b->diag, tok_at(use),
		   "variable " STR_FMT " %s at different addresses of this clause: " STR_FMT
		   " and " STR_FMT,
		   STR_ARG(use->text), what, STR_ARG(place_name(b, &spots[0], spots[0].site.pc)),
		   STR_ARG(place_name(b, &spots[i], spots[i].site.pc)));
	return diag_note(b->diag, NULL, "write a clause for each");
}

static bool resolve(const struct bind *b, struct attach_clause *c, struct spot *spots,
		    const struct node *named)
{
	const struct token *use = named->name;
	const struct node *one = NULL;
	size_t n = c->near.places.n;
	struct namedvar *first = arena_new(b->arena, struct namedvar);
	struct str *texts = arena_array(b->arena, struct str, n);
	uint64_t *pcs = arena_array(b->arena, uint64_t, n);
	for (size_t i = 0; i < n; i++) {
		struct found f;
		bool is_memory;
		if (!find_variable(b, &spots[i], use->text, &f))
			return report_unknown(b, use, &spots[i]);
		struct ctype *t = ctype_as_pointer(b->arena, f.var.type);
		const struct node *what = named;
		take_member(b, &spots[i], &f, &what, &t);
		const char *why = f.why_not ? f.why_not : why_not_type(t, &f.var.at, &is_memory);
		if (why)
			return report_unreadable(b, use, &spots[i], &f, why);
		struct namedvar now = make(b, &spots[i], t, &f.var, is_memory);
		if (i > 0 && !argtype_is_same(b->arena, now.type, first->type))
			return report_differing(b, use, spots, i, "has different types");
		if (i > 0 && what != one)
			return report_differing(b, use, spots, i, "has different locations");
		one = what;
		texts[i] = now.text;
		pcs[i] = spots[i].site.pc;
		if (i == 0)
			*first = now;
	}
	first->text = argread_choose(b->arena, spots[0].src->img->machine, texts, pcs, n);
	for (size_t i = 1; i < n && !first->text.n; i++)
		if (!str_eq(texts[i], texts[0]))
			return report_differing(b, use, spots, i, "has different locations");
	map_put_ptr(b->arena, &c->vars, one, first);
	return true;
}

static bool look_around(struct arena *a, const struct context_place *p, bool is_call,
			struct spot *ret)
{
	*ret = (struct spot){.src = p->src, .is_call = is_call, .asked = p->line};
	if (!dwsrc_open(p->src) || !dwsite_at(p->src, p->addr, &ret->site) || !ret->site.n_inner)
		return false;
	if (is_call) { // also where it begins with code of a function that is inlined
		ret->site.dies.v[0] = ret->site.dies.v[ret->site.dies.n - 1];
		ret->site.dies.n = ret->site.n_inner = 1;
		ret->site.function = str_from(dwsrc_name(&ret->site.dies.v[0]));
	}
	argloc_init(&ret->loc, p->src, &ret->site);
	dwsite_rows(p->src, &ret->site, &ret->rows);
	struct funcargs *f = arena_new(a, struct funcargs);
	ret->params = funcargs_read(p->src, ret->rows.entry, f) ? f : NULL;
	return true;
}

/** @p: the place of which nothing is known, or NULL if there is none. */
static bool report_no_places(const struct bind *b, const struct context_place *p,
			     const struct token *use)
{
	if (!p)
		return diag_error(
		    b->diag, tok_at(use),
		    "vars.NAME needs a usdt probe or uprobe of the target at each attach "
		    "point of the clause");
	return diag_error(b->diag, tok_at(use),
			  "variable " STR_FMT ": no debug information in " STR_FMT
			  " for the code of this clause",
			  STR_ARG(use->text), STR_ARG(p->src->img->display_path));
}

/** @uses are vars.NAME, or with @is_call those args.NAME that no argN reads. */
static bool resolve_all(const struct bind *b, struct attach_clause *c, struct node *const *uses,
			size_t n, bool is_call)
{
	bool good = true;
	if (!n)
		return true;
	if (c->has_unplaced || !c->near.places.n)
		return report_no_places(b, NULL, uses[0]->name);
	struct spot *spots = arena_array(b->arena, struct spot, c->near.places.n);
	for (size_t i = 0; i < c->near.places.n; i++)
		if (!look_around(b->arena, &c->near.places.v[i], is_call, &spots[i]))
			return report_no_places(b, &c->near.places.v[i], uses[0]->name);
	for (size_t i = 0; i < n; i++)
		good &= resolve(b, c, spots, uses[i]);
	return good;
}

bool namedvar_resolve(const struct bind *b, struct attach_clause *c)
{
	bool good = resolve_all(b, c, c->clause->named_vars.v, c->clause->named_vars.n, false);
	return resolve_all(b, c, c->unpassed.v, c->unpassed.n, true) && good;
}

bool namedvar_is_passed(struct arena *a, struct dwsrc *src, uint64_t addr, struct str name)
{
	struct spot s;
	struct found f = {0};
	bool is_memory;
	return look_around(a, &(struct context_place){.src = src, .addr = addr}, true, &s) &&
	       find_local(&s, name, &f) && !f.why_not && !why_not_at(a, &s, &s.loc, &f.var) &&
	       !why_not_type(ctype_as_pointer(a, f.var.type), &f.var.at, &is_memory) && !is_memory;
}

const struct namedvar *namedvar_find(const struct attach_clause *c, const struct node *n)
{
	return map_get_ptr(&c->vars, n);
}
