/**
 * constant - the values of macros and enumerators of C that bpftrace's clang is to find: those of C headers, and of enums that a
 * script defines.
 *
 * Headers are not preprocessed: a name that is defined in two ways, or from what is not known here, has no value.
 */
#pragma once

#include "text/expr.h"

/** Adds macro @name to @constants; @body ends in TOK_EOF, NULL: nothing is known of it. */
void constant_add_macro(struct arena *a, struct map *constants, struct str name,
			const struct token *body);
/** The same for all in the braces of an enum; @t comes after the `{`. A TOK_DIRECTIVE may hide some. */
void constant_add_enum(struct arena *a, struct map *constants, const struct token *t);
/** False: there is no such name, or it has no value; @depth: in so many others. */
bool constant_find(const struct map *constants, struct str name, unsigned depth,
		   struct constant_value *ret);
