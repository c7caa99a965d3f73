/**
 * map - a hash table from text (or a number, or an address) to pointers, in an arena.
 *
 * Keys are views: their bytes must outlive the table. Entries keep the order in which they were
 * put, so that output made from a table is the same in every run.
 *
 *	struct map m = {0};
 *	map_put(&arena, &m, STR("a"), ptr);
 *	void *p = map_get(&m, STR("a"));	// NULL when absent
 */
#pragma once

#include "base/str.h"

struct map_entry {
	struct str key;
	void *value; /**< NULL for a removed entry */
};

/** Beside the hash of its key no other key has to be looked at, when one is sought or moves. */
struct map_slot {
	uint32_t entry; /**< 1 + index into entries, 0 for none */
	uint32_t hash;
};

struct map {
	struct map_entry *entries; /**< in order of insertion */
	size_t n;		   /**< entries used, removed ones included */
	size_t cap;
	struct map_slot *slots;
	size_t n_slots; /**< a power of two, or 0 */
};

/** The value under @key, or NULL. */
void *map_get(const struct map *m, struct str key);
/** Puts @value (not NULL) under @key, replacing what was there. */
void map_put(struct arena *a, struct map *m, struct str key, void *value);
void map_remove(struct map *m, struct str key);
/** For sets: adds @key; true when it was not there before. */
bool map_add(struct arena *a, struct map *m, struct str key);

/** The same with a number for a key; map_put_u64() and map_add_u64() keep its eight bytes in @a. */
void *map_get_u64(const struct map *m, uint64_t key);
void map_put_u64(struct arena *a, struct map *m, uint64_t key, void *value);
bool map_add_u64(struct arena *a, struct map *m, uint64_t key);
/** The same with an address for a key: what it points to is not looked at. */
#define map_get_ptr(m, key) map_get_u64(m, (uintptr_t)(key))
#define map_put_ptr(a, m, key, value) map_put_u64(a, m, (uintptr_t)(key), value)
#define map_add_ptr(a, m, key) map_add_u64(a, m, (uintptr_t)(key))

/** Walks the entries in order of insertion: for (struct map_entry *e = NULL; (e = map_next(m, e));) */
struct map_entry *map_next(const struct map *m, struct map_entry *e);
