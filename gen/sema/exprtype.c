#define TREE_IS_MADE_HERE
#include "sema/exprtype.h"

#include "bind/bind.h"
#include "bind/namedarg.h"
#include "bind/namedvar.h"
#include "sema/argument.h"
#include "sema/exprplace.h"
#include "sema/holder.h"
#include "sema/result.h"
#include "sema/targettype.h"
#include "lang/print.h"
#include "lang/vocabulary.h"

enum { MAX_ROUNDS = 100 }; // what a clause assigns may come from one further down, and so on

struct finder {
	const struct bind *b;
	const struct attach_clause *clause;
	const struct node
	    *followed; // a pointer whose member, element or target is read, if it is retval
	struct holders held;
	struct expr *shared[256]; // of several nodes
	bool has_changed;	  // in this round something was found out
	bool is_last;		  // of the rounds, when all is known: errors are reported
	bool knows_types;	  // the target's: not in clauses of the kernel
	bool good;
};

static struct expr *find(struct finder *f, struct node *n);

bool exprtype_is_whole(const struct expr *e, uint64_t *size)
{
	return e && e->kind == EXPR_AGGREGATE && e->is_place && !e->is_substituted &&
	       ctype_size(e->type, size) && *size > 0;
}

// --- types ---

/** What is known of a value of the type that @n spells. */
static struct expr of_type(struct finder *f, const struct node *n)
{
	struct expr e = {.sign = SIGN_OTHER};
	struct targettype_name name;
	struct arena *a = f->b->arena;
	if (n->kind != NODE_TYPE || !targettype_read(a, n, &name) || !targettype_is_whole(n, &name))
		return e;
	struct str tag =
	    name.has_keyword ? str_from_offset(name.name, str_find(name.name, ' ') + 1) : name.name;
	e.is_truth = str_eqz(name.name, "bool") && !name.stars;
	if (vocabulary_type(name.name))
		e.type = targettype_builtin(a, name.name);
	else if (targettype_is_own(f->b, tag) || !bind_lookup(f->b) ||
		 (!f->knows_types && name.stars) ||
		 !lookup_type(bind_lookup(f->b), name.name, NAME_TYPES, &e.type))
		return e;
	e.sign = sign_of_type(e.type, 0);
	if (!name.stars)
		return e;
	e.sign = SIGN_OTHER;
	for (unsigned i = 0; e.type && i < name.stars; i++)
		e.type = ctype_new_pointer(a, e.type, 8);
	return e;
}

/** typeof(x), or a type by its name. */
static struct expr of_annotation(struct finder *f, struct node *n)
{
	if (n->kind != NODE_TYPEOF)
		return of_type(f, n);
	if (n->child->kind == NODE_TYPE)
		return of_type(f, n->child);
	return *find(f, n->child);
}

// --- operators ---

/** What was read there is no place any more. */
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

/** What is in front of -> or [ or behind *: there retval is a pointer, elsewhere a number. */
static const struct expr *find_followed(struct finder *f, struct node *n)
{
	f->followed = node_ungrouped(n);
	return find(f, n);
}

/**
 * What is counted down may become negative. Of a host's script, which stays as it is, it is taken
 * for a count.
 */
static bool falls(const struct finder *f, const struct token *op)
{
	return f->b->given->files && (tok_is(op, "-=") || tok_is(op, "--"));
}

/** n++: a count, whatever else it may be. */
static void learn_step(struct finder *f, struct node *n)
{
	// No clause counts beyond 32 bits, but all of a trace may.
	unsigned more = n->child->expr->bits >= 32 ? 34 : 0;
	struct expr count = {.sign = falls(f, n->name) ? SIGN_SIGNED : SIGN_NONE,
			     .bits = n->child->kind == NODE_MAP ? 64 : more,
			     .kind = EXPR_NUMBER};
	if (node_is_step(n) && (n->child->kind == NODE_VARIABLE || n->child->kind == NODE_MAP))
		holders_learn(&f->held, n->child, &count)->is_computed = true;
	f->good &= !f->is_last || !node_is_step(n) || exprplace_moves(f->b, n);
}

static void find_unary(struct finder *f, struct node *n, struct expr *e)
{
	bool is_followed = tok_is(n->name, "*");
	const struct expr *of = is_followed ? find_followed(f, n->child) : find(f, n->child);
	const struct token *op = n->name;
	e->sign = of->sign;
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
	} else if (tok_is(op, "!")) {
		e->sign = SIGN_NONE;
		e->is_truth = true;
	} else if (tok_is(op, "&")) {
		e->sign = SIGN_OTHER;
		f->good &= exprplace_address(f->b, n, of, f->is_last, e);
	} else if (tok_is(op, "-") || tok_is(op, "~")) {
		e->sign = of->sign == SIGN_NONE ? SIGN_SIGNED : of->sign;
	}
	learn_step(f, n);
}

/**
 * Of a difference of numbers that are never negative: times are taken from later ones, and two
 * constants are known; all else may come out negative. A host's script stays as it is.
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
	// Of a name that nothing is known of yet: 0.
	unsigned a = left->sign == SIGN_OPEN && !left->bits ? 1 : left->bits;
	unsigned b = right->sign == SIGN_OPEN && !right->bits ? 1 : right->bits;
	uint64_t number;
	bool is_number = amount->kind == NODE_NUMBER && str_to_u64(node_text(amount), &number);
	unsigned op = node_operator(n);
	if (op == OP_BIT_AND && e->sign != SIGN_NONE)
		op = OP_BIT_OR; // a negative mask cuts nothing
	else if (op == OP_BIT_AND && left->sign != SIGN_NONE)
		a = 0;
	else if (op == OP_BIT_AND && right->sign != SIGN_NONE)
		b = 0;
	else if (e->sign == SIGN_UNSIGNED && left->sign == SIGN_SIGNED)
		a = 64;
	unsigned bits = sign_bits_of_result(op, a, b, is_number ? &number : NULL);
	// What is taken off makes it no larger; of a map, it may be again and again.
	bool is_less = op == OP_SUB && n->child->kind != NODE_MAP && right->sign == SIGN_NONE &&
		       b <= 34 && a <= (left->sign == SIGN_NONE ? 32 : 34);
	return is_less && bits > 34 ? 34 : bits;
}

static void find_binary(struct finder *f, struct node *n, struct expr *e)
{
	const struct expr *left = find(f, n->child), *right = find(f, n->child->next);
	unsigned op = node_operator(n);
	e->sign = sign_of_result(op, left->sign, right->sign);
	if (op == OP_SUB && left->sign == SIGN_NONE && right->sign == SIGN_NONE)
		e->sign = sign_of_difference(f, n);
	e->kind = EXPR_NUMBER;
	e->is_truth = op & (OP_COMPARISON | OP_LOGIC);
	// A quotient is no larger than what is divided, a remainder no larger than both, and so is what a
	// mask leaves.
	bool is_cut = op == OP_MOD || (op == OP_BIT_AND && e->sign == SIGN_NONE);
	e->bits = e->is_truth ? 1 : bits_of_result(n, e);
	e->is_time = e->is_truth		? 0
		     : is_cut			? left->is_time & right->is_time
		     : op & (OP_SHIFT | OP_DIV) ? left->is_time
						: left->is_time | right->is_time;
	// What a pointer is moved by keeps its type.
	if ((op & OP_MOVE) && ctype_pointee(left->type)) {
		e->type = left->type;
		e->is_guess = left->is_guess;
		e->is_mixed = left->is_mixed;
	}
}

static void find_ternary(struct finder *f, struct node *n, struct expr *e)
{
	struct node *yes = n->child->next, *no = yes->next;
	find(f, n->child);
	*e = *find(f, no ? yes : n->child);
	const struct expr *other = find(f, no ? no : yes);
	expr_join(e, other);
	e->is_truth &= other->is_truth;
	forget_place(e);
	if (!e->type && ctype_pointee(other->type))
		e->type = other->type; // the other part is a 0
}

/** Of a target that is added to or multiplied again and again, or cut. */
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
	const struct expr *value = find(f, target->next);
	find(f, target);
	*e = *value;
	e->is_place = e->is_value = false;
	if (target->kind != NODE_VARIABLE && target->kind != NODE_MAP)
		return;
	struct expr kept = *e;
	bool is_plain = tok_is(n->name, "=");
	// A count, whatever else it may be; what is shifted keeps its signedness.
	unsigned op = node_operator(n);
	if (!is_plain && target->expr->sign == SIGN_UNSIGNED) // as C computes it
		kept = (struct expr){.sign = sign_of_result(op, SIGN_UNSIGNED, value->sign)};
	else if (!is_plain && value->sign == SIGN_NONE && falls(f, n->name))
		kept = (struct expr){.sign = SIGN_SIGNED};
	else if (!is_plain && (value->sign == SIGN_NONE || op == OP_SHR))
		kept = (struct expr){.sign = SIGN_NONE};
	else if (!is_plain)
		kept = (struct expr){.sign = value->sign};
	kept.bits = is_plain ? value->bits : bits_of_compound(n, value);
	kept.is_time = value->is_time;
	kept.kind = is_plain ? value->kind : EXPR_NUMBER;
	holders_learn(&f->held, target, &kept)->is_computed |= !is_plain;
	f->good &= !f->is_last || is_plain || exprplace_moves(f->b, n);
	if (is_plain && target->kind == NODE_MAP && target->child)
		holders_learn_key(&f->held, target);
}

static void find_let(struct finder *f, struct node *n, struct expr *e)
{
	(void)e;
	struct node *variable = n->child, *type = NULL, *value = variable->next;
	if (value && (value->kind == NODE_TYPE || value->kind == NODE_TYPEOF)) {
		type = value;
		value = type->next;
	}
	const struct expr *given = value ? find(f, value) : NULL;
	struct expr kept = {.sign = SIGN_OPEN};
	if (type)
		kept = of_annotation(f, type);
	else if (given)
		kept = *given;
	holders_hide(&f->held, variable);
	holders_learn(&f->held, variable, &kept);
	find(f, variable);
}

/** for ($kv : @m): a key and a value; for ($i : a..b): a number. */
static void find_for(struct finder *f, struct node *n, struct expr *e)
{
	(void)e;
	struct node *variable = n->child, *over = variable->next, *block = over->next;
	struct arena *a = f->b->arena;
	struct expr item = {.sign = SIGN_OTHER};
	find(f, over);
	if (over->kind == NODE_RANGE) {
		bool starts_at_number = over->child->kind == NODE_NUMBER;
		item.sign = starts_at_number ? SIGN_NONE : over->child->expr->sign;
		unsigned from = over->child->expr->bits, to = over->last_child->expr->bits;
		item.bits = from > to ? from : to;
	} else if (over->kind == NODE_MAP && !over->child) {
		item.elements = arena_array(a, struct expr *, 2);
		item.n_elements = 2;
		item.elements[0] = holders_key(&f->held, over);
		item.elements[1] = arena_new(a, struct expr);
		holders_recall(&f->held, over, item.elements[1]);
	}
	size_t scope = f->held.hidden.n;
	holders_hide(&f->held, variable);
	holders_learn(&f->held, variable, &item);
	find(f, variable);
	find(f, block);
	holders_unhide(&f->held, scope);
}

// --- expressions ---

static enum expr_kind kind_of_word(const struct word *word)
{
	static const enum expr_kind kinds[] = {[GIVES_OTHER] = EXPR_OPEN,
					       [GIVES_COUNT] = EXPR_NUMBER,
					       [GIVES_NUMBER] = EXPR_NUMBER,
					       [GIVES_TEXT] = EXPR_TEXT,
					       [GIVES_SHOWN] = EXPR_SHOWN,
					       [GIVES_BYTES] = EXPR_BYTES,
					       [GIVES_AGGREGATION] = EXPR_AGGREGATION};
	return kinds[word->gives];
}

/** A hostile file may call a type anything: what no compiler writes is no type. */
static bool is_type_name(struct ctype *t)
{
	struct ctype *to = ctype_pointee(t);
	return !to || !to->name.n || str_is_made_of(to->name, ALPHABET_TYPE);
}

/** A pointer is one only where it is followed: `retval + 8` is 8 more. */
static void find_retval(struct finder *f, const struct node *n, struct expr *e)
{
	struct ctype *t = result_type(f->b, f->clause), *bare = ctype_strip(t);
	if (!t || !is_type_name(t))
		return;
	e->kind = EXPR_NUMBER;
	e->meant = t;
	e->sign = sign_of_type(t, 0);
	if (bare->kind != CTYPE_POINTER || n == f->followed)
		e->type = t;
}

static void find_name(struct finder *f, const struct node *n, struct expr *e)
{
	const struct word *word = vocabulary_word(n->name->text);
	unsigned i, size = 0;
	bool is_count = word->is_bare ? word->gives == GIVES_COUNT
				      : !vocabulary_is_builtin(n->name->text); // an enumerator
	e->sign = is_count ? SIGN_NONE : SIGN_OTHER;
	e->kind = kind_of_word(word);
	e->is_truth = tok_is(n->name, "true") || tok_is(n->name, "false");
	bool is_arg = vocabulary_arg_number(n->name->text, &i);
	if (is_arg)
		e->kind = EXPR_NUMBER;
	if (is_arg && !f->clause->has_other && !f->clause->has_uprobe) {
		e->sign = argument_sign(f->b, f->clause, i, &size);
		e->arg_of = f->clause->probes.n ? f->clause : NULL;
		e->arg = i;
	}
	e->bits = word->is_wide ? 64 : is_count ? 32 : size * 8;
	e->is_time = word->is_wide;
	if (tok_is(n->name, "retval"))
		find_retval(f, n, e);
}

/** BLUE, or ns::BLUE: its value may be negative. */
static void find_enumerator(struct finder *f, const struct node *n, struct expr *e)
{
	int64_t value;
	struct ctype *of;
	if (e->sign != SIGN_NONE || !f->knows_types || vocabulary_is_builtin(n->name->text) ||
	    !bind_lookup(f->b))
		return;
	struct str name = print_text(f->b->arena, n);
	if (!lookup_enumerator(f->b->memory->lookup, name, &value, &of))
		return;
	e->kind = EXPR_NUMBER;
	e->enumerator_of = of;
	e->bits = value < 0 ? sign_bits_of_number(~(uint64_t)value) + 1
			    : sign_bits_of_number((uint64_t)value);
	if (value < 0)
		e->sign = of && !of->is_signed ? SIGN_UNSIGNED : SIGN_SIGNED;
}

/** vars.name: a struct or array is a place like a member */
static bool find_programs(struct finder *f, const struct node *n, struct expr *e)
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
	// Where sites pass it in different widths its type knows its sign best.
	e->sign = argument_sign(f->b, f->clause, i, &size);
	e->bits = size * 8;
	if (arg->sizes_differ && ctype_strip(arg->type))
		e->sign = sign_of_type(arg->type, 0);
	return true;
}

/** A variable, or a map with its keys. */
static void find_held(struct finder *f, struct node *n, struct expr *e)
{
	for (struct node *c = n->child; c; c = c->next)
		find(f, c);
	holders_recall(&f->held, n, e);
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

/** A macro is looked at once, for all its calls. */
static void check_parameter(struct finder *f, const struct node *argument, const struct holder *h)
{
	struct ctype *now = argument->expr->type, *before = h->value.type;
	if (!f->is_last || can_share_text(now, before))
		return;
	f->good = diag_error(
	    f->b->diag, tok_at(argument->first),
	    "this macro is called with " STR_FMT " and with " STR_FMT ": write a macro for each",
	    STR_ARG(ctype_spell(f->b->arena, before)), STR_ARG(ctype_spell(f->b->arena, now)));
}

/**
 * What it is called with is what its parameters are, and what its block ends in is what the call
 * is.
 */
static void find_macro(struct finder *f, const struct node *macro, const struct node *call,
		       struct expr *e)
{
	const struct node *was = f->held.scope;
	const struct node *argument = call->child, *p = macro->child;
	f->held.scope = macro;
	for (; argument && p->next; argument = argument->next, p = p->next) {
		struct expr value = *argument->expr;
		value.is_truth = false; // the next call may give it a number
		value.elements = NULL;
		if (p->kind != NODE_NAME && p->kind != NODE_VARIABLE)
			continue;
		check_parameter(f, argument, holders_of(&f->held, p));
		holders_learn(&f->held, p, &value);
	}
	f->held.scope = was;
	if (macro->last_child->expr)
		*e = *macro->last_child->expr;
	e->is_substituted = true;
}

static void find_call(struct finder *f, struct node *n, struct expr *e)
{
	bool knows_types = f->knows_types, is_offset = tok_is(n->name, "offsetof");
	for (struct node *c = n->child; c; c = c->next) {
		find(f, c);
		f->knows_types &= !is_offset; // what follows the type is a member, no enumerator
	}
	f->knows_types = knows_types;
	const struct node *macro = script_macro(&f->b->found.script, n);
	if (macro) {
		find_macro(f, macro, n, e);
		return;
	}
	const struct word *word = vocabulary_word(n->name->text);
	e->sign = word->gives == GIVES_COUNT ? SIGN_NONE : SIGN_OTHER;
	e->bits = word->is_wide || word->gives == GIVES_AGGREGATION ? 64
		  : word->gives == GIVES_COUNT			    ? 32
		  : word->gives == GIVES_NUMBER && n->child	    ? n->child->expr->bits
								    : 0;
	e->is_time = word->is_wide;
	e->kind = kind_of_word(word);
	if (tok_is(n->name, "uptr") && n->child) {
		*e = *n->child->expr;
		e->is_place = e->is_value = e->by_address = false;
	}
}

static void find_children(struct finder *f, struct node *n)
{
	size_t scope = f->held.hidden.n;
	for (struct node *c = n->child; c; c = c->next)
		find(f, c);
	if (n->kind == NODE_BLOCK)
		holders_unhide(&f->held, scope);
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
	bool is_known = str_to_u64(node_text(n), &value); // 5s is not
	(void)f;
	e->sign = is_known && value > INT64_MAX ? SIGN_UNSIGNED : SIGN_NONE;
	e->bits = is_known ? sign_bits_of_number(value) : 64;
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
	bool is_parameter = script_is_parameter(f->held.macro, n);
	const struct node *macro = is_parameter ? NULL : script_macro(&f->b->found.script, n);
	if (macro) {
		find_macro(f, macro, n, e);
	} else if (is_parameter) {
		holders_recall(&f->held, n, e);
		e->is_substituted = true;
	} else {
		find_name(f, n, e);
		find_enumerator(f, n, e);
	}
}

static void find_step(struct finder *f, struct node *n, struct expr *e)
{
	if (find_named(f, n, e) || find_programs(f, n, e))
		return;
	const struct expr *of = find_followed(f, n->child);
	if (n->name->kind == TOK_NUMBER)
		find_element(n, of, e);
	else
		f->good &= exprplace_member(f->b, n, of, f->is_last, e);
}

static void find_indexed(struct finder *f, struct node *n, struct expr *e)
{
	find(f, n->child->next);
	f->good &= exprplace_index(f->b, n, find_followed(f, n->child), f->is_last, e);
}

static void find_cast(struct finder *f, struct node *n, struct expr *e)
{
	find(f, n->child->next);
	*e = of_annotation(f, n->child);
	e->is_place = e->is_value = e->by_address = false;
	e->bits = e->is_time = 0;
}

static void find_stepped(struct finder *f, struct node *n, struct expr *e)
{
	const struct expr *of = find(f, n->child);
	*e = (struct expr){.type = of->type,
			   .sign = of->sign,
			   .bits = of->bits,
			   .is_time = of->is_time,
			   .kind = EXPR_NUMBER};
	learn_step(f, n);
}

static void find_inner(struct finder *f, struct node *n, struct expr *e)
{
	*e = *find(f, n->child);
}

static void find_value(struct finder *f, struct node *n, struct expr *e)
{
	static void (*const finders[])(struct finder *, struct node *, struct expr *) = {
	    [NODE_NUMBER] = find_number,   [NODE_STRING] = find_string,
	    [NODE_NAME] = find_word,	   [NODE_VARIABLE] = find_held,
	    [NODE_MAP] = find_held,	   [NODE_CALL] = find_call,
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

/** Of the node itself: what its children do comes to it. */
static enum effect own_effect(const struct node *n, const struct expr *e)
{
	bool is_call = n->kind == NODE_CALL, is_word = is_call || n->kind == NODE_NAME;
	if (node_is_step(n) || n->kind == NODE_ASSIGN || n->kind >= NODE_BLOCK ||
	    (is_word && e->is_substituted))
		return EFFECT_CHANGES;
	if (is_word) { // or an argument, or an enumerator
		const struct word *word = vocabulary_word(node_text(n));
		return is_call || word->is_bare ? word->effect : EFFECT_NONE;
	}
	bool is_read = n->kind == NODE_MAP || n->kind == NODE_INDEX ||
		       node_is(n, NODE_UNARY, "*") ||
		       (n->kind == NODE_MEMBER && n->name->kind != TOK_NUMBER && !node_is_named(n));
	return is_read ? EFFECT_READS : EFFECT_NONE;
}

/** That of @n, of which @e is known, with its children, whose own is known. */
static enum effect find_effect(const struct node *n, const struct expr *e)
{
	enum effect most = own_effect(n, e);
	for (const struct node *c = n->child; c; c = c->next)
		if (c->expr && c->expr->effect > most)
			most = c->expr->effect;
	return most;
}

/** Most nodes of a long script are like others: what is known of them is kept once. */
static struct expr *keep(struct finder *f, struct expr *was, struct expr *e)
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

static struct expr *find(struct finder *f, struct node *n)
{
	static const struct expr unknown;
	struct expr e = {.sign = SIGN_OTHER};
	find_value(f, n, &e);
	if (e.kind == EXPR_OPEN)
		e.kind = kind_of_type(e.type);
	unsigned bits = sign_bits_of_type(e.type, e.bit_size);
	e.bits = e.bits > bits ? e.bits : bits;
	e.effect = find_effect(n, &e);
	const struct expr *was = n->expr ? n->expr : &unknown;
	f->has_changed |= was->sign != e.sign || !was->type != !e.type || was->bits != e.bits ||
			  was->n_elements != e.n_elements || was->kind != e.kind ||
			  was->is_mixed != e.is_mixed;
	n->expr = keep(f, n->expr, &e);
	return n->expr;
}

// --- the program ---

/** fn and macro, without attach points, are taken for the program's. */
static bool is_programs(const struct script_clause *c)
{
	return !c->attach.n || vec_any(const struct script_attach, at, &c->attach,
				       at->provider->memory == MEMORY_PROGRAM);
}

static void find_clause(struct finder *f, struct node *n, size_t i)
{
	f->clause = f->b->found.clauses[i];
	f->held.scope = n; // variables of each are its own
	f->held.macro = n->kind == NODE_MACRO ? n : NULL;
	f->knows_types = is_programs(f->b->found.script.clauses.v[i]);
	bind_lookup_from(f->b, i);
	find_children(f, n);
	holders_unhide(&f->held, 0); // parameters
}

static void find_program(struct finder *f)
{
	holders_begin_round(&f->held);
	f->has_changed = false;
	for (size_t i = 0; i < f->b->found.script.clauses.n; i++)
		find_clause(f, f->b->found.script.clauses.v[i]->node, i);
	f->held.round++;
}

bool exprtype_find(const struct bind *b)
{
	struct finder f = {.b = b, .held.arena = b->arena, .good = true, .has_changed = true};
	while (f.has_changed && f.held.round < MAX_ROUNDS)
		find_program(&f);
	if (f.has_changed)
		f.good = diag_error(b->diag, NULL,
				    "maps are assigned to each other across too many clauses: "
				    "their types cannot be determined");
	f.is_last = true;
	find_program(&f);
	holders_fini(&f.held);
	return f.good;
}
