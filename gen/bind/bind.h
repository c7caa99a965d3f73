/**
 * bind - names in a template meet names in the target's files.
 *
 * The state that all steps (template/template.h) share, in four parts: input, facts, output and a cache. A
 * step that finds a fact takes a struct bind; check/, lock/ and emit/ take a const one, which they cannot
 * add a fact to. The steps of this folder replace words for things of the target: __EXE__ in an attach
 * point becomes the path of the file that has that probe or function, a map of enum names gets its table,
 * __PID__ and __COMM__ their values. They change nodes of the tree (lang/change.h), so that each keeps its
 * place in the template.
 */
#pragma once

#include "bind/targetfile.h"
#include "dwarf/context.h"
#include "text/pp.h"
#include "text/program.h"
#include "lang/uses.h"

struct funcargs;
struct bind_table;
struct enumconf;
struct lock;
struct map_shape;
struct shapes;
struct targettype;

/** `#pragma optional` or one name of it, see bind/optional.h. */
struct bind_optional {
	const struct src_file *file; /**< where it is, and holds; NULL: all */
	struct str name;	     /**< or a pattern; empty: every attach point of the file */
	bool is_quiet;		     /**< do not report that it is missing */
};

/** A probe that a clause fires on. */
struct attach_match {
	struct targetfile *file;
	const struct sdt_probe *probe;
};

/** What the attach points of one clause are bound to. */
struct attach_clause {
	struct script_clause *clause;
	VEC(struct attach_match) probes; /**< USDT probes, each once */
	struct context near; /**< the code of its probes and functions, whose types it means */
	bool has_user;	     /**< a usdt or uprobe attach point of the target: fires in user code */
	bool has_uprobe;
	bool has_other;	       /**< any other kind */
	bool has_unplaced;     /**< one whose code `near` does not have, or not its own: a return */
	struct str by_address; /**< what `probe` is in it, bind/by_address.h; or empty */
	struct str isra; /**< of uretprobes: a clone whose result gcc may have dropped; or empty */
	bool is_wrong;	 /**< an error was reported about what it is bound to */
	/** Of uprobes of functions: the first one's parameters, where args.NAME asks for them; or NULL. */
	const struct funcargs *params;
	VEC(struct node *)
	unpassed;	 /**< uses of args.NAME that no argN reads: for bind/namedvar.h */
	struct map vars; /**< of vars.NAME and those: node -> struct namedvar, bind/namedvar.h */
};

/** What keeps the program to its process: the one answer to whether bpftrace is given -p. */
enum bind_scope {
	BIND_BY_PID,	/**< -p, where there is a process */
	BIND_BY_FILTER, /**< a test of pid in each clause: a deleted file, several processes */
	BIND_HOST	/**< nothing: #pragma scope host asks for all of them */
};

/** What the caller gives, and nobody changes. */
struct bind_given {
	struct targetfiles *files; /**< that names can refer to; NULL when no target was given */
	struct proc *proc;	   /**< the target process, or NULL */
	/** With @proc, the processes that are traced together, it among them. */
	const int *pids;
	size_t n_pids;
	bool has_family;	     /**< those that they fork are traced, too */
	const struct cgroup *cgroup; /**< instead, those in this group; or NULL */
	bool is_started;	     /**< @proc is of -c: bpftrace would call its number cpid */
	unsigned version;	     /**< of bpftrace, see dialect/dialect.h */
	bool is_any_version;	     /**< it is a guess: nobody said, and none is installed */
	char **args;		     /**< values of $1, $2 ..., ends in NULL; NULL: not given */
	const struct src_file *main; /**< the template: its lines stay what they are */
	const char *conf;	     /**< the list of enum tables, or NULL for none */
	bool is_trace;	   /**< -t: copies that it misses were reported with its pattern */
	bool is_generated; /**< for -t: the user cannot edit it */
	bool cheap_only;   /**< open no debug file only to check what arguments are */
	bool verbose;	   /**< say which files were chosen */
	bool is_unsafe;	   /**< system() and the like are allowed */
	bool is_bare;	   /**< bpftrace runs the program without us, who would raise semaphores */
	bool
	    drops_time; /**< `#pragma time since` has no effect: another time is printed, or none */
	/** Gets what the program prints, record/shape.h; NULL: bpftrace prints it itself. */
	struct shapes *shapes;
	const struct enumtab *functions; /**< an enum of a script of btgen's own, or NULL */
	struct lock *lock; /**< gets what the script relies on, lock/lock.h; or NULL */
};

/** What is known of the script: bind/ and sema/ find it. Those who get a const struct bind only read it. */
struct bind_found {
	enum bind_scope scope; /**< the caller's at first, then what the script needs */
	bool has_gate;	       /**< #pragma gate */
	struct str trigger;    /**< the pattern of #pragma trigger, or empty */
	struct str tracks;     /**< of #pragma track, a JSON array, template/track.c */
	VEC(const struct src_file *) timed; /**< files with #pragma time since */
	struct script script;
	struct uses uses;    /**< of its maps and variables */
	const struct pp *pp; /**< the same, preprocessed: its pragmas, what its C headers define */
	VEC(struct bind_optional) optionals;
	struct map left; /**< probes of patterns that bpftrace has no room for, attach_choose() */
	struct attach_clause **clauses; /**< what each clause of the script is bound to */
	unsigned n_attach;		/**< attach points in the program */
	const struct sdt_probe *unsafe; /**< one that needs --unsafe, bind/by_address.h; or NULL */
	struct targettype *types;	/**< sema/targettype.h's */
	VEC(struct bind_table) tables;	/**< of the script, of enum names, see sema/table.h */
	struct enumconf *listed;	/**< what `conf` has: tables of maps that are only read */
};

/** What is known of the program: emit/ makes it. */
struct bind_made {
	struct program *program;	    /**< gets the text; NULL: it is of no interest */
	VEC(struct bind_table) enum_tables; /**< of enum_name(), see sema/enumname.h */
	VEC(struct bind_table) tables; /**< the script's, and those of enum_name() that it reads */
	bool names_code; /**< it prints addresses of functions, which are to be named */
	VEC(struct map_shape) map_shapes; /**< with `shapes`: of all maps but tables */
	unsigned longest_string; /**< bytes of the longest char array that is read as a string */
	const struct token *longest_at; /**< where it is read */
	unsigned printed_strlen;	/**< that fit in each record; UINT_MAX: no record has any */
	unsigned max_strlen;	 /**< bytes that bpftrace must give to a string, sema/strings.h */
	bool needs_kernel_types; /**< bpftrace may have to look one up */
};

/** Answers of the target that were asked for once, and what was reported once. */
struct bind_cache {
	struct lookup *lookup;	  /**< NULL until bind_lookup() */
	struct dwtypes *dwarf;	  /**< the source that it asks; likewise */
	struct context *all_near; /**< the code of all probes; likewise */
	struct map probeargs;	  /**< bind/namedarg.h: probe -> struct probeargs */
	struct map cheap_args;	 /**< the same, with cheap_only, of those that no args.NAME needs */
	struct map operands;	 /**< bind/namedarg.h: site -> struct operands */
	struct map whys;	 /**< attach_why_not(): probe -> struct str */
	struct map by_address;	 /**< attach_is_by_address(): probe -> a bool */
	struct map results;	 /**< sema/result.h: a clause -> what its functions return */
	struct map signs_differ; /**< sema/macrosign.h: operators of macros */
	struct map reported_stripped; /**< files that are none of the target's */
	struct map reported_returns;  /**< files whose return probes were warned of */
	struct map reported_inlined;  /**< functions whose inlined copies were reported */
	struct map reported_unknown;  /**< markers without a value */
	bool reported_no_probes;      /**< that the executable has none at all */
};

struct bind {
	struct arena *arena;
	struct diag *diag;
	const struct bind_given *given;
	struct bind_found found;
	struct bind_made *made;
	struct bind_cache *cache;
};

/**
 * The types of the target: the files with the program's probes first, because the type of a probe's
 * argument is theirs, then the others. NULL when there is no target. To be called when the attach
 * points are bound.
 */
struct lookup *bind_lookup(const struct bind *b);
/**
 * The same, asked from clause @i: where units or images define a name differently, what its probes
 * have is meant; for a clause without probes of the target, such as BEGIN, what those of all
 * clauses have.
 */
struct lookup *bind_lookup_from(const struct bind *b, size_t i);

/** Does each line of @c begin with the time since BEGIN? END prints a summary, which has none. */
bool bind_prints_since(const struct bind *b, const struct script_clause *c);

/** Removes the clauses marked in @gone from the program, found.script and found.clauses. */
void bind_remove_clauses(struct bind *b, const bool *gone);

/**
 * There is no target, which @at is about. Reported once, and without the line: what is wrong is not
 * the script. Returns false.
 */
bool bind_report_no_target(const struct bind *b, const struct token *at);

/** "nvmf_tgt (PID 42)" or the file; there is a target. */
const char *bind_target_name(const struct bind *b);

/** Reports, once, that the target's executable has no probes at all, if that is so. */
void bind_note_no_probes(const struct bind *b);
