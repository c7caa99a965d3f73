/**
 * joined - lines that several records make: printf("%d ", pid) and, later, printf("%s\n", comm).
 *
 * Such pieces belong together when they come of one thread on one processor: nothing but timers gets
 * between them there, which have lines of their own. The line has the time and probe of its first piece, and the fields of all. No more are
 * kept than some hundred lines of 64 KiB: then the oldest, or the longest, ends as if it had a newline.
 *
 *	struct joined j = {.shapes = &shapes, .put = put, .ctx = ctx};
 *	joined_add(&j, record, text);	// calls put() with each line that thereby is whole
 *	joined_end(&j);
 */
#pragma once

#include "record/decode.h"

enum { JOINED_MAX = 256 };

/**
 * A text that is whole, its last newline included if it has one. @r is NULL when nothing is known of
 * it; both live until it returns.
 */
typedef void joined_put(void *ctx, const struct record *r, struct str text);

struct joined_line;

struct joined {
	const struct shapes *shapes;
	joined_put *put;
	void *ctx;
	struct joined_line *lines[JOINED_MAX]; /**< that are not whole, the oldest first; owned */
	size_t n;
};

/** What is not whole is dropped. */
void joined_fini(struct joined *j);
/**
 * A piece of text, of a record or of a mark (SHAPE_MARK), which has no fields; NULL: of unknown origin.
 * Some pieces end their line, others begin with the end of the one before.
 */
void joined_add(struct joined *j, const struct record *r, struct str text);
/** Has the thread of @r begun a line? */
bool joined_has(const struct joined *j, const struct record *r);
/** Ends the line of unknown origin, if there is one. */
void joined_end_unknown(struct joined *j);
/** All end. */
void joined_end(struct joined *j);
/** Copies what is known of @r but its values: time, processor, thread, probe. */
void joined_copy_head(struct arena *a, const struct record *r, struct record *ret);
