#include "probe/argloc.h"

#include <dwarf.h>
#include <elf.h>

#include "elf/debugfile.h"
#include "probe/argtype.h"
#include "dwarf/dwload.h"

enum { MAX_VARS = 4096, MAX_CANDIDATES = 32, MAX_NEST = 16 };

// --- where variables are

/** What an argument of a probe can be, of all places. */
static void find_kind(struct argloc_var *v)
{
	const struct locexpr_step *s = v->at.steps.v;
	size_t n = v->at.steps.n;
	bool is_sum = n == 3 && s[0].op == LOCEXPR_REGISTER && s[1].op == LOCEXPR_NUMBER &&
		      s[2].op == LOCEXPR_ADD;
	v->kind = ARGLOC_NOWHERE;
	if (n == 1 && s[0].op == LOCEXPR_ADDRESS && v->at.is_place) {
		v->kind = ARGLOC_STATIC;
		v->off = s[0].n;
	} else if (is_sum || (n == 1 && s[0].op == LOCEXPR_REGISTER)) {
		v->kind = v->at.is_place ? ARGLOC_MEM : is_sum ? ARGLOC_NOWHERE : ARGLOC_REG;
		v->reg = (int)s[0].n;
		v->off = is_sum ? s[1].n : 0; // a file can say any
	}
}

/** Where @ops counts from: register + offset; nothing is changed where it is anything else. */
static void read_sum(const struct argloc *l, Dwarf_Attribute *at, const Dwarf_Op *ops, size_t n,
		     int *reg, int64_t *off)
{
	struct argloc_var v = {0};
	struct locexpr_part part = {0, 8, 8};
	locexpr_read(l->src->arena, at, ops, n, &l->frame, &part, &v.at);
	find_kind(&v);
	if (v.kind == ARGLOC_REG || v.kind == ARGLOC_MEM) {
		*reg = v.reg;
		*off = v.off;
	}
}

/** CFA at the site, from the unwind tables. */
static void find_cfa(struct argloc *l)
{
	struct debuginfo *di;
	Dwarf_Addr bias;
	Dwarf_Frame *frame;
	if (!img_debuginfo(l->src->img, &di))
		return;
	Dwarf_CFI *tables[2] = {dwfl_module_eh_cfi(di->module, &bias), dwarf_getcfi(di->dwarf)};
	Dwarf_Addr at[2] = {l->scope->pc - bias, l->scope->at};
	for (int i = 0; i < 2 && l->frame.cfa_reg < 0; i++) {
		Dwarf_Op *ops;
		size_t n;
		if (!tables[i] || dwarf_cfi_addrframe(tables[i], at[i], &frame) != 0)
			continue;
		if (dwarf_frame_cfa(frame, &ops, &n) == 0)
			read_sum(l, NULL, ops, n, &l->frame.cfa_reg, &l->frame.cfa_off);
		free(frame);
	}
}

/** Frame base of the function that owns the code: the CFA, or a register. */
static void find_base(struct argloc *l)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;
	if (!l->scope->dies.n)
		return;
	Dwarf_Die outermost = l->scope->dies.v[l->scope->dies.n - 1];
	if (!dwarf_attr_integrate(&outermost, DW_AT_frame_base, &at) ||
	    dwarf_getlocation_addr(&at, l->scope->at, &ops, &n, 1) < 1 || !n)
		return;
	l->frame.is_cfa = n == 1 && ops[0].atom == DW_OP_call_frame_cfa;
	read_sum(l, &at, ops, n, &l->frame.base_reg, &l->frame.base_off);
}

static void find_frame(struct argloc *l)
{
	l->frame = (struct locexpr_frame){
	    .cfa_reg = -1, .base_reg = -1, .bias = l->scope->pc - l->scope->at};
	find_cfa(l);
	find_base(l);
}

void argloc_move(const struct argloc *l, uint64_t pc, struct dwsite *scope, struct argloc *ret)
{
	*scope = *l->scope;
	scope->pc = pc;
	scope->at = pc - (l->scope->pc - l->scope->at);
	*ret = *l;
	ret->scope = scope;
	find_frame(ret);
}

static bool read_constant(struct argloc *l, Dwarf_Attribute *at, const struct locexpr_part *part,
			  struct locexpr *ret)
{
	Dwarf_Block block;
	Dwarf_Word word;
	uint64_t value = 0;
	if (dwarf_formblock(at, &block) == 0) {
		uint64_t n = part->size == part->whole ? block.length : part->size;
		if (n > 8 || n > block.length || part->off > block.length - n)
			return false;
		for (size_t i = 0; i < n; i++)
			value |= (uint64_t)block.data[part->off + i] << 8 * i;
	} else if (part->size == part->whole && dwarf_formudata(at, &word) == 0) {
		value = word; // of DW_FORM_sdata the bits
	} else {
		return false;
	}
	*ret = (struct locexpr){0};
	vec_push(l->src->arena, &ret->steps, (struct locexpr_step){LOCEXPR_NUMBER, (int64_t)value});
	return true;
}

void argloc_locate(struct argloc *l, struct argloc_var *v)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;
	struct locexpr_part part = {v->part_off, v->part_size, 0};
	v->at = (struct locexpr){.why_not = "it is optimized out"};
	ctype_size(v->type, &part.whole);
	part.size = part.size ? part.size : part.whole;
	if (dwarf_attr_integrate(&v->die, DW_AT_location, &at)) {
		unsigned form = dwarf_whatform(&at); // else a list of locations by address
		v->is_everywhere = form == DW_FORM_exprloc || form == DW_FORM_block ||
				   form == DW_FORM_block1 || form == DW_FORM_block2 ||
				   form == DW_FORM_block4;
		if (dwarf_getlocation_addr(&at, l->scope->at, &ops, &n, 1) >= 1)
			locexpr_read(l->src->arena, &at, ops, n, &l->frame, &part, &v->at);
	} else if (dwarf_attr_integrate(&v->die, DW_AT_const_value, &at)) {
		read_constant(l, &at, &part, &v->at);
	}
	find_kind(v);
}

static void add_var(struct argloc *l, Dwarf_Die *die, unsigned block)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute at;
	int line = 0;
	bool artificial = false;
	if (dwarf_attr_integrate(die, DW_AT_artificial, &at))
		dwarf_formflag(&at, &artificial);
	// Neither what the compiler made, but for what a lambda has captured, nor what the probe macro itself declares.
	if (!name || !*name || strncmp(name, "__usdt_", 7) == 0 || l->vars.n >= MAX_VARS ||
	    (artificial && strcmp(name, "this") != 0 &&
	     (dwarf_tag(die) == DW_TAG_formal_parameter || strncmp(name, "__", 2) == 0)))
		return;
	struct argloc_var v = {.name = str_from(name), .block = block, .die = *die};
	v.type = dwload_type_of(l->src, die);
	dwarf_decl_line(die, &line);
	v.line = (unsigned)line;
	argloc_locate(l, &v);
	vec_push(l->src->arena, &l->vars, v);
}

void argloc_begin(struct argloc *l, struct dwsrc *src, const struct dwsite *scope)
{
	*l = (struct argloc){.src = src, .scope = scope};
	find_frame(l);
}

void argloc_init(struct argloc *l, struct dwsrc *src, const struct dwsite *scope, bool outwards)
{
	argloc_begin(l, src, scope);
	for (size_t i = scope->first; i < (outwards ? scope->dies.n : scope->end); i++) {
		Dwarf_Die parent = scope->dies.v[i];
		struct dwwalk w = {0};
		for (Dwarf_Die die = {0}; dwsrc_next_child(src, &w, &parent, &die);) {
			int tag = dwarf_tag(&die);
			if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
				add_var(l, &die, (unsigned)i);
		}
	}
}

// --- candidates

static void add_one(struct argloc *l, const struct sdtarg *operand, struct str name,
		    struct ctype *declared, struct argloc_candidates *ret)
{
	struct arena *a = l->src->arena;
	// Where a reference is, there is the address of what it refers to.
	struct ctype *type = argtype_of_value(a, ctype_as_pointer(a, declared));
	if (!name.n || ret->list.n >= MAX_CANDIDATES || !argtype_fits(type, operand))
		return;
	for (size_t i = 0; i < ret->list.n; i++)
		if (str_eq(ret->list.v[i].name, name) &&
		    argtype_is_same(a, ret->list.v[i].type, type))
			return;
	vec_push(a, &ret->list, (struct argloc_candidate){name, type});
}

/**
 * A pointer to a struct is also the address of its first member, when that is an array or a struct:
 * `p->name`.
 */
static void add_first_members(struct argloc *l, const struct sdtarg *operand, struct ctype *t,
			      struct argloc_candidates *ret)
{
	t = ctype_strip(t);
	t = t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
	for (unsigned depth = 0; t && depth < MAX_NEST; depth++) {
		if (!ctype_is_aggregate(t) || !ctype_complete(t))
			return;
		struct ctype *first = NULL;
		for (size_t i = 0; i < t->n_members; i++) {
			const struct ctype_member *m = &t->members[i];
			struct ctype *bare = ctype_strip(m->type);
			// `union { struct __data; char __size[48]; }`: what only the C library
			// itself writes.
			if (m->off || m->bit_size || !bare || str_has_prefix(m->name, STR("__")))
				continue;
			if (bare->kind == CTYPE_ARRAY)
				add_one(l, operand, m->name, m->type, ret);
			if (!ctype_is_aggregate(bare))
				continue;
			add_one(l, operand, m->name,
				ctype_new_pointer(l->src->arena, m->type, (unsigned)operand->size),
				ret);
			first = bare;
		}
		t = first;
	}
}

static void add(struct argloc *l, const struct sdtarg *operand, struct str name,
		struct ctype *declared, struct argloc_candidates *ret)
{
	add_one(l, operand, name, declared, ret);
	add_first_members(l, operand, declared, ret);
}

/** The members of @t, nested ones too, that lie at @off. @name: of what is not a struct itself. */
static void add_at(struct argloc *l, const struct sdtarg *operand, struct str name, struct ctype *t,
		   uint64_t off, struct argloc_candidates *ret, unsigned depth)
{
	struct ctype *bare = ctype_strip(t);
	uint64_t size;
	if (!bare || depth > MAX_NEST)
		return;
	if (bare->kind == CTYPE_ARRAY) {
		if (ctype_size(bare->of, &size) && size)
			add_at(l, operand, name, bare->of, off % size, ret, depth + 1);
		return;
	}
	if (!ctype_is_aggregate(bare)) {
		if (off == 0)
			add(l, operand, name, t, ret);
		return;
	}
	if (!ctype_complete(bare))
		return;
	for (size_t i = 0; i < bare->n_members; i++) {
		const struct ctype_member *m = &bare->members[i];
		if (m->bit_size || m->off > off || !ctype_size(m->type, &size) ||
		    off - m->off >= size)
			continue;
		add_at(l, operand, m->name, m->type, off - m->off, ret, depth + 1);
	}
}

static void find_memory(struct argloc *l, const struct sdtarg *operand, int base,
			struct argloc_candidates *ret)
{
	vec_each(const struct argloc_var, v, &l->vars) {
		struct ctype *t = ctype_strip(v->type);
		uint64_t size;
		if (!t || v->reg != base)
			continue;
		int64_t off = (int64_t)((uint64_t)operand->disp - (uint64_t)v->off);
		if (v->kind == ARGLOC_MEM && off >= 0 && ctype_size(v->type, &size) &&
		    (uint64_t)off < size)
			add_at(l, operand, v->name, v->type, (uint64_t)off, ret, 0);
		// A member of its pointee; a plain number after a pointer has no name of its own.
		if (v->kind == ARGLOC_REG && operand->disp >= 0 &&
		    (t->kind == CTYPE_POINTER || t->kind == CTYPE_REFERENCE) && t->of &&
		    ctype_size(t->of, &size) && (uint64_t)operand->disp < size)
			add_at(l, operand, v->name, t->of, (uint64_t)operand->disp, ret, 0);
	}
}

/** clang's `this` in a lambda is the lambda, a class without a name, not what it captured. */
static bool is_lambda(const struct argloc *l, const struct argloc_var *v)
{
	struct ctype *to = str_eqz(v->name, "this") ? ctype_pointee(v->type) : NULL;
	Dwarf_Die unit = l->scope->unit;
	return to && !to->name.n && !dwsrc_is_c(&unit);
}

const struct argloc_var *argloc_variable(const struct argloc *l, struct str name)
{
	static const struct argloc_var unknown;
	const struct argloc_var *found = NULL;
	vec_each(const struct argloc_var, v, &l->vars) {
		if (!str_eq(v->name, name) || (v->line && v->line > l->scope->line))
			continue;
		// clang has the variables of all catch clauses of a block in that block.
		if (is_lambda(l, v) || (found && found->block == v->block &&
					!argtype_is_same(l->src->arena, found->type, v->type)))
			return &unknown;
		found = found ? found : v;
	}
	return found;
}

// Not the definition before a declaration: what a namespace declares is defined at the top, too.
bool argloc_global(struct argloc *l, struct str *name, struct ctype **ret)
{
	Dwarf_Die unit = l->scope->unit;
	struct dwwalk w = {0};
	struct str wanted = *name;
	*ret = NULL;
	for (Dwarf_Die die = {0}; dwsrc_next_child(l->src, &w, &unit, &die);) {
		struct str own = str_from(dwarf_diename(&die));
		if (dwarf_tag(&die) != DW_TAG_variable ||
		    (!str_eq(wanted, own) && !str_eqz(wanted, dwsrc_symbol(&die))))
			continue;
		struct ctype *t = dwload_type_of(l->src, &die);
		if (*ret && !argtype_is_same(l->src->arena, *ret, t))
			return false;
		*ret = t;
		*name = own;
		// gcc -flto has the statics of several source files in one unit.
		if (!t || !dwarf_hasattr(&die, DW_AT_abstract_origin))
			break;
	}
	return *ret != NULL;
}

/** Definitions in @parent and namespaces below it; a declaration only while there is nothing else. */
static void find_global(struct argloc *l, Dwarf_Die *parent, struct str name, unsigned depth,
			struct argloc_var *ret, size_t *n_found)
{
	struct dwwalk w = {0};
	for (Dwarf_Die die = {0}; dwsrc_next_child(l->src, &w, parent, &die);) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_namespace && depth < MAX_NEST)
			find_global(l, &die, name, depth + 1, ret, n_found);
		if (tag != DW_TAG_variable || !str_eq(name, str_from(dwarf_diename(&die))))
			continue;
		bool is_defined = dwarf_hasattr_integrate(&die, DW_AT_location) ||
				  dwarf_hasattr_integrate(&die, DW_AT_const_value);
		*n_found += is_defined;
		if (is_defined || !ret->name.n)
			*ret = (struct argloc_var){.name = name, .die = die};
	}
}

bool argloc_find_global(struct argloc *l, struct str name, struct argloc_var *ret)
{
	Dwarf_Die unit = l->scope->unit;
	size_t n_found = 0;
	*ret = (struct argloc_var){0};
	find_global(l, &unit, name, 0, ret, &n_found);
	if (!ret->name.n || n_found > 1)
		return false;
	ret->type = dwload_type_of(l->src, &ret->die);
	argloc_locate(l, ret);
	return true;
}

bool argloc_names_globals(struct argloc *l)
{
	Dwarf_Die unit = l->scope->unit, function;
	struct dwwalk w = {0};
	if (dwsrc_is_c(&unit))
		return true;
	if (!l->scope->end)
		return false;
	// Of an instance its original, of a definition elsewhere its declaration: that is in its scope.
	function = l->scope->dies.v[l->scope->end - 1];
	for (unsigned i = 0; i < MAX_NEST && (dwsrc_follow(&function, DW_AT_abstract_origin) ||
					      dwsrc_follow(&function, DW_AT_specification));)
		i++;
	for (Dwarf_Die die = {0}; dwsrc_next_child(l->src, &w, &unit, &die);)
		if (dwarf_dieoffset(&die) == dwarf_dieoffset(&function))
			return true;
	return false;
}

/**
 * `total.2` is a static variable of a function, `total.lto_priv.0` one of a file: the name before
 * the dot, or empty.
 */
static struct str name_of_local(struct str symbol)
{
	size_t dot = str_find(symbol, '.');
	struct str name = str_slice(symbol, 0, dot), rest = str_from_offset(symbol, dot + 1);
	uint64_t n;
	str_take(&rest, STR("lto_priv."));
	return str_is_ident(name) && str_to_u64(rest, &n) ? name : (struct str){0};
}

/** What @operand is when the variable @name of type @type is at its symbol. */
static void add_symbol(struct argloc *l, const struct sdtarg *operand, struct str name,
		       struct ctype *type, struct argloc_candidates *ret)
{
	uint64_t size;
	if (operand->kind == SDTARG_MEM) {
		if (operand->disp >= 0 && ctype_size(type, &size) && (uint64_t)operand->disp < size)
			add_at(l, operand, name, type, (uint64_t)operand->disp, ret, 0);
		return;
	}
	struct ctype *bare = ctype_strip(type);
	if (operand->disp != 0 || !bare)
		return;
	// The address of an array is the array; that of a struct is a pointer to it, or to its
	// first member.
	if (bare->kind == CTYPE_ARRAY)
		add(l, operand, name, type, ret);
	else
		add(l, operand, name, ctype_new_pointer(l->src->arena, type, 8), ret);
}

static void find_symbol(struct argloc *l, const struct sdtarg *operand,
			struct argloc_candidates *ret)
{
	struct ctype *type;
	struct str local = name_of_local(operand->symbol), name = local.n ? local : operand->symbol;
	if (argloc_global(l, &name, &type))
		add_symbol(l, operand, name, type, ret);
	// Two statics of one name in different blocks are told apart by a number that nobody else
	// knows: both.
	for (size_t i = 0; i < l->vars.n && local.n; i++)
		if (l->vars.v[i].kind == ARGLOC_STATIC && str_eq(l->vars.v[i].name, local))
			add_symbol(l, operand, local, l->vars.v[i].type, ret);
}

void argloc_find(struct argloc *l, const struct sdtarg *operand, struct argloc_candidates *ret)
{
	int base = operand->base.n ? sdtarg_register(l->src->img->machine, operand->base) : -1;
	if (operand->kind == SDTARG_REG && base >= 0) {
		for (size_t i = 0; i < l->vars.n; i++)
			if (l->vars.v[i].kind == ARGLOC_REG && l->vars.v[i].reg == base)
				add(l, operand, l->vars.v[i].name, l->vars.v[i].type, ret);
	} else if (operand->kind == SDTARG_MEM && !operand->index.n && operand->symbol.n) {
		if (base < 0)
			find_symbol(l, operand, ret);
	} else if (operand->kind == SDTARG_MEM && !operand->index.n && base >= 0) {
		find_memory(l, operand, base, ret);
	} else if (operand->kind == SDTARG_ADDR && base < 0) {
		find_symbol(l, operand, ret);
	}
}
