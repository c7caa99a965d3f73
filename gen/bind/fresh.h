/**
 * fresh - names of variables that a script does not have.
 *
 *	struct fresh f;
 *	fresh_init(&f, &arena, &b->script);
 *	struct str name = fresh_variable(&f, STR("$key"));	// "$key", or "$key_2" if the script has that
 */
#ifndef BIND_FRESH_H
#define BIND_FRESH_H

#include "base/map.h"
#include "lang/script.h"

struct fresh {
	struct arena *arena;
	struct map taken;
};

/** Takes note of all variables of @s. */
void fresh_init(struct fresh *f, struct arena *a, const struct script *s);
/** @stem (with its $) or, if that is taken, with the first number behind it that makes it another; taken from now on. */
struct str fresh_variable(struct fresh *f, struct str stem);
/** Is @t a variable? $1 is none. */
bool fresh_is_variable(const struct token *t);

#endif
