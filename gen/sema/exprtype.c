#define TREE_IS_MADE_HERE
#include "sema/exprtype.h"

#include "bind/namedarg.h"
#include "bind/namedvar.h"
#include "ctype/cxxclass.h"
#include "sema/arg_fact.h"
#include "sema/exprplace.h"
#include "sema/macrosign.h"
#include "sema/vars.h"
#include "sema/result.h"
#include "sema/targettype.h"
#include "lang/print.h"

enum { MAX_ROUNDS = 100 }; // a value may pass through clauses from the last to the first

struct finder {
	const struct bind *b;
	const struct attach_clause *clause;
	const struct node
	    *dereferenced; // the operand of ->, [ or *, which may be retval or a smart pointer
	struct vars vars;
	struct expr *shared[256]; // of several nodes
	bool has_changed;	  // in this round
	bool is_last;		  // round: all is known, errors are reported
	bool knows_types;	  // of the target: not in clauses of the kernel
	bool in_offset;		  // offsetof(): a name is a member
	bool good;
};

static struct expr *find_expr(struct finder *f, struct node *n);

bool exprtype_is_whole(const struct expr *e, uint64_t *size)
{
	return e && e->kind == EXPR_AGGREGATE && e->is_place && !e->is_substituted &&
	       ctype_size(e->type, size) && *size > 0;
}

// --- types ---

static unsigned char width_of_type(struct ctype *t)
{
	t = ctype_strip(t);
	bool has_width = t && (ctype_is_number(t) || t->kind == CTYPE_POINTER) && t->size <= 8;
	return has_width ? (unsigned char)(t->size * 8) : WIDTH_UNKNOWN;
}

/** The facts of a value of the type that @n spells. */
static struct expr expr_of_type(struct finder *f, const struct node *n)
{
	struct expr e = {.sign = SIGN_OTHER};
	struct targettype_name name;
	struct arena *a = f->b->arena;
	if (n->kind != NODE_TYPE || !targettype_read(a, n, &name) || !targettype_is_whole(n, &name))
		return e;
	struct str tag =
	    name.has_keyword ? str_from_offset(name.name, str_find(name.name, ' ') + 1) : name.name;
	e.is_bool = str_eqz(name.name, "bool") && !name.stars;
	if (vocabulary_type(name.name))
		e.type = targettype_builtin(a, name.name);
	else if (targettype_is_scripts(f->b, tag) || !bind_lookup(f->b) ||
		 (!f->knows_types && name.stars) ||
		 !lookup_type(bind_lookup(f->b), name.name, NAME_TYPES, &e.type))
		return e;
	e.sign = sign_of_type(e.type, 0);
	e.width = name.stars ? 64 : width_of_type(e.type);
	if (!name.stars)
		return e;
	e.sign = SIGN_OTHER;
	for (unsigned i = 0; e.type && i < name.stars; i++)
		e.type = ctype_new_pointer(a, e.type, 8);
	return e;
}

/** typeof(x), or a type by its name. */
static struct expr expr_of_annotation(struct finder *f, struct node *n)
{
	if (n->kind != NODE_TYPEOF)
		return expr_of_type(f, n);
	if (n->child->kind == NODE_TYPE)
		return expr_of_type(f, n->child);
	return *find_expr(f, n->child);
}

// --- operators ---

/** A value that was computed is no place any more. */
static void forget_place(struct expr *e)
{
	e->is_place = e->is_value = e->by_address = e->via_pointer = false;
	e->bit_size = 0;
}

/** `.1` of a tuple. */
static void find_element(const struct node *n, const struct expr *of, struct expr *e)
{
	struct str number = n->name->text;
	uint64_t i;
	str_take(&number, STR("."));
	if (!str_to_u64(number, &i) || i >= of->n_elements)
		return;
	of = of->elements[i];
	if (!of)
		return;
	*e = *of;
	forget_place(e);
}

/** The operand of ->, [ or *: there retval is a pointer, elsewhere a number. */
static const struct expr *find_dereferenced(struct finder *f, struct node *n)
{
	const struct node *outer = f->dereferenced;
	f->dereferenced = node_ungrouped(n);
	const struct expr *of = find_expr(f, n);
	f->dereferenced = outer;
	return of;
}

/**
 * May it become negative by being decremented? In the script of a host, which stays unchanged, it is taken
 * for a count.
 */
static bool may_go_negative(const struct finder *f, const struct token *op)
{
	return f->b->given->files && (tok_is(op, "-=") || tok_is(op, "--"));
}

/** Puts @value into @target, which may stand for the maps that this macro is called with. */
static struct var *keep(struct finder *f, const struct node *target, const struct expr *value)
{
	struct var *h = vars_assign(&f->vars, target, value);
	if (target->kind != NODE_MAP || !script_is_parameter(f->vars.macro, target))
		return h;
	if (!h->stored) {
		h->stored = arena_new(f->vars.names, struct expr);
		h->stored->sign = SIGN_OPEN;
	}
	expr_join(h->stored, value);
	h->stored->type = value->type;
	return h;
}

/** n++: the operand is a number, whatever else it may hold. */
static void record_increment(struct finder *f, struct node *n)
{
	// One clause does not count beyond 32 bits, but a whole trace may.
	unsigned more = n->child->expr->bits >= 32 ? 34 : 0;
	struct expr count = {.sign = may_go_negative(f, n->name) ? SIGN_SIGNED : SIGN_NONE,
			     .bits = n->child->kind == NODE_MAP ? 64 : more,
			     .width = 64,
			     .kind = EXPR_NUMBER};
	if (node_is_step(n) && (n->child->kind == NODE_VARIABLE || n->child->kind == NODE_MAP))
		keep(f, n->child, &count)->is_computed = true;
	f->good &= !f->is_last || !node_is_step(n) || exprplace_moves(f->b, n);
}

/** `x->own->id` of a std::unique_ptr in memory: it begins with the pointer, which is read by its address. */
static void find_smart_pointer(const struct finder *f, const struct node *n, struct expr *e)
{
	struct ctype *pointer =
	    f->dereferenced == n && e->is_place ? cxxclass_pointer(e->type) : NULL;
	if (!pointer)
		return;
	while (n->parent->kind == NODE_GROUP)
		n = n->parent;
	if (!tok_is(n->last->next, "->") && !node_is(n->parent, NODE_UNARY, "*"))
		return; // a member of its own
	e->type = pointer;
	e->by_address = true;
	e->sign = sign_of_type(e->type, 0);
}

static void find_unary(struct finder *f, struct node *n, struct expr *e)
{
	bool is_followed = tok_is(n->name, "*");
	const struct expr *of =
	    is_followed ? find_dereferenced(f, n->child) : find_expr(f, n->child);
	const struct token *op = n->name;
	e->sign = of->sign;
	e->width = is_followed ? WIDTH_UNKNOWN : of->width == WIDTH_LITERAL ? WIDTH_LITERAL : 64;
	if (tok_is(op, "-") || tok_is(op, "~") || node_is_step(n)) {
		bool is_grown = of->bits && !node_is_step(n);
		e->bits = is_grown ? sign_bits_of_result(OP_SUB, 1, of->bits, NULL) : of->bits;
		e->is_time = of->is_time;
	}
	e->kind = EXPR_NUMBER;
	if (tok_is(op, "*")) {
		e->kind = EXPR_OPEN;
		e->is_guess = of->is_guess;
		e->is_mixed = of->is_mixed;
		f->good &= exprplace_pointee(f->b, n, of, f->is_last, e);
		find_smart_pointer(f, n, e);
	} else if (tok_is(op, "!")) {
		e->sign = SIGN_NONE;
		e->bits = 1;
		e->is_bool = true;
	} else if (tok_is(op, "&")) {
		e->sign = SIGN_OTHER;
		f->good &= exprplace_address(f->b, n, of, f->is_last, e);
	} else if (tok_is(op, "-") || tok_is(op, "~")) {
		e->sign = of->sign == SIGN_NONE ? SIGN_SIGNED : of->sign;
	}
	record_increment(f, n);
}

/**
 * Of a difference of numbers that are never negative: times are subtracted from later ones, and two
 * constants are known; any other may be negative. The script of a host stays unchanged.
 */
static enum sign sign_of_difference(const struct finder *f, const struct node *n)
{
	const struct node *left = node_ungrouped(n->child), *right = node_ungrouped(n->child->next);
	uint64_t from, taken;
	if (f->b->given->files && left->kind == NODE_NUMBER && right->kind == NODE_NUMBER &&
	    str_to_u64(node_text(left), &from) && str_to_u64(node_text(right), &taken))
		return from < taken ? SIGN_SIGNED : SIGN_NONE;
	bool has_time = left->expr->is_time || right->expr->is_time;
	return has_time || !f->b->given->files ? SIGN_OTHER : SIGN_SIGNED;
}

static unsigned bits_of_result(const struct node *n, const struct expr *e)
{
	const struct expr *left = n->child->expr, *right = n->child->next->expr;
	const struct node *amount = node_ungrouped(n->child->next);
	// 0: a name of which nothing is known yet.
	unsigned a = left->sign == SIGN_OPEN && !left->bits ? 1 : left->bits;
	unsigned b = right->sign == SIGN_OPEN && !right->bits ? 1 : right->bits;
	uint64_t number;
	bool is_number = amount->kind == NODE_NUMBER && str_to_u64(node_text(amount), &number);
	unsigned op = node_operator(n);
	if (op == OP_BIT_AND && e->sign != SIGN_NONE)
		op = OP_BIT_OR; // a negative mask clears nothing
	else if (op == OP_BIT_AND && left->sign != SIGN_NONE)
		a = 0;
	else if (op == OP_BIT_AND && right->sign != SIGN_NONE)
		b = 0;
	else if (e->sign == SIGN_UNSIGNED && left->sign == SIGN_SIGNED)
		a = 64;
	unsigned bits = sign_bits_of_result(op, a, b, is_number ? &number : NULL);
	// Subtraction makes it no larger; in a map it may be repeated.
	bool is_less = op == OP_SUB && n->child->kind != NODE_MAP && right->sign == SIGN_NONE &&
		       b <= 34 && a <= (left->sign == SIGN_NONE ? 32 : 34);
	return is_less && bits > 34 ? 34 : bits;
}

static void find_binary(struct finder *f, struct node *n, struct expr *e)
{
	const struct expr *left = find_expr(f, n->child), *right = find_expr(f, n->child->next);
	unsigned op = node_operator(n);
	e->sign = sign_of_result(op, left->sign, right->sign);
	if (op == OP_SUB && left->sign == SIGN_NONE && right->sign == SIGN_NONE)
		e->sign = sign_of_difference(f, n);
	e->kind = EXPR_NUMBER;
	e->width = 64;
	e->is_bool = op & (OP_COMPARISON | OP_LOGIC);
	// A quotient is no larger than the dividend, a remainder no larger than both, a masked number no
	// larger than the mask.
	bool is_cut = op == OP_MOD || (op == OP_BIT_AND && e->sign == SIGN_NONE);
	e->bits = e->is_bool ? 1 : bits_of_result(n, e);
	e->is_time = e->is_bool			? 0
		     : is_cut			? left->is_time & right->is_time
		     : op & (OP_SHIFT | OP_DIV) ? left->is_time
						: left->is_time | right->is_time;
	// Pointer arithmetic keeps the type.
	if ((op & OP_MOVE) && ctype_pointee(left->type)) {
		e->type = left->type;
		e->is_guess = left->is_guess;
		e->is_mixed = left->is_mixed;
	}
}

static void find_ternary(struct finder *f, struct node *n, struct expr *e)
{
	struct node *yes = n->child->next, *no = yes->next;
	find_expr(f, n->child);
	*e = *find_expr(f, no ? yes : n->child);
	const struct expr *other = find_expr(f, no ? no : yes);
	bool is_confused = expr_confuses_enums(e, other);
	bool is_second = !e->type && (ctype_pointee(other->type) || expr_enum(other));
	expr_join(e, other);
	if (is_confused)
		e->type = NULL;
	else if (is_second)
		e->type = other->type; // the first part is a literal
	e->is_bool &= other->is_bool;
	forget_place(e);
}

/** Of `name op= value`, repeated: addition and multiplication grow. */
static unsigned bits_of_compound(const struct node *n, const struct expr *value)
{
	if (node_operator(n) & (OP_MOVE | OP_MUL | OP_SHL))
		return 64;
	return sign_bits_of_result(OP_BIT_OR, n->child->expr->bits, value->bits, NULL);
}

/** a = b, a op= b */
static void find_assign(struct finder *f, struct node *n, struct expr *e)
{
	struct node *target = n->child;
	const struct expr *value = find_expr(f, target->next);
	find_expr(f, target);
	*e = *value;
	e->is_place = e->is_value = false;
	if (target->kind != NODE_VARIABLE && target->kind != NODE_MAP)
		return;
	struct expr kept = *e;
	bool is_plain = tok_is(n->name, "=");
	// A number, whatever else it may hold; a shift keeps the sign.
	unsigned op = node_operator(n);
	if (!is_plain && target->expr->sign == SIGN_UNSIGNED) // as in C
		kept = (struct expr){.sign = sign_of_result(op, SIGN_UNSIGNED, value->sign)};
	else if (!is_plain && value->sign == SIGN_NONE && may_go_negative(f, n->name))
		kept = (struct expr){.sign = SIGN_SIGNED};
	else if (!is_plain && (value->sign == SIGN_NONE || op == OP_SHR))
		kept = (struct expr){.sign = SIGN_NONE};
	else if (!is_plain)
		kept = (struct expr){.sign = value->sign};
	kept.bits = is_plain ? value->bits : bits_of_compound(n, value);
	kept.width = is_plain ? value->width : 64;
	kept.is_time = value->is_time;
	kept.kind = is_plain ? value->kind : EXPR_NUMBER;
	keep(f, target, &kept)->is_computed |= !is_plain;
	f->good &= !f->is_last || is_plain || exprplace_moves(f->b, n);
}

static void find_let(struct finder *f, struct node *n, struct expr *e)
{
	(void)e;
	struct node *variable = n->child, *type = NULL, *value = variable->next;
	if (value && (value->kind == NODE_TYPE || value->kind == NODE_TYPEOF)) {
		type = value;
		value = type->next;
	}
	const struct expr *given = value ? find_expr(f, value) : NULL;
	struct expr kept = {.sign = SIGN_OPEN};
	if (type)
		kept = expr_of_annotation(f, type);
	else if (given)
		kept = *given;
	vars_shadow(&f->vars, variable);
	vars_assign(&f->vars, variable, &kept);
	find_expr(f, variable);
}

/** for ($kv : @m): a key and a value; for ($i : a..b): a number. */
static void find_for(struct finder *f, struct node *n, struct expr *e)
{
	(void)e;
	struct node *variable = n->child, *over = variable->next, *block = over->next;
	struct arena *a = f->b->arena;
	struct expr item = {.sign = SIGN_OTHER};
	find_expr(f, over);
	if (over->kind == NODE_RANGE) {
		bool starts_at_number = over->child->kind == NODE_NUMBER;
		item.kind = EXPR_NUMBER;
		item.sign = starts_at_number ? SIGN_NONE : over->child->expr->sign;
		unsigned from = over->child->expr->bits, to = over->last_child->expr->bits;
		item.bits = from > to ? from : to;
		item.width = 64;
	} else if (over->kind == NODE_MAP && !over->child) {
		item.elements = arena_array(a, struct expr *, 2);
		item.n_elements = 2;
		item.elements[0] = vars_key(&f->vars, over);
		item.elements[1] = arena_new(a, struct expr);
		vars_lookup(&f->vars, over, item.elements[1]);
	}
	size_t scope = f->vars.shadowed.n;
	vars_shadow(&f->vars, variable);
	vars_assign(&f->vars, variable, &item);
	find_expr(f, variable);
	find_expr(f, block);
	vars_unshadow(&f->vars, scope);
}

// --- expressions ---

static enum expr_kind kind_of_word(const struct word *word)
{
	static const enum expr_kind kinds[] = {
	    [GIVES_OTHER] = EXPR_OPEN,	 [GIVES_COUNT] = EXPR_NUMBER,
	    [GIVES_TRUTH] = EXPR_NUMBER, [GIVES_NUMBER] = EXPR_NUMBER,
	    [GIVES_TEXT] = EXPR_TEXT,	 [GIVES_SHOWN] = EXPR_SHOWN,
	    [GIVES_BYTES] = EXPR_BYTES,	 [GIVES_AGGREGATION] = EXPR_AGGREGATION};
	return kinds[word->gives];
}

/** A hostile file may call a type anything: no compiler writes such a name. */
static bool is_type_name(struct ctype *t)
{
	struct ctype *to = ctype_pointee(t);
	return !to || !to->name.n || str_is_made_of(to->name, ALPHABET_TYPE);
}

/** retval is a pointer only where it is dereferenced: `retval + 8` is 8 more. */
static void find_retval(struct finder *f, const struct node *n, struct expr *e)
{
	struct ctype *t = result_type(f->b, f->clause), *bare = ctype_strip(t);
	if (!t || !is_type_name(t))
		return;
	e->kind = EXPR_NUMBER;
	e->meant = t;
	e->sign = sign_of_type(t, 0);
	e->width = width_of_type(t);
	if (bare->kind != CTYPE_POINTER || n == f->dereferenced)
		e->type = t;
}

static void find_name(struct finder *f, const struct node *n, struct expr *e)
{
	const struct word *word = vocabulary_word(n->name->text);
	unsigned i, size = 0;
	e->is_bool = word->is_bare && word->gives == GIVES_TRUTH;
	bool is_count = word->is_bare ? word->gives == GIVES_COUNT || e->is_bool
				      : !vocabulary_is_builtin(n->name->text); // an enumerator
	e->sign = is_count ? SIGN_NONE : SIGN_OTHER;
	e->kind = kind_of_word(word);
	bool is_arg = vocabulary_arg_number(n->name->text, &i);
	if (is_arg)
		e->kind = EXPR_NUMBER;
	if (is_arg && !f->clause->has_other && !f->clause->has_uprobe) {
		e->sign = arg_fact_sign(f->b, f->clause, i, &size);
		e->arg_of = f->clause->probes.n ? f->clause : NULL;
		e->arg = i;
	}
	e->bits = word->is_wide ? 64 : is_count ? 32 : size * 8;
	e->width = is_arg && !size ? 64 : is_arg || word->is_bare ? (unsigned char)e->bits : 0;
	e->is_time = word->is_wide;
	if (tok_is(n->name, "retval"))
		find_retval(f, n, e);
}

/** A macro or enumerator of a C header, or of an enum of the script. */
static void find_constant(const struct finder *f, struct str name, struct expr *e)
{
	struct constant_value c;
	if (!targettype_constant(f->b, name, &c)) {
		if (targettype_is_constant(f->b, name))
			e->sign = SIGN_MIXED; // its value is not known
		return;
	}
	bool is_large = (int64_t)c.value < 0, is_negative = is_large && !c.is_unsigned;
	e->kind = EXPR_NUMBER;
	e->sign = is_negative ? SIGN_SIGNED : is_large ? SIGN_UNSIGNED : SIGN_NONE;
	e->bits = sign_bits_of_number(is_negative ? ~c.value : c.value) + is_negative;
}

/** BLUE, or ns::BLUE: its value may be negative. */
static void find_enumerator(struct finder *f, const struct node *n, struct expr *e)
{
	int64_t value;
	struct ctype *of;
	struct str name = print_text(f->b->arena, n);
	if (e->sign != SIGN_NONE || vocabulary_is_builtin(n->name->text) || f->in_offset)
		return;
	if (targettype_defines(f->b, name)) {
		find_constant(f, name, e);
		return;
	}
	if (!f->knows_types || !bind_lookup(f->b))
		return;
	if (!lookup_enumerator(f->b->cache->lookup, name, &value, &of))
		return;
	e->kind = EXPR_NUMBER;
	e->enumerator_of = of;
	e->width = WIDTH_LITERAL;
	e->bits = value < 0 ? sign_bits_of_number(~(uint64_t)value) + 1
			    : sign_bits_of_number((uint64_t)value);
	if (value < 0)
		e->sign = of && !of->is_signed ? SIGN_UNSIGNED : SIGN_SIGNED;
}

/** vars.name: a struct or array is a place like a member */
static bool find_program_variable(struct finder *f, const struct node *n, struct expr *e)
{
	const struct namedvar *v = namedvar_find(f->clause, n);
	if (!v)
		return false;
	e->type = is_type_name(v->type) ? v->type : NULL;
	e->sign = sign_of_type(v->type, 0);
	e->bits = sign_bits_of_type(v->type, 0);
	e->is_place = e->by_address = v->is_memory;
	e->kind = v->is_memory ? EXPR_OPEN : EXPR_NUMBER;
	return true;
}

/** args.name */
static bool find_named(struct finder *f, const struct node *n, struct expr *e)
{
	unsigned i, size;
	const struct probearg *arg = node_is(n->child, NODE_NAME, "args")
					 ? namedarg_find(f->b, f->clause, n->name, &i)
					 : NULL;
	if (!arg)
		return false;
	e->type = is_type_name(arg->type) ? arg->type : NULL;
	e->kind = EXPR_NUMBER;
	if (f->clause->params) {
		e->sign = sign_of_type(arg->type, 0);
		e->bits = sign_bits_of_type(arg->type, 0);
		return true;
	}
	e->arg_of = f->clause;
	e->arg = i;
	e->is_guess = arg->from != PROBEARG_DECLARED;
	// If sites pass it in different widths, its type has the sign.
	e->sign = arg_fact_sign(f->b, f->clause, i, &size);
	e->bits = size * 8;
	e->width = e->type ? width_of_type(e->type) : (unsigned char)e->bits;
	if (probearg_is_sized_by_type(arg))
		e->sign = sign_of_type(arg->type, 0);
	return true;
}

/** A variable, or a map with its keys. */
static void find_variable(struct finder *f, struct node *n, struct expr *e)
{
	for (struct node *c = n->child; c; c = c->next)
		find_expr(f, c);
	vars_lookup(&f->vars, n, e);
	e->is_substituted = n->kind == NODE_MAP && script_is_parameter(f->vars.macro, n);
}

/** May one text read members and elements of values of both types? */
static bool can_share_text(struct ctype *a, struct ctype *b)
{
	struct ctype *to_a = ctype_pointee(a), *to_b = ctype_pointee(b);
	a = ctype_strip(a);
	b = ctype_strip(b);
	bool a_is_array = a && a->kind == CTYPE_ARRAY, b_is_array = b && b->kind == CTYPE_ARRAY;
	bool a_leads_on = to_a || a_is_array || (a && ctype_is_aggregate(a));
	bool b_leads_on = to_b || b_is_array || (b && ctype_is_aggregate(b));
	if (!a_leads_on || !b_leads_on || (a_is_array && b_is_array))
		return true;
	return to_a && to_b ? ctype_is_same(to_a, to_b) : ctype_is_same(a, b);
}

/** A macro is checked once, for all its calls. */
static void check_parameter(struct finder *f, const struct node *argument, const struct var *h)
{
	struct ctype *now = argument->expr->type, *before = h->value.type;
	if (!f->is_last || can_share_text(now, before))
		return;
	f->good = diag_error(
	    f->b->diag, tok_at(argument->first),
	    "this macro is called with " STR_FMT " and with " STR_FMT ": write a macro for each",
	    STR_ARG(ctype_spell(f->b->arena, before)), STR_ARG(ctype_spell(f->b->arena, now)));
}

/** A parameter is what it is called with, and a map that is one gets what the macro puts into it. */
static void pass_argument(struct finder *f, const struct node *macro, const struct node *p,
			  const struct node *argument)
{
	const struct node *scope = f->vars.scope, *outer = f->vars.macro;
	struct expr value = *argument->expr, stored;
	value.is_bool = false; // another call may pass a number
	value.elements = NULL;
	f->vars.scope = f->vars.macro = macro;
	struct var *h = vars_find(&f->vars, p);
	// It is no store, which would make one type of both.
	enum sign sign = sign_join(h->value.sign, value.sign);
	check_parameter(f, argument, h);
	vars_assign(&f->vars, p, &value)->value.sign = sign;
	bool is_stored = p->kind == NODE_MAP && vars_stored(&f->vars, p, &stored);
	f->vars.scope = scope;
	f->vars.macro = outer;
	if (is_stored && argument->kind == NODE_MAP)
		keep(f, argument, &stored)->is_computed |= h->is_computed;
}

/** The call is the last expression of its block. */
static void find_macro(struct finder *f, const struct node *macro, const struct node *call,
		       struct expr *e)
{
	const struct node *argument = call->child, *p = macro->child;
	const struct node *only = macro->last_child->child; // or the first of several statements
	for (; argument && p->next; argument = argument->next, p = p->next)
		if (p->kind == NODE_NAME || p->kind == NODE_VARIABLE || p->kind == NODE_MAP)
			pass_argument(f, macro, p, argument);
	if (macro->last_child->expr) {
		*e = *macro->last_child->expr;
		e->sign = macrosign_of_call(f->b, macro, call, f->is_last);
	}
	e->is_substituted = true;
	e->effect = !only || only->kind != NODE_EXPRESSION || only->next || !only->child->expr
			? EFFECT_CHANGES
			: only->child->expr->effect;
}

/** bswap(): an unsigned number as wide as @of */
static void find_swapped(struct finder *f, const struct expr *of, struct expr *e)
{
	unsigned width = expr_width(of);
	if (!width)
		return;
	e->type = targettype_builtin(f->b->arena, str_printf(f->b->arena, "uint%u", width));
	e->sign = sign_of_type(e->type, 0);
	e->width = (unsigned char)width;
	e->bits = width;
}

static void find_call(struct finder *f, struct node *n, struct expr *e)
{
	bool was = f->in_offset;
	for (struct node *c = n->child; c; c = c->next) {
		find_expr(f, c);
		f->in_offset |= tok_is(n->name, "offsetof");
	}
	f->in_offset = was;
	const struct node *macro = script_macro(&f->b->found.script, n);
	if (macro) {
		find_macro(f, macro, n, e);
		return;
	}
	const struct word *word = vocabulary_word(n->name->text);
	e->is_bool = word->gives == GIVES_TRUTH;
	e->sign = word->gives == GIVES_COUNT || e->is_bool ? SIGN_NONE : SIGN_OTHER;
	e->bits = e->is_bool					      ? 1
		  : word->is_wide || word->gives == GIVES_AGGREGATION ? 64
		  : word->gives == GIVES_COUNT			      ? 32
		  : word->gives == GIVES_NUMBER && n->child	      ? n->child->expr->bits
								      : 0;
	e->width = e->bits ? 64 : WIDTH_UNKNOWN;
	e->is_time = word->is_wide;
	e->kind = kind_of_word(word);
	if (tok_is(n->name, "bswap") && n->child)
		find_swapped(f, n->child->expr, e);
	if (tok_is(n->name, "uptr") && n->child) {
		*e = *n->child->expr;
		e->is_place = e->is_value = e->by_address = false;
	}
}

static void find_children(struct finder *f, struct node *n)
{
	size_t scope = f->vars.shadowed.n;
	for (struct node *c = n->child; c; c = c->next)
		find_expr(f, c);
	if (n->kind == NODE_BLOCK)
		vars_unshadow(&f->vars, scope);
}

static void find_tuple(struct finder *f, struct node *n, struct expr *e)
{
	find_children(f, n);
	expr_of_tuple(f->b->arena, n, e);
}

/** { ...; x } is x. */
static void find_block(struct finder *f, struct node *n, struct expr *e)
{
	const struct node *last = n->last_child;
	find_children(f, n);
	if (!last || last->kind != NODE_EXPRESSION || tok_is(last->last, ";"))
		return;
	*e = *last->child->expr;
	forget_place(e);
}

/** if (c) { x } else { y } is x or y. */
static void find_if(struct finder *f, struct node *n, struct expr *e)
{
	find_children(f, n);
	e->sign = SIGN_OPEN;
	for (const struct node *c = n->child; c; c = c->next)
		if (c->kind == NODE_BLOCK) {
			e->sign = sign_of_both(e->sign, c->expr->sign);
			e->bits = e->bits > c->expr->bits ? e->bits : c->expr->bits;
		}
}

static void find_number(struct finder *f, struct node *n, struct expr *e)
{
	uint64_t value;
	bool is_known = str_to_u64(node_text(n), &value); // 5s has none
	(void)f;
	e->sign = is_known && value > INT64_MAX ? SIGN_UNSIGNED : SIGN_NONE;
	e->bits = is_known ? sign_bits_of_number(value) : 64;
	e->width = is_known ? WIDTH_LITERAL : 64;
	e->kind = EXPR_NUMBER;
}

static void find_string(struct finder *f, struct node *n, struct expr *e)
{
	(void)f;
	(void)n;
	e->kind = EXPR_TEXT;
}

static void find_word(struct finder *f, struct node *n, struct expr *e)
{
	bool is_parameter = script_is_parameter(f->vars.macro, n);
	const struct node *macro = is_parameter ? NULL : script_macro(&f->b->found.script, n);
	if (macro) {
		find_macro(f, macro, n, e);
	} else if (is_parameter) {
		vars_lookup(&f->vars, n, e);
		e->is_substituted = true;
	} else {
		find_name(f, n, e);
		find_enumerator(f, n, e);
	}
}

static void find_step(struct finder *f, struct node *n, struct expr *e)
{
	if (find_named(f, n, e) || find_program_variable(f, n, e))
		return;
	const struct expr *of = find_dereferenced(f, n->child);
	if (n->name->kind == TOK_NUMBER)
		find_element(n, of, e);
	else
		f->good &= exprplace_member(f->b, n, of, f->is_last, e);
	find_smart_pointer(f, n, e);
}

static void find_indexed(struct finder *f, struct node *n, struct expr *e)
{
	find_expr(f, n->child->next);
	f->good &= exprplace_index(f->b, n, find_dereferenced(f, n->child), f->is_last, e);
	find_smart_pointer(f, n, e);
}

static void find_cast(struct finder *f, struct node *n, struct expr *e)
{
	find_expr(f, n->child->next);
	*e = expr_of_annotation(f, n->child);
	e->is_place = e->is_value = e->by_address = false;
	e->bits = e->is_time = 0;
}

static void find_stepped(struct finder *f, struct node *n, struct expr *e)
{
	const struct expr *of = find_expr(f, n->child);
	*e = (struct expr){.type = of->type,
			   .sign = of->sign,
			   .bits = of->bits,
			   .width = 64,
			   .is_time = of->is_time,
			   .kind = EXPR_NUMBER};
	record_increment(f, n);
}

static void find_inner(struct finder *f, struct node *n, struct expr *e)
{
	*e = *find_expr(f, n->child);
}

static void find_value(struct finder *f, struct node *n, struct expr *e)
{
	static void (*const finders[])(struct finder *, struct node *, struct expr *) = {
	    [NODE_NUMBER] = find_number,   [NODE_STRING] = find_string,
	    [NODE_NAME] = find_word,	   [NODE_VARIABLE] = find_variable,
	    [NODE_MAP] = find_variable,	   [NODE_CALL] = find_call,
	    [NODE_MEMBER] = find_step,	   [NODE_INDEX] = find_indexed,
	    [NODE_CAST] = find_cast,	   [NODE_UNARY] = find_unary,
	    [NODE_POSTFIX] = find_stepped, [NODE_BINARY] = find_binary,
	    [NODE_TERNARY] = find_ternary, [NODE_ASSIGN] = find_assign,
	    [NODE_GROUP] = find_inner,	   [NODE_COMPTIME] = find_inner,
	    [NODE_TUPLE] = find_tuple,	   [NODE_BLOCK] = find_block,
	    [NODE_IF] = find_if,	   [NODE_LET] = find_let,
	    [NODE_FOR] = find_for,	   [NODE_OPAQUE] = NULL};
	if (finders[n->kind])
		finders[n->kind](f, n, e);
	else
		find_children(f, n);
}

static enum expr_kind kind_of_type(struct ctype *t)
{
	t = ctype_strip(t);
	if (!t || t->kind == CTYPE_OPAQUE || t->kind == CTYPE_FLOAT || t->kind == CTYPE_FUNC)
		return EXPR_OPEN;
	if (t->kind == CTYPE_ARRAY) {
		t = ctype_strip(t->of);
		return t && t->kind == CTYPE_INT && t->is_char ? EXPR_TEXT : EXPR_AGGREGATE;
	}
	return ctype_is_aggregate(t) ? EXPR_AGGREGATE : EXPR_NUMBER;
}

/** Of the node itself, without its children. */
static enum effect own_effect(const struct node *n, const struct expr *e)
{
	bool is_call = n->kind == NODE_CALL, is_word = is_call || n->kind == NODE_NAME;
	if (node_is_step(n) || n->kind == NODE_ASSIGN || n->kind >= NODE_BLOCK)
		return EFFECT_CHANGES;
	if (is_word && e->is_substituted)
		return e->effect;
	if (is_word) { // or an argument, or an enumerator
		const struct word *word = vocabulary_word(node_text(n));
		return is_call || word->is_bare ? word->effect : EFFECT_NONE;
	}
	bool is_read = n->kind == NODE_MAP || n->kind == NODE_INDEX ||
		       node_is(n, NODE_UNARY, "*") ||
		       (n->kind == NODE_MEMBER && n->name->kind != TOK_NUMBER && !node_is_named(n));
	return is_read ? EFFECT_READS : EFFECT_NONE;
}

/** Most nodes of a long script have equal facts, which share one struct. */
static struct expr *share_equal(struct finder *f, struct expr *was, struct expr *e)
{
	uint64_t words[sizeof(*e) / 8], hash = 0;
	struct expr *own = was && !was->is_shared ? was : NULL, **kept = &own;
	e->is_shared = !e->elements && !ctype_pointee(e->type); // these are new in each round
	if (was && memcmp(was, e, sizeof(*e)) == 0)
		return was;
	if (e->is_shared) {
		memcpy(words, e, sizeof(words));
		for (size_t i = 0; i < sizeof(words) / 8; i++)
			hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
		kept = &f->shared[hash >> 56];
		if (*kept && memcmp(*kept, e, sizeof(*e)) == 0)
			return *kept;
		*kept = NULL;
	}
	if (!*kept)
		*kept = arena_new(f->b->arena, struct expr);
	**kept = *e;
	return *kept;
}

static struct expr *find_expr(struct finder *f, struct node *n)
{
	static const struct expr unknown;
	struct expr e = {.sign = SIGN_OTHER};
	find_value(f, n, &e);
	if (e.kind == EXPR_OPEN)
		e.kind = kind_of_type(e.type);
	unsigned bits = sign_bits_of_type(e.type, e.bit_size);
	e.bits = e.bits > bits ? e.bits : bits;
	bool is_name = n->kind == NODE_VARIABLE || n->kind == NODE_MAP;
	if (!e.width && !is_name)
		e.width = width_of_type(e.type);
	e.effect = own_effect(n, &e);
	for (const struct node *c = n->child; c; c = c->next)
		if (c->expr && c->expr->effect > e.effect)
			e.effect = c->expr->effect;
	const struct expr *was = n->expr ? n->expr : &unknown;
	f->has_changed |= was->sign != e.sign || !was->type != !e.type || was->bits != e.bits ||
			  was->width != e.width || was->n_elements != e.n_elements ||
			  was->kind != e.kind || was->is_mixed != e.is_mixed ||
			  was->effect != e.effect;
	n->expr = share_equal(f, n->expr, &e);
	return n->expr;
}

// --- the program ---

static void find_clause(struct finder *f, struct node *n, size_t i)
{
	f->clause = f->b->found.clauses[i];
	f->vars.scope = n; // each has variables of its own
	f->vars.macro = n->kind == NODE_MACRO ? n : NULL;
	const struct script_clause *c = f->b->found.script.clauses.v[i];
	// fn and macro, without attach points, have the types of the target.
	f->knows_types = !c->attach.n || vec_any(const struct script_attach, at, &c->attach,
						 at->provider->memory == MEMORY_PROGRAM);
	bind_lookup_from(f->b, i);
	find_children(f, n);
	vars_unshadow(&f->vars, 0); // parameters
}

static void find_program(struct finder *f)
{
	vars_begin_round(&f->vars);
	f->has_changed = false;
	for (size_t i = 0; i < f->b->found.script.clauses.n; i++)
		find_clause(f, f->b->found.script.clauses.v[i]->node, i);
	f->vars.round++;
}

bool exprtype_find(const struct bind *b)
{
	struct finder f = {.b = b, .vars.arena = b->arena, .good = true, .has_changed = true};
	while (f.has_changed && f.vars.round < MAX_ROUNDS)
		find_program(&f);
	if (f.has_changed)
		f.good = diag_error(b->diag, NULL,
				    "maps are assigned to each other across too many clauses: "
				    "their types cannot be determined");
	f.is_last = true;
	find_program(&f);
	vars_fini(&f.vars);
	return f.good;
}
