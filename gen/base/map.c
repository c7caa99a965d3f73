#include "base/map.h"

/** As FNV-1a, but eight bytes at a time. What order entries have does not depend on it. */
static uint32_t hash_str(struct str s)
{
	uint64_t h = 0xcbf29ce484222325u ^ s.n, word;
	for (; s.n >= sizeof(word); s = str_from_offset(s, sizeof(word))) {
		memcpy(&word, s.p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	word = 0;
	if (s.n)
		memcpy(&word, s.p, s.n);
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h ^ h >> 32);
}

/** The slot that holds @key, or the empty one where it belongs. */
static struct map_slot *slot_of(const struct map *m, struct str key, uint32_t hash)
{
	struct map_slot *slot;
	for (size_t i = hash;; i++) {
		slot = &m->slots[i & (m->n_slots - 1)];
		if (!slot->entry ||
		    (slot->hash == hash && str_eq(m->entries[slot->entry - 1].key, key)))
			return slot;
	}
}

/** 1 + the index of the entry of @key, or 0 */
static uint32_t find_entry(const struct map *m, struct str key)
{
	return m->n_slots ? slot_of(m, key, hash_str(key))->entry : 0;
}

void *map_get(const struct map *m, struct str key)
{
	uint32_t i = find_entry(m, key);
	return i ? m->entries[i - 1].value : NULL;
}

static void map_grow(struct arena *a, struct map *m)
{
	size_t n_before = m->n_slots;
	struct map_slot *before = m->slots;
	m->n_slots = n_before ? n_before * 2 : 4;
	m->slots = arena_calloc(a, m->n_slots, sizeof(*m->slots));
	for (size_t i = 0; i < n_before; i++) {
		size_t k = before[i].hash;
		if (!before[i].entry)
			continue;
		while (m->slots[k & (m->n_slots - 1)].entry)
			k++;
		m->slots[k & (m->n_slots - 1)] = before[i];
	}
	m->cap = m->n_slots * 3 / 4;
	struct map_entry *entries = m->entries;
	m->entries = arena_alloc_n(a, m->cap, sizeof(*m->entries));
	if (m->n)
		memcpy(m->entries, entries, m->n * sizeof(*entries));
}

void map_put(struct arena *a, struct map *m, struct str key, void *value)
{
	if (m->n == m->cap)
		map_grow(a, m);
	uint32_t hash = hash_str(key);
	struct map_slot *slot = slot_of(m, key, hash);
	if (!slot->entry) {
		m->entries[m->n].key = key;
		*slot = (struct map_slot){.entry = (uint32_t)++m->n, .hash = hash};
	}
	m->entries[slot->entry - 1].value = value;
}

void map_remove(struct map *m, struct str key)
{
	uint32_t i = find_entry(m, key);
	if (i)
		m->entries[i - 1].value = NULL;
}

bool map_add(struct arena *a, struct map *m, struct str key)
{
	static char present;
	if (map_get(m, key))
		return false;
	map_put(a, m, key, &present);
	return true;
}

void *map_get_u64(const struct map *m, uint64_t key)
{
	return map_get(m, (struct str){(const char *)&key, sizeof(key)});
}

void map_put_u64(struct arena *a, struct map *m, uint64_t key, void *value)
{
	map_put(a, m, str_copy(a, (struct str){(const char *)&key, sizeof(key)}), value);
}

bool map_add_u64(struct arena *a, struct map *m, uint64_t key)
{
	return map_add(a, m, str_copy(a, (struct str){(const char *)&key, sizeof(key)}));
}

struct map_entry *map_next(const struct map *m, struct map_entry *e)
{
	for (e = e ? e + 1 : m->entries; e && e < m->entries + m->n; e++)
		if (e->value)
			return e;
	return NULL;
}
