/** header - the first line of a capture in JSON: where, when and with what it was made (docs/records.md). */
#ifndef CONVERT_HEADER_H
#define CONVERT_HEADER_H

#include "base/str.h"

struct header {
	struct str boot_id; /**< or empty */
	struct str program; /**< the name of the one that is traced, or empty */
	struct str script;  /**< its name, as the user has it; empty: none */
	struct str tracks;  /**< a JSON array, or empty */
	struct str skipped; /**< likewise: probes that are not traced */
	int64_t offset;	    /**< CLOCK_REALTIME - CLOCK_BOOTTIME in ns, with which times are made */
};

/** Adds the line. */
void header_write(const struct header *h, struct strbuf *out);

#endif
