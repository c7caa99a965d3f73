/**
 * argsig - what a listed signature (probesig.h) adds to the arguments of a probe.
 *
 * The binary goes first. A name is taken for an argument that has none at any site, and else is
 * kept as listed_name: scripts that were written where the program has no debug information have it. A type is taken for one
 * whose type no site knows, where it has the operand's size and sign. A signature that the binary
 * contradicts is that of another version of the program, and nothing of it is used: another number
 * of arguments, an operand that cannot hold what is listed or is not the number that is listed, a
 * type known to be of another kind. Of several that are listed the last that fits is used.
 *
 * Of a listed void * no text is made, whatever the program's type is: there may be none, or one without an end.
 *
 * Of a listed enum or struct the definition is the program's, that of the site's own unit if it has
 * one. Without debug information and .BTF only its name is known, and of an enum the enumerators that are
 * listed, too.
 */
#pragma once

#include "dwarf/dwsrc.h"
#include "probe/probearg.h"
#include "conf/probesig.h"

/** Where the program's definitions are. */
struct argsig_types {
	struct dwsrc *src;	 /**< NULL: no debug information */
	const Dwarf_Die *unit;	 /**< of the site, or NULL */
	struct type_source *btf; /**< asked when there is no `src`; or NULL */
};

/**
 * To be called when the sites of @pa are read and not yet compared; sets pa->unlisted when @sig is
 * not used.
 */
void argsig_take(struct arena *a, const struct argsig_types *in, const struct probesig *sig,
		 struct probeargs *pa);
