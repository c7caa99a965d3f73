/**
 * percentile - a histogram with percentiles, out of narrow buckets that a program has counted.
 *
 * bpftrace has no percentiles, and its hist() is too coarse for them. A script counts in a map whose
 * key is a bucket's bounds instead, each power of 2 cut in 16 (bpf/buckets.bt):
 *
 *	@us_buckets[20480, 21504]: 37		// 37 values from 20480 up to, but not including, 21504
 *
 * A percentile is given as the bounds of the bucket that it falls into.
 */
#pragma once

#include "base/json.h"

struct percentile_bucket {
	uint64_t low, high, n; /**< @high is not in it */
};

/** Empty as {0}. */
struct percentile {
	struct arena arena;
	VEC(struct percentile_bucket) list;
};

/** Empties it. */
void percentile_fini(struct percentile *p);
/** Takes a line that bpftrace prints; false: it is no bucket of the map @us_buckets. */
bool percentile_add(struct percentile *p, struct str line);
/** Were any taken? */
bool percentile_has(const struct percentile *p);
/** Adds a line with percentiles, and bars as of hist(), of what there is; that is forgotten. */
void percentile_text(struct percentile *p, struct strbuf *out);
/** Adds a line of what has come since @before, which becomes what there is. */
void percentile_live(struct percentile *p, struct percentile *before, struct strbuf *out);
/** The same as members "map" and "entries" of an object that is open. */
void percentile_json(struct percentile *p, struct json *j);
