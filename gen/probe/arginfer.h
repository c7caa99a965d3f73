/**
 * arginfer - names and types of arguments that nobody declared.
 *
 * Two witnesses: the variables at the operand's place (argloc.h), and the source line (argsrc.h), with the
 * expression. A place proves, a text only names: the line decides if it exists and no size, sign, constant
 * or place contradicts it. Without it a type or name is taken only if everything that fits has it; several
 * sites of one probe narrow the choice. If one place is two arguments of a site, it is at most one of them,
 * and which is not known.
 */
#pragma once

#include "probe/argsrc.h"
#include "probe/probearg.h"

/** What is known of an argument before sites are compared. */
struct arginfer_arg {
	struct probearg *arg; /**< gets the name, the type and other facts of the line */
	bool by_source;	      /**< the line decides: other sites do not matter */
	bool is_int;	      /**< a constant that can be of no other type than int */
	struct argloc_candidates candidates;
};

struct arginfer_site {
	struct arginfer_arg *args;
	size_t n;
};

/** For each argument of the site @s of probe @probe. */
struct arginfer_arg *arginfer_site(struct dwsrc *src, const struct dwsite *scope, struct str probe,
				   struct probesite *s);
/** Compares the @n sites of one probe. Names and types are settled here. */
void arginfer_intersect(struct arena *a, const struct arginfer_site *sites, size_t n);
