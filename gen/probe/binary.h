/**
 * binary - an ELF file whose probes are looked into, and what was read of it once for all of them.
 *
 *	struct binary b;
 *	binary_init(&b, img);
 *	struct probeargs pa;
 *	probeargs_read(&b, signatures, probe, &pa);
 *	binary_close(&b);
 */
#pragma once

#include "ctype/lookup.h"
#include "dwarf/dwtypes.h"

struct binary {
	struct img *img;   /**< NULL: not open */
	struct dwsrc *src; /**< its debug information, opened when it is needed */
	/** Where probeargs_read() puts what it finds about one probe: the image's, or another one. */
	struct arena *arena;
	/** No debug file is opened for the arguments of probes: less is known, at no cost. */
	bool cheap_only;
	struct argnotes *notes; /**< binary_notes()'s; NULL until asked for */
	struct kbtf *btf;	/**< binary_btf()'s */
	struct typenote *types; /**< binary_types()'s */
	bool btf_read, types_read;
};

/** Takes @img over. */
void binary_init(struct binary *ret, struct img *img);
/** Gives the image back; fine when nothing is open. */
void binary_close(struct binary *b);
/** The facts about its probes in the program's notes; never NULL, read on first use. */
struct argnotes *binary_notes(struct binary *b);
/** Has it debug information, here or in a file of its own? Opened when first asked for. */
bool binary_has_debuginfo(struct binary *b);
/** The types of its .BTF, or NULL; read when first asked for. */
struct kbtf *binary_btf(struct binary *b);
/** The types that `btgen embed` of 0.1 has left in it, or NULL; read when first asked for. */
struct typenote *binary_types(struct binary *b);
/** All of these are sources of @lk, after @all, which has the debug information of all files. */
void binary_add_sources(struct binary *b, struct dwtypes *all, struct lookup *lk);
/** What its types are read from where it has no debug information: its .BTF, or NULL. */
struct type_source *binary_other_types(struct binary *b);
