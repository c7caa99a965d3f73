/**
 * call - the texts of a probe's arguments at the source line of its site, as the compiler got them.
 *
 * The line is expanded by the preprocessor of text/pp.h, with the definitions of defines.h, until
 * DTRACE_PROBE2 or another probe macro is left. Each definition of a macro that has several is
 * tried, and those count that lead to the probe and agree.
 *
 *	const struct call_part *parts = call_read(src, &site, STR("nvmf_tgt_state"), n_operands);
 */
#pragma once

#include "dwarf/dwsite.h"

/** One argument. */
struct call_part {
	struct str text;
	bool is_known; /**< no ambiguous macro is left in it */
	bool is_added; /**< a number that a macro passes, whatever its caller does */
};

/**
 * The @n arguments; NULL, without a message, if there is no source, no call of @probe or several, or
 * another number of them.
 */
const struct call_part *call_read(struct dwsrc *src, const struct dwsite *site, struct str probe,
				  size_t n);
