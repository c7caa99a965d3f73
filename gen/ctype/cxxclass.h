/**
 * cxxclass - what classes of the C++ library hold: the one place that knows their members.
 *
 * The names of the members are those of libstdc++; where they are is what the debug information of the
 * program says. A class whose members are others, or of other types, is none of these: then its members are
 * shown as those of any struct.
 *
 *	struct cxxclass c;
 *	if (cxxclass_read(t, &c) && c.kind == CXXCLASS_TEXT)
 *		the text is what the pointer at c.first leads to, and its length is at c.second
 */
#pragma once

#include "ctype/ctype.h"

enum cxxclass_kind {
	CXXCLASS_TEXT, /**< std::string, std::string_view: a pointer, and a number of characters */
	CXXCLASS_VECTOR,  /**< std::vector: pointers to its first element and after its last */
	CXXCLASS_POINTER, /**< std::unique_ptr, std::shared_ptr: a pointer */
	CXXCLASS_COUNTED, /**< std::map, std::set, std::list: the number of elements */
	CXXCLASS_OPTIONAL, /**< std::optional: a value, and a bool, which says whether there is one */
};

struct cxxclass {
	enum cxxclass_kind kind;
	struct ctype_place first,
	    second;	  /**< members of the kind, in order; POINTER and COUNTED have one */
	uint64_t element; /**< VECTOR: bytes of one, not 0 */
};

/** May @t, without typedefs and qualifiers, be such a class, by its name? Nothing is loaded for the answer. */
bool cxxclass_is_named(const struct ctype *t);
/** False: @t, without typedefs and qualifiers, is no such class, or its members are not the expected ones. */
bool cxxclass_read(struct ctype *t, struct cxxclass *ret);
/** The type of the pointer that a smart pointer @t begins with; NULL: it is none. */
struct ctype *cxxclass_pointer(struct ctype *t);
