/**
 * lock - what scripts rely on in a program, written down, and compared with another build of it.
 *
 * A project that ships scripts keeps the file beside them: a build whose probes, enumerators or
 * structs no longer are what the scripts were written for is then found before anybody traces it.
 * The file is text, one fact a line, sorted, and has nothing in it that another build of the same
 * source changes: no addresses, no lines, no paths (docs/lock.md).
 *
 *	struct lock lock = {.arena = &arena};
 *	given.lock = &lock;		// template_bind() adds what is found
 *	if (template_bind(&b, &pp)) {
 *		lock_add_tables(&b);
 *		lock_write(&lock, &diag, path);
 *	}
 */
#ifndef LOCK_LOCK_H
#define LOCK_LOCK_H

#include "bind/bind.h"

struct lock {
	struct arena *arena;
	struct map facts; /**< of all scripts: what it is about -> struct lock_fact */
};

/**
 * Adds what the script of @b relies on to given->lock: probes, the arguments, members and enumerators
 * that it reads, sizes, functions. To be called behind exprtype_find(), before a node is changed.
 */
void lock_add_script(const struct bind *b);
/** Adds the enumerators of the tables that the program was given. */
void lock_add_tables(const struct bind *b);
/** Writes the file. False after an error. */
bool lock_write(const struct lock *l, struct diag *d, const char *path);
/**
 * Compares the file @path with what was added to given->lock, and with the target where a script that
 * could not be bound added nothing. Each difference is a finding; a file that is no lock is an
 * error. False after an error.
 */
bool lock_compare(const struct bind *b, const char *path);

#endif
