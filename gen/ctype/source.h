/**
 * source - where types come from by name: one interface for DWARF and BTF.
 *
 * A source answers questions about names (ctype/namequery.h); ctype/lookup.h asks several of them
 * in turn. Who opens a source owns it. An implementation has this struct as its first member and
 * fills it in:
 *
 *	struct kbtf {
 *		struct type_source source;
 *		...
 *	};
 */
#pragma once

#include "base/diag.h"
#include "ctype/namequery.h"

/** Gets the kind (NAME_*) of a type, and its name with its scopes: "ns::Outer::name", valid until it returns. */
typedef void type_source_name_fn(void *ctx, unsigned kind, struct str name);

struct type_source;

struct type_source_ops {
	/** The type that @q asks for, or NULL, silently. */
	struct ctype *(*find)(struct type_source *s, const struct namequery *q);
	/** The enum that the enumerator @q belongs to, and the enumerator's value; or NULL, silently. */
	struct ctype *(*find_enumerator)(struct type_source *s, const struct namequery *q,
					 int64_t *value);
	/** A struct, union or enum of that name is declared somewhere. NULL: declarations are not known. */
	bool (*is_declared)(struct type_source *s, const struct namequery *q);
	/** The known name that is nearest to what @q asks for; empty when none is near. */
	struct str (*nearest)(struct type_source *s, const struct namequery *q);
	/**
	 * Calls @fn for each named type among @kinds that is defined, in the order of the file; a
	 * name may come many times. What cannot be listed is reported. False, silently, when there
	 * is nothing to read at all.
	 */
	bool (*walk)(struct type_source *s, unsigned kinds, type_source_name_fn *fn, void *ctx);
	/**
	 * If there are no types where they are expected, reports that at @at (may be NULL), and how to get
	 * at @wanted: true. NULL: never empty.
	 */
	bool (*report_empty)(struct type_source *s, const struct diag_place *at,
			     const char *wanted);
	/** Reports which parts cannot be read; silent when there are none. NULL: it has no parts. */
	void (*report_gaps)(struct type_source *s);
};

struct type_source {
	const struct type_source_ops *ops;
	struct str file; /**< for messages; empty when it is more than one */
	bool is_rest;	 /**< what strip left: those asked before it say why a name is unknown */
};
