/**
 * names - what findings are called: -W NAME, and docs/checks.md.
 */
#ifndef CHECK_NAMES_H
#define CHECK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct check_name {
	const char *name;
	const char *summary; /**< what it finds, half a line */
};

/** All of them, in alphabetical order. */
extern const struct check_name check_names[];
extern const size_t n_check_names;

/** NULL: no finding is called so. */
const struct check_name *check_name_find(struct str name);
/** The name that is most like @wanted, or NULL. */
const char *check_name_near(struct str wanted);

#endif
