/**
 * aggregate - a struct, union or array out of its bytes, as gdb's print shows it.
 *
 *	{id = 4, name = "abc", pos = {x = 1, y = 2}, arr = {1, 2, 3}, next = 0x55d0c0001234, st = RUNNING}
 *
 * What is not there, because not all bytes travelled or because it is elsewhere (a long std::string's
 * text), is `...`: {id = 4, ...}. In JSON that is a member "...": true. Of an array the first 200
 * elements are shown. What a null pointer leads to is 0x0, in JSON null.
 */
#ifndef RECORD_AGGREGATE_H
#define RECORD_AGGREGATE_H

#include "base/json.h"
#include "value/render_value.h"
#include "record/shape.h"

/** Adds @f, a FIELD_AGGREGATE; @numbers are what travels of it. */
void aggregate_text(const struct render *how, const struct shape_field *f, const int64_t *numbers,
		    struct strbuf *out);
/** The same as a value of JSON: objects, arrays, and values as those of fields. */
void aggregate_json(const struct render *how, const struct shape_field *f, const int64_t *numbers,
		    struct json *j, const char *key);

#endif
