/**
 * decode - the bytes that bpftrace prints, cut into records and the text between them.
 *
 *	struct decoder d;
 *	decode_init(&d, &shapes, &handler, ctx);
 *	decode_add(&d, bytes);		// calls the handler
 *	decode_end(&d);
 *
 * A record has exactly the numbers and texts of its shape and is at most 256 KiB; anything else that begins
 * with START is passed on like text of bpftrace itself. Bytes may come in pieces of any size, and each is
 * looked at once.
 */
#pragma once

#include "record/shape.h"

struct record {
	struct shape *shape;
	struct head head;	 /**< what shape_has_number() allows; ns: else `since` */
	int64_t since;		 /**< ns since BEGIN: with shape.has_since */
	struct str comm, probe;	 /**< with shapes.has_head */
	const int64_t *numbers;	 /**< of the fields, see enum value_how */
	const struct str *texts; /**< likewise */
};

/** What is decoded goes there; what it is given lives until it returns. */
struct decode_handler {
	void (*record)(void *ctx, const struct record *r);
	/** A whole line that is none, without its newline: what bpftrace prints itself. */
	void (*line)(void *ctx, struct str line);
	/** Such a line that has no end for now; what follows belongs to it. */
	void (*part)(void *ctx, struct str text);
};

/** How far a record has been read that is not whole yet; offsets are from its START on. */
struct decode_progress {
	size_t at;		   /**< of the next byte to look at */
	struct shape *shape;	   /**< NULL: its number has not come */
	size_t n_numbers, n_texts; /**< that have come */
	size_t key, n_key;	   /**< KEY; 0 bytes: it has not come */
	size_t text;		   /**< where the text begins that is being read */
};

struct decoder {
	struct shapes *shapes;
	const struct decode_handler *handler;
	void *ctx;
	struct strbuf pending; /**< what is not whole yet */
	size_t n_looked;       /**< so many of its bytes begin no record and have no newline */
	bool is_inside;	       /**< it begins inside of a line */
	struct decode_progress progress;
	size_t *n_numbers, *n_texts; /**< of each shape, see shape_count() */
	int64_t *numbers;	     /**< room for those of the longest shape */
	struct str *texts;
	struct strbuf probe; /**< room for a name */
	bool has_key;	     /**< KEY has come: all records have it */
	int64_t key;
};

/** @shapes has all that it will have. */
void decode_init(struct decoder *d, struct shapes *shapes, const struct decode_handler *handler,
		 void *ctx);
void decode_fini(struct decoder *d);
void decode_add(struct decoder *d, struct str bytes);
/** Nothing more comes for now: what cannot become a record is passed on as a part. */
void decode_idle(struct decoder *d);
/** Nothing more comes: what is left is passed on as it is. */
void decode_end(struct decoder *d);
/** What is not whole is dropped: who printed it was killed. */
void decode_drop(struct decoder *d);

/**
 * Of the records that the program counts: those that it printed, those that came, and the difference,
 * which is never less than 0.
 */
struct decode_sum {
	uint64_t n_fired, n_events, n_lost;
};
struct decode_sum decode_sum(const struct decoder *d);
