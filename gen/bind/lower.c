#include "bind/lower.h"

#include <inttypes.h>
#include <string.h>

#include "bind/attach.h"
#include "bind/constant.h"
#include "bind/division.h"
#include "bind/exprtype.h"
#include "bind/format.h"
#include "bind/namedarg.h"
#include "bind/typeuse.h"
#include "lang/change.h"
#include "lang/print.h"
#include "lang/vocabulary.h"
#include "out/dialect.h"
#include "types/cname.h"

enum { MAX_TEXT = 32768 }; // of one expression, which may stand several times in what it becomes

struct lowerer {
	struct bind *b;
	const struct attach_clause *clause;
	bool good;
};

static void lower(struct lowerer *lo, struct node *n, const struct node *parent);

static void lower_children(struct lowerer *lo, struct node *n)
{
	for (struct node *c = n->child; c && lo->good; c = c->next)
		lower(lo, c, n);
}

/** What takes the place of an expression, which may stand several times in it, must not grow without a bound. */
static bool fits(struct lowerer *lo, const struct node *n)
{
	struct diag_place at = tok_place(n->first);
	if (lo->good && n->size > MAX_TEXT)
		lo->good = diag_error(lo->b->diag, &at,
				      "this becomes too long: keep a part of it in a variable");
	return lo->good;
}

static bool is_number_type(const struct ctype *t)
{
	return t && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL);
}

/** Is @n what str() is called with? */
static bool is_in_str(const struct node *n, const struct node *parent)
{
	return node_is(parent, NODE_CALL, "str") && parent->child == n;
}

// --- places in memory ---

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

/** An array of char, or of any bytes when @bytes. */
static bool is_char_array(struct ctype *t, bool bytes, uint64_t *n)
{
	if (t->kind != CTYPE_ARRAY || !t->has_count)
		return false;
	struct ctype *of = ctype_strip(t->of);
	*n = t->count;
	return of && of->kind == CTYPE_INT && of->size == 1 && (of->is_char || bytes);
}

/** A char array as a string of its whole length. From 0.22 on str(p, N) delivers N-1 characters; before, N. */
static struct node *read_string(struct lowerer *lo, const struct node *n, const struct node *parent,
				uint64_t size)
{
	struct bind *b = lo->b;
	uint64_t length = b->version >= 22 ? size + 1 : size;
	struct node *address = address_of(lo, n);
	if (size > b->longest_string)
		b->longest_string = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
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
			   ? value
			   : change_text(a, value, "(int64)(int%u)%n", (uint64_t)bits, value);
	uint64_t sign = (uint64_t)1 << (bits - 1);
	return change_text(a, value,
			   lo->b->version >= 24 ? "(((int64)(%n) ^ %u) - %u)"
						: "(int64)(((uint64)(%n) ^ %u) - (uint64)%u)",
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
	lo->good =
	    diag_error(lo->b->diag, &at,
		       "this bitfield lies in nine bytes, behind an index that is no constant: "
		       "read it with a constant one");
	return NULL;
}

/** A number or pointer that bpftrace cannot reach. */
static struct node *read_by_address(struct lowerer *lo, const struct node *n, struct ctype *t,
				    const struct node *parent)
{
	struct arena *a = lo->b->arena;
	struct node *value =
	    change_text(a, n, "*(uint%u *)(%n)", (uint64_t)t->size * 8, address_of(lo, n));
	struct ctype *to = exprtype_pointee(t);
	struct str name = to && ctype_is_aggregate(to) ? typeuse_pointer(lo->b, t) : STR("");
	if (!name.n)
		return t->is_signed && is_number_type(t) ? read_signed(lo, n->expr, value) : value;
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
	if (!t || takes == TAKES_TYPE)
		return NULL;
	if (is_char_array(t, is_in_str(n, parent), &size))
		return size == 0 || e->is_value || is_taken ? NULL
							    : read_string(lo, n, parent, size);
	if (e->by_address && e->bit_size && is_number_type(t))
		return read_far_bits(lo, n, t);
	if (e->by_address && !e->bit_size && (is_number_type(t) || t->kind == CTYPE_POINTER) &&
	    is_readable_size(t))
		return read_by_address(lo, n, t, parent);
	if (!is_number_type(t) || !t->is_signed || (!e->bit_size && t->size >= 8))
		return NULL;
	return read_signed(lo, e, change_copy(lo->b->arena, n));
}

/** A member's name as the definition of its struct spells it: C and bpftrace cannot take them all. */
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
		lower(lo, n->child, n);
	if (n->kind == NODE_INDEX)
		lower(lo, n->child->next, n);
	spell_arrow(n);
	spell_member(lo, n);
}

static void lower_place(struct lowerer *lo, struct node *n, const struct node *parent)
{
	lower_steps(lo, n);
	const struct node *read = lo->good ? read_place(lo, n, parent) : NULL;
	if (read && fits(lo, read))
		change(lo->b->arena, n, "%n", read);
}

// --- division ---

/** The node as an operand of what stands behind a cast. */
static struct node *operand(struct lowerer *lo, struct node *n)
{
	static const char *const casts[] = {"(int64)", "((int64)", "(((int64)"};
	struct arena *a = lo->b->arena;
	if (n->kind == NODE_NUMBER)
		return n;
	n = change_copy(a, n);
	if (n->kind == NODE_BINARY || n->kind == NODE_TERNARY || n->kind == NODE_ASSIGN ||
	    n->kind == NODE_IF || n->kind == NODE_BLOCK)
		return change_text(a, n, "(%n)", n);
	// 0.17 casts no map that a clause further down fills, but adds to it.
	if (n->kind == NODE_MAP)
		return change_text(a, n, "(int64)(%n + 0)", n);
	// Newer versions have variables and casts of less than 64 bits.
	struct str text = print_text(a, n);
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (str_has_prefix(text, str_from(casts[i])))
			return n;
	return change_text(a, n, "(int64)%n", n);
}

static bool divides(const struct token *op)
{
	return tok_is(op, "/") || tok_is(op, "%") || tok_is(op, "/=") || tok_is(op, "%=");
}

static bool shifts_right(const struct token *op)
{
	return tok_is(op, ">>") || tok_is(op, ">>=");
}

static bool compares(const struct token *op)
{
	static const char *const names[] = {"<", ">", "<=", ">=", NULL};
	return tok_is_any(op, names);
}

static void warn_of_mixed(struct lowerer *lo, const struct token *op)
{
	struct diag_place at = tok_place(op);
	if (op->loc.file)
		diag_warning(lo->b->diag, &at,
			     "bpftrace %s as if nothing were below 0, and here it is not known "
			     "what has a sign: write (int64)(...) or (uint64)(...) to say it",
			     divides(op)    ? "divides"
			     : compares(op) ? "compares"
					    : "shifts");
}

/** What `left op right` becomes; NULL when it stays as it is. */
static struct node *divide(struct lowerer *lo, const struct node *n)
{
	struct node *left = n->child, *right = left->next;
	const struct token *op = n->name;
	bool shift = shifts_right(op);
	enum sign l = left->expr->sign, r = shift ? SIGN_NONE : right->expr->sign;
	if (l == SIGN_MIXED || r == SIGN_MIXED || (r == SIGN_SIGNED && l == SIGN_OTHER))
		warn_of_mixed(lo, op);
	bool is_signed = l == SIGN_SIGNED || (r == SIGN_SIGNED && l == SIGN_NONE);
	if (!is_signed || l == SIGN_UNSIGNED || r == SIGN_UNSIGNED)
		return NULL;
	struct division q = {
	    .value = operand(lo, left),
	    .value_is_signed = l == SIGN_SIGNED,
	    .op = op->text.p[0],
	    .by = operand(lo, right),
	    .by_is_signed = r == SIGN_SIGNED,
	};
	struct diag_place at = tok_place(left->first);
	if ((division_repeats_value(&q) && !division_is_repeatable(left)) ||
	    (q.by_is_signed && !division_is_repeatable(right)))
		lo->good = diag_error(lo->b->diag, &at,
				      "to %s this as C does, it is read more than once: keep it in "
				      "a variable first",
				      shift ? "shift" : "divide");
	return lo->good ? division_make(lo->b->arena, &q) : NULL;
}

static void lower_division(struct lowerer *lo, struct node *n)
{
	if (!lo->good || (!divides(n->name) && !shifts_right(n->name)))
		return;
	const struct node *quotient = divide(lo, n);
	if (!quotient || !fits(lo, quotient))
		return;
	if (n->kind == NODE_ASSIGN) {
		change(lo->b->arena, n, "%n = %n", n->child, quotient);
		return;
	}
	change(lo->b->arena, n, "%n", quotient);
	n->kind = NODE_CAST; // so it needs no brackets
}

// --- signs ---

/** bpftrace up to 0.23 makes an unsigned number of a signed one and an unsigned one, and has other maps for them. */
static bool mixes_signs(const struct lowerer *lo)
{
	return lo->b->images && !dialect_has_libbpf_usdt(lo->b->version);
}

/** A number that is never below 0, which to bpftrace has no sign: to be one that has. */
static void make_signed(struct lowerer *lo, struct node *n)
{
	struct arena *a = lo->b->arena;
	if (!lo->good || n->expr->sign != SIGN_NONE || node_ungrouped(n)->kind == NODE_NUMBER)
		return;
	// Of less than 64 bits some versions would take the highest for a sign.
	if (n->kind == NODE_MAP)
		change(a, n, "%n", operand(lo, n));
	else
		change(a, n, "(int64)(uint64)(%n)", n);
	n->kind = NODE_CAST;
}

/** -x, where x has no sign: newer versions have maps and variables of 8 bits without one. */
static void lower_minus(struct lowerer *lo, struct node *n)
{
	if (lo->b->images && tok_is(n->name, "-"))
		make_signed(lo, n->child);
}

/** As C does it: what is narrower than 64 bits is compared with its sign, and an int64 with an uint64 without. */
static void lower_comparison(struct lowerer *lo, struct node *n)
{
	struct node *left = n->child, *right = left->next;
	enum sign l = left->expr->sign, r = right->expr->sign;
	struct node *odd = l == SIGN_SIGNED ? left : right;
	if (mixes_signs(lo) && (l == SIGN_MIXED || r == SIGN_MIXED))
		warn_of_mixed(lo, n->name);
	if (!lo->b->images || l == r || (l != SIGN_UNSIGNED && r != SIGN_UNSIGNED) ||
	    odd->expr->sign != SIGN_SIGNED)
		return;
	change(lo->b->arena, odd, "(uint64)(%n)", odd);
}

/** `x + y`, `x < y`: a sign on one side puts one on the other. */
static void lower_mixture(struct lowerer *lo, struct node *n)
{
	static const char *const operators[] = {"+", "-", "*", "<", ">", "<=", ">=", NULL};
	struct node *left = n->child, *right = left->next;
	if (!lo->good || !tok_is_any(n->name, operators))
		return;
	if (compares(n->name))
		lower_comparison(lo, n);
	if (mixes_signs(lo) && right->expr->sign == SIGN_SIGNED)
		make_signed(lo, left);
	if (mixes_signs(lo) && left->expr->sign == SIGN_SIGNED)
		make_signed(lo, right);
}

/** What a name is given that may be below 0 elsewhere; @x += y makes an unsigned map whatever y is. */
static void lower_kept(struct lowerer *lo, struct node *n)
{
	static const char *const operators[] = {"+=", "-=", "*=", NULL};
	struct node *target = n->child, *value = target->next;
	bool is_compound = tok_is_any(n->name, operators);
	if (!lo->good || !mixes_signs(lo) || target->expr->sign != SIGN_SIGNED ||
	    (!is_compound && !tok_is(n->name, "=")))
		return;
	make_signed(lo, value);
	if (is_compound && target->kind == NODE_MAP && division_is_repeatable(target))
		change(lo->b->arena, n, "%n = %n %t (%n)", target, operand(lo, target),
		       str_slice(n->name->text, 0, 1), value);
}

// --- the rest ---

/** bpftrace takes what comes of a choice of pointers for 0. */
static void lower_ternary(struct lowerer *lo, struct node *n, const struct node *parent)
{
	struct arena *a = lo->b->arena;
	struct node *yes = n->child->next, *no = yes->next;
	struct str name = STR("");
	struct ctype *to = exprtype_pointee(n->expr->type);
	lower_children(lo, n);
	if (to && ctype_is_aggregate(to))
		name = typeuse_pointer(lo->b, n->expr->type);
	if (!name.n || !no || !lo->good)
		return;
	bool is_inner = parent->kind == NODE_TERNARY && parent->child != n;
	const struct node *choice =
	    change_text(a, n, "(%n ? (uint64)(%n) : (uint64)(%n))", n->child, yes, no);
	if (is_inner)
		change(a, n, "%n", choice);
	else
		change(a, n, "(%t)%n", name, choice);
}

/** Operators whose result depends on the sign of what they are applied to. */
static bool minds_sign(const struct node *n)
{
	static const char *const operators[] = {"<", ">", "<=", ">=", "/", "%", ">>", NULL};
	return n->kind == NODE_BINARY && tok_is_any(n->name, operators);
}

/**
 * What must stand before argN: bpftrace before 0.24 takes every one for an unsigned 64-bit number, `arg2 < 0` is never
 * true. From 0.24 on it takes it for a signed one. Where sites disagree it has the value with the sign of each.
 */
static const char *arg_cast(struct lowerer *lo, unsigned i, bool is_kept_unsigned)
{
	struct bind *b = lo->b;
	unsigned size;
	enum sign sign = exprtype_arg_sign(b, lo->clause, i, &size);
	if (dialect_has_libbpf_usdt(b->version))
		return is_kept_unsigned && sign == SIGN_UNSIGNED && size == 8 ? "(uint64)" : "";
	if (sign != SIGN_SIGNED)
		return "";
	return size && size < 8 ? arena_printf(b->arena, "(int64)(int%u)", size * 8) : "(int64)";
}

static void lower_arg(struct lowerer *lo, struct node *n, const struct node *parent)
{
	const struct attach_clause *c = lo->clause;
	unsigned i;
	if (!vocabulary_arg_number(n->name->text, &i) || c->has_other || c->has_uprobe)
		return;
	const char *cast = arg_cast(lo, i, minds_sign(parent));
	if (*cast)
		change(lo->b->arena, n, "%sarg%u", cast, (uint64_t)i);
}

/** Is the value followed, or kept where it may be followed later? Other uses are those of a number. */
static bool is_followed(const struct node *n, const struct node *parent)
{
	switch (parent->kind) {
	case NODE_MEMBER:
	case NODE_TUPLE:
	case NODE_LET:
		return true;
	case NODE_INDEX:
	case NODE_TERNARY:
		return (parent->child == n) == (parent->kind == NODE_INDEX);
	case NODE_ASSIGN:
		return parent->child != n;
	case NODE_UNARY:
		return tok_is(parent->name, "*");
	case NODE_BINARY: // a pointer that is moved
		return tok_is(parent->name, "+") || tok_is(parent->name, "-");
	default:
		return false;
	}
}

/** args.name is argN; false for what is none of a usdt probe. */
static bool lower_named(struct lowerer *lo, struct node *n, const struct node *parent)
{
	struct arena *a = lo->b->arena;
	unsigned i;
	const struct probearg *arg = n->kind == NODE_MEMBER && node_is(n->child, NODE_NAME, "args")
					 ? namedarg_find(lo->b, lo->clause, n->name, &i)
					 : NULL;
	if (!arg)
		return false;
	struct ctype *t = ctype_strip(arg->type);
	struct str pointer = is_followed(n, parent) ? typeuse_pointer(lo->b, arg->type) : STR("");
	const char *cast = "";
	if (pointer.n)
		cast = arena_printf(a, "(" STR_FMT ")", STR_ARG(pointer));
	else if (arg->sizes_differ && t && (t->kind == CTYPE_INT || t->kind == CTYPE_ENUM) &&
		 t->size <= 8 && t->size > 0)
		cast = arena_printf(a, "(%sint64)(%sint%u)", t->is_signed ? "" : "u",
				    t->is_signed ? "" : "u", (unsigned)t->size * 8);
	else if (!arg->sizes_differ)
		cast = arg_cast(lo, i,
				minds_sign(parent) ||
				    (t && t->kind == CTYPE_INT && !t->is_signed && t->size == 8));
	change(a, n, pointer.n ? "(%sarg%u)" : "%sarg%u", cast, (uint64_t)i);
	return true;
}

/** `sizeof(x)` is a number: from 0.23 on bpftrace counts a byte more for a char array. */
static bool fold_sizeof(struct lowerer *lo, struct node *n)
{
	const struct expr *e = n->child ? n->child->expr : NULL;
	uint64_t size;
	if (!tok_is(n->name, "sizeof") || !e || !(e->is_place || e->is_value) || e->bit_size ||
	    !ctype_size(e->type, &size)) {
		lo->good = typeuse_fold(lo->b, lo->clause, n);
		return n->kind == NODE_NUMBER;
	}
	change_leaf(lo->b->arena, n, NODE_NUMBER,
		    str_from(arena_printf(lo->b->arena, "%" PRIu64, size)));
	return true;
}

/** str() of a char array in a struct that is held as a value: to bpftrace it is a string, and str() of it nothing. */
static bool lower_str_of_value(struct lowerer *lo, struct node *n)
{
	const struct node *array = n->child;
	uint64_t size;
	if (!tok_is(n->name, "str") || !array || !array->expr->is_value || !array->expr->type ||
	    !is_char_array(ctype_strip(array->expr->type), true, &size))
		return false;
	struct diag_place at = tok_place(n->first);
	if (array->next) {
		lo->good = diag_error(lo->b->diag, &at,
				      "this is in a copy of a struct, and cannot be cut: "
				      "read it through a pointer");
		return true;
	}
	lower_children(lo, n);
	change(lo->b->arena, n, "%n", array);
	return true;
}

/** `let $s : enum state = x`: to bpftrace it is a number, with the sign that the type has. */
static void lower_let(struct lowerer *lo, struct node *n)
{
	struct arena *a = lo->b->arena;
	struct node *type = n->child->next, *value = type ? type->next : NULL;
	lower_children(lo, n);
	struct ctype *t = ctype_strip(n->child->expr->type);
	struct typeuse_name name;
	if (!lo->good || !type || type->kind != NODE_TYPE || !is_number_type(t) ||
	    !typeuse_read(a, type, &name) || vocabulary_type(name.name))
		return;
	const char *to = t->is_signed ? "int64" : "uint64";
	if (value)
		change(a, value, "(%s)(%n)", to, value);
	change(a, type, "%s", to);
}

static bool is_kept_in_map(const struct node *n, const struct node *parent)
{
	return parent->kind == NODE_ASSIGN && parent->child->kind == NODE_MAP && parent->child != n;
}

/** print(*p), @m = *p: what bpftrace makes of the bitfields in there is out of our hands. */
static void warn_of_copied_bits(struct lowerer *lo, const struct node *n, const struct node *parent)
{
	bool prints = node_is(parent, NODE_CALL, "print") && parent->child == n;
	bool is_kept = is_kept_in_map(n, parent);
	bool is_element = parent->kind == NODE_TUPLE;
	if ((!prints && !is_kept && !is_element) || !exprtype_has_bitfields(n->expr->type))
		return;
	struct diag_place at = tok_place(n->first);
	diag_warning(lo->b->diag, &at,
		     "bpftrace %s the bitfields of a whole " STR_FMT " wrong: name the members",
		     prints ? "prints" : "keeps",
		     STR_ARG(ctype_spell(lo->b->arena, ctype_strip(n->expr->type))));
}

/** %d, %u and %x print 32 bits of what has more; %ld and its kin print what is narrower as it is, too. */
static void widen_format(struct lowerer *lo, struct node *n)
{
	struct node *format = lo->b->images ? format_find(n) : NULL;
	struct conversion c = {0};
	struct strbuf text;
	size_t done = 0;
	if (!format)
		return;
	struct str rest = node_text(format);
	strbuf_init(&text);
	for (const struct node *arg = format->next; arg && format_next(rest, &c); arg = arg->next) {
		bool has_width = c.end < 2 || strchr("lhz", rest.p[c.end - 2]);
		if (!arg->expr || !arg->expr->is_wide || has_width || !strchr("diuxX", c.letter))
			continue;
		strbuf_adds(&text, str_slice(rest, done, c.end - 1 - done));
		strbuf_addc(&text, 'l');
		done = c.end - 1;
	}
	strbuf_adds(&text, str_from_offset(rest, done));
	if (done)
		change_leaf(lo->b->arena, format, NODE_STRING,
			    str_copy(lo->b->arena, strbuf_str(&text)));
	strbuf_fini(&text);
}

/** print(*p), @m = *p of a struct with floating-point numbers. */
static void refuse_floats(struct lowerer *lo, const struct node *n, const struct node *parent)
{
	unsigned v = lo->b->version;
	bool prints = node_is(parent, NODE_CALL, "print") && parent->child == n;
	if ((!prints && !is_kept_in_map(n, parent)) || dialect_prints_floats(v) ||
	    !exprtype_has_floats(n->expr->type))
		return;
	struct diag_place at = tok_place(n->first);
	struct str what = ctype_spell(lo->b->arena, ctype_strip(n->expr->type));
	if (prints)
		lo->good = diag_error(lo->b->diag, &at,
				      "bpftrace 0.%u cannot print a whole " STR_FMT
				      ", which has floating-point numbers: name the members",
				      v, STR_ARG(what));
	else
		diag_warning(lo->b->diag, &at,
			     "bpftrace 0.%u cannot print a whole " STR_FMT
			     ", which has floating-point numbers: clear() the map in END",
			     v, STR_ARG(what));
}

static void lower(struct lowerer *lo, struct node *n, const struct node *parent)
{
	if (!lo->good)
		return;
	if (n->expr && n->expr->type) {
		refuse_floats(lo, n, parent);
		warn_of_copied_bits(lo, n, parent);
	}
	if (lower_named(lo, n, parent))
		return;
	bool is_step = n->kind == NODE_MEMBER || n->kind == NODE_INDEX || n->kind == NODE_GROUP ||
		       n->kind == NODE_UNARY;
	if (n->expr && (n->expr->is_place || n->expr->is_value) && is_step) {
		lower_place(lo, n, parent);
	} else if (n->kind == NODE_LET) {
		lower_let(lo, n);
	} else if (n->kind == NODE_TERNARY) {
		lower_ternary(lo, n, parent);
	} else if (n->kind == NODE_TYPE) {
		lo->good = typeuse_lower(lo->b, lo->clause, n, parent);
	} else if (n->kind == NODE_NAME) {
		lower_arg(lo, n, parent);
		lo->good = n->is_changed || constant_lower(lo->b, lo->clause, n, parent);
	} else if (n->kind != NODE_CALL || (!fold_sizeof(lo, n) && !lower_str_of_value(lo, n))) {
		if (n->kind == NODE_CALL)
			widen_format(lo, n);
		lower_children(lo, n);
		if (n->kind == NODE_UNARY)
			lower_minus(lo, n);
		if (n->kind == NODE_BINARY)
			lower_mixture(lo, n);
		if (n->kind == NODE_ASSIGN)
			lower_kept(lo, n);
		if (n->kind == NODE_BINARY || n->kind == NODE_ASSIGN)
			lower_division(lo, n);
	}
}

/** A declaration without a body holds nothing to look into. */
static bool find_opaque(void *ctx, struct node *n, struct node *parent)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	struct node **found = ctx;
	if (!*found && n->kind == NODE_OPAQUE && !n->is_changed &&
	    !(parent->kind == NODE_PROGRAM && tok_is_any(n->first, tags)))
		*found = n;
	return !*found;
}

/** Says once that what a newer bpftrace may take is not understood here; an older one refuses it, and says so itself. */
static void warn_of_opaque(struct bind *b, struct node *program)
{
	struct node *found = NULL;
	if (b->version > DIALECT_NEWEST)
		node_walk(program, find_opaque, &found);
	if (!found)
		return;
	struct diag_place at = tok_place(found->first);
	diag_warning(
	    b->diag, &at,
	    "btgen knows the language up to bpftrace 0.%u, and not this: it is passed on as it is "
	    "written, and not looked into",
	    DIALECT_NEWEST);
}

bool lower_program(struct bind *b)
{
	struct lowerer lo = {.b = b, .good = true};
	typeuse_begin(b);
	if (!exprtype_find(b))
		return false;
	warn_of_opaque(b, b->script.program);
	bool good = true;
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		lo.clause = &b->clauses[i];
		lo.good = true;
		bind_lookup_from(b, i);
		lower_children(&lo, b->script.clauses.v[i].node);
		good &= lo.good;
	}
	return good;
}
