/**
 * macrosign - the signs in a macro of bpftrace's language (from 0.24 on), whose body stands there once and is
 * computed anew in each call, with the signs that its arguments have there.
 */
#pragma once

#include "bind/bind.h"

/**
 * The sign of what @call of @macro gives. MIXED: it depends on the arguments in a way that is not followed, through
 * a variable or another macro. @is_last: all signs are
 * known, and operators that are signed in some calls and unsigned in others are remembered.
 */
enum sign macrosign_of_call(const struct bind *b, const struct node *macro, const struct node *call,
			    bool is_last);
/** Is the operator @n of a macro unsigned in some call, but not in all? */
bool macrosign_differs(const struct bind *b, const struct node *n);
