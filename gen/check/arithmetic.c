// Arithmetic that loses the value: divisions, shifts, types that are too narrow.
#include "check/check_priv.h"

/**
 * Is it a number meant as a double's value, not its bits? The bits of all doubles but the smallest are
 * larger. 0 is the same in both forms, which == and != may compare with.
 */
static bool is_small_number(struct checker *k, struct node *n, uint64_t size, bool is_equality)
{
	struct constant c;
	if (!check_constant(k, n, &c))
		return false;
	uint64_t value = c.is_negative ? -c.bits : c.bits;
	return value < (uint64_t)1 << (size == 8 ? 52 : 23) && !(is_equality && value == 0);
}

/** What to compare with instead of @n: positive numbers are in the order of their bits. */
static const char *bits_to_compare(struct checker *k, struct node *n, uint64_t size)
{
	struct constant c = {0};
	check_constant(k, n, &c);
	double wide = c.is_negative ? -(double)-c.bits : (double)c.bits;
	float narrow = (float)wide;
	uint64_t bits = 0;
	memcpy(&bits, size == 8 ? (void *)&wide : &narrow,
	       size == 8 ? sizeof(wide) : sizeof(narrow));
	return arena_printf(k->b->arena, ": those of %s are 0x%" PRIx64, check_text(k, n), bits);
}

/** `cost > 3`, `cost / 1000`: of the bits that is no answer. Masks and shifts pick them apart. */
static void check_floating_operand(struct checker *k, struct node *n)
{
	unsigned op = node_operator(n);
	bool is_sum = op & (OP_MOVE | OP_MUL | OP_QUOTIENT);
	struct node *sides[] = {n->child, n->child->next};
	if (!is_sum && !(op & OP_COMPARISON))
		return;
	for (int i = 0; i < 2; i++) {
		struct meaning m;
		struct node *other = sides[!i];
		if (!check_meaning(k, sides[i], &m) || !check_is_floating(&m) || !m.plain)
			continue;
		if (is_sum || is_small_number(k, other, m.plain->size, op & OP_EQUALITY))
			check_report(k, sides[i], "floating-point", check_level(&m),
				     STR_FMT " takes the bits of a floating-point number%s",
				     STR_ARG(n->name->text),
				     is_sum ? " for an integer"
					    : bits_to_compare(k, other, m.plain->size));
		return;
	}
}

/** bpftrace computes with 64 bits, whatever has less. */
static void check_shift(struct checker *k, struct node *n)
{
	struct node *value = n->child, *by = value->next;
	struct constant c;
	struct meaning m;
	if (!(node_operator(n) & OP_SHIFT) || !check_constant(k, by, &c))
		return;
	if (c.is_negative || c.bits >= 64) {
		check_report_at(k, n->name, "shift", DIAG_WARNING,
				"shift count %s is out of range (0 to 63)", check_text(k, by));
	} else if (tok_is(n->name, ">>") && check_meaning(k, value, &m) && m.plain &&
		   m.plain->kind == CTYPE_INT && !m.plain->is_signed &&
		   c.bits >= m.plain->size * 8) {
		check_report_at(k, n->name, "shift", DIAG_WARNING,
				"this is always 0: %s has type " STR_FMT ", %u bits",
				check_text(k, value), STR_ARG(ctype_spell(k->b->arena, m.type)),
				(unsigned)m.plain->size * 8);
		check_note_origin(k, value);
	}
}

static unsigned bits_of(const struct ctype *t)
{
	return (unsigned)t->size * 8;
}

/** The first enumerator that @to cannot hold; NULL: it has room for all. */
static const struct ctype_value *find_lost(struct ctype *of, const struct ctype *to)
{
	if (!ctype_complete(of) || to->size < 1 || to->size >= 8)
		return NULL;
	int64_t least = to->is_signed ? -((int64_t)1 << (bits_of(to) - 1)) : 0;
	int64_t most = ((int64_t)1 << (bits_of(to) - to->is_signed)) - 1;
	for (size_t i = 0; i < of->n_values; i++)
		if (of->values[i].value > most || (least && of->values[i].value < least))
			return &of->values[i];
	return NULL;
}

/**
 * A cast is intended in most cases: report only that an address loses its upper half, and which name of an
 * enum does not fit. Neither where bits are picked on purpose.
 */
static void check_cast_down(struct checker *k, struct node *n)
{
	struct node *value = n->child->next;
	struct ctype *to = n->expr ? ctype_strip(n->expr->type) : NULL;
	struct meaning m;
	bool picks = n->parent->kind == NODE_BINARY &&
		     (node_operator(n->parent) & (OP_BIT_AND | OP_MOD | OP_SHR | OP_BIT_XOR));
	// bpftrace's own bool is a number of 8 bits here.
	if (!to || to->kind != CTYPE_INT || to->size >= 8 || str_eqz(to->name, "bool") || picks ||
	    !check_meaning(k, value, &m) || !m.plain)
		return;
	const struct ctype_value *lost =
	    m.plain->kind == CTYPE_ENUM ? find_lost(m.plain, to) : NULL;
	if (m.plain->kind == CTYPE_POINTER)
		check_report_at(k, n->first, "narrowing", DIAG_WARNING,
				"%s is a pointer, of which only %u bits are kept",
				check_text(k, value), bits_of(to));
	else if (lost && str_is_made_of(lost->name, ALPHABET_SCOPED_WORD))
		check_report_at(k, n->first, "narrowing", DIAG_WARNING,
				"%s may be " STR_FMT ", which %u bits cannot hold",
				check_text(k, value), STR_ARG(lost->name), bits_of(to));
	else
		return;
	check_note_origin(k, value);
}

/** Also with casts before it. */
static bool is_zero(struct checker *k, struct node *n)
{
	struct constant by;
	for (n = node_ungrouped(n); n->kind == NODE_CAST && n->child->next;)
		n = node_ungrouped(n->child->next);
	return check_constant(k, n, &by) && by.bits == 0;
}

void check_arithmetic(struct checker *k, struct node *n)
{
	if (n->kind == NODE_BINARY || n->kind == NODE_ASSIGN) {
		if ((node_operator(n) & OP_QUOTIENT) && is_zero(k, n->child->next))
			check_report_at(k, n->name, "division", DIAG_WARNING, "division by 0");
		check_shift(k, n);
		check_floating_operand(k, n);
	} else if (n->kind == NODE_NUMBER) {
		if (str_has(node_text(n), ".")) // to bpftrace an element of a tuple
			check_report_at(k, n->first, "floating-point", DIAG_ERROR,
					"bpftrace does not support floating-point literals");
	} else if (n->kind == NODE_CAST && n->child->next) {
		check_cast_down(k, n);
	}
}
