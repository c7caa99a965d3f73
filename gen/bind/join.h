/**
 * join - clauses that become one.
 *
 * bpftrace attaches each clause by itself, one after the other, and detaches them so: of two clauses
 * on one probe the first has seen up to twice as many events of a busy program as the second. As one clause
 * they have seen the same. BEGIN and END are joined where a program may have only one (beginend.h).
 */
#ifndef BIND_JOIN_H
#define BIND_JOIN_H

#include "bind/bind.h"

/**
 * Makes one clause of those that have the same attach points, and run one behind the other. Those that may end early
 * stay the last one of their probe, and 0.17 keeps those apart whose variables would not fit on its stack together.
 */
void join_same_probes(struct bind *b);

/** All names of variables in the program, with their $. */
struct map join_variables(const struct bind *b);
/** @name, or name_2 and so on if it is among @taken already, where it is added. */
struct str join_new_variable(struct bind *b, struct map *taken, struct str name);
/**
 * Makes the body of @next the last statement of @first, with its predicate as an if. Variables that are among
 * @variables get new names, which are added there.
 */
void join_clause(struct bind *b, struct map *variables, struct script_clause *first,
		 const struct script_clause *next);
/** The first `return` or `exit()` of @c: what follows is not run. NULL: there is none. */
const struct token *join_early_end(const struct script_clause *c);
/** The node of its body. */
struct node *join_block(const struct script_clause *c);
/** `BEGIN /p/ { s }` is `BEGIN { if (p) { s } }`: then statements of ours can stand beside it. */
void join_unwrap(struct bind *b, const struct script_clause *c);
/** @statement is the last one of @block. */
void join_append(struct bind *b, struct node *block, struct node *statement);
/** A node of ours: no line or comment of the template stands before it. @beside: see struct token's `use`; or NULL. */
struct node *join_make(struct bind *b, enum node_kind kind, const struct token *beside);

#endif
