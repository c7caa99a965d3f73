/**
 * format - the formats of printf("%s %d", a, b) and the like.
 *
 * Walks the conversions as bpftrace reads them: % flags digits . digits letters.
 *
 *	struct conversion c = {0};
 *	for (const struct node *arg = format->next; arg && format_next(text, &c); arg = arg->next)
 *		if (c.letter == 's') ...
 */
#pragma once

#include "lang/tree.h"

/** The format of a call of printf() or the like, if it is a literal; else NULL. */
struct node *format_find(const struct node *call);

struct conversion {
	size_t at, end; /**< from the % to after the letter */
	char letter;
};

/** The next conversion of @format; false after the last one. */
bool format_next(struct str format, struct conversion *c);
