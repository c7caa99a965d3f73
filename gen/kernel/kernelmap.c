#include "kernel/kernelmap.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpfobject.h"

enum {
	MAX_COUNTERS = 8192, // one, or one for each processor
	MAX_KEY = 4096,	     // bytes
};

/**
 * The map that the script calls @name; NULL: the counter of lost events, event_loss_counter (0.23) or
 * .data.event_loss_counter (later). The kernel keeps 15 characters of a name.
 */
static bool is_match(const struct bpf_map_info *info, const char *name)
{
	char full[64];
	snprintf(full, sizeof(full), "AT_%s", name ? name + 1 : "");
	if (name)
		return strncmp(info->name, full, sizeof(info->name) - 1) == 0;
	return info->key_size == 4 && info->value_size % sizeof(uint64_t) == 0 &&
	       info->value_size <= MAX_COUNTERS * sizeof(uint64_t) &&
	       (strncmp(info->name, "event_loss", 10) == 0 ||
		strncmp(info->name, ".data.event_los", 15) == 0);
}

struct search {
	const char *name;
	int found;
};

static bool match_map(void *ctx, int map)
{
	struct search *s = ctx;
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);
	if (bpf_obj_get_info_by_fd(map, &info, &n) == 0 && is_match(&info, s->name))
		s->found = map;
	else
		close(map);
	return s->found < 0;
}

int kernelmap_open(pid_t pid, const char *name)
{
	struct search s = {name, -1};
	int error = bpfobject_walk(pid, BPFOBJECT_MAP, match_map, &s);
	errno = error ? error : ENOENT;
	return s.found;
}

bool kernelmap_read_loss(int map, unsigned long long *ret)
{
	uint64_t counters[MAX_COUNTERS] = {0};
	uint32_t key = 0;
	if (map < 0 || bpf_map_lookup_elem(map, &key, counters) != 0)
		return false;
	*ret = 0;
	for (size_t i = 0; i < MAX_COUNTERS; i++)
		*ret += counters[i];
	return true;
}

static bool is_number(int map)
{
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);
	if (bpf_obj_get_info_by_fd(map, &info, &n) != 0)
		return false;
	errno = EINVAL;
	return info.key_size == sizeof(uint64_t) && info.value_size == sizeof(uint64_t);
}

bool kernelmap_set(int map, uint64_t value)
{
	uint64_t key = 0;
	return is_number(map) && bpf_map_update_elem(map, &key, &value, BPF_ANY) == 0;
}

bool kernelmap_set_unless(int map, uint64_t kept, uint64_t value)
{
	uint64_t key = 0, old = !kept;
	bool is_kept = is_number(map) && bpf_map_lookup_elem(map, &key, &old) == 0 && old == kept;
	return is_kept || kernelmap_set(map, value);
}

uint64_t kernelmap_count_keys(int map)
{
	char key[MAX_KEY], next[MAX_KEY];
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	uint64_t n = 0;
	if (bpf_obj_get_info_by_fd(map, &info, &size) != 0 || info.key_size > MAX_KEY)
		return 0;
	// The kernel begins again where a key is gone.
	for (; n < info.max_entries && bpf_map_get_next_key(map, n ? key : NULL, next) == 0; n++)
		memcpy(key, next, info.key_size);
	return n;
}
