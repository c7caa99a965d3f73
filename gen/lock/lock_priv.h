/**
 * lock_priv - facts as text: what lock.c writes and lock_compare.c makes of the target once more.
 *
 * A fact is `KEY = VALUE`. The key is a word for its kind, and names; the value has fields between
 * commas, of which the last one is a type. A field that is not known, or not the same at all sites
 * of a probe, is a ?, which is equal to everything.
 */
#pragma once

#include "lock/lock.h"
#include "probe/probeargs.h"

#define LOCK_FORMAT "btgen-lock "
#define LOCK_VERSION "1"
/** The name of an enum that has none. */
#define LOCK_UNNAMED "{...}"
/** The value of a function. */
#define LOCK_THERE "there"

/** Bytes of a file. */
enum { LOCK_MAX = 1 << 20 };

/**
 * @s, which a stranger's file may have chosen, without what has a meaning in a lock. A @is_word has
 * no blanks either.
 */
struct str lock_name(struct arena *a, struct str s, bool is_word);
/** The name of an argument, or ?. */
struct str lock_arg_name(struct arena *a, const struct probearg *arg);
/** The fact, new or known; of l->script, if that is set. */
struct lock_fact *lock_add(struct lock *l, const struct diag_place *at, struct str key,
			   struct str value);

// Values.
struct str lock_probe(struct arena *a, const struct probeargs *pa);
struct str lock_arg(struct arena *a, const struct probearg *arg);
struct str lock_parameter(struct arena *a, int number, struct ctype *t);
struct str lock_type(struct arena *a, struct ctype *t);
struct str lock_result(struct arena *a, struct ctype *t);
struct str lock_member(struct arena *a, const struct ctype_place *p);
struct str lock_enumerator(struct arena *a, bool is_signed, int64_t value);
struct str lock_size(struct arena *a, struct ctype *t);
