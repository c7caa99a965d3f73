/**
 * lock_priv - facts as text: what lock.c writes and lock_compare.c makes of the target once more.
 *
 * A fact is `KEY = VALUE`. The key is a word for its kind, and names; the value has fields between
 * commas, of which the last one is a type. A field that is not known, or not the same at all sites
 * of a probe, is a ?, which is equal to everything.
 */
#ifndef LOCK_LOCK_PRIV_H
#define LOCK_LOCK_PRIV_H

#include "lock/lock.h"
#include "probe/probearg.h"

#define LOCK_FORMAT "btgen-lock "
#define LOCK_VERSION "1"
/** What stands for the name of an enum that has none. */
#define LOCK_UNNAMED "{...}"
/** The value of a function. */
#define LOCK_THERE "there"

/** Bytes of a file. */
enum { LOCK_MAX = 1 << 20 };

/** A key may have several values, where source files disagree. */
struct lock_fact {
	struct str key, value;
	struct diag_place at; /**< where a script relies on it first */
	bool is_locked;	      /**< the file has the key */
	struct lock_fact *next;
};

/**
 * @s, which a stranger's file may have chosen, without what has a meaning in a lock. A @is_word has
 * no blanks either.
 */
struct str lock_name(struct arena *a, struct str s, bool is_word);
/** The name of an argument, or ?. */
struct str lock_arg_name(struct arena *a, const struct probearg *arg);

// Values.
struct str lock_probe(const struct bind *b, const struct attach_match *m);
struct str lock_arg(struct arena *a, const struct probearg *arg);
struct str lock_member(struct arena *a, const struct ctype_place *p);
struct str lock_enumerator(struct arena *a, bool is_signed, int64_t value);
struct str lock_size(struct arena *a, struct ctype *t);

#endif
