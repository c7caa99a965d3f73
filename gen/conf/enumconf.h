/**
 * enumconf - the list of enum tables: which map of a script shows the names of which enum.
 *
 * A text file, one table a line, blanks between the words, # starts a comment:
 *
 *	# MAP      TYPE                        PREFIX (stripped from the names, optional)
 *	target     nvmf_tgt_state              NVMF_TGT_
 *
 * MAP may carry bpftrace's @. TYPE is a tag, a typedef or a C++ name with its scopes.
 */
#pragma once

#include "base/diag.h"

struct enumconf_entry {
	struct str map;		 /**< without @ */
	struct str type;	 /**< as written */
	struct str prefix;	 /**< may be empty */
	struct diag_place place; /**< of the type */
	bool is_named;		 /**< asked for on the command line: must be found */
};

struct enumconf {
	VEC(struct enumconf_entry) entries; /**< in the order of the file */
};

/** Reads the file @path, adding to *@ret; every mistake is reported at its place. */
bool enumconf_load(struct arena *a, struct diag *d, const char *path, struct enumconf *ret);
/** The entry for map @map (without @), or NULL. */
const struct enumconf_entry *enumconf_find(const struct enumconf *c, struct str map);
/** One table given as NAME, NAME:MAP or NAME:MAP:PREFIX (:: in a C++ name does not separate). */
bool enumconf_add_option(struct arena *a, struct diag *d, struct str option, struct enumconf *ret);
