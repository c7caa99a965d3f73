/**
 * calltree - the records of --calls, made into a tree: which call is within which, and how long each took.
 *
 * A call is identified by its frame, the stack address of its return address; nothing is counted. The open
 * calls of a thread are a list of frames, each below the one before, as stacks grow down. longjmp() drops
 * those below the stack pointer that it sets. When a function is entered at a frame, open calls at that
 * frame or below it are dropped: a jump that was not traced, or a lost return. But one at the same frame
 * stays open if its function jumped to this one, a tail call: then the return address is that of the
 * kernel's trampoline, at the beginning of a page. When a function returns, those below its frame are
 * dropped likewise.
 *
 * Functions on another stack, as a signal handler's, are within what was interrupted if that stack is
 * below. If it is above, what was interrupted is closed too early, and returns without an entry.
 *
 *	struct calltree *t = calltree_new(&config, shapes, put, ctx);
 *	calltree_add(t, record);	// calls put() with lines that are ready
 *	calltree_idle(t, now);
 *	calltree_end(t);
 *	calltree_free(t);
 */
#pragma once

#include "record/decode.h"
#include "value/render_value.h"

struct calltree_config {
	bool json;	 /**< a line for each entry and each return */
	bool has_rounds; /**< as record/order.h has it */
	bool has_filter; /**< entries are left out: returns without one are nothing to tell of */
	const struct render *render;
};

/** @head: time, thread and probe; @text: the line; @fields: of JSON, an object. They live until it returns. */
typedef void calltree_put(void *ctx, const struct record *head, struct str text, struct str fields);

struct calltree;

/** @shapes, and what @config points to, must outlive it. */
struct calltree *calltree_new(const struct calltree_config *config, const struct shapes *shapes,
			      calltree_put *put, void *ctx);
void calltree_free(struct calltree *t);
/** As order_set_clock(). */
void calltree_set_clock(struct calltree *t, int64_t now);
/** Takes a record of SHAPE_ENTRY, SHAPE_RETURN or SHAPE_JUMP. */
void calltree_add(struct calltree *t, const struct record *r);
/** Nothing earlier than @before, in ns of CLOCK_BOOTTIME, can come any more. */
void calltree_idle(struct calltree *t, int64_t before);
/** Does something of the time @ns, or earlier, wait for calltree_idle() to be called again? */
bool calltree_holds(const struct calltree *t, int64_t ns);
/** Nothing more comes: what is open is closed. */
void calltree_end(struct calltree *t);
/** Records that came too late for their place, and were dropped. */
uint64_t calltree_n_late(const struct calltree *t);
