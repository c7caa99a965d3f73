/**
 * vocabulary - the words of bpftrace's language, in one place.
 *
 * What a word means is asked here, never by a list of its own elsewhere. Which version of bpftrace knows which word is
 * in its manuals: docs/language.md, docs/stdlib.md and man/adoc/bpftrace.adoc of each release.
 *
 *	const struct provider *p = vocabulary_provider(STR("ur"));
 *	if (p && p->memory == MEMORY_KERNEL) ...
 */
#ifndef LANG_VOCABULARY_H
#define LANG_VOCABULARY_H

#include <stdbool.h>

#include "base/str.h"

/** What a clause waits for. */
enum provider_kind {
	PROVIDER_BEGIN,
	PROVIDER_END,
	PROVIDER_TIME, /**< interval: nothing but time passes */
	PROVIDER_USDT,
	PROVIDER_UPROBE,
	PROVIDER_URETPROBE,
	PROVIDER_KPROBE,
	PROVIDER_KRETPROBE,
	PROVIDER_OTHER,
};

/** Whose types a struct's name means in a clause, and whose memory its pointers lead to. */
enum provider_memory {
	MEMORY_PROGRAM, /**< the traced program's, as in all clauses that are not the kernel's */
	MEMORY_KERNEL,
};

struct provider {
	const char *name, *short_name; /**< short_name may be NULL */
	enum provider_kind kind;
	enum provider_memory memory;
};

/** The provider that is called @word, in full or for short; NULL for none that is known. */
const struct provider *vocabulary_provider(struct str word);

/** The name of something that every clause has (pid, nsecs, arg0 ...), so that (pid) is never a cast. */
bool vocabulary_is_builtin(struct str word);

/** A word that begins a type wherever it stands: struct, int32, unsigned, string ... */
bool vocabulary_is_type_word(struct str word);

/** The N of argN; false for other names, and for numbers that no probe can have. */
bool vocabulary_arg_number(struct str word, unsigned *ret);

#endif
