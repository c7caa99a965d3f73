#include "bind/namedvar.h"

#include <dwarf.h>
#include <elf.h>

#include "bind/argread.h"
#include "bind/namedarg.h"
#include "elf/imgsym.h"
#include "probe/argloc.h"
#include "probe/argtype.h"
#include "probe/funcargs.h"

/** A place of the clause and what is around it. */
struct code_site {
	struct dwsrc *src;
	struct dwsite site;
	struct argloc loc;
	struct dwrows rows;
	struct funcargs *params; // of the function; NULL: not known
	bool is_call;		 // its entry, of which only the parameters are asked for
	struct dwasked asked;	 // a line: other lines may begin there, too
};

static const char in_registers[] = "it is in registers, not in memory";

/** A variable at one address. */
struct found {
	struct argloc_var var;
	bool is_global;
	const char *why_not; // it cannot be read there; NULL: it can
};

// --- where a variable is, and whether its value is there, too ---

static unsigned line_at(const struct code_site *s, uint64_t pc)
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

static size_t function_of(const struct code_site *s, const struct argloc_var *v)
{
	return dwsite_function_of(&s->site, v->block);
}

static bool is_inlined(const struct code_site *s, const struct argloc_var *v)
{
	return function_of(s, v) + 1 < s->site.dies.n;
}

/** The line of @v's own function that is executed at the address of @l: where code of others is in it, that of the call. */
static unsigned line_for(const struct code_site *s, const struct argloc *l,
			 const struct argloc_var *v)
{
	if (l->scope->pc != s->site.pc)
		return line_at(s, l->scope->pc);
	if (v->block < s->site.end)
		return s->site.row.line;
	size_t inner = s->site.end - 1, i = inner;
	while ((i = dwsite_function_of(&s->site, i + 1)) < function_of(s, v))
		inner = i;
	Dwarf_Die copy = s->site.dies.v[inner];
	return dwsite_line_of(&copy, DW_AT_call_line);
}

/** Is @v declared in the file that this line of its function is in? */
static bool is_same_file(const struct code_site *s, const struct argloc_var *v)
{
	Dwarf_Die die = v->die, function = s->site.dies.v[function_of(s, v)];
	struct str own = dwsite_decl_file(s->src, &die),
		   file = v->block < s->site.end ? s->site.row.file
						 : dwsite_decl_file(s->src, &function);
	return !own.n || str_eq(own, file);
}

/** Is the first code of @line, as far as it goes on without another line, before @pc in the function? */
static bool is_past(const struct code_site *s, unsigned line, uint64_t pc)
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

/** In optimized code what a line does can be anywhere: is more of the line that declares @v at @pc or to come? */
static bool has_more(const struct code_site *s, const struct argloc_var *v, uint64_t pc)
{
	Dwarf_Die block = s->site.dies.v[v->block], die = v->die;
	struct str file = dwsite_decl_file(s->src, &die);
	size_t n = s->rows.list.n;
	for (size_t i = 0; i < n; i++) {
		const struct dwrow *r = &s->rows.list.v[i];
		if (r->line == v->line && str_eq(r->file, file) && (i + 1 == n || r[1].pc > pc) &&
		    dwarf_haspc(&block, r->pc - (s->site.pc - s->site.at)) > 0)
			return true;
	}
	return false;
}

/** Has its function, in optimized code, not yet stored the parameter @v, which has one place in memory, at @pc? */
static bool is_unpassed(const struct code_site *s, const struct argloc_var *v, uint64_t pc)
{
	Dwarf_Addr entry;
	Dwarf_Die function = s->site.dies.v[function_of(s, v)];
	bool is_optimized = is_inlined(s, v) ? s->rows.may_be_optimized : s->rows.is_optimized;
	return is_optimized && is_parameter(v) && v->at.is_place &&
	       dwsite_entry(&function, &entry) && pc >= entry + (s->site.pc - s->site.at) &&
	       pc < dwsite_stored_from(s->src, &s->site, &function);
}

/** Before the function has put its parameters where its code has them. */
static const char *read_in_prologue(struct arena *a, const struct code_site *s,
				    const struct argloc *l, struct argloc_var *v)
{
	bool is_passed = s->params && is_parameter(v) && !is_inlined(s, v);
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
static bool has_frame(const struct code_site *s, const struct argloc *l)
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
static const char *why_not_stored(struct arena *a, const struct code_site *s,
				  const struct argloc *l, struct argloc_var *v)
{
	uint64_t pc = l->scope->pc;
	unsigned line = line_for(s, l, v);
	bool is_local = !is_parameter(v) && line && v->line && is_same_file(s, v);
	bool is_around = v->block >= s->site.end; // another function is in this line
	if (!s->rows.list.n)
		return "there is no line table, which tells where it is stored";
	if (pc >= s->rows.entry && pc < s->rows.body)
		return read_in_prologue(a, s, l, v);
	if (is_unpassed(s, v, pc))
		return is_inlined(s, v) ? "the inlined function has not stored it yet"
					: read_in_prologue(a, s, l, v);
	if (is_local && line < v->line)
		return arena_printf(a, "it is declared on line %u", v->line);
	if (is_local && line == v->line && (is_around || !is_past(s, line, pc)))
		return "it is declared there, and has no value yet";
	return is_local && s->rows.is_optimized && has_more(s, v, pc)
		   ? "the line that declares it is not complete there"
		   : NULL;
}

/** Why the value of @v is not where it is at the address of @l; NULL: it is there, as v->at has it. */
static const char *why_not_at(struct arena *a, const struct code_site *s, const struct argloc *l,
			      struct argloc_var *v)
{
	bool is_vague = false;
	if (!v->at.steps.n)
		return v->at.why_not;
	vec_each(const struct locexpr_step, step, &v->at.steps) {
		if (step->op != LOCEXPR_REGISTER)
			continue;
		if (!argread_register(a, s->src->img->machine, (unsigned)step->n))
			return locexpr_no_register((uint64_t)step->n);
		is_vague = v->is_everywhere;
	}
	const char *why = is_vague ? why_not_stored(a, s, l, v) : NULL;
	if (why)
		return why;
	struct ctype *t = ctype_strip(ctype_as_pointer(a, v->type));
	if (locexpr_takes_stack(&v->at, &l->frame, s->src->img->machine == EM_X86_64 ? 7 : 31,
				v->part_size || (t && t->kind == CTYPE_POINTER)))
		return "the debug information has its address on the stack for its value";
	return (v->at.is_of_frame || (is_vague && v->at.is_place)) && !has_frame(s, l)
		   ? "the frame of the function is not set up there"
		   : NULL;
}

// --- finding it ---

/** By the rules of the language: what is declared after a line is not in scope there. Of instructions blocks decide. */
static bool is_later(const struct code_site *s, const struct argloc_var *v)
{
	unsigned line = line_for(s, &s->loc, v);
	return s->asked.how == DWASKED_LINE && !s->is_call && !is_parameter(v) && line &&
	       v->line > line && is_same_file(s, v);
}

/** Is it declared below @scope, as it was written, before @line (0: anywhere), though nothing of it is left? */
static bool is_forgotten(const struct code_site *s, struct dwwalk *w, Dwarf_Die *scope,
			 struct str name, unsigned line, unsigned depth)
{
	for (Dwarf_Die die = {0};
	     depth < DWSRC_MAX_DEPTH && dwsrc_next_child(s->src, w, scope, &die);) {
		int tag = dwarf_tag(&die);
		const char *z = dwarf_diename(&die);
		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && z &&
		    str_eqz(name, z) && (!depth || dwsite_line_of(&die, DW_AT_decl_line) <= line))
			return true;
		if (tag == DW_TAG_lexical_block && is_forgotten(s, w, &die, name, line, depth + 1))
			return true;
	}
	return false;
}

/** The innermost one of that name in function @end - 1; of several in one block, as clang has it of catch clauses, none. */
static const struct argloc_var *find_in(struct code_site *s, size_t end, struct str name,
					struct found *ret)
{
	const struct argloc_var *v = NULL, *later = NULL;
	vec_each(const struct argloc_var, one, &s->loc.vars) {
		if (!str_eq(one->name, name) || (s->is_call && !is_parameter(one)) ||
		    function_of(s, one) + 1 != end)
			continue;
		if (is_later(s, one)) {
			later = later ? later : one;
			continue;
		}
		if (v && one->block == v->block)
			ret->why_not = "several variables of its block have that name";
		v = v ? v : one;
	}
	return v ? v : later;
}

/** The same of the line of @s; then it is what @name means there. */
static bool find_forgotten(struct code_site *s, Dwarf_Die scope, struct str name, struct found *ret)
{
	struct dwwalk w = {0};
	if (!is_forgotten(s, &w, &scope, name, s->site.row.line, 0))
		return false;
	*ret =
	    (struct found){.var.name = name, .is_global = true, .why_not = "it is optimized out"};
	return true;
}

/** In the function that is meant, then in those around it. */
static bool find_local(struct code_site *s, struct str name, struct found *ret)
{
	const struct argloc_var *v = NULL;
	if (s->site.gone && !s->is_call &&
	    find_forgotten(s, dwsrc_origin(*s->site.gone), name, ret))
		return true;
	for (size_t end = s->site.end; !v && end;) {
		Dwarf_Die origin = s->site.dies.v[end - 1];
		v = find_in(s, end, name, ret);
		if (!v && dwsrc_follow(&origin, DW_AT_abstract_origin) &&
		    find_forgotten(s, origin, name, ret))
			return true;
		end = end < s->site.dies.n ? dwsite_function_of(&s->site, end) + 1 : 0;
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
static void place_global(const struct bind *b, struct code_site *s, struct found *ret)
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

/** False when there is none of that name. */
static bool find_variable(const struct bind *b, struct code_site *s, struct str name,
			  struct found *ret)
{
	*ret = (struct found){0};
	if (!find_local(s, name, ret)) {
		*ret = (struct found){.is_global = true};
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
static struct str place_name(const struct bind *b, const struct code_site *s, uint64_t pc)
{
	const struct dwsite *site = &s->site;
	Dwarf_Die function = site->dies.v[site->dies.n - 1];
	const char *name = dwsrc_name(&function), *symbol = dwsrc_symbol(&function);
	bool is_hint = pc != site->pc; // which can be pasted into an attach point
	uint64_t addr;
	name = is_hint && symbol && *symbol ? symbol : name;
	struct str text =
	    str_printf(b->arena, "%s+0x%" PRIx64, name ? name : "?", pc - s->rows.entry);
	if (is_hint &&
	    (!img_find_function(s->src->img, str_from(name), &addr) || addr != s->rows.entry))
		text = str_printf(b->arena, "0x%" PRIx64, pc);
	unsigned line = line_at(s, pc);
	if (!s->rows.list.n)
		return str_printf(b->arena, "0x%" PRIx64, pc);
	if (pc == s->site.pc && s->asked.line)
		return str_printf(b->arena, STR_FMT " (" STR_FMT ":%u)", STR_ARG(text),
				  STR_ARG(s->asked.name), s->asked.line);
	return line ? str_printf(b->arena, STR_FMT " (" STR_FMT ":%u)", STR_ARG(text),
				 STR_ARG(site->file), line)
		    : text;
}

/** Is the code at @pc of the function of @v itself? By its address the name means @v there. */
static bool is_own_place(const struct code_site *s, uint64_t pc, const struct argloc_var *v)
{
	struct dwsite here;
	return dwsite_at(s->src, pc, NULL, &here) &&
	       here.dies.v[here.end - 1].addr == s->site.dies.v[function_of(s, v)].addr;
}

/** Rows nearest to the place, by lines, where the variable can be read; 0: none. */
static uint64_t find_nearest(const struct bind *b, const struct code_site *s, const struct found *f)
{
	enum { MOST = 4096 };
	uint64_t best = 0;
	unsigned line = line_for(s, &s->loc, &f->var), distance = UINT_MAX;
	if (f->is_global || !f->var.name.n)
		return 0;
	Dwarf_Die block = s->site.dies.v[f->var.block], die = f->var.die;
	struct str file = dwsite_decl_file(s->src, &die);
	for (size_t i = 0; i < s->rows.list.n && i < MOST; i++) {
		const struct dwrow *r = &s->rows.list.v[i];
		unsigned far = r->line > line ? r->line - line : line - r->line;
		struct argloc l;
		struct dwsite site;
		if (far >= distance || !r->line || (file.n && !str_eq(r->file, file)) ||
		    dwarf_haspc(&block, r->pc - (s->site.pc - s->site.at)) <= 0)
			continue;
		argloc_move(&s->loc, r->pc, &site, &l);
		struct argloc_var v = f->var;
		argloc_locate(&l, &v);
		if (why_not_at(b->arena, s, &l, &v) || !is_own_place(s, r->pc, &f->var))
			continue;
		best = r->pc;
		distance = far;
	}
	return best;
}

static bool report_unreadable(const struct bind *b, const struct token *use,
			      const struct code_site *s, const struct found *f, const char *why)
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
	else if (near && f->why_not) // else no place helps
		diag_note(b->diag, NULL, "the nearest place where it can be read is " STR_FMT "%s",
			  STR_ARG(place_name(b, s, near)), s->is_call ? ", with vars.NAME" : "");
	return false;
}

/** What could be read there instead. */
static bool report_unknown(const struct bind *b, const struct token *use, const struct code_site *s)
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
	bool is_float = t && t->kind == CTYPE_FLOAT;
	*is_memory = t && (ctype_is_aggregate(t) || t->kind == CTYPE_ARRAY || is_float);
	if (!t)
		return "its type is not known";
	if (is_float)
		return !e->is_place ? "bpftrace has no floating-point numbers"
		       : t->size == 4 || t->size == 8
			   ? NULL
			   : "it is a floating-point number of more than 8 bytes";
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
static void take_member(const struct bind *b, struct code_site *s, struct found *f,
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

static struct namedvar make(struct arena *a, const struct code_site *s, struct ctype *t,
			    const struct argloc_var *v, bool is_memory)
{
	uint64_t size = 0;
	if (!is_memory)
		ctype_size(t, &size);
	return (struct namedvar){
	    .name = v->name,
	    .type = t,
	    .is_memory = is_memory,
	    .text = argread_location(a, s->src->img, s->site.pc, &v->at, (unsigned)size)};
}

static bool report_differing(const struct bind *b, const struct token *use,
			     const struct code_site *spots, size_t i, const char *what)
{
	diag_error(b->diag, tok_at(use),
		   "variable " STR_FMT " %s at different addresses of this clause: " STR_FMT
		   " and " STR_FMT,
		   STR_ARG(use->text), what, STR_ARG(place_name(b, &spots[0], spots[0].site.pc)),
		   STR_ARG(place_name(b, &spots[i], spots[i].site.pc)));
	return diag_note(b->diag, NULL, "write a clause for each");
}

static bool resolve(const struct bind *b, struct attach_clause *c, struct code_site *spots,
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
		struct namedvar now = make(b->arena, &spots[i], t, &f.var, is_memory);
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
			struct code_site *ret)
{
	struct dwasked entry = {.how = DWASKED_ENTRY};
	*ret = (struct code_site){.src = p->src, .is_call = is_call, .asked = p->asked};
	if (!dwsite_at(p->src, p->addr, is_call ? &entry : &p->asked, &ret->site))
		return false;
	argloc_init(&ret->loc, p->src, &ret->site, !is_call);
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
	struct code_site *spots = arena_array(b->arena, struct code_site, c->near.places.n);
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

/** Is @name readable at all @n places, as one variable of one type? */
static bool is_readable(struct arena *a, struct code_site *spots, size_t n, struct str name,
			struct namedvar *ret)
{
	struct str *texts = arena_array(a, struct str, n);
	uint64_t *pcs = arena_array(a, uint64_t, n);
	bool are_same = true;
	for (size_t i = 0; i < n; i++) {
		struct found f = {0};
		bool is_memory;
		if (!find_local(&spots[i], name, &f) || f.why_not ||
		    function_of(&spots[i], &f.var) + 1 != spots[i].site.end ||
		    why_not_at(a, &spots[i], &spots[i].loc, &f.var))
			return false;
		struct ctype *t = ctype_as_pointer(a, f.var.type);
		if (why_not_type(t, &f.var.at, &is_memory) ||
		    (i > 0 && !argtype_is_same(a, t, ret->type)))
			return false;
		struct namedvar now = make(a, &spots[i], t, &f.var, is_memory);
		texts[i] = now.text;
		pcs[i] = spots[i].site.pc;
		*ret = i > 0 ? *ret : now;
		are_same &= str_eq(texts[i], texts[0]);
	}
	return are_same || argread_choose(a, spots[0].src->img->machine, texts, pcs, n).n;
}

static int by_declaration(const void *a, const void *b)
{
	const struct argloc_var *x = a, *y = b;
	bool is_param = is_parameter(x), other = is_parameter(y);
	return is_param != other ? other - is_param : x->line < y->line ? -1 : x->line > y->line;
}

bool namedvar_list(struct arena *a, const struct context_place *places, size_t n,
		   struct namedvars *ret)
{
	struct code_site *spots = arena_array(a, struct code_site, n);
	struct map seen = {0};
	*ret = (struct namedvars){0};
	for (size_t i = 0; i < n; i++)
		if (!look_around(a, &places[i], false, &spots[i]))
			return false;
	VEC(struct argloc_var) all = {0};
	for (size_t i = 0; n && i < spots[0].loc.vars.n; i++)
		vec_push(a, &all, spots[0].loc.vars.v[i]);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_declaration);
	vec_each(const struct argloc_var, v, &all) {
		struct namedvar one;
		if (!str_is_ident(v->name) || is_later(&spots[0], v) ||
		    function_of(&spots[0], v) + 1 != spots[0].site.end ||
		    !map_add(a, &seen, v->name))
			continue;
		if (!is_readable(a, spots, n, v->name, &one))
			one = (struct namedvar){.name = v->name};
		one.is_param = is_parameter(v);
		vec_push(a, &ret->list, one);
	}
	return n > 0;
}

bool namedvar_is_passed(struct arena *a, struct dwsrc *src, uint64_t addr, struct str name)
{
	struct code_site s;
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
