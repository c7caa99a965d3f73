/**
 * argmacro - which of the texts in a macro's call are a probe's operands.
 *
 * Those of the probe macros themselves are (DTRACE_PROBE2 and the like). A macro around one can change
 * what it was given, put it in another order, or take a member of it: its definition, in the source file, a
 * file of its unit or one that it includes, must pass a text on as it is. What cannot be followed is no
 * operand's text.
 */
#ifndef PROBE_ARGMACRO_H
#define PROBE_ARGMACRO_H

#include "probe/argloc.h"

/** A call as it stands in the source. */
struct argmacro_call {
	struct str macro;
	struct str args; /**< between its parentheses */
};

/**
 * The texts of the operands of @probe that the call has, the first @max into @ret: empty, where the
 * macro has made something else of what it was given. False when it is not known to be a probe's call.
 */
bool argmacro_operands(struct argloc *l, const struct argmacro_call *call, struct str probe,
		       struct str *ret, size_t max, size_t *n);
/** The text of source file @path, or empty: not there, no file, or changed after the program was built. */
struct str argmacro_source(struct dwsrc *src, const char *path);

#endif
