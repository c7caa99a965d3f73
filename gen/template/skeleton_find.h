/**
 * skeleton_find - the functions that a pattern of -t means: `uprobe:acme::*`, `uretprobe:libc:mem*`.
 *
 * Those of a pattern are the functions of the symbol tables, as bpftrace finds them by their names, each
 * once: of several names of one address the shortest is taken, and pieces that the compiler has split off
 * (f.cold, f.part.0) are no functions: bpftrace has no such names. A name means what it does in a
 * template, probe/codeplace.h.
 */
#pragma once

#include "template/skeleton_priv.h"

#include "probe/codeplace.h"

struct function {
	struct targetfile *file;
	struct codeplace place; // its name is the label
	struct safe_word name;
	bool by_address; // no name means it alone
	bool has_copies; // which are found, too
	bool leads_on;	 // to another one, where a call counts
	unsigned n_same; // others of that name, which bpftrace does not find
};

struct finder {
	struct skeleton *sk;
	bool is_return;
	struct str file, name; // patterns; no file: any
	struct str source;     // of the source file, likewise
	struct targetfile *at; // whose symbols are walked
	VEC(struct function) found;
	struct map names, addrs; // of `at` -> 1 + index in `found`
	struct map owners;	 // name -> the first file that has it
	struct map labels;  // of C++ functions of `at` that have code; address and label of copies
	unsigned n_odd;	    // whose names bpftrace does not take
	unsigned n_ifuncs;  // that the loader chooses: only their names are here
	unsigned n_unsized; // to which it does not attach
	unsigned n_refused; // the kernel does not, for `why`
	const char *why;
	unsigned n_unknown;		 // whose parameters are not known
	struct str unknown;		 // one of them
	unsigned n_copies, n_bare;	 // inlined, which are probes; those without arguments
	unsigned n_shadowed;		 // places that bpftrace takes for others
	struct str shadowed;		 // the name of one
	const struct dwinlined *inlined; // a function that has copies which are not traced
	struct map missed;		 // all of them
	size_t n_inlined;		 // and how many
	const struct targetfile *large;	 // what is only inlined was not searched for in it
	struct str thunk;		 // has copies of which nothing is known
};

static inline bool function_is_copy(const struct function *fn)
{
	return fn->place.how == CODEPLACE_COPY;
}

/** Fills f->found, of f->sk and the pattern. False if no file has the name of the pattern. */
bool finder_find(struct finder *f);
/** Is @tf one of the files that the pattern is for? */
bool finder_means(const struct finder *f, const struct targetfile *tf);
/** Are inlined copies traced, too? */
bool finder_traces_copies(const struct finder *f);
/** Counts copies of a function, or NULL, that are not traced. */
void finder_note_missed(struct finder *f, const struct dwinlined *d);
