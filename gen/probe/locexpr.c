#include "probe/locexpr.h"

#include <dwarf.h>

#include "ctype/ctype.h"
#include "dwarf/dwsrc.h"

enum { MAX_STEPS = 64, MAX_DEPTH = 8, MAX_OPS = 64 };

struct machine {
	struct arena *arena;
	Dwarf_Attribute *attr;
	const struct locexpr_frame *frame;
	struct locexpr *out;
	size_t depth;
	const struct locexpr_part *part;
	// Of the piece that is read: what it is, and how many of the bytes asked for are before it.
	enum { IS_ADDRESS, IS_VALUE } what;
	bool is_done; // a piece or the end must follow
	uint64_t done;
	struct locexpr_step narrow; // what keeps a number in its type; n is 0 for one of 64 bits
};

static bool refuse(struct machine *m, const char *why)
{
	if (!m->out->why_not)
		m->out->why_not = why;
	return false;
}

static bool step(struct machine *m, enum locexpr_op op, int64_t n)
{
	if (m->out->steps.n >= MAX_STEPS)
		return refuse(m, "its location is too complex");
	vec_push(m->arena, &m->out->steps, (struct locexpr_step){op, n});
	return true;
}

static bool push(struct machine *m, enum locexpr_op op, int64_t n)
{
	if (m->depth >= MAX_DEPTH)
		return refuse(m, "its location is too complex");
	m->depth++;
	return step(m, op, n);
}

/** Register + offset, where the offset may be 0. */
static bool push_sum(struct machine *m, int reg, int64_t off)
{
	if (reg < 0)
		return refuse(m, "the frame of the function is not known there");
	return push(m, LOCEXPR_REGISTER, reg) &&
	       (!off || (step(m, LOCEXPR_NUMBER, off) && step(m, LOCEXPR_ADD, 0)));
}

static bool unary(struct machine *m, enum locexpr_op op, int64_t n)
{
	return m->depth ? step(m, op, n) : refuse(m, "its location is corrupt");
}

static bool binary(struct machine *m, enum locexpr_op op)
{
	if (m->depth < 2)
		return refuse(m, "its location is corrupt");
	m->depth--;
	return step(m, op, 0);
}

static bool constant(struct machine *m, enum locexpr_op op, int64_t n)
{
	return m->depth ? step(m, LOCEXPR_NUMBER, n) && step(m, op, 0)
			: refuse(m, "its location is corrupt");
}

static bool dereference(struct machine *m, uint64_t n)
{
	return ctype_is_word(n) ? unary(m, LOCEXPR_READ, (int64_t)n)
				: refuse(m, "its location reads an unsupported number of bytes");
}

static bool narrow(struct machine *m, enum locexpr_op op, int64_t bits)
{
	m->narrow = (struct locexpr_step){op, bits < 64 ? bits : 0};
	return bits < 64 ? unary(m, op, bits) : m->depth > 0;
}

/** As a base type, of DWARF 5's typed stack: kept with that type's sign in 64 bits. */
static bool convert(struct machine *m, const Dwarf_Op *op, Dwarf_Word generic)
{
	Dwarf_Die type;
	uint64_t encoding = 0, size = 0;
	if (generic == 0) // the generic type, of 64 bits
		return narrow(m, LOCEXPR_UNSIGNED, 64);
	if (dwarf_getlocation_die(m->attr, op, &type) != 0 ||
	    !dwsrc_number(&type, DW_AT_encoding, &encoding) ||
	    !dwsrc_number(&type, DW_AT_byte_size, &size) || !ctype_is_word(size))
		return refuse(m, "its location has a type that bpftrace cannot convert to");
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return narrow(m, LOCEXPR_SIGNED, (int64_t)size * 8);
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_address:
	case DW_ATE_UTF:
		return narrow(m, LOCEXPR_UNSIGNED, (int64_t)size * 8);
	default:
		return refuse(m, "its location converts floating-point numbers");
	}
}

/** Of a file's own address, which may be in a table (DWARF 5, section 7.27). */
static bool address(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute at;
	Dwarf_Addr addr = op->number;
	if (op->atom != DW_OP_addr &&
	    (dwarf_getlocation_attr(m->attr, op, &at) != 0 || dwarf_formaddr(&at, &addr) != 0))
		return refuse(m, "its location is corrupt");
	return push(m, LOCEXPR_ADDRESS, (int64_t)(addr + m->frame->bias));
}

const char *locexpr_no_register(uint64_t reg)
{
	return reg > 16 ? "it is in a floating-point register, which bpftrace cannot read"
			: "it is in a register that bpftrace cannot read";
}

static bool value_of_register(struct machine *m, Dwarf_Word reg)
{
	if (m->depth || reg > 31)
		return refuse(m, locexpr_no_register(reg));
	m->what = IS_VALUE;
	m->is_done = true;
	return push(m, LOCEXPR_REGISTER, (int64_t)reg);
}

/** What was worked out without its first @skipped bytes. */
static bool skip(struct machine *m, uint64_t skipped)
{
	if (!skipped)
		return true;
	return m->what == IS_ADDRESS ? constant(m, LOCEXPR_ADD, (int64_t)skipped)
				     : constant(m, LOCEXPR_SHR, (int64_t)skipped * 8);
}

static bool arithmetic(struct machine *m, const Dwarf_Op *op)
{
	static const enum locexpr_op binaries[256] = {
	    [DW_OP_plus] = LOCEXPR_ADD, [DW_OP_minus] = LOCEXPR_SUB, [DW_OP_mul] = LOCEXPR_MUL,
	    [DW_OP_and] = LOCEXPR_AND,	[DW_OP_or] = LOCEXPR_OR,     [DW_OP_xor] = LOCEXPR_XOR,
	    [DW_OP_shl] = LOCEXPR_SHL,	[DW_OP_shr] = LOCEXPR_SHR};
	if (binaries[op->atom])
		return binary(m, binaries[op->atom]);
	switch (op->atom) {
	case DW_OP_plus_uconst:
		return constant(m, LOCEXPR_ADD, (int64_t)op->number);
	case DW_OP_not:
		return unary(m, LOCEXPR_NOT, 0);
	case DW_OP_neg:
		return unary(m, LOCEXPR_NOT, 0) && constant(m, LOCEXPR_ADD, 1);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return refuse(m, "its location depends on an argument's value at entry");
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return refuse(m, "it points to what is optimized out");
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return refuse(m, "it is thread-local");
	default:
		return refuse(m, "its location has operations that bpftrace cannot compute");
	}
}

static bool number(struct machine *m, const Dwarf_Op *op)
{
	const struct locexpr_frame *f = m->frame;
	switch (op->atom) {
	case DW_OP_const1u ... DW_OP_consts:
		return push(m, LOCEXPR_NUMBER, (int64_t)op->number);
	case DW_OP_bregx:
		return op->number > 31 ? refuse(m, locexpr_no_register(op->number))
				       : push_sum(m, (int)op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		m->out->is_of_frame = true;
		return push_sum(m, f->base_reg, (int64_t)((uint64_t)f->base_off + op->number));
	case DW_OP_call_frame_cfa:
		return push_sum(m, f->cfa_reg, f->cfa_off);
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return address(m, op);
	case DW_OP_deref:
		return dereference(m, 8);
	case DW_OP_deref_size:
		return dereference(m, op->number);
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return dereference(m, op->number) && convert(m, op, 1);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return op->number <= 31 && push(m, LOCEXPR_REGISTER, (int64_t)op->number) &&
		       convert(m, op, 1);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
		return convert(m, op, op->number);
	default:
		return arithmetic(m, op) && (!m->narrow.n || step(m, m->narrow.op, m->narrow.n));
	}
}

static bool operation(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom == DW_OP_nop)
		return true;
	if (m->is_done)
		return refuse(m, "its location is corrupt");
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, LOCEXPR_NUMBER, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_sum(m, op->atom - DW_OP_breg0, (int64_t)op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return value_of_register(m, op->atom - DW_OP_reg0);
	if (op->atom == DW_OP_regx)
		return value_of_register(m, op->number);
	if (op->atom != DW_OP_stack_value)
		return number(m, op);
	m->what = IS_VALUE;
	m->is_done = true;
	return true;
}

static bool run(struct machine *m, const Dwarf_Op *ops, size_t n)
{
	bool good = true;
	m->depth = m->narrow.n = 0;
	m->what = IS_ADDRESS;
	m->is_done = false;
	for (size_t i = 0; i < n && good; i++)
		good = operation(m, &ops[i]);
	return good && (m->depth == 1 ||
			refuse(m, m->depth ? "its location is corrupt" : "it is optimized out"));
}

/** A piece is @ops: @n of its bytes, after @skipped ones, are to be joined with what is before. */
static bool piece(struct machine *m, const Dwarf_Op *ops, size_t n_ops, uint64_t skipped,
		  uint64_t n)
{
	if (!n_ops)
		return refuse(m, "a part of it is optimized out");
	if (!ctype_is_word(n) || m->done + n > 8)
		return refuse(m, "it is in pieces of more than 8 bytes in total");
	if (!run(m, ops, n_ops))
		return false;
	if (m->what == IS_VALUE && skipped + n > 8)
		return refuse(m, "its location is corrupt");
	bool good = skip(m, skipped) &&
		    (m->what == IS_ADDRESS ? unary(m, LOCEXPR_READ, (int64_t)n)
					   : unary(m, LOCEXPR_UNSIGNED, (int64_t)n * 8));
	if (good && m->done) {
		m->depth = 2;
		good = constant(m, LOCEXPR_SHL, (int64_t)m->done * 8) && binary(m, LOCEXPR_OR);
	}
	m->done += n;
	return good;
}

/** One after the other, without gaps: DWARF 5, section 2.6.1.2. Those that nobody asks for are not looked at. */
static bool pieces(struct machine *m, const Dwarf_Op *ops, size_t n)
{
	uint64_t at = 0, begin = m->part->off, end = begin + m->part->size;
	size_t first = 0;
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		if (ops[i].atom != DW_OP_piece)
			continue;
		uint64_t next = at + ops[i].number;
		uint64_t from = at > begin ? at : begin, to = next < end ? next : end;
		if (next < at)
			return refuse(m, "its location is corrupt");
		if (from < to)
			good = piece(m, ops + first, i - first, from - at, to - from);
		at = next;
		first = i + 1;
	}
	if (!good)
		return false;
	if (first < n)
		return refuse(m, "its location is corrupt");
	return (m->done && m->done == m->part->size) || refuse(m, "a part of it is optimized out");
}

bool locexpr_read(struct arena *a, Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t n,
		  const struct locexpr_frame *frame, const struct locexpr_part *part,
		  struct locexpr *ret)
{
	struct machine m = {.arena = a, .attr = attr, .frame = frame, .out = ret, .part = part};
	bool has_pieces = false, is_whole = part->size == part->whole;
	*ret = (struct locexpr){0};
	bool good = n > 0 ? n <= MAX_OPS || refuse(&m, "its location is too complex")
			  : refuse(&m, "it is optimized out");
	for (size_t i = 0; i < n && good; i++) {
		has_pieces |= ops[i].atom == DW_OP_piece;
		if (ops[i].atom == DW_OP_bit_piece)
			good = refuse(&m, "its location has pieces of bits");
	}
	if (good && !is_whole && (part->size > part->whole || part->off > part->whole - part->size))
		good = refuse(&m, "its location is corrupt");
	if (good && has_pieces)
		good = pieces(&m, ops, n);
	else if (good)
		good = run(&m, ops, n);
	ret->is_place = m.what == IS_ADDRESS && !has_pieces;
	if (good && !has_pieces && !is_whole && !ret->is_place && part->whole > 8)
		good = refuse(&m, "its location is corrupt");
	if (good && !has_pieces)
		good = skip(&m, part->off);
	if (!good)
		ret->steps.n = 0;
	return good;
}

bool locexpr_takes_stack(const struct locexpr *e, const struct locexpr_frame *frame, int sp,
			 bool is_pointer)
{
	bool on_stack[MAX_STEPS + 1] = {false};
	int base = frame->is_cfa ? sp : frame->base_reg;
	size_t n = 0;
	if (e->is_place)
		return false;
	vec_each(const struct locexpr_step, s, &e->steps) {
		switch (s->op) {
		case LOCEXPR_NUMBER:
		case LOCEXPR_ADDRESS:
		case LOCEXPR_REGISTER:
			on_stack[++n] = s->op == LOCEXPR_REGISTER && (s->n == sp || s->n == base);
			break;
		case LOCEXPR_READ:
			on_stack[n] = false;
			break;
		case LOCEXPR_UNSIGNED:
		case LOCEXPR_SIGNED:
			if (on_stack[n] && s->n && s->n < 64)
				return true;
			break;
		case LOCEXPR_NOT:
			break;
		default: // of two values
			n--;
			if (s->op != LOCEXPR_ADD && s->op != LOCEXPR_SUB &&
			    (on_stack[n] || on_stack[n + 1]))
				return true;
			on_stack[n] |= on_stack[n + 1];
		}
	}
	return on_stack[n] && !is_pointer;
}
