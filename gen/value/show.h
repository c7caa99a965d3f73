/**
 * show - values as text and as JSON.
 *
 * A struct, union or array comes out of its bytes, as gdb's print shows it:
 *
 *	{id = 4, name = "abc", pos = {x = 1, y = 2}, arr = {1, 2, 3}, next = 0x55d0c0001234, st = RUNNING}
 *
 * What is not there, because not all bytes travelled or because it is elsewhere (a long std::string's
 * text), is `...`: {id = 4, ...}. In JSON that is a member "...": true. Of an array the first 200
 * elements are shown. What a null pointer leads to is 0x0, in JSON null.
 */
#pragma once

#include "base/json.h"
#include "value/render_value.h"
#include "value/value.h"

enum value_style {
	VALUE_RAW,    /**< as %s has it: strings as they are, a null one is empty */
	VALUE_LISTED, /**< of -t: strings and characters quoted */
	VALUE_MEMBER, /**< of a struct: 97 'a', 0x401136 <main> */
	VALUE_KEY, /**< of a map: the name, of a variable, too, that distinguishes it from others; in text an address that has
			   none is nothing, as bpftrace has printed it */
};

// None of these takes a VALUE_CHOICE or a VALUE_TUPLE: it is its parts that are shown.
void value_text(const struct render *how, const struct value *v, struct value_data d,
		enum value_style style, struct strbuf *out);
/** Of strings the style is JSON's own. */
void value_json(const struct render *how, const struct value *v, struct value_data d,
		enum value_style style, struct json *j);
/** As @c of a format asks for it: %d of an enum is its number, %s its name. "..." follows a string that may be cut. */
void value_format(const struct render *how, const struct value_conversion *c, const struct value *v,
		  struct value_data d, struct strbuf *out);
/**
 * Can it be shown? A string whose page is not in memory comes as an empty one: a literal is then in
 * the program's file, and anything else is not known.
 */
bool value_is_known(const struct render *how, const struct value *v, struct value_data d);
/** Is it as long as the longest string that bpftrace can hold, and so maybe not whole? */
bool value_is_cut(const struct render *how, const struct value *v, struct value_data d);
