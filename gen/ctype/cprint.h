/**
 * cprint - writes the definitions of a closure as C.
 *
 * Two readers: bpftrace, of any version from 0.17 on (closure_options.for_bpftrace), and a C
 * compiler. For both the structs are packed and every gap is an explicit member, so that the layout
 * is the one that was recorded, whatever the reader would have chosen itself:
 *
 *	#pragma pack(push,1)
 *	struct foo {
 *		int a;
 *		unsigned char _gap0[4];
 *		struct bar *p;
 *	};
 *	#pragma pack(pop)
 *
 * What no bpftrace accepts (typedefs, forward declarations, attributes, comments inside of a
 * struct) is not used. Big-endian bitfields are not supported.
 */
#pragma once

#include "code/code.h"
#include "ctype/closure.h"

/**
 * Appends everything in c->defs; what cannot be written is an error naming the reason, and false.
 * @asserts: a C compiler is to check size and offsets, by _Static_assert.
 */
bool cprint_definitions(struct code *b, struct closure *c, bool asserts);
/**
 * The C type of a value: "unsigned int", "struct tag *", or "void *" for a pointee that is not
 * defined. NULL when C has no word for it.
 */
const char *cprint_type_name(struct closure *c, struct ctype *t);
