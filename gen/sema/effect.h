/** effect - whether an expression only has a value, reads memory or a map, or changes something. */
#ifndef SEMA_EFFECT_H
#define SEMA_EFFECT_H

#include "lang/tree.h"
#include "sema/expr.h"

/** That of @n, of which @e is known, with its children, whose own is known. */
enum effect effect_find(const struct node *n, const struct expr *e);

#endif
