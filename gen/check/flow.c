// Conditions with a constant result, and comparisons whose result is not used.
#include "check/check_priv.h"

/** A number, string or enumerator as it is written: no macro, and nothing that we have put there. */
static bool is_literal(const struct node *n)
{
	if (n->first->from_macro || n->is_changed)
		return false;
	return n->kind == NODE_NUMBER || n->kind == NODE_STRING ||
	       (n->kind == NODE_NAME && n->expr && n->expr->enumerator_of);
}

/** `x == 1 || 2`: the second one is not compared with anything. */
static void check_lone(struct checker *k, const struct node *n)
{
	struct node *a = node_ungrouped(n->child), *b = node_ungrouped(n->child->next);
	while (node_operator(a) & OP_LOGIC)
		a = node_ungrouped(a->child->next);
	if (!(node_operator(a) & OP_COMPARISON) || !is_literal(b) ||
	    is_literal(node_ungrouped(a->child)) || str_eqz(node_text(b), "0") ||
	    str_eqz(node_text(b), "1"))
		return;
	const char *text = check_text(k, b);
	check_report_at(k, b->first, "constant", DIAG_WARNING,
			"%s is not compared with anything: write %s %s %s", text,
			check_text(k, a->child), str_dup(k->b->arena, node_text(a)), text);
}

/** The characters that @n can hold at most, 0 when that is not known. */
static uint64_t longest(struct checker *k, const struct node *n)
{
	enum { COMM = 15 };
	struct meaning m;
	uint64_t size;
	if (node_is(n, NODE_NAME, "comm"))
		return COMM;
	if (node_is(n, NODE_CALL, "str") && n->child && n->child->next &&
	    n->child->next->kind == NODE_NUMBER && !n->child->next->next)
		return str_to_u64(node_text(n->child->next), &size) ? size : 0;
	bool is_array = check_meaning(k, n, &m) && check_is_byte_array(m.plain);
	return is_array && ctype_size(m.plain, &size) ? size : 0;
}

static void check_long_text(struct checker *k, const struct node *n)
{
	const struct node *a = node_ungrouped(n->child), *b = node_ungrouped(n->child->next);
	if (a->kind == NODE_STRING) {
		const struct node *other = a;
		a = b;
		b = other;
	}
	uint64_t most = longest(k, a);
	if (b->kind != NODE_STRING || !most)
		return;
	struct str text = lex_string_value(k->b->arena, b->name ? b->name : b->first);
	if (text.n <= most)
		return;
	check_report_at(k, b->first, "constant", DIAG_WARNING,
			"%s has at most %llu characters, but this has %zu: it is %s",
			check_text(k, a), (unsigned long long)most, text.n,
			tok_is(n->name, "==") ? "never equal" : "always different");
}

/** `@x == 5;` */
static void check_statement(struct checker *k, const struct node *n)
{
	struct node *x = n->child;
	bool is_value = n->parent->last_child == n && !tok_is(n->last, ";");
	if (is_value || n->is_changed || x->is_changed || x->first->from_macro)
		return;
	if (node_is(x, NODE_BINARY, "==") &&
	    (x->child->kind == NODE_MAP || x->child->kind == NODE_VARIABLE))
		check_report_at(k, x->name, "unused", DIAG_WARNING,
				"the result of this comparison is not used: use = to set %s",
				check_text(k, x->child));
}

void check_flow(struct checker *k, struct node *n)
{
	unsigned op = node_operator(n);
	if (op & OP_LOGIC)
		check_lone(k, n);
	else if (op & OP_EQUALITY)
		check_long_text(k, n);
	else if (n->kind == NODE_EXPRESSION)
		check_statement(k, n);
}
