/**
 * What is too much for a version of bpftrace, of which it would say so late and in LLVM's words.
 */
#include "check/check_priv.h"

#include <stdlib.h>

#include "lang/format.h"
#include "dialect/dialect.h"

/** Before 0.21 a printf() and a key are on the 512 bytes of stack that a BPF program has. */
enum {
	STACK = 512,
	STRING = 64, /**< str() at least, unless the user has set another length */
	WORD = 8,    /**< anything else at least */
};

/**
 * Strings and other values from @first on: what is certain to be on the stack at once. Measured
 * with 0.17: the strings, one more that is being read, and 8 bytes for each number.
 */
static void check_stack(struct checker *k, const struct node *n, struct node *first,
			const char *what)
{
	unsigned strings = 0, others = 0, version = k->b->given->version;
	for (struct node *c = first; c; c = c->next) {
		const struct node *value = node_ungrouped(c);
		if (value->kind == NODE_TERNARY)
			return; // it may be made two
		bool is_string = node_is(value, NODE_CALL, "str");
		strings += is_string;
		others += !is_string;
	}
	unsigned room = STRING * (strings + (strings > 0)) + WORD * others;
	if (room < STACK || !dialect_fills_stack(version) ||
	    getenv(dialect_strlen_variable(version)))
		return;
	const char *and =
	    strings && others ? arena_printf(k->b->arena, "%u strings and ", strings) : "";
	check_report_at(k, n->first, "limit", DIAG_ERROR,
			"bpftrace " DIALECT_FMT
			" has no room for %s%u %s in one %s: its stack is 512 bytes",
			DIALECT_ARG(version), and, others ? others : strings,
			!others	  ? "strings"
			: strings ? "other values"
				  : "values",
			what);
	if (strings)
		diag_note(k->b->diag, NULL, "a string takes 64 of them: use fewer at once%s",
			  n->kind == NODE_CALL ? ", with a second printf()" : "");
}

void check_limits(struct checker *k, struct node *n, struct node *parent)
{
	(void)parent;
	const struct node *format = n->kind == NODE_CALL ? format_find(n) : NULL;
	if (format && tok_is(n->name, "printf"))
		check_stack(k, n, format->next, "printf()");
	else if (n->kind == NODE_MAP && n->child)
		check_stack(k, n, n->child, "key");
}
