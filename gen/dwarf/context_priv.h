/**
 * context_priv - a question to the images of a run: dwtypes.c asks and remembers, context.c finds
 * out what is meant.
 */
#pragma once

#include "dwarf/context.h"
#include "dwarf/dwtypes.h"

/** A type, or an enumerator of it with its value. */
struct definition {
	struct dwsrc *src;
	struct ctype *type; /**< NULL: nothing was found */
	int64_t value;
};

/** dwtypes.c remembers the answers. */
struct context_question {
	struct dwtypes *types; /**< the images, and the context */
	const struct namequery *name;
	struct str owner;  /**< the enum that the enumerator must be of; empty: any */
	struct dwsrc *own; /**< of a declaration whose definition is wanted: asked first; or NULL */
	bool depends;	   /**< set when the answer may be another one for another context */

	// For the search.
	struct context *context; /**< that of @types, or NULL where it has nothing */
	bool may_be_in_body;	 /**< function bodies, too, may define the name */
	unsigned n_compared;	 /**< members and values that were compared in this image so far */
	struct map known;	 /**< what each image and each unit means: struct meaning */
};

/** *@ret is what is meant, without a type when no image has it; differences are reported. */
void context_find(struct context_question *q, struct definition *ret);
