/**
 * dwtypes - the DWARF of a run's images as one source of types.
 *
 * A name is looked up in the images in the order in which they were added: the executable, then its
 * libraries. When units or images define a name differently, context.h chooses one by the code that the
 * question comes from. Answers are remembered.
 *
 *	struct dwtypes types;
 *	dwtypes_init(&types, &arena, &diag);
 *	dwtypes_add(&types, src);
 *	lookup_add(&lk, &types.source);
 */
#pragma once

#include "ctype/source.h"
#include "dwarf/dwsrc.h"

struct context;

struct dwtypes {
	struct type_source source; /**< first: it is one */
	struct arena *arena;
	struct diag *diag;
	VEC(struct dwsrc *) images; /**< their debug information, opened when it is needed */
	struct map known;	    /**< answers: question -> struct answer */
	struct map warned;	    /**< warnings about differing definitions, each reported once */
	/**
	 * Where questions come from; NULL: from nowhere in particular. Set by who asks. Its images are asked first, and
	 * when definitions differ, those of its units are meant.
	 */
	struct context *context;
	unsigned depth; /**< questions that wait for this one */
	bool verbose;	/**< say which definitions were not compared */
};

void dwtypes_init(struct dwtypes *t, struct arena *a, struct diag *d);
/** @src lives as long as @t. */
void dwtypes_add(struct dwtypes *t, struct dwsrc *src);

/**
 * Questions come from one place from now on, which the user named: it goes before all. False, silently,
 * when no unit is known for it.
 */
bool dwtypes_ask_at(struct dwtypes *t, struct dwsrc *src, uint64_t addr);
