/**
 * mapentry - one entry of a map, as bpftrace prints it, taken apart.
 *
 *	@start[4, abc]: 17
 *
 * Text in keys and values is not quoted: it may have ", ", "]: " and newlines in it. The types that
 * the script gives to its maps tell how an entry is split, if they leave only one way: a number is
 * one piece between commas, a text any number of them.
 *
 *	struct mapentry e;
 *	if (mapentry_split(&known, STR("@start[4, abc]: 17"), &e))	// e.key is "4, abc"
 *		mapentry_walk(&known.keys, e.key, add_part, ctx);	// "4", "abc"
 */
#pragma once

#include "value/value.h"

/** The facts that the script has about a map. */
struct map_shape {
	struct str name;    /**< with its @ */
	struct value *keys; /**< none: it has no key, or nothing is known of it */
	size_t n_keys;
	struct value value; /**< without a type: not known, or hist(), lhist(), stats() ... */
};

/** A part that is no tuple, or what is in one: "(" and ")" stand around it so often. */
struct map_leaf {
	const struct value *value;
	bool is_frame; /**< a number of the stack after it */
	unsigned n_open, n_close;
};

/** They are printed with ", " between. */
struct map_leaves {
	VEC(struct map_leaf) list;
};

/** What is known of a map, ready to be compared with text. */
struct map_known {
	const struct map_shape *shape;
	struct map_leaves keys, value;
	bool has_text_key; /**< it may have newlines and anything else in it */
	bool has_text_value;
	bool has_names; /**< some part of the key or value may be a name */
};

/** Has it a name, or another spelling, than the number that bpftrace prints? */
bool mapentry_is_named(const struct value *v);
void mapentry_learn(struct arena *a, const struct map_shape *shape, struct map_known *ret);

struct mapentry {
	bool has_key;
	bool is_sure;	/**< it is known where the key ends */
	bool is_header; /**< no blank after the colon: lines of buckets follow */
	struct str key, value;
};

/** @text: the lines of an entry, which begin with the name of the map. False: its key has no end. */
bool mapentry_split(const struct map_known *map, struct str text, struct mapentry *ret);
/** Where a key may end: the next "]:" from @from on, or text.n. */
size_t mapentry_find_key_end(struct str text, size_t from);

typedef void map_leaf_fn(void *ctx, const struct map_leaf *leaf, struct str s, bool is_last);
/**
 * Calls @fn for each part of a key or value. False, and no call: the text may be the leaves in no
 * way, or in several.
 */
bool mapentry_walk(const struct map_leaves *leaves, struct str s, map_leaf_fn *fn, void *ctx);

enum map_form { MAP_PLAIN, MAP_STATS, MAP_STACK, MAP_HISTOGRAM, MAP_SERIES };
/** Of what form the value is: the first three lines of an entry tell. */
enum map_form mapentry_form(const struct map_known *map, const struct mapentry *e);

/** A negative one is signed, others may be larger than an int64_t. */
struct map_integer {
	int64_t value;
	bool is_signed;
};

/** A decimal number that fills all of @s. "007", "+1" and "-0" are none. */
bool mapentry_to_integer(struct str s, struct map_integer *ret);
/** The bits of a number, or of an address: 0x1000 */
bool mapentry_to_bits(struct str s, int64_t *ret);
/**
 * @s, a number that has been shifted (@v->shift), as it was before: in @text, of @size bytes. The largest and
 * the smallest that can be kept stand for all that is more or less, as ">= 42" or "<= -42". An average of
 * unsigned numbers whose sum is negative is "overflow".
 */
struct str mapentry_unshift(const struct value *v, struct str s, char *text, size_t size);
/** true or false, of 0.24 and newer */
bool mapentry_is_bool(struct str s);
/** A newline, and frames on indented lines. */
bool mapentry_is_stack(struct str s);

/** One line of a histogram. @max is one less than what bpftrace prints, which is not in it. */
struct map_bucket {
	bool has_min, has_max;
	__int128 min, max;
	struct map_integer count;
};
bool mapentry_to_bucket(struct str line, struct map_bucket *ret);

struct map_stats {
	struct map_integer count, average, total;
};
bool mapentry_to_stats(struct str s, struct map_stats *ret);
/** Of unsigned numbers, which bpftrace has taken for signed ones. */
void mapentry_fix_stats(struct map_stats *stats);
/** As every bpftrace before 0.24 prints them; @text of 96 bytes is enough. */
struct str mapentry_stats_text(const struct map_stats *stats, char *text, size_t size);
