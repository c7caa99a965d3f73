// Comparisons whose result is known before.
#include "check/check_priv.h"

#include "probe/probearg.h"
#include "sema/arg_fact.h"
#include "sema/result.h"

// --- functions, whose numbers have no sign ---

/** bpftrace does not know that argN and retval of functions may be an int. */
static bool is_of_function(const struct attach_clause *c)
{
	vec_each(const struct script_attach, at, &c->clause->attach)
		if ((at->provider->place != PLACE_ENTRY && at->provider->place != PLACE_RETURN) ||
		    at->provider->is_typed)
			return false;
	return true;
}

/** `< 0`, `>= 0` and comparisons with a negative number, of which an unsigned one is always or never true. */
static bool asks_for_sign(const struct node *n)
{
	const struct node *with = n->child->next;
	if (node_is(with, NODE_UNARY, "-"))
		return with->child->kind == NODE_NUMBER;
	return (tok_is(n->name, "<") || tok_is(n->name, ">=")) && with->kind == NODE_NUMBER &&
	       str_eqz(with->name->text, "0");
}

static void check_function(struct checker *k, struct node *n)
{
	unsigned i;
	if (!is_of_function(k->clause) || !asks_for_sign(n))
		return;
	const struct node *word = node_ungrouped(n->child);
	if (!node_is(word, NODE_NAME, "retval") &&
	    (word->kind != NODE_NAME || !vocabulary_arg_number(word->name->text, &i)))
		return;
	// Its sign is known, or there is none.
	if ((word->expr && word->expr->type) || result_why_none(k->b, k->clause))
		return;
	struct str text = word->name->text;
	check_report_at(k, word->first, "sign", DIAG_WARNING,
			"bpftrace treats " STR_FMT
			" of a function as an unsigned 64-bit number: write (int32)" STR_FMT
			" for an int, (int64)" STR_FMT " for a long",
			STR_ARG(text), STR_ARG(text), STR_ARG(text));
}

/** `retval` of a function that returns nothing; a member may have that name. */
static void check_result(struct checker *k, const struct node *n)
{
	bool is_member = node_is(n->parent, NODE_CALL, "offsetof") && n != n->parent->child;
	if (!node_is(n, NODE_NAME, "retval") || n->is_changed || is_member)
		return;
	const char *why = result_why_none(k->b, k->clause);
	if (k->clause->isra.n)
		check_report_at(
		    k, n->first, "argument", DIAG_WARNING,
		    "retval may be whatever the register holds: gcc drops a result that "
		    "no caller wants, and calls what is left " STR_FMT,
		    STR_ARG(k->clause->isra));
	else if (why)
		check_report_at(k, n->first, "argument", DIAG_WARNING,
				"retval is whatever the register holds: %s", why);
}

// --- a value and a number that it never has ---

/** What a type can hold; -1 as `least` is that of an int64. */
struct range {
	int64_t least;
	uint64_t most;
};

static bool range_of(const struct expr *e, const struct meaning *m, struct range *ret)
{
	const struct ctype *t = m->plain;
	if (!ctype_is_number(m->plain) || !t->has_size || t->size < 1 || t->size > 8)
		return false;
	unsigned bits = e->bit_size ? e->bit_size : (unsigned)t->size * 8;
	if (bits > 64) // of a hostile file
		return false;
	uint64_t all = UINT64_MAX >> (64 - bits);
	if (t->kind == CTYPE_BOOL)
		*ret = (struct range){0, 1};
	else if (t->is_signed)
		*ret = (struct range){-(int64_t)(all >> 1) - 1, all >> 1};
	else
		*ret = (struct range){0, all};
	return true;
}

/** -1, 0, 1: @c is below, in or above @r; at its ends it is in. */
static int place_in(const struct range *r, const struct constant *c)
{
	if (c->is_negative)
		return (int64_t)c->bits < r->least ? -1 : 0;
	return c->bits > r->most ? 1 : 0;
}

/** "true", "false", or NULL: `value op c` is neither for all values of @r. */
static const char *result_of(unsigned op, const struct range *r, const struct constant *c)
{
	// What holds of a value that is less, equal or more.
	static const unsigned holds[] = {OP_LT | OP_LE | OP_NE, OP_EQ | OP_LE | OP_GE,
					 OP_GT | OP_GE | OP_NE};
	int place = place_in(r, c);
	// 0x8000000000000000 is a negative one to 64 bits.
	if (r->least == INT64_MIN && !c->is_negative && c->bits > INT64_MAX)
		return NULL;
	bool least = c->bits == (uint64_t)r->least && c->is_negative == (r->least < 0);
	bool most = c->bits == r->most && !c->is_negative;
	bool may_be[] = {place > 0 || (!place && !least), !place, place < 0 || (!place && !most)};
	unsigned n = 0, n_true = 0;
	for (int i = 0; i < 3; i++) {
		n += may_be[i];
		n_true += may_be[i] && (op & holds[i]);
	}
	return n_true == n ? "true" : n_true ? NULL : "false";
}

static unsigned mirrored(unsigned op)
{
	return op == OP_LT   ? OP_GT
	       : op == OP_GT ? OP_LT
	       : op == OP_LE ? OP_GE
	       : op == OP_GE ? OP_LE
			     : op;
}

/** Names for an enum, a range for any other number. */
static const char *range_text(struct checker *k, const struct range *r, const struct meaning *m,
			      unsigned bit_size)
{
	struct arena *a = k->b->arena;
	const char *type = arena_printf(a, STR_FMT, STR_ARG(ctype_spell(a, m->type)));
	if (m->plain->kind == CTYPE_BOOL)
		return "a bool";
	if (bit_size)
		type = arena_printf(a, "%s of %u bit%s", type, bit_size, bit_size == 1 ? "" : "s");
	return arena_printf(a, "%s, %" PRId64 " to %" PRIu64, type, r->least, r->most);
}

/** An uint64 beside -1: C, bpftrace and we compare it without a sign. */
static bool check_wide(struct checker *k, unsigned op, struct node *value, struct node *number,
		       const struct constant *c, const struct token *at)
{
	if (op & OP_EQUALITY)
		return false;
	check_report_at(k, at, "sign", DIAG_WARNING,
			"%s is unsigned, and %s is compared as %" PRIu64, check_text(k, value),
			check_text(k, number), c->bits);
	check_note_origin(k, value);
	return true;
}

/** `value op number`; true if it was reported. */
static bool check_range(struct checker *k, unsigned op, struct node *value, struct node *number,
			const struct token *at)
{
	struct meaning m;
	struct range r;
	struct constant c;
	if (!check_constant(k, number, &c) || !check_meaning(k, value, &m) ||
	    check_is_floating(&m) || !range_of(value->expr, &m, &r))
		return false;
	const struct probearg *arg =
	    value->kind == NODE_NAME ? arg_fact_of(k->b, value->expr) : NULL;
	if (arg && probearg_is_sized_by_type(arg) && (c.is_negative || !(op & OP_EQUALITY))) {
		check_report_at(k, at, "sign", DIAG_WARNING,
				"bpftrace reads %s without its sign: write args." STR_FMT,
				check_text(k, value), STR_ARG(arg->name));
		check_note_origin(k, value);
		return true;
	}
	if (c.is_negative && r.most == UINT64_MAX)
		return check_wide(k, op, value, number, &c, at);
	const char *always = result_of(op, &r, &c), *remedy = "";
	// A macro may have another value tomorrow: -D MIN=0 is "all".
	if (!always || (number->first->from_macro && !place_in(&r, &c)))
		return false;
	// In C an unsigned int is equal to -1 where all of its bits are set.
	if (c.is_negative && r.most == UINT32_MAX && (op & OP_EQUALITY))
		remedy =
		    arena_printf(k->b->arena, ": compare it with 0x%" PRIx32, (uint32_t)c.bits);
	check_report_at(k, at, "constant", DIAG_WARNING, "this is always %s: %s is %s%s", always,
			check_text(k, value), range_text(k, &r, &m, value->expr->bit_size), remedy);
	check_note_origin(k, value);
	return true;
}

// --- strncmp() ---

/** A condition, or a side of one. */
static bool is_tested(const struct node *n)
{
	const struct node *in = n->parent;
	return (node_operator(in) & OP_LOGIC) ||
	       ((in->kind == NODE_PREDICATE || in->kind == NODE_IF || in->kind == NODE_WHILE ||
		 in->kind == NODE_TERNARY) &&
		in->child == n);
}

/** strncmp() is 0 for equal strings; any other number only means that they differ. */
static void check_strncmp(struct checker *k, const struct node *n)
{
	struct constant c;
	bool is_call = node_is(n, NODE_CALL, "strncmp") && n->child && n->child->next &&
		       n->child->next->next; // values.c counts the arguments
	if (!is_call || script_has_function(&k->b->found.script, n->name->text))
		return;
	if (is_tested(n)) {
		check_report_at(k, n->first, "operator", DIAG_WARNING,
				"this is true if the strings differ: write strncmp() == 0 "
				"for equal ones, != 0 for others");
		return;
	}
	if (!(node_operator(n->parent) & OP_COMPARISON))
		return;
	struct node *with = n->next ? n->next : n->parent->child;
	bool is_bool = node_is(with, NODE_NAME, "true") || node_is(with, NODE_NAME, "false");
	if (is_bool || (check_constant(k, with, &c) && c.bits))
		check_report_at(k, n->first, "operator", DIAG_WARNING,
				"strncmp() is 0 if the strings are equal: compare it with 0");
}

void check_compare(struct checker *k, struct node *n)
{
	check_result(k, n);
	check_strncmp(k, n);
	if (n->kind != NODE_BINARY || !(node_operator(n) & OP_COMPARISON))
		return;
	struct node *left = n->child, *right = left->next;
	check_function(k, n);
	if (!check_range(k, node_operator(n), left, right, n->name))
		check_range(k, mirrored(node_operator(n)), right, left, n->name);
}
