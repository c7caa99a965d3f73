/**
 * probearg - the arguments of a probe, and its sites, as probeargs.h finds them and everybody shows
 * them.
 */
#pragma once

#include "ctype/ctype.h"
#include "usdt/argnote.h"
#include "usdt/sdt.h"
#include "usdt/sdtarg.h"

enum probearg_from {
	PROBEARG_SIZE_ONLY, /**< no name, no type */
	PROBEARG_LISTED,    /**< in a list of documented probes, see probesig.h */
	PROBEARG_INFERRED,
	PROBEARG_DECLARED,
};

struct probearg {
	struct str name; /**< never empty: "argN" when there is no better one */
	bool has_name;	 /**< the name is one that the program uses */
	struct ctype *
	    type; /**< NULL: not known. An array is a pointer here, and has no qualifiers of its own */
	enum probearg_from from;
	unsigned size; /**< bytes; 0 when the notes do not say */
	bool is_signed, is_float;
	bool is_kind;		/**< `type` is only from the note, see argtype_of_kind() */
	bool is_number;		/**< no pointer, as the notes of all sites tell */
	enum argnote_kind kind; /**< of a site: from its note */
	bool is_constant;	/**< always `constant`: the probe's macro adds it */
	uint64_t constant;
	struct str unit, doc;	/**< of USDT_ARG, or empty */
	struct str listed_name; /**< its documented name, if that is another one; or empty */
	struct str expr;	/**< as in the source, where that is known */
	uint64_t
	    string_max; /**< bytes of a string without its end, where it is in an array; or 0 */

	// Of one site.
	struct sdtarg operand;

	// Of the probe as a whole.
	VEC(struct str) other_names; /**< names that it has at other sites */
	bool types_differ;	     /**< sites have different types: `type` is NULL */
	bool sizes_differ;	     /**< of size or sign: those of the first site are here */
	bool is_unlike_int64; /**< some sites pass it as a float, or with 64 bits and no sign */
	bool is_optional;     /**< some sites do not have it */
};

struct probesite {
	const struct sdt_site *site;
	struct str function; /**< around the site, as in the source; empty: not known */
	struct str caller;   /**< `function` is inlined into this one; empty: it is not inlined */
	struct str file;     /**< of the source, or empty */
	unsigned line;	     /**< 0: not known */
	struct probearg *args;
	size_t n_args;
};

struct probeargs {
	struct probesite *sites; /**< in the order of the probe's */
	size_t n_sites;
	struct probearg *args; /**< as many as the site with most has */
	size_t n_args;
	size_t n_args_least; /**< as many as the site with fewest has */
	struct str doc;	     /**< when it fires (USDT_DOC), or empty */
	struct str unlisted; /**< why the listed signature is not used, or empty */
};

/** Its type alone has its size and sign: sites differ, or a note denies a C++ enum its sign. */
bool probearg_is_sized_by_type(const struct probearg *arg);
/** "declared", "inferred", "listed", "size only" */
const char *probearg_from_text(enum probearg_from from);
/**
 * The type as C spells it, or "int64_t" and the like with only the size known, "double" for a
 * float, "176 bytes" for what no integer is as large as.
 */
struct str probearg_type_text(struct arena *a, const struct probearg *arg);
/** `char *subnqn`, `enum state requested`, `uint32_t arg2` */
struct str probearg_declaration(struct arena *a, const struct probearg *arg);

/** `int n, char *s` */
struct str probearg_list(struct arena *a, const struct probearg *args, size_t n);
