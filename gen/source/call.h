/**
 * call - the texts of a probe's arguments at the source line of its site, as the compiler got them.
 *
 * The line is expanded by the preprocessor of text/pp.h, with the definitions of defines.h, until
 * DTRACE_PROBE2 or another probe macro is left. Each definition of a macro that has several is
 * tried, and those count that lead to the probe and agree.
 *
 *	struct call_part parts[12];
 *	size_t n;
 *	if (call_read(src, &site, STR("nvmf_tgt_state"), parts, 12, &n)) ...
 */
#ifndef SOURCE_CALL_H
#define SOURCE_CALL_H

#include "dwarf/dwsite.h"

/** One argument. */
struct call_part {
	struct str text;
	bool is_known; /**< no ambiguous macro is left in it */
	bool is_added; /**< a number that a macro passes, whatever its caller does */
};

/**
 * False, without a message, if there is no source, no call of @probe or several, or more than @max
 * arguments.
 */
bool call_read(struct dwsrc *src, const struct dwsite *site, struct str probe,
	       struct call_part *ret, size_t max, size_t *ret_n);

#endif
