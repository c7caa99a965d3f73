// Places in memory: members, elements, what pointers lead to.
#include <inttypes.h>

#include "lower/lower_priv.h"
#include "lower/targettype.h"
#include "lang/change.h"
#include "lang/vocabulary.h"
#include "ctype/cname.h"
#include "out/dialect.h"

bool lower_is_char_array(struct ctype *t, bool bytes, uint64_t *n)
{
	if (t->kind != CTYPE_ARRAY || !t->has_count)
		return false;
	struct ctype *of = ctype_strip(t->of);
	*n = t->count;
	return of && of->kind == CTYPE_INT && of->size == 1 && (of->is_char || bytes);
}

/** Is @n what str() is called with? */
static bool is_in_str(const struct node *n, const struct node *parent)
{
	return node_is(parent, NODE_CALL, "str") && parent->child == n;
}

/** The address of the place @n, counted from the pointer that it begins with. */
static struct node *address_of(struct lowerer *lo, const struct node *n)
{
	struct arena *a = lo->b->arena;
	const struct expr *e = n->expr;
	if (n->kind == NODE_GROUP)
		return address_of(lo, n->child);
	struct node *base =
	    e->via_pointer ? change_text(a, n, "(uint64)(%n)", n->child) : address_of(lo, n->child);
	if (n->kind != NODE_INDEX)
		return change_text(a, n, "%n + %u", base, e->offset);
	return change_text(a, n, "%n + (uint64)(%n) * %u", base, n->child->next, e->element_size);
}

/**
 * A char array as a string of its whole length. From 0.23 on str(p, N) delivers N-1 characters;
 * before, N.
 */
static struct node *read_string(struct lowerer *lo, const struct node *n, const struct node *parent,
				uint64_t size)
{
	struct bind *b = lo->b;
	uint64_t length = size + dialect_counts_end_of_text(b->version);
	struct node *address = address_of(lo, n);
	if (size > b->longest_string) {
		b->longest_string = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
		b->longest_at = n->first;
	}
	if (is_in_str(n, parent) && n->next) // str(p->name, 8)
		return address;
	n->expr->is_string = !is_in_str(n, parent);
	return change_text(b->arena, n, is_in_str(n, parent) ? "%n, %u" : "str(%n, %u)", address,
			   length);
}

static bool is_whole_width(unsigned bits)
{
	return bits == 8 || bits == 16 || bits == 32;
}

/** A signed number, of which bpftrace has @value: some versions with the sign, others without. */
static struct node *read_signed(struct lowerer *lo, const struct expr *e, struct node *value)
{
	struct arena *a = lo->b->arena;
	unsigned bits = e->bit_size ? e->bit_size : (unsigned)ctype_strip(e->type)->size * 8;
	if (!e->bit_size || is_whole_width(bits))
		return bits == 64
			   ? change_text(a, value, "(int64)%n", value)
			   : change_text(a, value, "(int64)(int%u)%n", (uint64_t)bits, value);
	uint64_t sign = (uint64_t)1 << (bits - 1);
	return change_text(a, value,
			   dialect_mixes_signs(lo->b->version)
			       ? "(int64)(((uint64)(%n) ^ %u) - (uint64)%u)"
			       : "(((int64)(%n) ^ %u) - %u)",
			   value, sign, sign);
}

/** An unsigned bitfield out of memory; NULL for one that lies in nine bytes. */
static struct node *read_bits(struct lowerer *lo, const struct node *n)
{
	struct arena *a = lo->b->arena;
	const struct expr *e = n->expr;
	const struct node *at = address_of(lo, n), *bits;
	unsigned n_bytes = (e->bit_shift + e->bit_size + 7) / 8;
	if (n_bytes > 8 || e->bit_size > 64)
		return NULL;
	bits = change_text(a, n, "");
	if (e->bit_bytes)
		bits = change_text(a, n, "(uint64)*(uint%u *)(%n)", (uint64_t)e->bit_bytes * 8, at);
	for (unsigned i = 0; !e->bit_bytes && i < n_bytes; i++)
		bits = change_text(a, n, "%n%s((uint64)*(uint8 *)(%n + %u) << %u)", bits,
				   i ? " | " : "", at, (uint64_t)i, (uint64_t)i * 8);
	return change_text(a, n, "(((%n) >> %u) & 0x%s)", bits, (uint64_t)e->bit_shift,
			   arena_printf(a, "%" PRIx64, UINT64_MAX >> (64 - e->bit_size)));
}

/** What cannot be read at all is said; bpftrace would say it in other words, or not. */
static struct node *read_far_bits(struct lowerer *lo, const struct node *n, const struct ctype *t)
{
	struct node *value = read_bits(lo, n);
	if (value)
		return t->is_signed ? read_signed(lo, n->expr, value) : value;
	struct diag_place at = tok_place(n->name ? n->name : n->first);
	lo->good = diag_error(
	    lo->b->diag, &at,
	    "this bitfield spans nine bytes and its index is not a constant: use a constant index");
	return NULL;
}

/** A number or pointer that bpftrace cannot reach. */
static struct node *read_by_address(struct lowerer *lo, const struct node *n, struct ctype *t,
				    const struct node *parent)
{
	struct arena *a = lo->b->arena;
	struct node *value =
	    change_text(a, n, "*(uint%u *)(%n)", (uint64_t)t->size * 8, address_of(lo, n));
	struct ctype *to = ctype_pointee(t);
	struct str name = to && ctype_is_aggregate(to) ? targettype_pointer(lo->b, t) : STR("");
	if (!name.n)
		return t->is_signed && lower_is_number_type(t) ? read_signed(lo, n->expr, value)
							       : value;
	// Its value may be kept and followed.
	bool is_followed = parent->kind == NODE_MEMBER || parent->kind == NODE_INDEX;
	return change_text(a, n, is_followed ? "((%t)(%n))" : "(%t)(%n)", name, value);
}

static bool is_readable_size(const struct ctype *t)
{
	return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
}

/** What must stand there for the place or value @n; NULL when it is right as it is. */
static struct node *read_place(struct lowerer *lo, const struct node *n, const struct node *parent)
{
	const struct expr *e = n->expr;
	struct ctype *t = ctype_strip(e->type);
	bool is_first = parent && parent->kind == NODE_CALL && parent->child == n;
	enum word_takes takes = is_first ? vocabulary_word(parent->name->text)->takes : TAKES_VALUE;
	bool is_taken = takes == TAKES_WHOLE; // a cast has another size
	uint64_t size;
	if (e->gives_address)
		return address_of(lo, n);
	if (!t || takes == TAKES_TYPE)
		return NULL;
	if (lower_is_char_array(t, is_in_str(n, parent), &size))
		return size == 0 || e->is_value || is_taken ? NULL
							    : read_string(lo, n, parent, size);
	if (e->by_address && e->bit_size && lower_is_number_type(t))
		return read_far_bits(lo, n, t);
	if (e->by_address && !e->bit_size &&
	    (lower_is_number_type(t) || t->kind == CTYPE_POINTER) && is_readable_size(t))
		return read_by_address(lo, n, t, parent);
	if (!lower_is_number_type(t) || !t->is_signed || (!e->bit_size && t->size >= 8))
		return NULL;
	return read_signed(lo, e, change_copy(lo->b->arena, n));
}

/**
 * A member's name as the definition of its struct spells it: C and bpftrace cannot take them all.
 */
static void spell_member(struct lowerer *lo, struct node *n)
{
	struct ctype *in = n->kind == NODE_MEMBER ? n->expr->in : NULL;
	if (!in)
		return;
	struct str *names = cname_members(lo->b->arena, in, true);
	for (size_t i = 0; i < in->n_members; i++)
		if (!in->members[i].is_base && str_eq(in->members[i].name, n->name->text) &&
		    !str_eq(names[i], n->name->text)) {
			n->name->text = names[i];
			return;
		}
}

/** bpftrace before 0.25 wants an arrow behind a pointer. */
static void spell_arrow(struct node *n)
{
	struct token *op = n->child->last->next;
	if (n->kind == NODE_MEMBER && n->expr->via_pointer && tok_is(op, "."))
		op->text = STR("->");
}

/** The pointer that the place is counted from, and its indices. */
static void lower_steps(struct lowerer *lo, struct node *n)
{
	bool is_inner = n->kind == NODE_GROUP || !n->expr->via_pointer;
	if (is_inner && (n->child->expr->is_place || n->child->expr->is_value))
		lower_steps(lo, n->child);
	else
		lower_node(lo, n->child, n);
	if (n->kind == NODE_INDEX)
		lower_node(lo, n->child->next, n);
	spell_arrow(n);
	spell_member(lo, n);
}

void lower_place(struct lowerer *lo, struct node *n, const struct node *parent)
{
	lower_steps(lo, n);
	const struct node *read = lo->good ? read_place(lo, n, parent) : NULL;
	if (read && lower_fits(lo, read))
		change(lo->b->arena, n, "%n", read);
}
