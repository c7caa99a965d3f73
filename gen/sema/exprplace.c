#include "sema/exprplace.h"

#include "lang/print.h"
#include "sema/targettype.h"

/**
 * How to read a bitfield by address: in the unit of its type if it lies in one, which is never outside of
 * the aggregate; else (packed) from its first byte on, byte by byte. Returns the offset.
 */
static uint64_t place_bits(struct ctype *in, const struct ctype_place *place, struct expr *e)
{
	uint64_t unit = 0, size, at;
	ctype_size(place->type, &unit);
	e->bit_bytes = (unsigned)unit;
	if (ctype_is_word(unit)) {
		at = place->bit_off / (unit * 8) * unit;
		e->bit_shift = (unsigned)(place->bit_off - at * 8);
		if (e->bit_shift + e->bit_size <= unit * 8 && ctype_size(in, &size) &&
		    at + unit <= size)
			return at;
	}
	e->bit_bytes = 0;
	e->bit_shift = (unsigned)(place->bit_off % 8);
	return place->bit_off / 8;
}

static bool report_no_member(const struct bind *b, struct ctype *in, const struct token *name)
{
	struct str near = ctype_nearest_member(in, name->text);
	diag_error(b->diag, tok_at(name), STR_FMT " has no member " STR_FMT,
		   STR_ARG(ctype_spell(b->arena, in)), STR_ARG(name->text));
	if (near.n)
		diag_note(b->diag, NULL, "did you mean " STR_FMT "?", STR_ARG(near));
	return false;
}

/**
 * The pointee of @of is declared and nowhere defined, by the program or by the script: bpftrace would
 * report a missing member or type.
 */
static bool check_declared(const struct bind *b, const struct expr *of, const struct token *place)
{
	struct ctype *to = ctype_pointee(of->type);
	if (!to || !ctype_is_aggregate(to) || !to->is_decl || !to->name.n || ctype_complete(to) ||
	    targettype_is_scripts(b, to->name))
		return true;
	struct lookup *lk = bind_lookup(b);
	return !lk || lookup_report_unknown(lk, tok_at(place), "type", ctype_spell(b->arena, to),
					    NAME_TYPES);
}

/** The struct whose members `.` and `->` of @e, an aggregate or a pointer, access; NULL: not known. */
static struct ctype *members_of(const struct bind *b, const struct expr *e, bool *is_pointer)
{
	struct ctype *to = ctype_pointee(e->type), *t = ctype_strip(e->type);
	*is_pointer = to != NULL;
	t = to ? to : t;
	if (t && t->is_decl)
		bind_lookup(b); // another file of the process may define it
	return t && ctype_is_aggregate(t) && ctype_complete(t) ? t : NULL;
}

/** Can no cast spell what @of points to? The pointer is a number to bpftrace then. */
static bool is_beyond_casts(const struct expr *of)
{
	struct str unused;
	return !targettype_pointee(of->type, &unused);
}

bool exprplace_member(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		      struct expr *e)
{
	struct ctype_place place;
	struct str bad;
	struct ctype *where, *in = members_of(b, of, &e->via_pointer);
	if (n->name->kind != TOK_IDENT)
		return true;
	if (!in)
		return !say || check_declared(b, of, n->name);
	if (!ctype_resolve(in, n->name->text, &place, &bad, &where))
		return !say || report_no_member(b, in, n->name);
	e->is_guess = of->is_guess;
	e->is_mixed = of->is_mixed;
	e->in = place.in;
	e->bit_size = place.bit_size;
	e->offset = place.bit_size ? place_bits(in, &place, e) : place.off;
	e->type = ctype_as_pointer(b->arena, place.type); // in memory, too (DWARF 5, 5.3)
	e->is_place = e->via_pointer || of->is_place;
	e->is_value = !e->is_place;
	bool is_long = place.bit_size && place.bit_off % 8 + place.bit_size > 64; // in nine bytes
	e->by_address =
	    of->by_address || (e->is_place && is_long) || (e->via_pointer && is_beyond_casts(of));
	if (say && is_long && e->is_value)
		return diag_error(b->diag, tok_at(n->name),
				  "bpftrace cannot read the bitfield " STR_FMT
				  " of a copied struct: use a pointer to the struct",
				  STR_ARG(n->name->text));
	e->sign = sign_of_type(e->type, e->bit_size);
	return true;
}

static bool is_constant(const struct node *index, uint64_t *value)
{
	return index->kind == NODE_NUMBER && str_to_u64(node_text(index), value);
}

/** Does bpftrace take @to, a pointer to which @of, an argument or variable, leads, for a number? A member of a struct has its type. */
static bool is_number_there(const struct expr *of, struct ctype *to)
{
	return ctype_pointee(to) && !of->is_place;
}

/**
 * `[index]` of a pointer. bpftrace itself accepts constants only, and then knows a number's sign, but not
 * the sign of a member of the element.
 */
static void find_pointed(const struct node *index, const struct expr *of, struct expr *e)
{
	struct ctype *to = ctype_pointee(of->type);
	uint64_t value;
	bool constant = is_constant(index, &value);
	if (!to || to->kind == CTYPE_ARRAY || !ctype_size(to, &e->element_size))
		return;
	e->type = to;
	e->is_guess = of->is_guess;
	e->is_mixed = of->is_mixed;
	e->sign = sign_of_type(to, 0);
	e->is_place = e->via_pointer = true;
	e->by_address = of->by_address || !constant || is_number_there(of, to) ||
			(ctype_is_aggregate(ctype_strip(to)) && is_beyond_casts(of));
}

/** `[index]` of an array in memory. bpftrace itself accepts constants and one-dimensional arrays only. */
bool exprplace_index(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		     struct expr *e)
{
	struct node *index = n->child->next;
	struct ctype *array = ctype_strip(of->type);
	uint64_t value = 0;
	if (array && array->kind == CTYPE_POINTER) {
		find_pointed(index, of, e);
		return true;
	}
	if (!array || array->kind != CTYPE_ARRAY || !ctype_size(array->of, &e->element_size) ||
	    !(of->is_place || of->is_value))
		return true;
	struct ctype *element = ctype_strip(array->of);
	bool constant = is_constant(index, &value);
	if (constant && array->has_count && value >= array->count) {
		return !say ||
		       diag_error(b->diag, tok_at(index->first), "the array has %llu elements",
				  (unsigned long long)array->count);
	}
	bool simple = constant && array->has_count && element && element->kind != CTYPE_ARRAY &&
		      !(element->kind == CTYPE_INT && element->size == 1);
	e->type = array->of;
	e->is_guess = of->is_guess;
	e->is_mixed = of->is_mixed;
	e->sign = sign_of_type(e->type, 0);
	e->is_place = of->is_place;
	e->is_value = of->is_value;
	e->by_address = of->is_place && (of->by_address || !simple);
	return true;
}

bool exprplace_pointee(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e)
{
	struct ctype *to = ctype_pointee(of->type);
	e->type = to;
	e->sign = to ? sign_of_type(to, 0) : SIGN_OTHER;
	bool is_number = e->sign == SIGN_SIGNED || e->sign == SIGN_NONE;
	if (to &&
	    (ctype_is_aggregate(to) || to->kind == CTYPE_POINTER || is_number || of->by_address)) {
		struct str unused;
		e->is_place = e->via_pointer = true;
		e->by_address = of->by_address || is_number_there(of, to) ||
				(ctype_is_aggregate(to) && !targettype_pointee(of->type, &unused));
	}
	return !say || check_declared(b, of, n->name);
}

bool exprplace_address(const struct bind *b, const struct node *n, const struct expr *of, bool say,
		       struct expr *e)
{
	struct node *operand = node_ungrouped(n->child);
	if (of->is_place && of->type && !of->bit_size && !of->is_substituted) {
		e->type = ctype_new_pointer(b->arena, of->type, sizeof(uint64_t));
		e->is_guess = of->is_guess;
		e->is_mixed = of->is_mixed;
		e->by_address = true; // no cast can name a pointer to pointers
		return true;
	}
	if (!say || of->is_substituted || operand->kind == NODE_VARIABLE ||
	    operand->kind == NODE_MAP)
		return true;
	return diag_error(b->diag, tok_at(n->first), "cannot take address of " STR_FMT ": it is %s",
			  STR_ARG(print_text(b->arena, operand)),
			  of->bit_size ? "a bitfield" : "not known to be in memory");
}

bool exprplace_moves(const struct bind *b, const struct node *n)
{
	const struct node *p = n->child;
	struct str name = print_text(b->arena, p);
	return targettype_stride(p->expr->type) <= 1 ||
	       diag_error(b->diag, tok_at(n->first),
			  "bpftrace would move " STR_FMT " by bytes: write " STR_FMT " = " STR_FMT
			  " + 1",
			  STR_ARG(name), STR_ARG(name), STR_ARG(name));
}
