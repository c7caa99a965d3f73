/**
 * probes_print - lists of probes, for people and for programs.
 *
 * The text has a line for each probe and one for each of its sites, in columns. The JSON is one array of
 * {file, provider, name, semaphore, sites: [{address, offset, semaphore, doubt, args: [{size, signed, float, place}]}]};
 * addresses are strings "0x...", and what is not there or not known is null.
 */
#ifndef PROBES_PRINT_H
#define PROBES_PRINT_H

#include <stdio.h>

#include "image/sdt.h"

/** A file that was looked at. */
struct probes_file {
	struct str path;  /**< for people */
	unsigned machine; /**< EM_* */
	bool is_deleted;
	struct sdt_list probes;
};

/** @headers: a line with its path before the probes of each file; @verbose: a line for each argument, in words. */
void probes_print_text(FILE *out, const struct probes_file *files, size_t n_files, bool headers,
		       bool verbose);
void probes_print_json(FILE *out, const struct probes_file *files, size_t n_files);

#endif
