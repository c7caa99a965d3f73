/** lines_print - `bpftrace.sh -l WHO FILE:LINE[-LINE]`: the source lines that can be probed. */
#ifndef LISTING_LINES_PRINT_H
#define LISTING_LINES_PRINT_H

#include "probe/binary.h"

struct source_lines {
	struct str text; /**< as it was given */
	struct str file;
	unsigned first, last;
};

/** `FILE:100` or `FILE:100-140`; false: it is neither. */
bool lines_print_parse(struct str text, struct source_lines *ret);
/**
 * Prints those of @lines that have code in @bin, with their functions, @verbose: and addresses. Errors but
 * that @bin does not have the source file; then false.
 */
bool lines_print(struct arena *a, struct diag *d, struct binary *bin,
		 const struct source_lines *lines, bool verbose);

#endif
