#include "base/map.h"

#include <string.h>

#include "base/arena.h"

/** As FNV-1a, but eight bytes at a time. What order entries have does not depend on it. */
static uint64_t hash_str(struct str s)
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
	return h ^ h >> 32;
}

/** The slot that holds @key, or the empty one where it belongs. */
static uint32_t *slot_of(const struct map *m, struct str key)
{
	size_t i = hash_str(key) & (m->n_slots - 1);
	while (m->slots[i] && !str_eq(m->entries[m->slots[i] - 1].key, key))
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, struct str key)
{
	if (!m->n_slots)
		return NULL;
	uint32_t i = *slot_of(m, key);
	return i ? m->entries[i - 1].value : NULL;
}

static void map_grow(struct arena *a, struct map *m)
{
	m->n_slots = m->n_slots ? m->n_slots * 2 : 16;
	m->slots = arena_calloc(a, m->n_slots, sizeof(*m->slots));
	m->cap = m->n_slots * 3 / 4;
	struct map_entry *old = m->entries;
	m->entries = arena_calloc(a, m->cap, sizeof(*m->entries));
	if (m->n)
		memcpy(m->entries, old, m->n * sizeof(*old));
	for (size_t i = 0; i < m->n; i++)
		*slot_of(m, m->entries[i].key) = (uint32_t)i + 1;
}

void map_put(struct arena *a, struct map *m, struct str key, void *value)
{
	if (m->n == m->cap)
		map_grow(a, m);
	uint32_t *slot = slot_of(m, key);
	if (!*slot) {
		m->entries[m->n].key = key;
		*slot = (uint32_t)++m->n;
	}
	m->entries[*slot - 1].value = value;
}

void map_remove(struct map *m, struct str key)
{
	uint32_t i = m->n_slots ? *slot_of(m, key) : 0;
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
