/**
 * probes_scripts - which scripts of a folder attach to a probe.
 *
 * Every *.bt file of the folder is preprocessed as for a run, and its attach points are kept.
 * Patterns (* and ?) count, and an attach point without a provider fits every provider; so does one
 * that says only __EXE__, whatever the file.
 *
 *	struct probes_scripts scripts;
 *	if (probes_scripts_read(&arena, &diag, "bpf", 17, &scripts))
 *		for (size_t i = 0; i < scripts.uses.n; i++) if (probes_use_fits(&scripts.uses.v[i], provider, name)) ...
 */
#ifndef LISTING_PROBES_SCRIPTS_H
#define LISTING_PROBES_SCRIPTS_H

#include "base/diag.h"
#include "base/vec.h"

/**
 * One usdt attach point; those of a script follow each other, scripts are in the order of their
 * names.
 */
struct probes_use {
	struct str script;   /**< the file's name without its folder */
	struct str provider; /**< empty: any */
	struct str name;
};

struct probes_scripts {
	VEC(struct probes_use) uses;
};

/** False, with an error, when the folder cannot be read or a script of it is wrong. */
bool probes_scripts_read(struct arena *a, struct diag *d, const char *dir, unsigned version,
			 struct probes_scripts *ret);
bool probes_use_fits(const struct probes_use *use, struct str provider, struct str name);

#endif
