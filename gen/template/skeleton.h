/**
 * skeleton - a script for probes that nobody has written one for.
 *
 * Takes the probes, or functions, of the target that match some patterns and decides how each
 * argument, or result, is best shown: strings quoted, enums by name, pointers in hex, numbers with
 * their sign. Out of that comes an editable template (`btgen skeleton`), or one that prints records
 * (`bpftrace.sh -t`) and their shapes.
 *
 *	struct skeleton sk;
 *	if (skeleton_collect(&sk, a, d, files, version, patterns, n))
 *		skeleton_write_template(&sk, &out);
 */
#ifndef TEMPLATE_SKELETON_H
#define TEMPLATE_SKELETON_H

#include "code/code.h"
#include "bind/bind.h"
#include "bind/targetfile.h"
#include "probe/probeargs.h"
#include "record/shape.h"

struct skeleton_field {
	struct shape_field shape;   /**< how it is shown, without what is of a format */
	const struct probearg *arg; /**< NULL: what a member of a struct leads to, see `from` */
	unsigned index;		    /**< N of argN */
	struct safe_word name;	/**< in a template: the target's, or argN where that is no word */
	struct safe_word value; /**< what bpftrace calls it: argN, retval */
	bool by_name;		/**< a template can say args.NAME */
	struct safe_word enum_name; /**< of an enum, without the keyword */
	size_t from;	 /**< of what has parts, by template/follow.h: 0: argN leads to it; else */
	uint64_t offset; /**< the pointer here in what field `from` - 1 leads to */
};

struct skeleton_probe {
	struct targetfile *file;
	const struct sdt_probe *probe; /**< NULL: it is a function */
	const char *kind;	       /**< "usdt", "uprobe", "uretprobe" */
	struct safe_word what;	/**< behind the path of an attach point: spdk:nvmf_tgt_state */
	struct str label;	/**< what its events are called: that, or uprobe:FUNCTION */
	struct str declaration; /**< of a function that debug information knows */
	uint64_t addr;		/**< of a function, at link time */
	bool needs_path;	/**< other files have a probe of that name, too */
	struct probeargs args;
	struct skeleton_field *fields; /**< the arguments without those that are listed constants */
	size_t n_fields;
};

/**
 * What the user wants of events, --filter: arguments may be called by their names alone, `len > 4096` for
 * `args.len > 4096`, and enumerators without the scopes that C++ has. Messages have places in his text.
 */
struct condition {
	struct arena *arena;
	VEC(struct token) tokens;
	VEC(struct src_quote) written; /**< each token, wherever it was written to */
};

/** What becomes of the inlined copies of functions that are named. */
enum skeleton_copies {
	SKELETON_AS_NAMED, /**< what the name means in a template, bind/codeattach.h */
	SKELETON_NO_COPIES,
	SKELETON_COPIES /**< they are probes, too, without arguments */
};

/** Of --calls. */
struct skeleton_calls {
	unsigned max_functions; /**< of all patterns */
	bool has_args;		/**< parameters and results are shown */
};

struct skeleton {
	struct arena *arena;
	struct diag *diag;
	struct targetfiles *files;
	unsigned version;		    /**< of bpftrace */
	const struct skeleton_calls *calls; /**< or NULL */
	VEC(struct skeleton_probe) probes;
	unsigned n_places;	  /**< of them, see dialect_max_usdt() */
	struct condition *filter; /**< the caller's: which events, or NULL */
	bool has_stack;		  /**< likewise: the user stack is shown behind each event */
	enum skeleton_copies copies;
	struct map known;   /**< addresses of those in the lists of files */
	struct map untyped; /**< paths of files without debug information */
	struct map named;   /**< label -> 1 + index of the first one in `probes` */
};

/**
 * Finds the probes that match any of @patterns, each NAME or PROVIDER:NAME with * and ?, or
 * functions: uprobe:NAME, uretprobe:FILE:NAME. Probes that this bpftrace cannot attach to are left
 * out and counted, @files->skipped; a pattern that matches nothing is an error.
 * False without an error: no probe is left, which is said behind what was skipped.
 * @calls: what --calls wants of functions, or NULL.
 */
bool skeleton_collect(struct skeleton *ret, struct arena *a, struct diag *d,
		      struct targetfiles *files, unsigned version, enum skeleton_copies copies,
		      const char *const *patterns, size_t n, const struct skeleton_calls *calls);
/** NAME or PROVIDER:NAME of a pattern that is written as in a template: usdt:__EXE__:NAME. */
struct str skeleton_usdt_pattern(struct str pattern);
/** The attach point of @p and the filter, in front of a clause's block. */
void skeleton_write_head(const struct skeleton *sk, const struct skeleton_probe *p,
			 struct code *out);
/** The argument that the user calls @word: NAME, args.NAME or argN. NULL: there is none. */
const struct skeleton_field *skeleton_find_field(struct arena *a, const struct skeleton_probe *p,
						 struct str word);
/** An argument's value, args.NAME where the target's names are known: @by_name. */
void skeleton_write_value(const struct skeleton_field *f, bool by_name, struct code *out);
/**
 * The label of @p as a literal. One that is too long for this bpftrace keeps its end, behind dots, and
 * has a number where another probe has that end, too.
 */
struct safe_word skeleton_quote_label(const struct skeleton *sk, const struct skeleton_probe *p);
/** Reads @text; false after an error. */
bool condition_read(struct arena *a, struct diag *d, const char *text, struct condition *ret);
/** Writes it between @open and @close, of @p's arguments, to @out, which is a whole script. */
void condition_write(struct condition *c, const struct skeleton_probe *p, const char *open,
		     const char *close, struct code *out);
/** A template with a clause for each probe. */
void skeleton_write_template(const struct skeleton *sk, struct code *out);
/**
 * Adds a shape for each probe, in the order of `probes`, and writes a template that prints records of
 * these shapes (record/shape.h). Fields that cannot be read are VALUE_HIDDEN.
 */
void skeleton_write_records(const struct skeleton *sk, struct shapes *ret, struct code *out);

#endif
