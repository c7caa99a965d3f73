/**
 * arith - expressions as a whole: which of their divisions and shifts have a left operand that may be below 0.
 *
 * Where that is so they become what C makes of them (quotient.h). The signs of arguments and members come from those who
 * know their types (sign.h), those of casts from what they say; a variable or map has the sign of all that is ever assigned
 * to it. What is sometimes an int64 and sometimes not is a warning.
 *
 *	$d = args.delta;		// an int
 *	@half = ($d - 3) / 2;		// rewritten
 *	@rest = arg0 % 7;		// of a function: nothing is known of arg0, and nothing is done
 *	@rest = (int64)arg0 % 7;	// rewritten
 */
#ifndef BIND_ARITH_H
#define BIND_ARITH_H

#include "bind/bind.h"

/** To be called when arguments and members are what they are to be, but types in casts still have their names. */
bool arith_rewrite(struct bind *b);

#endif
