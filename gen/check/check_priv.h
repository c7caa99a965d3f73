/**
 * check_priv - the groups of checks, one file each, that check.c calls for each node of each clause.
 */
#ifndef CHECK_CHECK_PRIV_H
#define CHECK_CHECK_PRIV_H

#include "check/check.h"
#include "check/facts.h"

// One for each group: looks at @n and reports through k->b->diag; k->good is false after an error.
void check_format(struct checker *k, struct node *n);
void check_values(struct checker *k, struct node *n);
void check_compare(struct checker *k, struct node *n);
void check_enums(struct checker *k, struct node *n);
void check_arithmetic(struct checker *k, struct node *n);
void check_pointers(struct checker *k, struct node *n);
void check_flow(struct checker *k, struct node *n);
void check_disagree(struct checker *k, struct node *n);
void check_broken(struct checker *k, struct node *n);

// The same for the script as a whole.
void check_use(struct checker *k);
void check_signs(struct checker *k);
void check_keys(struct checker *k);
void check_clauses(struct checker *k);

#endif
