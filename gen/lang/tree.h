/**
 * tree - a preprocessed template as a tree over its tokens.
 *
 * lang/parse.h makes it. A node covers the tokens from `first` to `last`; those of its children lie within,
 * in the order in which they are written, and the tokens between them (keywords, operators, brackets,
 * commas) are the node's own. So a tree that nothing has changed is printed by walking it, byte for byte as
 * it was written (lang/print.h).
 *
 * Syntax that the parser does not know, such as a construct of a newer bpftrace, is a NODE_OPAQUE: it has
 * tokens and no meaning.
 *
 *	for (struct node *arg = call->child; arg; arg = arg->next)
 *		if (arg->kind == NODE_STRING) ...
 */
#pragma once

#include "text/expr.h"

struct expr;

enum node_kind {
	// Expressions. After each: its children, and what `name` is.
	NODE_NUMBER,	/**< 1, 0x10, 1e3, 5ms */
	NODE_STRING,	/**< "text" */
	NODE_NAME,	/**< pid, arg0, an enumerator, ns::on: the first token of the name */
	NODE_VARIABLE,	/**< $x: name */
	NODE_PARAMETER, /**< $1, $#: name is the $ */
	NODE_MAP, /**< @x[key, key]: the keys; name is the word after the @, NULL for @ alone */
	NODE_CALL, /**< f(a, b), also sizeof, offsetof: the arguments, of which some may be types; name */
	NODE_MEMBER,   /**< x.m, x->m, x.1: x; name is m, or the number with its dot */
	NODE_INDEX,    /**< x[i]: x, i */
	NODE_CAST,     /**< (T)x: the type, x */
	NODE_UNARY,    /**< -x, !x, ~x, *x, &x, ++x: x; name is the operator */
	NODE_POSTFIX,  /**< x++, x--: x; name is the operator */
	NODE_BINARY,   /**< x + y: x, y; name is the operator */
	NODE_TERNARY,  /**< c ? x : y: c, x, y; without x in c ?: y */
	NODE_ASSIGN,   /**< x = y, x += y: x, y; name is the operator */
	NODE_GROUP,    /**< (x): x */
	NODE_TUPLE,    /**< (x, y): the elements */
	NODE_RECORD,   /**< (a = x, b = y): NODE_FIELD each */
	NODE_FIELD,    /**< a = x: x; name is a */
	NODE_COMPTIME, /**< comptime x: x */
	NODE_TYPE,     /**< struct s *, int32, ns::type<int>: no children */
	NODE_TYPEOF,   /**< typeof(x): x, an expression or a type */
	NODE_RANGE,    /**< a..b: a, b */
	// Statements
	NODE_BLOCK, /**< { ... }: the statements; its value is that of the last one if that has no semicolon */
	NODE_EXPRESSION, /**< x;: x */
	NODE_LET,	 /**< let $x : T = y;: the variable, T if given, y if given */
	NODE_IF, /**< if (c) {} else if (d) {} else {}: c, block, d, block, block; an expression, too */
	NODE_WHILE,  /**< while (c) {}, unroll (n) {}: c, block; name is the word */
	NODE_FOR,    /**< for ($x : y) {}: the variable, a map or a range, block */
	NODE_RETURN, /**< return x;: x if given */
	NODE_JUMP,   /**< break; continue; */
	// The program
	NODE_PROGRAM,	 /**< all of it: what is below here, and NODE_OPAQUE */
	NODE_DEFINITION, /**< struct, union, enum with a body; name is the tag, or NULL */
	NODE_CLAUSE,	 /**< NODE_ATTACH each, NODE_PREDICATE if given, block */
	NODE_ATTACH,	 /**< one attach point */
	NODE_PREDICATE,	 /**< /x/: x; or nothing, with the unexpected token as name */
	NODE_FUNCTION,	 /**< fn f($a : T) : T {}: NODE_LET each, T, block; name */
	NODE_MACRO,	 /**< macro m($a, @b, c) {}: the parameters, block; name */
	NODE_IMPORT,	 /**< import "path"; */
	NODE_CONFIG,	 /**< config = { ... } */
	NODE_MAP_TYPE,	 /**< let @m = hash(10);: the map, the call */

	NODE_OPAQUE, /**< tokens that nothing here understands, or need not; of a statement, name is the unexpected one */
};

/**
 * Who makes the tree defines TREE_IS_MADE_HERE: the parser and lang/change.h, and sema/exprtype.c, which
 * fills in `expr`. To everybody else the compiler refuses to write a node.
 */
#ifdef TREE_IS_MADE_HERE
#define FIXED
#else
#define FIXED const
#endif

struct node {
	FIXED enum node_kind kind : 8; /**< one of a million: 80 bytes, not 96 */
	FIXED bool is_changed;	       /**< `text` replaces its tokens: lang/change.h */
	FIXED unsigned height; /**< 0 without children; bounded, so that a walk can recurse */
	struct token *FIXED first, *FIXED last; /**< its tokens, both included */
	struct token *FIXED name;		/**< see its kind */
	struct node *FIXED parent;		/**< NULL: of the program */
	struct node *FIXED child;		/**< the first one */
	struct node *FIXED next;		/**< the next child of the same parent */
	struct node *FIXED last_child;		/**< the last child */
	struct expr *FIXED expr;		/**< what sema/exprtype.h knows of it, or NULL */
	struct str *FIXED text;
};
#undef FIXED

/** Is it one of @kind whose name is @name? */
bool node_is(const struct node *n, enum node_kind kind, const char *name);
/** `args.NAME` or `vars.NAME`: no member of a value. */
bool node_is_named(const struct node *n);
/** Is it `++` or `--`, before or after its operand? */
bool node_is_step(const struct node *n);
/** OP_* of text/expr.h; of `x += y` that of x + y. 0: it has none. */
unsigned node_operator(const struct node *n);
/** All of a leaf: "0x10", "$x". */
struct str node_text(const struct node *n);
/** How many children it has. */
unsigned node_count(const struct node *n);
/** @n without brackets that only group. */
struct node *node_ungrouped(const struct node *n);
/** The value of @n, made of numbers, + - * / and << alone, at most @depth operators deep; false: it is not. */
enum { NODE_FOLDS = 16 };
bool node_fold(const struct node *n, unsigned depth, uint64_t *ret);

/**
 * The node after @n in the tree of @root, parents first; NULL after the last.
 *
 *	for (struct node *n = root; n; n = node_next(root, n))
 */
struct node *node_next(const struct node *root, const struct node *n);

/** The first of @n and all below it, parents first, for which @is holds; NULL: none. */
const struct node *node_find(const struct node *n, bool (*is)(const struct node *n));
