/**
 * skeleton - a generated script for probes.
 *
 * Takes the probes, or functions, of the target that match some patterns and decides how each
 * argument, or result, is best shown: strings quoted, enums by name, pointers in hex, numbers with
 * their sign. Out of that comes an editable template (`bpftrace.sh -t -n`), or one that prints
 * records (`bpftrace.sh -t`) and their shapes.
 *
 *	struct skeleton sk = {.arena = a, .diag = d, .files = files, .version = version};
 *	if (skeleton_collect(&sk, patterns, n))
 *		skeleton_write_template(&sk, &out);
 */
#pragma once

#include "bind/bind.h"
#include "probe/probeargs.h"
#include "record/shape.h"

struct skeleton_field {
	struct shape_field shape;   /**< how it is shown, without what is of a format */
	const struct probearg *arg; /**< NULL: what a member of a struct leads to, see `from` */
	unsigned index;		    /**< N of argN */
	struct safe_word name;	/**< in a template: the target's, or argN where that is no word */
	struct safe_word value; /**< what bpftrace calls it: argN, retval */
	unsigned spread;	/**< 1 + N: a class's bytes are in argN and, beyond 8, the next */
	bool by_name;		/**< a template can say args.NAME */
	struct safe_word enum_name; /**< of an enum, without the keyword */
	size_t from;	 /**< of what has parts, by follow_pointers(): 0: argN leads to it; else */
	uint64_t offset; /**< the pointer here in what field `from` - 1 leads to */
	unsigned n_float_bits; /**< of a floating-point variable in memory; 0: it is none */
	bool is_memory;	       /**< a variable's struct or array, of which arg has the address */
};

struct skeleton_probe {
	struct targetfile *file;
	const struct sdt_probe *probe; /**< NULL: it is a function */
	const char *kind;	       /**< "usdt", "uprobe", "uretprobe" */
	struct safe_word what;	/**< after the path of an attach point: spdk:nvmf_tgt_state */
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

/**
 * Functions, each a program that bpftrace compiles, attaches and, at 0.1 s, detaches; of --calls, each two probes;
 * merged they are a few for all.
 */
enum { SKELETON_MAX_FUNCTIONS = 300, SKELETON_MAX_CALLS = 200, SKELETON_MAX_MERGED = 2000 };

/** Of --calls. */
struct skeleton_calls {
	unsigned max_functions; /**< of all patterns; 0: the default */
	bool has_args;		/**< parameters and results are shown */
};

struct skeleton {
	// The caller's:
	struct arena *arena;
	struct diag *diag;
	struct targetfiles *files;
	unsigned version;		    /**< of bpftrace */
	const struct skeleton_calls *calls; /**< what --calls wants of functions, or NULL */
	struct condition *filter;	    /**< which events, or NULL */
	bool has_stack;			    /**< the user stack is printed after each event */
	bool is_one;			    /**< process is traced, and btgen runs the script */
	bool may_merge; /**< functions need no clauses of their own: skeleton_merge() */
	bool is_list;	/**< functions are listed: any number, each as a declaration */
	enum skeleton_copies copies;

	VEC(struct skeleton_probe) probes;
	unsigned n_places;  /**< of them, see dialect_max_usdt() */
	struct map known;   /**< addresses of those in the lists of files */
	struct map untyped; /**< paths of files without debug information */
	struct map named;   /**< label -> 1 + index of the first one in `probes` */
};

/**
 * Adds the probes that match any of @patterns, each NAME or PROVIDER:NAME with * and ?, or functions:
 * uprobe:NAME, uretprobe:FILE:NAME, or a source line with the variables there: uprobe:FILE.c:62. Probes that this bpftrace cannot attach to are left out and counted,
 * @files->skipped; a pattern that matches nothing is an error. False without an error: no probe is left,
 * which is reported after the skipped ones.
 */
bool skeleton_collect(struct skeleton *sk, const char *const *patterns, size_t n);
/** C++ functions without parameters in their labels, but for overloads that are in @sk: after skeleton_collect(). */
void skeleton_shorten_labels(struct skeleton *sk);
/** NAME or PROVIDER:NAME of a pattern that is written as in a template or a list: usdt:__EXE__:NAME, usdt:PROVIDER:NAME. */
struct str skeleton_usdt_pattern(struct str pattern);
/** The attach point of @p and the @filter, unless NULL, in front of a clause's block. */
void skeleton_write_head(const struct skeleton_probe *p, struct condition *filter,
			 struct code *out);
/** Attach points that all together mean the functions of a skeleton: as PREFIX* where nothing else has that prefix. */
struct skeleton_points {
	const struct skeleton_probe *v;
	size_t n;
	const struct skeleton_rest {
		const struct skeleton_probe *p;
		int64_t
		    number; /**< in shapes.functions, which has the address of those that are merged */
	} * rest;	    /**< functions that each need a clause */
	size_t n_rest;
	bool by_start; /**< their numbers are those of skeleton_place() */
};
/**
 * merge.c: fewer points than functions, those of uprobes first, for one clause of each kind in the program whose
 * records are @run's, and @run->functions; false: each function needs a clause.
 */
bool skeleton_merge(const struct skeleton *sk, struct shapes *run, struct skeleton_points *ret);
/** In such a clause, which of @run->functions has fired. */
const char *skeleton_place(const struct skeleton_points *points, const char *kind);
/** Can bpftrace have @n clauses for functions, not more than @max? False: reported as an error. */
bool skeleton_check_clauses(const struct skeleton *sk, size_t n, unsigned max);
/** They as the attach points of one clause, of @kind. */
void skeleton_write_points(const struct skeleton_points *points, const char *kind,
			   struct code *out);
/** The argument that the user calls @word: NAME, args.NAME or argN. NULL: there is none. */
const struct skeleton_field *skeleton_find_field(struct arena *a, const struct skeleton_probe *p,
						 struct str word);
/** An argument's value, args.NAME where the target's names are known: @by_name. */
void skeleton_write_value(const struct skeleton_field *f, bool by_name, struct code *out);
/** Is it shown as a text? A struct or an array of others has no one value: then @ret_value is false. */
bool skeleton_is_text(const struct skeleton_field *f, bool *ret_value);
/** The same as a text or a number: str(args.NAME), usym(args.NAME). */
void skeleton_write_shown(const struct skeleton_field *f, struct code *out);
/**
 * The label of @p as a literal. One that is too long for this bpftrace keeps its end, after dots, and gets
 * a number if another probe has that end, too.
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
 * follow.c: pointees of printed pointers, -t PATTERN --deep @levels. A pointer argument becomes its pointee
 * (o={id = 4, next = 0x55d0c0001234}), one level; with more, so does each pointer in there, as a field of
 * its own (o->next={id = 5, ...}). If a record has no room, it stays a pointer, or shows a part of the
 * struct.
 */
void follow_pointers(struct skeleton *sk, unsigned levels);

/**
 * tally.c: scripts that bpftrace.sh --count and --latency run, and -n prints, as a starting point.
 *
 * One that counts the events of each key. @keys: a list of them with commas between, each
 * `probe`, `comm`, `pid`, `tid` or the name of an argument that all probes have. False: a key that
 * makes no sense is reported. @run: as below.
 */
bool tally_write_counts(const struct skeleton *sk, struct str keys, struct shapes *run,
			struct code *out);
/** Is one of @keys an argument? */
bool tally_takes_arguments(struct str keys);
/**
 * One that measures the time from each event of @start that its filter lets pass to the next one of
 * @done with the same @key, which is as above but no list, in microseconds: a
 * histogram with percentiles, or, unless @by is empty, a plain one and a count for each value of these keys of
 * @done. Events that have no other are counted. @run: it is run by btgen, with a
 * gate (record/shape.h) that settles; NULL: it is to be read and edited. @is_live: it prints the buckets
 * each second.
 */
bool tally_write_latency(const struct skeleton *start, const struct skeleton *done, struct str key,
			 struct str by, bool is_live, const struct shapes *run, struct code *out);

/**
 * skeleton_calls.c: the script of --calls, a record of each entry and return of some functions, with
 * what places it in its thread's stack. record/calltree.h makes the tree of them.
 *
 * May each function of @sk have a return probe? It replaces the return address: an exception that is to
 * pass ends the program, and Go's runtime crashes. False: reported as an error.
 */
bool skeleton_calls_are_safe(const struct skeleton *sk);
/**
 * Adds two shapes for each function, or for all of them if they can be merged, its entry's and its return's, and writes a template that prints
 * such records. False: there are too many functions for that.
 */
bool skeleton_write_calls(struct skeleton *sk, struct shapes *ret, struct code *out);
/** The same as a template to be read and edited: a line for each entry and return. */
void skeleton_write_calls_template(struct skeleton *sk, struct code *out);
