/**
 * argsig - what a listed signature (probesig.h) adds to the arguments of a probe.
 *
 * The binary goes first. A name is taken for an argument that has none at any site, a type for one whose type no site
 * knows, where it has the operand's size and sign. A signature that the binary contradicts is that of another
 * version of the program, and nothing of it is used: another number of arguments, an operand that cannot hold what is listed,
 * a type known to be of another kind.
 */
#ifndef TYPES_ARGSIG_H
#define TYPES_ARGSIG_H

#include "types/probeargs.h"
#include "types/probesig.h"

/** To be called when the sites of @pa are read and not yet compared; sets pa->unlisted when @sig is not used. */
void argsig_take(struct arena *a, const struct probesig *sig, struct probeargs *pa);

#endif
