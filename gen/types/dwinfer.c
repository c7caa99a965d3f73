#include "types/dwinfer.h"

#include <elf.h>

#include "base/arena.h"

/** System V ABI for AMD64, figure 3.36: numbers 0 to 7 are not in the order of the encoding. */
static int x86_register(struct str name)
{
	static const char *const names[8][4] = {
	    {"rax", "eax", "ax", "al"},	 {"rdx", "edx", "dx", "dl"},  {"rcx", "ecx", "cx", "cl"},
	    {"rbx", "ebx", "bx", "bl"},	 {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	    {"rbp", "ebp", "bp", "bpl"}, {"rsp", "esp", "sp", "spl"},
	};
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 4; k++)
			if (str_eqz(name, names[i][k]))
				return i;
	// r8 to r15, with d, w or b for the lower part
	uint64_t n;
	if (name.n < 2 || name.p[0] != 'r')
		return -1;
	struct str digits = str_from_offset(name, 1);
	char last = digits.p[digits.n - 1];
	if (last == 'd' || last == 'w' || last == 'b')
		digits.n--;
	return str_to_u64(digits, &n) && n >= 8 && n <= 15 ? (int)n : -1;
}

/** DWARF for the Arm 64-bit architecture, section 4.1: x0 to x30, then sp. */
static int arm_register(struct str name)
{
	uint64_t n;
	if (str_eqz(name, "sp") || str_eqz(name, "wsp"))
		return 31;
	if (name.n < 2 || (name.p[0] != 'x' && name.p[0] != 'w'))
		return -1;
	return str_to_u64(str_from_offset(name, 1), &n) && n <= 30 ? (int)n : -1;
}

int dwinfer_register(unsigned machine, struct str name)
{
	return machine == EM_X86_64    ? x86_register(name)
	       : machine == EM_AARCH64 ? arm_register(name)
				       : -1;
}

static bool is_same_type(struct ctype *a, struct ctype *b)
{
	a = ctype_strip(a);
	b = ctype_strip(b);
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind || a->size != b->size || a->is_signed != b->is_signed)
		return false;
	if (a->kind == CTYPE_POINTER)
		return ctype_strip(a->of) == ctype_strip(b->of);
	return a->kind == CTYPE_INT || a->kind == CTYPE_BOOL ||
	       (a->name.n && str_eq(a->name, b->name));
}

/** Arrays and structs are passed to probes by address; what is in a register or a slot is a scalar. */
static bool is_scalar_of(struct ctype *t, unsigned size)
{
	uint64_t own;
	t = ctype_strip(t);
	return t && !ctype_is_aggregate(t) && t->kind != CTYPE_ARRAY && ctype_size(t, &own) &&
	       own == size;
}

struct search {
	struct dwinfer *ret;
	unsigned depth; /**< scope of what was found so far */
	bool found;
	bool is_clear; /**< its type is sure */
};

/**
 * Of two variables at one place the nearer one is meant: their values are equal, and the probe stands in its scope. Two
 * in one scope leave only what they have in common.
 */
static void consider(struct search *s, const struct dwvar *v, struct str name, struct str path,
		     struct ctype *type)
{
	if (s->found && v->depth < s->depth)
		return;
	if (!s->found || v->depth > s->depth) {
		*s->ret = (struct dwinfer){name, path, type};
		s->depth = v->depth;
		s->found = s->is_clear = true;
		return;
	}
	if (str_eq(s->ret->path, path) && is_same_type(s->ret->type, type))
		return;
	s->ret->name = s->ret->path = (struct str){0};
	s->is_clear &= is_same_type(s->ret->type, type);
}

/** The scalar member of @t, or of what it embeds, at @off; its place must fit to the bit. */
static bool member_at(struct arena *a, struct ctype *t, uint64_t off, unsigned size, unsigned depth,
		      struct dwinfer *ret)
{
	t = ctype_strip(t);
	if (!t || depth > 16 || !ctype_is_aggregate(t) || !ctype_complete(t))
		return false;
	bool found = false;
	for (size_t i = 0; i < t->n_members; i++) {
		const struct ctype_member *m = &t->members[i];
		struct dwinfer got = {0};
		uint64_t n;
		if (m->bit_size || off < m->off)
			continue;
		if (off == m->off && m->name.n && is_scalar_of(m->type, size)) {
			got = (struct dwinfer){m->name, m->name, m->type};
		} else if (!ctype_size(m->type, &n) || off - m->off >= n ||
			   !member_at(a, m->type, off - m->off, size, depth + 1, &got)) {
			continue;
		} else if (m->name.n && !m->is_base) {
			got.path = str_from(arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(m->name),
							 STR_ARG(got.path)));
		}
		if (found)
			return false; // members of a union: any could be meant
		*ret = got;
		found = true;
	}
	return found;
}

static void try_member(struct arena *a, struct search *s, const struct dwvar *v, int64_t off,
		       unsigned size)
{
	struct ctype *t = ctype_strip(v->type);
	struct dwinfer got;
	if (!t || t->kind != CTYPE_POINTER || off < 0 ||
	    !member_at(a, t->of, (uint64_t)off, size, 0, &got))
		return;
	struct str path =
	    str_from(arena_printf(a, STR_FMT "->" STR_FMT, STR_ARG(v->name), STR_ARG(got.path)));
	consider(s, v, got.name, path, got.type);
}

bool dwinfer_operand(struct arena *a, const struct dwcode *code, unsigned machine,
		     const struct sdtarg *arg, struct dwinfer *ret)
{
	struct search s = {.ret = ret};
	int reg = dwinfer_register(machine, arg->base);
	bool in_reg = arg->kind == SDTARG_REG;
	if (arg->is_float || !arg->size || reg < 0 ||
	    (!in_reg && (arg->kind != SDTARG_MEM || arg->index.n || arg->symbol.n)))
		return false;
	for (size_t i = 0; i < code->vars.n; i++) {
		const struct dwvar *v = &code->vars.v[i];
		bool here = v->reg == (unsigned)reg;
		// Temporaries of include/btgen/usdt.h: copies, whatever they are copies of.
		if (str_has_prefix(v->name, STR("__usdt_")))
			continue;
		if (in_reg && here && v->kind == DWVAR_REG && is_scalar_of(v->type, arg->size))
			consider(&s, v, v->name, v->name, v->type);
		if (!in_reg && here && v->kind == DWVAR_MEM && v->off == arg->disp &&
		    is_scalar_of(v->type, arg->size))
			consider(&s, v, v->name, v->name, v->type);
		if (!in_reg && here && v->kind == DWVAR_REG)
			try_member(a, &s, v, arg->disp, arg->size);
	}
	return s.found && s.is_clear;
}
