/**
 * lock - what a tracer or its scripts rely on in a program, written down, and compared with another
 * build of it.
 *
 * A project that ships scripts keeps the file beside them: a build whose probes, enumerators or
 * structs no longer are what the scripts were written for is then found before anybody traces it.
 * The file is text, one fact a line, sorted, and has nothing in it that another build of the same
 * source changes: no addresses, no lines, no paths (docs/lock.md). `btgen diff` keeps the facts of
 * its first build in memory, and compares them in the same way.
 *
 *	struct lock lock = {.arena = &arena};
 *	given.lock = &lock;		// template_bind() adds what is found
 *	if (template_bind(&b, &pp)) {
 *		lock_add_names(&b);
 *		lock_write(&lock, &diag, path);
 *	}
 */
#pragma once

#include "bind/bind.h"

/** A key may have several values, where source files disagree. */
struct lock_fact {
	struct str key, value;
	struct str signature; /**< of a probe of a build: `int n, char *s`; p is NULL: none */
	struct diag_place at; /**< where a script relies on it first, or its line of the file */
	VEC(const char *) scripts; /**< that rely on it */
	bool is_locked;		   /**< what is compared has the key */
	struct lock_fact *next;
};

struct lock {
	struct arena *arena;
	struct map facts;   /**< what it is about -> struct lock_fact */
	const char *script; /**< the one that is read, or NULL */
	struct map
	    valued; /**< an enum's first enumerator -> the diag_place where a script has a value of it */
	struct str untyped; /**< a file of a build whose types are not known, or empty */
};

/** Adds what a tracer sees of @files: probes, their arguments, and the enums that these are. */
void lock_add_build(struct lock *l, struct targetfiles *files);
/**
 * Adds what the script of @b relies on to given->lock: probes, the arguments, members and enumerators that
 * it reads, sizes, functions. Call after exprtype_find().
 */
void lock_add_script(const struct bind *b);
/** Adds the enumerators of the tables that the program was given, and of what it prints: given->shapes. */
void lock_add_names(const struct bind *b);
/** Writes the file. False after an error. */
bool lock_write(const struct lock *l, struct diag *d, const char *path);

/** A file that a lock is to be written to. */
enum lock_state {
	LOCK_EMPTY,	/**< there is none, it is empty, or no regular file */
	LOCK_EQUAL,	/**< has the same facts */
	LOCK_DIFFERENT, /**< another lock */
	LOCK_UNUSABLE,	/**< anything else, which is reported */
};
enum lock_state lock_look(const struct lock *l, struct diag *d, const char *path);

enum lock_change { LOCK_REMOVED, LOCK_ADDED, LOCK_CHANGED, LOCK_RENAMED, LOCK_MOVED };

struct lock_difference {
	enum lock_change change;
	const char *kind; /**< the first word of the key */
	/** "app:req", "enum x", "struct s"; of an argument its number, else what it is called there. */
	struct str subject, name;
	struct str was, is;	      /**< empty: there is none; p of a signature is not NULL */
	struct str text;	      /**< "enum x: BUSY was 1, is 2" */
	const struct lock_fact *fact; /**< that differs, or was added */
	const struct lock_fact *now;  /**< what the scripts of the other build rely on, or NULL */
};

struct lock_differences {
	VEC(struct lock_difference) list;
	bool has_no_types; /**< the target has none at all: they were not compared */
};

/** Compares @old with given->lock, and with the target where no fact is known of that. */
void lock_compare(const struct bind *b, struct lock *old, struct lock_differences *ret);
/**
 * The same of the file @path: each difference is a finding, a file that is no lock an error. False
 * after an error.
 */
bool lock_check(const struct bind *b, const char *path);
