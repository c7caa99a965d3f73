#include "types/dwcode.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/debuginfo.h"
#include "types/dwload.h"
#include "types/dwscope.h"

enum { MAX_VARS = 4096 };

bool dwcode_unit(struct img *img, uint64_t pc, Dwarf_Die *ret)
{
	struct debuginfo *di;
	if (!img_debuginfo(img, &di))
		return false;
	Dwarf_Addr addr = pc - di->bias;
	// .debug_aranges answers at once; clang does not write it.
	if (!dwarf_addrdie(di->dwarf, addr, ret)) {
		Dwarf_CU *cu = NULL;
		Dwarf_Die unit;
		int found = 0;
		while (found != 1 &&
		       dwarf_get_units(di->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
			found = dwarf_haspc(&unit, addr);
		if (found != 1)
			return false;
		*ret = unit;
	}
	Dwarf_Die split;
	uint8_t kind;
	if (dwarf_cu_info(ret->cu, NULL, &kind, NULL, &split, NULL, NULL, NULL) == 0 &&
	    kind == DW_UT_skeleton && split.cu)
		*ret = split;
	return true;
}

struct frame {
	struct dwsrc *src; /**< where types are made */
	struct debuginfo *di;
	Dwarf_Addr pc;	    /**< as the handle counts */
	Dwarf_Die function; /**< the concrete one; its frame base is everybody's */
	bool has_function;
	struct dwcode *ret;
};

/** A single step "register + offset", whatever it is called. */
static bool read_base(const Dwarf_Op *op, unsigned *reg, int64_t *off)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*off = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx) {
		*reg = (unsigned)op->number;
		*off = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool read_register(const Dwarf_Op *op, unsigned *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		*reg = (unsigned)op->number;
	else
		return false;
	return true;
}

/** The canonical frame address at this place, as register + offset, from .eh_frame or .debug_frame. */
static bool find_cfa(struct frame *f, unsigned *reg, int64_t *off)
{
	bool good = false;
	for (int i = 0; i < 2 && !good; i++) {
		Dwarf_Addr bias = 0;
		Dwarf_CFI *cfi = i == 0 ? dwfl_module_eh_cfi(f->di->module, &bias)
					: dwfl_module_dwarf_cfi(f->di->module, &bias);
		Dwarf_Frame *frame = NULL;
		if (!cfi || dwarf_cfi_addrframe(cfi, f->pc + f->di->bias - bias, &frame) != 0)
			continue;
		Dwarf_Op *ops;
		size_t n;
		good =
		    dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && read_base(&ops[0], reg, off);
		free(frame);
	}
	return good;
}

static bool find_frame_base(struct frame *f, unsigned *reg, int64_t *off)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;
	if (!f->has_function || !dwarf_attr_integrate(&f->function, DW_AT_frame_base, &at) ||
	    dwarf_getlocation_addr(&at, f->pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return find_cfa(f, reg, off);
	*off = 0;
	return read_register(&ops[0], reg) || read_base(&ops[0], reg, off);
}

static bool find_place(struct frame *f, Dwarf_Die *die, struct dwvar *v)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;
	Dwarf_Sword value;
	if (dwarf_attr_integrate(die, DW_AT_const_value, &at)) {
		v->kind = DWVAR_CONST;
		if (dwarf_formsdata(&at, &value) != 0)
			return false;
		v->off = value;
		return true;
	}
	// Exactly one place: where several overlap, or the place is a list of pieces, nothing is said.
	if (!dwarf_attr_integrate(die, DW_AT_location, &at) ||
	    dwarf_getlocation_addr(&at, f->pc, &ops, &n, 1) != 1 || n == 0 || n > 2)
		return false;
	if (n == 2) {
		// "register + 0" as a value is what the register holds.
		v->kind = DWVAR_REG;
		return ops[1].atom == DW_OP_stack_value && read_base(&ops[0], &v->reg, &v->off) &&
		       v->off == 0;
	}
	int64_t more = (int64_t)ops[0].number;
	v->kind = DWVAR_MEM;
	switch (ops[0].atom) {
	case DW_OP_fbreg:
		return find_frame_base(f, &v->reg, &v->off) &&
		       !__builtin_add_overflow(v->off, more, &v->off);
	case DW_OP_addr:
		v->kind = DWVAR_STATIC;
		v->off = (int64_t)(ops[0].number + f->di->bias);
		return true;
	default:
		if (read_base(&ops[0], &v->reg, &v->off))
			return true;
		v->kind = DWVAR_REG;
		return read_register(&ops[0], &v->reg);
	}
}

/** The same DIE in the handle that types are made from: offsets are the same. */
static bool same_die(struct frame *f, Dwarf_Die *die, Dwarf_Die *ret)
{
	if (!f->src->slim) {
		*ret = *die;
		return true;
	}
	return dwarf_offdie(f->src->dbg, dwarf_dieoffset(die), ret);
}

static void add_var(struct frame *f, Dwarf_Die *die, unsigned depth)
{
	struct dwvar v = {.depth = depth, .is_param = dwarf_tag(die) == DW_TAG_formal_parameter};
	const char *name = dwsrc_name(die);
	Dwarf_Die own;
	if (!name || f->ret->vars.n >= MAX_VARS || !find_place(f, die, &v) ||
	    !same_die(f, die, &own))
		return;
	v.name = str_from(name);
	v.type = dwload_type_of(f->src, &own);
	if (v.type)
		vec_push(f->src->arena, &f->ret->vars, v);
}

static struct str function_name(struct frame *f, Dwarf_Die *die)
{
	const char *name = dwsrc_name(die);
	Dwarf_Attribute at;
	Dwarf_Die origin = *die, next, own;
	// Scopes are those of the declaration: through the inlined copy's origin and what that completes.
	for (int i = 0; i < 4; i++) {
		if (!dwarf_attr(&origin, DW_AT_abstract_origin, &at) &&
		    !dwarf_attr(&origin, DW_AT_specification, &at))
			break;
		if (!dwarf_formref_die(&at, &next))
			break;
		origin = next;
	}
	struct str outer = same_die(f, &origin, &own) ? dwscope_of(f->src, &own) : (struct str){0};
	if (!name || !outer.n)
		return str_from(name);
	return str_from(arena_printf(f->src->arena, STR_FMT "::%s", STR_ARG(outer), name));
}

static bool descend(struct frame *f, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	struct dwwalk w = {0};
	bool found = false;
	for (bool more = dwsrc_child(f->src, &w, parent, &die); more && depth < DWSRC_MAX_DEPTH;
	     more = dwsrc_sibling(f->src, &w, &die, &die)) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
			if (!found && !f->has_function)
				found = descend(f, &die, depth);
			continue;
		}
		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && f->has_function) {
			add_var(f, &die, depth);
			continue;
		}
		bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
		if (found || (!is_function && tag != DW_TAG_lexical_block &&
			      tag != DW_TAG_try_block && tag != DW_TAG_catch_block))
			continue;
		if (dwarf_haspc(&die, f->pc) != 1)
			continue;
		found = true;
		if (is_function) {
			struct str name = function_name(f, &die);
			if (!f->has_function) {
				f->function = die;
				f->has_function = true;
			} else if (!f->ret->caller.n) {
				f->ret->caller = f->ret->function;
			}
			f->ret->function = name;
		}
		descend(f, &die, depth + 1);
	}
	return found;
}

bool dwcode_at(struct img *img, uint64_t pc, struct dwcode *ret)
{
	*ret = (struct dwcode){0};
	struct frame f = {.ret = ret};
	Dwarf_Die unit;
	if (!dwsrc_open(img, NULL, &f.src) || !img_debuginfo(img, &f.di) ||
	    !dwcode_unit(img, pc, &unit))
		return false;
	f.pc = pc - f.di->bias;
	Dwarf_Line *line = dwarf_getsrc_die(&unit, f.pc);
	int number;
	if (line && dwarf_lineno(line, &number) == 0 && number > 0) {
		const char *file = dwarf_linesrc(line, NULL, NULL);
		ret->file = str_from(file);
		ret->line = (unsigned)number;
	}
	descend(&f, &unit, 0);
	return true;
}
