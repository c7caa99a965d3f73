/**
 * template - the steps from a template to a program.
 *
 * It is parsed once. Attach points are bound first, because they tell where names are to be looked up;
 * then facts are found, of which check/ and lock/ look at all; then the program is written (emit/).
 *
 *	struct bind_given given = {.files = &files, .version = 17, .main = file};
 *	struct bind_made made = {.printed_strlen = UINT_MAX, .program = &program};
 *	struct bind_cache cache = {0};
 *	struct bind b = {&arena, &diag, &given, .made = &made, .cache = &cache};
 *	if (template_bind(&b, &pp)) ...
 */
#pragma once

#include "bind/bind.h"

/** False after errors; then the tokens are in no useful state. */
bool template_bind(struct bind *b, struct pp *pp);

/** track.c: reads each `#pragma track` into b->tracks, a JSON array; false after an error. */
bool track_collect(struct bind *b);
