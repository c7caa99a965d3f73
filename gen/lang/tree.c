#include "lang/tree.h"

bool node_is(const struct node *n, enum node_kind kind, const char *name)
{
	return n && n->kind == kind && n->name && tok_is(n->name, name);
}

struct str node_text(const struct node *n)
{
	return n->name->text;
}

struct node *node_ungrouped(struct node *n)
{
	while (n && n->kind == NODE_GROUP)
		n = n->child;
	return n;
}

static void walk(struct node *n, struct node *parent,
		 bool (*visit)(void *ctx, struct node *n, struct node *parent), void *ctx)
{
	if (!visit(ctx, n, parent))
		return;
	for (struct node *c = n->child; c; c = c->next)
		walk(c, n, visit, ctx);
}

void node_walk(struct node *n, bool (*visit)(void *ctx, struct node *n, struct node *parent),
	       void *ctx)
{
	walk(n, NULL, visit, ctx);
}

const char *node_kind_name(enum node_kind kind)
{
	static const char *const names[] = {
	    [NODE_NUMBER] = "number",
	    [NODE_STRING] = "string",
	    [NODE_NAME] = "name",
	    [NODE_VARIABLE] = "variable",
	    [NODE_PARAMETER] = "parameter",
	    [NODE_MAP] = "map",
	    [NODE_CALL] = "call",
	    [NODE_MEMBER] = "member",
	    [NODE_INDEX] = "index",
	    [NODE_CAST] = "cast",
	    [NODE_UNARY] = "unary",
	    [NODE_POSTFIX] = "postfix",
	    [NODE_BINARY] = "binary",
	    [NODE_TERNARY] = "ternary",
	    [NODE_ASSIGN] = "assign",
	    [NODE_GROUP] = "group",
	    [NODE_TUPLE] = "tuple",
	    [NODE_RECORD] = "record",
	    [NODE_FIELD] = "field",
	    [NODE_COMPTIME] = "comptime",
	    [NODE_TYPE] = "type",
	    [NODE_TYPEOF] = "typeof",
	    [NODE_RANGE] = "range",
	    [NODE_BLOCK] = "block",
	    [NODE_EXPRESSION] = "expression",
	    [NODE_LET] = "let",
	    [NODE_IF] = "if",
	    [NODE_WHILE] = "while",
	    [NODE_FOR] = "for",
	    [NODE_RETURN] = "return",
	    [NODE_JUMP] = "jump",
	    [NODE_PROGRAM] = "program",
	    [NODE_DEFINITION] = "definition",
	    [NODE_CLAUSE] = "clause",
	    [NODE_ATTACH] = "attach",
	    [NODE_PREDICATE] = "predicate",
	    [NODE_FUNCTION] = "function",
	    [NODE_MACRO] = "macro",
	    [NODE_IMPORT] = "import",
	    [NODE_CONFIG] = "config",
	    [NODE_MAP_TYPE] = "map type",
	    [NODE_OPAQUE] = "opaque",
	};
	return names[kind];
}
