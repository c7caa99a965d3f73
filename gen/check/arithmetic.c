// Arithmetic that loses the value: divisions, shifts, types that are too narrow.
#include "check/check_priv.h"

static void check_division(struct checker *k, struct node *n)
{
	static const char *const names[] = {"/", "%", "/=", "%=", NULL};
	struct diag_place at = tok_place(n->name);
	struct constant by;
	if (tok_is_any(n->name, names) && check_constant(k, n->child->next, &by) && by.bits == 0)
		k->good &= diag_check(k->b->diag, "division", DIAG_WARNING, &at, "division by 0");
}

/** bpftrace computes with 64 bits, whatever has less. */
static void check_shift(struct checker *k, struct node *n)
{
	static const char *const names[] = {"<<", ">>", "<<=", ">>=", NULL};
	struct node *value = n->child, *by = value->next;
	struct diag_place at = tok_place(n->name);
	struct constant c;
	struct meaning m;
	if (!tok_is_any(n->name, names) || !check_constant(k, by, &c))
		return;
	if (c.is_negative || c.bits >= 64) {
		k->good &= diag_check(k->b->diag, "shift", DIAG_WARNING, &at,
				      "shift by %s: a number has 64 bits", check_text(k, by));
	} else if (tok_is(n->name, ">>") && check_meaning(k, value, &m) && m.plain &&
		   m.plain->kind == CTYPE_INT && !m.plain->is_signed &&
		   c.bits >= m.plain->size * 8) {
		k->good &= diag_check(
		    k->b->diag, "shift", DIAG_WARNING, &at,
		    "this is always 0: %s is of " STR_FMT ", %u bits", check_text(k, value),
		    STR_ARG(ctype_spell(k->b->arena, m.type)), (unsigned)m.plain->size * 8);
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
 * A cast that somebody wrote is meant in most cases: what is said is that an address loses its
 * upper half, and which name of an enum has no room. Neither where bits are picked on purpose.
 */
static void check_cast_down(struct checker *k, struct node *n, const struct node *parent)
{
	struct node *value = n->child->next;
	struct ctype *to = n->expr ? ctype_strip(n->expr->type) : NULL;
	struct diag_place at = tok_place(n->first);
	struct meaning m;
	bool picks = node_is(parent, NODE_BINARY, "&") || node_is(parent, NODE_BINARY, "%") ||
		     node_is(parent, NODE_BINARY, ">>") || node_is(parent, NODE_BINARY, "^");
	// bpftrace's own bool is a number of 8 bits here.
	if (!to || to->kind != CTYPE_INT || to->size >= 8 || str_eqz(to->name, "bool") || picks ||
	    !check_meaning(k, value, &m) || !m.plain)
		return;
	const struct ctype_value *lost =
	    m.plain->kind == CTYPE_ENUM ? find_lost(m.plain, to) : NULL;
	if (m.plain->kind == CTYPE_POINTER)
		k->good &= diag_check(k->b->diag, "narrowing", DIAG_WARNING, &at,
				      "%s is a pointer, and %u bits of it are left",
				      check_text(k, value), bits_of(to));
	else if (lost && str_is_made_of(lost->name, ALPHABET_SCOPED_WORD))
		k->good &= diag_check(k->b->diag, "narrowing", DIAG_WARNING, &at,
				      "%s may be " STR_FMT ", which %u bits cannot hold",
				      check_text(k, value), STR_ARG(lost->name), bits_of(to));
	else
		return;
	check_note_origin(k, value);
}

/** `let $x : int32 = args.total`; bpftrace before 0.24 refuses it, newer ones cut the value. */
static void check_let_down(struct checker *k, const struct node *n)
{
	struct node *type = n->child->next, *value = type ? type->next : NULL;
	struct ctype *to = n->child->expr ? ctype_strip(n->child->expr->type) : NULL;
	struct meaning m;
	if (!value || type->kind != NODE_TYPE || !to || to->kind != CTYPE_INT)
		return;
	struct diag_place at = tok_place(value->first);
	if (!check_meaning(k, value, &m) || !m.plain || value->expr->bit_size ||
	    (m.plain->kind != CTYPE_INT && m.plain->kind != CTYPE_POINTER) ||
	    m.plain->size <= to->size)
		return;
	k->good &= diag_check(k->b->diag, "narrowing", DIAG_WARNING, &at,
			      "%s is of " STR_FMT ", and " STR_FMT " has %u bits: write (" STR_FMT
			      ")%s if the others may be lost",
			      check_text(k, value), STR_ARG(ctype_spell(k->b->arena, m.type)),
			      STR_ARG(ctype_spell(k->b->arena, to)), bits_of(to),
			      STR_ARG(ctype_spell(k->b->arena, to)), check_text(k, value));
	check_note_origin(k, value);
}

void check_arithmetic(struct checker *k, struct node *n, struct node *parent)
{
	if (n->kind == NODE_BINARY || n->kind == NODE_ASSIGN) {
		check_division(k, n);
		check_shift(k, n);
	} else if (n->kind == NODE_CAST && n->child->next) {
		check_cast_down(k, n, parent);
	} else if (n->kind == NODE_LET) {
		check_let_down(k, n);
	}
}
