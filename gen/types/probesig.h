/**
 * probesig - documented signatures of probes, for programs that come without debug information.
 *
 * A text file (bpf/probes.conf), one probe a line as its manual has it, # starts a comment:
 *
 *	postgresql:query__start(const char *query)
 *
 * Types are C's integers, bool, <stdint.h>'s, and pointers to char or void. What becomes of a list: argsig.h.
 */
#ifndef TYPES_PROBESIG_H
#define TYPES_PROBESIG_H

#include "base/diag.h"
#include "base/map.h"
#include "types/ctype.h"

struct probesig_arg {
	struct str name;
	struct ctype *type;
};

struct probesig {
	struct probesig_arg *args;
	size_t n_args;
};

struct probesigs {
	struct map probes; /**< "provider:name" -> struct probesig */
};

/** Reads @path, adding to *@ret; mistakes are reported at their line. */
bool probesig_load(struct arena *a, struct diag *d, const char *path, struct probesigs *ret);
/** NULL when the probe is not listed, or @s is NULL. */
const struct probesig *probesig_find(const struct probesigs *s, struct str provider,
				     struct str name);

#endif
