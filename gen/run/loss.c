#include "run/loss.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/proc.h"

/** One counter, or one for each processor. */
enum { MAX_COUNTERS = 8192 };

/**
 * The kernel's number of the map that is the descriptor @name in @dir; 0: it is none. See proc(5),
 * /proc/pid/fdinfo.
 */
static uint32_t read_map_id(int dir, const char *name)
{
	char text[512];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "map_id:");
	unsigned id = 0;
	return at && sscanf(at, "map_id: %u", &id) == 1 ? id : 0;
}

/**
 * The kernel keeps 15 characters of a name: event_loss_counter (0.23), .data.event_loss_counter
 * (later).
 */
static bool is_counter(int map)
{
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);
	return bpf_obj_get_info_by_fd(map, &info, &n) == 0 && info.key_size == 4 &&
	       info.value_size % sizeof(uint64_t) == 0 &&
	       info.value_size <= MAX_COUNTERS * sizeof(uint64_t) &&
	       (strncmp(info.name, "event_loss", 10) == 0 ||
		strncmp(info.name, ".data.event_los", 15) == 0);
}

int loss_open(pid_t pid)
{
	int folder = proc_open_file(PROCFS, pid, "fdinfo");
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	int found = -1;
	for (struct dirent *e; dir && found < 0 && (e = readdir(dir));) {
		uint32_t id = read_map_id(dirfd(dir), e->d_name);
		int map = id ? bpf_map_get_fd_by_id(id) : -1;
		if (map >= 0 && is_counter(map))
			found = map;
		else if (map >= 0)
			close(map);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool loss_read(int map, unsigned long long *ret)
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
