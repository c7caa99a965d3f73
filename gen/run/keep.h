/**
 * keep - the last minute of a trace's lines, in bounded memory.
 *
 * Lines are kept in blocks, oldest first. A block holds the whole lines of up to a sixteenth of the
 * time, and of up to a second. It is dropped when all of it is older than the time, or when a new block
 * needs its room. What is kept is an unbroken tail of what was added. It covers the time asked for,
 * unless memory runs out first.
 *
 *	struct keep *k = keep_new(60000, 64 << 20);
 *	keep_add(k, now_ms, lines);
 *	struct str piece;
 *	uint64_t n = 0;
 *	while (keep_next(k, now_ms, &piece, &n))	// valid until the next call
 *		write(piece);
 *	keep_free(k);
 */
#pragma once

#include "base/str.h"

struct keep;

/** SIGUSR1 has come to a trace without --keep. Safe in a signal handler. */
void keep_report_missing(void);
/** Keeps the lines of the last @ms in at most @size bytes; a single longer line is kept, too. */
struct keep *keep_new(unsigned long ms, size_t size);
void keep_free(struct keep *k);
/** Adds @lines, whole ones, of which the newest is of @now, in ms. */
void keep_add(struct keep *k, unsigned long now, struct str lines);
/** Takes the oldest piece out, as of @now, and adds to *@n_lines. False: nothing is left. */
bool keep_next(struct keep *k, unsigned long now, struct str *piece, uint64_t *n_lines);
/** Lines that were dropped since this was asked before. */
uint64_t keep_dropped(struct keep *k);
/**
 * The line before what was kept: the first line of a capture in JSON, @heading, with @why as its "trigger"; of
 * text, where @heading is empty, a line of its own.
 */
struct str keep_heading(struct arena *a, struct str heading, const char *why);
