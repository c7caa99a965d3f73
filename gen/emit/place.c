// Places in memory: members, elements, pointees.

#include "ctype/cname.h"
#include "emit/emit_priv.h"
#include "sema/targettype.h"
#include "dialect/dialect.h"

/** A place in memory, or a part of a value of bpftrace. */
struct lvalue {
	const struct text *as_written; /**< with the names and arrows that bpftrace accepts */
	const struct text
	    *address; /**< of a place: the pointer that it begins with, plus an offset */
};

bool place_is_char_array(struct ctype *t, bool bytes, uint64_t *n)
{
	if (t->kind != CTYPE_ARRAY || !t->has_count)
		return false;
	struct ctype *of = ctype_strip(t->of);
	*n = t->count;
	return of && of->kind == CTYPE_INT && of->size == 1 && (of->is_char || bytes);
}

// --- addresses ---

/** A member's name as the definition of its struct spells it: C and bpftrace do not accept all names. */
static struct str spell_member(struct emitter *e, const struct node *n)
{
	struct ctype *in = n->expr->in;
	if (!in)
		return n->name->text;
	struct str *names = map_get_ptr(&e->spelled, in);
	if (!names) {
		names = cname_members(e->arena, in, true);
		map_put_ptr(e->arena, &e->spelled, in, names);
	}
	for (size_t i = 0; i < in->n_members; i++)
		if (!in->members[i].is_base && str_eq(in->members[i].name, n->name->text))
			return names[i];
	return n->name->text;
}

/** The member @name of @of, after @operator if that is not NULL. */
static struct text *write_named(struct emitter *e, const struct node *n, const struct text *of,
				struct str name, const char *operator)
{
	const struct token *op = n->child->last->next;
	struct text *t = text_new(e->arena, n->first, true);
	text_add(e->arena, t, of);
	for (;; op = op->next) {
		struct token *copy = arena_new(e->arena, struct token);
		*copy = *op;
		if (op == n->name)
			copy->text = name;
		else if (operator&& op == n->child->last->next)
			copy->text = str_from(operator);
		text_add_tokens(e->arena, t, copy, copy, NULL);
		if (op == n->last)
			break;
	}
	return t;
}

/** A struct or union that bpftrace cannot reach, to store in a variable; NULL if no cast can name it. */
static struct text *read_whole(struct emitter *e, const struct node *n, const struct text *at)
{
	struct ctype *type = ctype_new_pointer(e->arena, n->expr->type, sizeof(uint64_t));
	struct str name = types_pointer(e, type);
	return name.n ? text_format(e, n, "*(%t)(%n)", name, at) : NULL;
}

/** `x.m`: bpftrace before 0.25 wants an arrow after a pointer, and none after a struct. */
static struct text *write_member(struct emitter *e, const struct node *n, const struct text *of)
{
	const char *operator= n->expr->via_pointer ? "->" : n->expr->in ? "." : NULL;
	struct str name = spell_member(e, n);
	if (operator&&(tok_is(n->child->last->next, operator) || n->child->last->next == n->name))
		operator= NULL;
	return operator|| !str_eq(name, n->name->text) ? write_named(e, n, of, name, operator)
						       : emit_with_children(e, n, &of);
}

const struct text *place_after_args(struct emitter *e, const struct node *n)
{
	if (!dialect_points_at_args(e->b->given->version) ||
	    !node_is(n->child, NODE_NAME, "args") || !tok_is(n->child->last->next, "."))
		return NULL;
	return write_named(e, n, emit(e, n->child, WANT_POINTER), n->name->text, "->");
}

static struct lvalue find_lvalue(struct emitter *e, const struct node *n)
{
	const struct expr *x = n->expr;
	const struct node *of = n->child, *index = n->kind == NODE_INDEX ? of->next : NULL;
	bool is_inner = (n->kind == NODE_GROUP || !x->via_pointer) && of->expr &&
			(of->expr->is_place || of->expr->is_value);
	struct lvalue s = {0}, inner = {0};
	s.address = arg_emit_address(e, n);
	if (s.address) {
		s.as_written = read_whole(e, n, s.address);
		s.as_written = s.as_written ? s.as_written : s.address;
		return s;
	}
	if (is_inner)
		inner = find_lvalue(e, of);
	else
		inner.as_written = emit(e, of, WANT_POINTER);
	const struct text *children[] = {inner.as_written,
					 index ? emit(e, index, WANT_VALUE) : NULL};
	s.as_written = n->kind == NODE_MEMBER ? write_member(e, n, children[0])
					      : emit_with_children(e, n, children);
	if (n->kind == NODE_GROUP) {
		s.address = inner.address;
		return s;
	}
	const struct text *base =
	    x->via_pointer ? text_format(e, n, "(uint64)%c", inner.as_written) : inner.address;
	if (!x->is_place || !base)
		return s;
	s.address =
	    index ? text_format(e, n, "%n + (uint64)%c * %u", base, children[1], x->element_size)
		  : text_format(e, n, "%n + %u", base, x->offset);
	return s;
}

// --- reading ---

/** A char array as a string of its whole length. From 0.23 on str(p, N) returns N-1 characters; before, N. */
static const struct text *read_string(struct emitter *e, const struct node *n,
				      const struct lvalue *s, enum want want, uint64_t size)
{
	const struct bind *b = e->b;
	uint64_t length = size + dialect_counts_end_of_text(b->given->version);
	if (size > b->made->longest_string) {
		b->made->longest_string = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
		b->made->longest_at = n->first;
	}
	if (want == WANT_STRING_PART)
		return s->address;
	if (want == WANT_STRING)
		return text_format(e, n, "%n, %u", s->address, length);
	e->n_strings++;
	e->n_reads++;
	return text_format(e, n, "str(%n, %u)", s->address, length);
}

/** A signed number: some versions read @value signed, others unsigned. */
static struct text *read_signed(struct emitter *e, const struct node *n, const struct text *value)
{
	const struct expr *x = n->expr;
	unsigned bits = x->bit_size ? x->bit_size : (unsigned)ctype_strip(x->type)->size * 8;
	if (!x->bit_size || bits == 8 || bits == 16 || bits == 32)
		return bits == 64 ? text_format(e, n, "(int64)%n", value)
				  : text_format(e, n, "(int64)(int%u)%n", (uint64_t)bits, value);
	uint64_t sign = (uint64_t)1 << (bits - 1);
	return text_format(e, n,
			   dialect_mixes_signs(e->b->given->version)
			       ? "(int64)(((uint64)(%n) ^ %u) - (uint64)%u)"
			       : "(((int64)(%n) ^ %u) - %u)",
			   value, sign, sign);
}

/** A bitfield out of memory. */
static struct text *read_bits(struct emitter *e, const struct node *n, const struct text *at)
{
	const struct expr *x = n->expr;
	unsigned n_bytes = (x->bit_shift + x->bit_size + 7) / 8;
	struct text *bits = text_format(e, n, "");
	if (x->bit_bytes)
		bits = text_format(e, n, "(uint64)*(uint%u *)(%n)", (uint64_t)x->bit_bytes * 8, at);
	for (unsigned i = 0; !x->bit_bytes && i < n_bytes && i < 8; i++)
		bits = text_format(e, n, "%n%s((uint64)*(uint8 *)(%n + %u) << %u)", bits,
				   i ? " | " : "", at, (uint64_t)i, (uint64_t)i * 8);
	bits = text_format(e, n, "((%n) >> %u)", bits, (uint64_t)x->bit_shift);
	if (n_bytes > 8)
		bits = text_format(e, n, "(%n | ((uint64)*(uint8 *)(%n + 8) << %u))", bits, at,
				   64 - (uint64_t)x->bit_shift);
	bits = text_format(e, n, "(%n & 0x%s)", bits,
			   arena_printf(e->arena, "%" PRIx64, UINT64_MAX >> (64 - x->bit_size)));
	return ctype_strip(x->type)->is_signed ? read_signed(e, n, bits) : bits;
}

/** A number or pointer that bpftrace cannot reach. */
static struct text *read_by_address(struct emitter *e, const struct node *n, struct ctype *t,
				    const struct text *at, enum want want)
{
	struct text *value = text_format(e, n, "*(uint%u *)(%n)", (uint64_t)t->size * 8, at);
	struct ctype *to = ctype_pointee(t);
	struct str name = to && ctype_is_aggregate(to) ? types_pointer(e, t) : STR("");
	if (!name.n)
		return t->is_signed && ctype_is_number(t) ? read_signed(e, n, value) : value;
	// Its value may be stored and dereferenced.
	return want == WANT_POINTER ? text_format(e, n, "((%t)%n)", name, value)
				    : text_format(e, n, "(%t)%n", name, value);
}

/** The text that reads the place or value @n; NULL if bpftrace reads it correctly. */
static const struct text *read_lvalue(struct emitter *e, const struct node *n,
				      const struct lvalue *s, enum want want)
{
	const struct expr *x = n->expr;
	struct ctype *t = ctype_strip(x->type);
	bool in_str = want == WANT_STRING || want == WANT_STRING_PART;
	uint64_t size;
	if (want == WANT_ADDRESS)
		return s->address;
	if (!t || want == WANT_TYPE)
		return NULL;
	if (place_is_char_array(t, in_str, &size))
		return size == 0 || x->is_value || want == WANT_WHOLE
			   ? NULL
			   : read_string(e, n, s, want, size);
	if (x->by_address && x->bit_size && x->bit_size <= 64 && ctype_is_number(t))
		return read_bits(e, n, s->address);
	if (x->by_address && !x->bit_size && (ctype_is_number(t) || t->kind == CTYPE_POINTER) &&
	    ctype_is_word(t->size))
		return read_by_address(e, n, t, s->address, want);
	if (x->by_address && ctype_is_aggregate(t)) {
		const struct text *whole = read_whole(e, n, s->address);
		if (!whole && (want == WANT_VALUE || want == WANT_POINTER))
			e->good = diag_error(e->b->diag, tok_at(n->first),
					     "bpftrace cannot copy " STR_FMT
					     ", whose name no script can spell: use a pointer",
					     STR_ARG(ctype_spell(e->arena, t)));
		return whole;
	}
	if (t->kind == CTYPE_FLOAT && arg_emit_address(e, node_ungrouped(n))) {
		e->good = diag_error(e->b->diag, tok_at(n->first),
				     "bpftrace cannot read a " STR_FMT ": -t prints its value",
				     STR_ARG(t->name));
		return NULL;
	}
	if (t->kind == CTYPE_ARRAY && arg_emit_address(e, n)) {
		e->good =
		    diag_error(e->b->diag, tok_at(n->name),
			       "bpftrace cannot take " STR_FMT
			       ", an array that is a variable of the program, as a whole: name "
			       "its elements",
			       STR_ARG(n->name->text));
		return NULL;
	}
	if (!ctype_is_number(t) || !t->is_signed || (!x->bit_size && t->size >= 8))
		return NULL;
	return read_signed(e, n, s->as_written);
}

const struct text *place_emit(struct emitter *e, const struct node *n, enum want want)
{
	struct lvalue s = find_lvalue(e, n);
	const struct text *read = e->good ? read_lvalue(e, n, &s, want) : NULL;
	struct text *t = arena_new(e->arena, struct text);
	if (!read || !emit_fits(e, n, read))
		read = s.as_written;
	*t = *read;
	const struct text *children[] = {t};
	t->repr = n->kind == NODE_GROUP ? number_repr(e, node_ungrouped(n), children)
					: number_repr(e, n, children);
	t->needs_no_parens = true;
	return t;
}

const struct text *place_decayed(struct emitter *e, const struct node *cast)
{
	const struct node *n = cast->child->next;
	struct ctype *t = n->expr ? ctype_strip(n->expr->type) : NULL;
	bool is_array = t && t->kind == CTYPE_ARRAY && n->expr->is_place;
	return is_array && ctype_pointee(cast->expr->type)
		   ? text_format(e, n, "(%n)", emit(e, n, WANT_ADDRESS))
		   : NULL;
}
