#include "probe/funcargs.h"

#include <dwarf.h>
#include <elf.h>

#include "ctype/cxxclass.h"
#include "dwarf/dwload.h"
#include "dwarf/dwname.h"
#include "elf/demangle.h"
#include "elf/imgsym.h"
#include "probe/argloc.h"

int funcargs_register(unsigned machine, int number)
{
	// rdi, rsi, rdx, rcx, r8, r9: psABI of x86-64, figure 3.36
	static const int x86[] = {5, 4, 1, 2, 8, 9};
	if (machine == EM_X86_64)
		return number < 6 ? x86[number] : -1;
	return machine == EM_AARCH64 && number < 8 ? number : -1;
}

/** Where a parameter is when its function is entered. */
enum place_kind {
	PLACE_UNKNOWN,	/**< there is no location at all: optimized away, or forgotten */
	PLACE_NONE,	/**< nowhere at the entry, or worked out from others */
	PLACE_MEMORY,	/**< of the function's frame, where it is put first of all */
	PLACE_ABOVE,	/**< memory of the caller's frame */
	PLACE_REGISTER, /**< said of the entry itself */
	PLACE_BEHIND,	/**< memory of the caller's, whose address is passed */
	PLACE_SPREAD,	/**< registers, one after the other, eight bytes in each */
	PLACE_ANYWHERE, /**< a register, said of the whole function: it may be moved there first */
};

struct place {
	enum place_kind kind;
	int number; // of the argument register, -1: it is none
	bool is_at_once;
	bool
	    needs_rule; // PLACE_BEHIND, PLACE_SPREAD: said of the whole function, as PLACE_ANYWHERE is
	int by_value; // as passing_of() has it
};

/** As clang has a bool. */
static bool is_low_bits(const struct locexpr *e)
{
	bool ret = e->steps.n && e->steps.v[0].op == LOCEXPR_REGISTER && !e->is_place;
	for (size_t i = 1; i < e->steps.n; i++)
		ret &= e->steps.v[i].op == LOCEXPR_NUMBER || e->steps.v[i].op == LOCEXPR_AND ||
		       e->steps.v[i].op == LOCEXPR_UNSIGNED || e->steps.v[i].op == LOCEXPR_SIGNED;
	return ret;
}

/** The argument register that DWARF calls @reg; -1: none is. */
static int number_of(unsigned machine, int64_t reg)
{
	for (int i = 0; funcargs_register(machine, i) >= 0; i++)
		if (funcargs_register(machine, i) == (int)reg)
			return i;
	return -1;
}

/**
 * Is a class where an argument register leads to, *@number, or what the function has stored of one in its
 * frame, -1?
 */
static bool is_behind(const struct argloc *l, const struct argloc_var *v, int *number)
{
	const struct locexpr *e = &v->at;
	struct ctype *t = ctype_strip(v->type);
	*number = -1;
	if (!t || !ctype_is_aggregate(t) || !e->is_place || !e->steps.n)
		return false;
	const struct locexpr_step *first = &e->steps.v[0], *last = &e->steps.v[e->steps.n - 1];
	if (e->steps.n == 1 && first->op == LOCEXPR_REGISTER)
		*number = number_of(l->src->img->machine, first->n);
	return *number >= 0 || (last->op == LOCEXPR_READ && last->n == sizeof(uint64_t));
}

/**
 * Does one location of the whole function hold at its first instruction, too? LLVM writes one where no instruction of its
 * scope is before the DBG_VALUE (validThroughout() of DwarfDebug.cpp). Instructions without a line do not count: those of the
 * prologue may move a parameter to the register of another one first. Where the first instruction is marked as the end of the
 * prologue there are none before it. Measured: 3,358 entries of 829 functions, rustc 1.95 with -O1 to -O3 and LTO, 8,724
 * values: all were what the callers passed.
 */
static bool is_there_at_once(const struct argloc *l, const struct locexpr *e)
{
	bool ret = l->scope->is_body && !e->is_of_frame;
	vec_each(const struct locexpr_step, s, &e->steps)
		ret &= s->op != LOCEXPR_REGISTER || s->n != l->frame.cfa_reg;
	return ret;
}

/**
 * How many registers a class of the C++ library is passed in, where it is passed by value; 0: another type, or
 * not in registers for numbers.
 */
static unsigned registers_of(struct ctype *t)
{
	struct cxxclass c;
	uint64_t size;
	if (!cxxclass_read(t, &c) || !ctype_size(t, &size) || size > 16 || ctype_has_floats(t))
		return 0;
	return size > 8 ? 2 : 1;
}

/** Is @v in argument registers from *@number on? */
static bool is_spread(struct argloc *l, struct argloc_var v, struct place *p)
{
	unsigned n = registers_of(v.type);
	uint64_t size;
	for (unsigned i = 0; i < n && ctype_size(v.type, &size); i++) {
		v.part_off = i * sizeof(uint64_t);
		v.part_size = size - v.part_off < 8 ? size - v.part_off : 8;
		argloc_locate(l, &v);
		if (!is_low_bits(&v.at))
			return false;
		int number = number_of(l->src->img->machine, v.at.steps.v[0].n);
		if (number < 0 || (i && number != p->number + (int)i))
			return false;
		p->number = i ? p->number : number;
		p->needs_rule = v.is_everywhere;
	}
	return n > 0;
}

/** Where the parameter @die of type @t is at the entry @l. */
static struct place find_place(struct argloc *l, Dwarf_Die *die, struct ctype *t)
{
	struct argloc_var v = {.type = t, .die = *die};
	struct place p = {.kind = PLACE_NONE, .number = -1};
	unsigned machine = l->src->img->machine;
	argloc_locate(l, &v);
	p.is_at_once = is_there_at_once(l, &v.at);
	if (is_behind(l, &v, &p.number)) {
		p.kind = PLACE_BEHIND;
		p.needs_rule = v.is_everywhere;
		return p;
	}
	struct argloc_var parts = {.type = t, .die = *die};
	struct place spread = {.kind = PLACE_SPREAD, .number = -1};
	if (is_spread(l, parts, &spread))
		return spread;
	if (!dwarf_hasattr(die, DW_AT_location)) {
		p.kind = PLACE_UNKNOWN;
	} else if (v.kind == ARGLOC_MEM && v.at.is_of_frame) {
		bool is_above = l->frame.is_cfa && v.off >= l->frame.cfa_off;
		p.kind = is_above ? PLACE_ABOVE : PLACE_MEMORY;
	} else if (is_low_bits(&v.at)) {
		bool is_of_entry = v.kind == ARGLOC_REG && !v.is_everywhere;
		p.kind = is_of_entry ? PLACE_REGISTER : PLACE_ANYWHERE;
		p.number = number_of(machine, v.at.steps.v[0].n);
	}
	return p;
}

/** So many members of a struct are looked at. */
enum { MEMBERS = 1000 };

/** The calling convention, parameter after parameter. */
struct convention {
	unsigned machine;
	bool is_c;
	bool is_certain;
	int next, next_float; // argument registers that are free
};

/** To what it names: past typedefs, const and arrays. */
static void strip(Dwarf_Die *type)
{
	int tag;
	for (unsigned i = 0; i < DWSRC_MAX_DEPTH; i++) {
		tag = dwarf_tag(type);
		if ((tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		     tag != DW_TAG_volatile_type && tag != DW_TAG_array_type) ||
		    !dwsrc_follow(type, DW_AT_type))
			return;
	}
}

/** A member function that decides how its class is passed. */
enum special { SPECIAL_NOT, SPECIAL_END, SPECIAL_COPY, SPECIAL_UNSURE, SPECIAL_ASSIGN };

/**
 * Is @function, a member of @type, its destructor, does it copy or move one, or assign one that is moved? Unsure: with more
 * parameters it does if these have defaults.
 */
static enum special special_of(struct dwsrc *src, Dwarf_Die *type, Dwarf_Die *function)
{
	struct str name = str_from(dwsrc_name(function)), own = str_from(dwsrc_name(type));
	struct dwwalk w = {0};
	enum special ret = SPECIAL_NOT;
	bool assigns = str_eqz(name, "operator=");
	if (!assigns && !str_eq(name, str_slice(own, 0, str_find(own, '<'))))
		return str_has_prefix(name, STR("~")) ? SPECIAL_END : SPECIAL_NOT;
	for (Dwarf_Die die = {0}, of; dwsrc_next_child(src, &w, function, &die);) {
		of = die;
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    dwsrc_flag(&die, DW_AT_artificial))
			continue;
		if (ret)
			return SPECIAL_UNSURE;
		int tag = dwsrc_follow(&of, DW_AT_type) ? dwarf_tag(&of) : 0;
		if ((tag != DW_TAG_rvalue_reference_type &&
		     (assigns || tag != DW_TAG_reference_type)) ||
		    !dwsrc_follow(&of, DW_AT_type))
			return SPECIAL_NOT;
		strip(&of);
		if (of.addr != type->addr)
			return SPECIAL_NOT;
		ret = assigns ? SPECIAL_ASSIGN : SPECIAL_COPY;
	}
	return ret;
}

/**
 * Is the class passed by value, 1, or by its address, 0? -1: not known. gcc 12 does not write the attribute. One that copies or
 * destroys itself in its own way, or has such a part, or none of whose constructors may copy or move it, as where only a move is
 * assigned, is by address: C++ ABI for Itanium, 1.1.
 */
static int passing_of_class(struct dwsrc *src, Dwarf_Die *type, unsigned depth, unsigned *left)
{
	struct dwwalk w = {0};
	int ret = 1;
	bool is_copied = false, is_assigned = false;
	if (depth > 16 || dwsrc_flag(type, DW_AT_declaration))
		return -1;
	for (Dwarf_Die die = {0}, of; ret && dwsrc_next_child(src, &w, type, &die);) {
		int tag = dwarf_tag(&die), part = 1;
		uint64_t how = 0;
		of = die;
		if (!*left || !--*left)
			return -1;
		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inheritance) &&
		    dwsrc_number(&die, DW_AT_virtuality, &how) && how)
			return 0;
		enum special special =
		    tag == DW_TAG_subprogram && !dwsrc_flag(&die, DW_AT_artificial)
			? special_of(src, type, &die)
			: SPECIAL_NOT;
		is_copied |= special == SPECIAL_COPY;
		is_assigned |= special == SPECIAL_ASSIGN;
		if (special == SPECIAL_UNSURE)
			part = -1;
		else if ((special == SPECIAL_END || special == SPECIAL_COPY) &&
			 !(dwsrc_number(&die, DW_AT_defaulted, &how) &&
			   how == DW_DEFAULTED_in_class))
			part = dwsrc_flag(&die, DW_AT_deleted) ? -1 : 0;
		if ((tag == DW_TAG_inheritance ||
		     (tag == DW_TAG_member && !dwsrc_flag(&die, DW_AT_declaration))) &&
		    dwsrc_follow(&of, DW_AT_type)) {
			strip(&of);
			if (dwname_kind_of_tag(dwarf_tag(&of)) & (NAME_STRUCT | NAME_UNION))
				part = passing_of_class(src, &of, depth + 1, left);
		}
		ret = part < 1 && part != ret ? (part ? -1 : 0) : ret;
	}
	return is_assigned && !is_copied ? 0 : ret;
}

/** The same of the type of @die: of C++ the class says so, DWARF 5, section 5.7. */
static int passing_of(struct dwsrc *src, const struct convention *c, Dwarf_Die *die)
{
	enum { BY_REFERENCE = 4, BY_VALUE = 5 };
	Dwarf_Attribute at;
	Dwarf_Die type;
	uint64_t cc;
	Dwarf_Half version = 0;
	unsigned left = MEMBERS;
	if (c->is_c)
		return 1;
	if (!dwarf_attr_integrate(die, DW_AT_type, &at) || !dwarf_formref_die(&at, &type))
		return -1;
	strip(&type);
	if (dwsrc_number(&type, DW_AT_calling_convention, &cc))
		return cc == BY_VALUE ? 1 : cc == BY_REFERENCE ? 0 : -1;
	// Before DWARF 5 what is defaulted may not be marked.
	bool is_class = dwname_kind_of_tag(dwarf_tag(&type)) & (NAME_STRUCT | NAME_UNION);
	dwarf_cu_info(type.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	return is_class && version >= 5 ? passing_of_class(src, &type, 0, &left) : -1;
}

/**
 * Is it made of numbers and pointers in their natural places, of which each register takes its part?
 * Others are classed by rules of their own: vectors, long double, members of packed structs. @left: as
 * many members as are looked at.
 */
static bool is_plain(struct ctype *t, uint64_t off, unsigned *left)
{
	uint64_t size;
	t = ctype_strip(t);
	if (!t || !ctype_size(t, &size) || !*left)
		return false;
	--*left;
	if (t->kind == CTYPE_ARRAY)
		return !t->is_vector && is_plain(t->of, off, left);
	if (!ctype_is_aggregate(t))
		return size > 0 && size <= 8 && off % size == 0;
	for (size_t i = 0; ctype_complete(t) && i < t->n_members; i++)
		if (!t->members[i].bit_size &&
		    !is_plain(t->members[i].type, off + t->members[i].off, left))
			return false;
	return ctype_complete(t);
}

static void begin(struct dwsrc *src, struct convention *c, Dwarf_Die *function,
		  struct ctype *result)
{
	unsigned left = MEMBERS;
	int by_value = passing_of(src, c, function);
	uint64_t size = 0;
	bool is_sized = ctype_size(result, &size);
	c->is_certain = true;
	result = ctype_strip(result);
	// On AArch64 the address that it is returned at has a register of its own.
	if (!result || c->machine == EM_AARCH64)
		return;
	if (!ctype_is_aggregate(result))
		c->is_certain = result->kind != CTYPE_ARRAY && is_sized && size <= 16;
	else if (by_value < 0 || !is_sized || (by_value && !is_plain(result, 0, &left)))
		c->is_certain = false;
	else if (!by_value || size > 16)
		c->next++; // the address that it is returned at
}

enum { HAS_INTEGER = 1, HAS_FLOAT = 2 };

/** What @t, which is_plain() and lies at @off, has among the @n bytes at @from; 0 of padding and empty classes. */
static unsigned parts_of(struct ctype *t, uint64_t off, uint64_t from, uint64_t n)
{
	enum { MOST = 16 }; // elements are alike
	uint64_t size = 0;
	unsigned ret = 0;
	t = ctype_strip(t);
	if (t->kind == CTYPE_ARRAY) {
		ctype_size(t->of, &size);
		for (uint64_t i = 0; size && i < t->count && i < MOST && off < from + n;
		     i++, off += size)
			ret |= parts_of(t->of, off, from, n);
		return ret;
	}
	if (!ctype_is_aggregate(t))
		return off - from >= n ? 0 : t->kind == CTYPE_FLOAT ? HAS_FLOAT : HAS_INTEGER;
	list_each(const struct ctype_member, m, t->members, t->n_members) {
		uint64_t last = off + (m->bit_off + m->bit_size - 1) / 8;
		if (!m->bit_size)
			ret |= parts_of(m->type, off + m->off, from, n);
		else if (last >= from && off + m->bit_off / 8 < from + n)
			ret |= HAS_INTEGER;
	}
	return ret;
}

/** Whether of a parameter of type @t a register has only the address, as AArch64 passes large structs. */
static bool is_by_address(const struct convention *c, struct ctype *t)
{
	unsigned left = MEMBERS;
	uint64_t size;
	t = ctype_strip(t);
	// At most four floating-point numbers alike are in registers of theirs.
	return t && c->machine == EM_AARCH64 && c->is_c && ctype_is_aggregate(t) &&
	       ctype_size(t, &size) && size > 16 && is_plain(t, 0, &left) &&
	       (parts_of(t, 0, 0, UINT64_MAX) & HAS_INTEGER);
}

/** A struct that is passed by value takes registers for all of its eight bytes, or is in memory: psABI of x86-64, 3.2.3. */
static bool skip_struct(struct convention *c, struct ctype *t, uint64_t size)
{
	unsigned left = MEMBERS;
	int n = 0, n_floats = 0;
	if (c->machine != EM_X86_64 || (size <= 16 && !is_plain(t, 0, &left)))
		return false;
	for (uint64_t at = 0; size <= 16 && at < size; at += 8) {
		unsigned parts = parts_of(t, 0, at, 8);
		n += (parts & HAS_INTEGER) != 0;
		n_floats += parts == HAS_FLOAT;
	}
	if (c->next + n <= 6 && c->next_float + n_floats <= 8) {
		c->next += n;
		c->next_float += n_floats;
	}
	return true;
}

/** The number of a parameter of type @t, or of its address. */
static int next_number(struct convention *c, struct ctype *t, const struct place *p)
{
	enum place_kind kind = p->kind;
	uint64_t size;
	if (kind == PLACE_BEHIND)
		return c->is_certain && funcargs_register(c->machine, c->next) >= 0 ? c->next++
										    : -1;
	unsigned n = kind == PLACE_SPREAD || kind == PLACE_MEMORY ? registers_of(t) : 0;
	if (n && c->is_certain && funcargs_register(c->machine, c->next + (int)n - 1) >= 0) {
		c->next += (int)n;
		return c->next - (int)n;
	}
	t = ctype_strip(t);
	bool is_known = t && ctype_size(t, &size);
	if (is_known && t->kind == CTYPE_FLOAT) {
		c->next_float += size <= 8;
		return -1;
	}
	if (is_known && ctype_is_aggregate(t) && p->by_value == 1 && skip_struct(c, t, size))
		return -1;
	if (c->is_certain && is_by_address(c, t)) {
		c->next++;
		return -1;
	}
	bool is_one =
	    is_known && size <= 8 &&
	    (ctype_is_number(t) || t->kind == CTYPE_POINTER || t->kind == CTYPE_REFERENCE);
	c->is_certain &= is_one;
	if (!c->is_certain || funcargs_register(c->machine, c->next) < 0)
		return -1;
	return c->next++;
}

/** Numbers and pointers, which are in the first register of both machines' conventions. */
static bool is_in_one_register(struct ctype *t)
{
	uint64_t size;
	t = ctype_strip(t);
	return ctype_size(t, &size) && ctype_is_word(size) &&
	       (ctype_is_number(t) || t->kind == CTYPE_POINTER);
}

/** Rust, Go and others pass arguments as they like. */
static bool is_of_c(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: // C++17 and C++20, which not every libdw has a name for
	case 0x2b:
		return true;
	default:
		return dwsrc_is_c(unit);
	}
}

/** A function with another convention than its machine's is mostly marked. */
static bool is_callable(Dwarf_Die *unit, Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Word cc;
	if (!is_of_c(unit))
		return false;
	return !dwarf_attr_integrate(function, DW_AT_calling_convention, &attr) ||
	       (dwarf_formudata(&attr, &cc) == 0 && (cc == DW_CC_normal || cc == DW_CC_program));
}

/**
 * By the debug information of the entry, else by the convention. When a parameter is nowhere, or not
 * where it should be, the compiler has made a convention of its own for this function.
 */
static void number(struct arena *a, struct convention *c, struct funcargs *f,
		   const struct place *places, bool is_local)
{
	int *rule = arena_calloc(a, f->list.n + 1, sizeof(*rule));
	bool is_own = false;
	for (size_t i = 0; i < f->list.n; i++) {
		struct ctype *t = f->list.v[i].arg.type;
		enum place_kind kind = places[i].kind;
		rule[i] = next_number(c, t, &places[i]);
		f->list.v[i].is_there = kind == PLACE_ABOVE && c->is_certain;
		is_own |=
		    ((kind == PLACE_NONE || kind == PLACE_UNKNOWN) && !is_by_address(c, t)) ||
		    (rule[i] >= 0 && (kind == PLACE_ABOVE ||
				      (kind == PLACE_REGISTER && rule[i] != places[i].number))) ||
		    ((kind == PLACE_BEHIND || kind == PLACE_SPREAD) && rule[i] >= 0 &&
		     places[i].number >= 0 && rule[i] != places[i].number);
	}
	for (size_t i = 0; i < f->list.n; i++) {
		struct funcarg *arg = &f->list.v[i];
		const struct place *p = &places[i];
		struct ctype *t = ctype_strip(arg->arg.type);
		int by_rule = is_own ? -1 : rule[i];
		arg->is_there = (arg->is_there && !is_own) || p->is_at_once;
		// Callers in other files rely on the convention, whatever the compiler made of the rest.
		arg->expected = p->kind == PLACE_UNKNOWN && !is_local ? rule[i] : -1;
		arg->number = -1;
		int first = p->number < 0			    ? by_rule
			    : p->needs_rule && p->number != by_rule ? -1
								    : p->number;
		bool is_value =
		    p->kind == PLACE_SPREAD || (p->kind == PLACE_MEMORY && registers_of(t));
		arg->address = p->kind == PLACE_BEHIND ? first : -1;
		arg->spread = is_value ? first : -1;
		if (t && ctype_is_aggregate(t))
			continue; // its bytes are no number
		if (p->kind == PLACE_REGISTER || (p->kind == PLACE_ANYWHERE && p->is_at_once))
			arg->number = p->number;
		else if (p->kind == PLACE_MEMORY ||
			 (p->kind == PLACE_ANYWHERE && p->number == by_rule))
			arg->number = by_rule;
	}
}

static void read_result(struct dwsrc *src, const struct dwsite *site, Dwarf_Die *function,
			struct funcargs *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit = site->unit;
	struct ctype *t = ctype_as_pointer(src->arena, dwload_type_of(src, function));
	bool has_type = dwarf_attr_integrate(function, DW_AT_type, &attr);
	if (!is_of_c(&unit))
		return;
	ret->is_void = !has_type;
	ret->is_float = t && ctype_strip(t) && ctype_strip(t)->kind == CTYPE_FLOAT;
	// LLVM drops the result of a function whose callers it knows, when none of them looks at it or all
	// know what it is; its name and its type stay. gcc gives what is left a name of its own.
	const char *by = dwsrc_string(&unit, DW_AT_producer);
	bool may_be_dropped = by && strstr(by, "clang") && img_is_local(src->img, site->at);
	if (is_in_one_register(t) && !may_be_dropped)
		ret->result = t;
}

struct reading {
	struct funcargs *ret;
	VEC(struct place) places;
	int n_written;
};

/** Of gcc's DW_TAG_GNU_formal_parameter_pack, too, in which those of `A... all` are. */
static void add_parameters(struct dwsrc *src, struct dwwalk *w, Dwarf_Die *parent,
			   const struct convention *c, struct argloc *at, struct reading *r)
{
	for (Dwarf_Die die = {0}; dwsrc_next_child(src, w, parent, &die);) {
		if (dwarf_tag(&die) == DW_TAG_GNU_formal_parameter_pack &&
		    dwarf_tag(parent) == DW_TAG_subprogram)
			add_parameters(src, w, &die, c, at, r);
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		r->n_written += !dwsrc_flag(&die, DW_AT_artificial);
		const char *z = dwarf_diename(&die);
		struct ctype *t = dwload_type_of(src, &die);
		struct funcarg arg = {.arg = {.name = str_from(z),
					      .has_name = z != NULL,
					      .type = ctype_as_pointer(src->arena, t),
					      .from = PROBEARG_DECLARED}};
		vec_push(src->arena, &r->ret->list, arg);
		struct place place = find_place(at, &die, t);
		place.by_value = passing_of(src, c, &die);
		vec_push(src->arena, &r->places, place);
	}
}

bool funcargs_read(struct dwsrc *src, uint64_t addr, struct funcargs *ret)
{
	struct dwsite site;
	struct dwwalk w = {0};
	struct argloc at;
	Dwarf_Addr entry;
	struct reading r = {.ret = ret};
	*ret = (struct funcargs){0};
	if (!dwsite_at(src, addr, NULL, &site))
		return false;
	Dwarf_Die *function = &site.dies.v[site.dies.n - 1];
	if (dwarf_tag(function) != DW_TAG_subprogram || !dwsite_entry(function, &entry) ||
	    entry != site.at)
		return false;
	ret->function = str_from(dwarf_diename(function));
	struct convention c = {.machine = src->img->machine, .is_c = dwsrc_is_c(&site.unit)};
	begin(src, &c, function, dwload_type_of(src, function));
	read_result(src, &site, function, ret);
	c.is_certain &= is_callable(&site.unit, function);
	argloc_begin(&at, src, &site);
	add_parameters(src, &w, function, &c, &at, &r);
	// LLVM drops a parameter that is passed by its address and not used.
	int n_own = demangle_count_parameters(src->arena, str_from(dwsrc_symbol(function)));
	c.is_certain &= n_own < 0 || n_own == r.n_written;
	number(src->arena, &c, ret, r.places.v, img_is_local(src->img, site.at));
	return true;
}

const struct funcarg *funcargs_find(const struct funcargs *f, struct str name)
{
	return vec_find(const struct funcarg, p, &f->list,
			p->arg.has_name &&str_eq(p->arg.name, name));
}

struct str funcargs_declaration(struct arena *a, const struct funcargs *f)
{
	struct str *texts = arena_array(a, struct str, f->list.n);
	for (size_t i = 0; i < f->list.n; i++)
		texts[i] = probearg_declaration(a, &f->list.v[i].arg);
	return str_printf(a, STR_FMT "(" STR_FMT ")", STR_ARG(f->function),
			  STR_ARG(str_join(a, texts, f->list.n, ", ")));
}
