/**
 * arginfer - names and types of arguments that nobody declared.
 *
 * Two witnesses: the variables that are where the operand is (argloc.h), and the source line
 * (argsrc.h), which says which expression it is. A place proves, a text only names: the line decides when
 * it is there and neither sizes, signs, constants nor places contradict any of it. Without it a type or name is taken only when everything
 * that fits has it; several sites of one probe narrow the choice. Where one place is two arguments
 * of a site, it is at most one of them, and nobody knows which.
 */
#ifndef PROBE_ARGINFER_H
#define PROBE_ARGINFER_H

#include "probe/argsrc.h"
#include "probe/probearg.h"

struct arginfer_arg {
	struct str name;     /**< empty: not known */
	struct ctype *type;  /**< NULL: not known */
	struct str expr;     /**< of the source line, or empty */
	uint64_t string_max; /**< see probeargs.h */
	bool by_source;	     /**< the line says what it is: other sites do not matter */
	bool is_constant;    /**< a number that the probe's macro passes */
	bool is_int;	     /**< a constant that can be of no other type than int */
	struct argloc_candidates candidates;
};

/** Fills ret[0..n) for a site with operands @args of probe @probe. */
void arginfer_site(struct dwsrc *src, const struct dwsite *scope, struct str probe,
		   const struct probearg *args, size_t n, struct arginfer_arg *ret);
/**
 * Compares the @n sites of one probe; sites[i] has counts[i] arguments. Names and types are settled
 * here.
 */
void arginfer_intersect(struct arena *a, struct arginfer_arg **sites, const size_t *counts,
			size_t n);

#endif
