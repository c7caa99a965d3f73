/**
 * tokens - the steps from a template's tokens to those of a program.
 *
 * Attach points first, because they tell where names are to be looked up; then what the clauses say, each step on what the
 * one before has left: names of arguments, expressions by type, types, constants, tables, markers.
 *
 *	struct bind b = {.arena = &arena, .diag = &diag, .images = &images, .version = 17};
 *	if (tokens_bind(&b, &pp))
 *		emit_tokens(&arena, pp.out, file, &program);
 */
#ifndef BIND_TOKENS_H
#define BIND_TOKENS_H

#include "bind/bind.h"

/** False after errors; then the tokens are in no useful state. */
bool tokens_bind(struct bind *b, struct pp *pp);

#endif
