/**
 * keep - the last minute of a trace's lines, in bounded memory.
 *
 * Lines are kept in blocks, oldest first. A block holds whole lines of a sixteenth of the time, of at most a second; it is dropped when all
 * of it is older than wanted, or when there is no room for a new one. So what is kept is always an
 * unbroken end of what was added, and at least the time that was asked for unless memory ends first.
 *
 *	struct keep *k = keep_new(60000, 64 << 20);
 *	keep_add(k, clock_ms(), lines);
 *	struct str piece;
 *	while (keep_take(k, clock_ms(), &piece, &n))	// until the next call of keep_take() or keep_add()
 *		write(piece);
 *	keep_free(k);
 */
#ifndef RUN_KEEP_H
#define RUN_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct keep;

/** Lines of the last @ms, in at most @size bytes of memory, of which a line longer than that is no part. */
struct keep *keep_new(unsigned long ms, size_t size);
void keep_free(struct keep *k);
/** Adds @lines, whole ones, which come at @now, in ms. */
void keep_add(struct keep *k, unsigned long now, struct str lines);
/** Takes the oldest piece out, as of @now, and adds to *@n_lines. False: nothing is left. */
bool keep_take(struct keep *k, unsigned long now, struct str *piece, uint64_t *n_lines);
/** Lines that were dropped since this was asked before. */
uint64_t keep_dropped(struct keep *k);
/**
 * The line before what was kept: the first line of a capture in JSON, @heading, with @why as its "trigger"; of
 * text, where @heading is empty, a line of its own.
 */
struct str keep_heading(struct arena *a, struct str heading, const char *why);

#endif
