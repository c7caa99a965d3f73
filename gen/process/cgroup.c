#include "process/cgroup.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP2_MAGIC 0x63677270 // CGROUP2_SUPER_MAGIC of linux/magic.h
#define MAX_DEPTH 32

/** Where distributions mount it; the second one beside the first version's. */
static const char *const mounts[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"};

static bool is_cgroup2(const char *path)
{
	struct statfs fs;
	struct stat st;
	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_MAGIC && stat(path, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

static void read_pids(struct arena *a, const char *path, struct cgroup *ret)
{
	int pid;
	FILE *f = fopen(arena_printf(a, "%s/cgroup.procs", path), "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 0) // 0: of another PID namespace, out of our reach
			vec_push(a, &ret->pids, pid);
	if (f)
		fclose(f);
}

static void read_below(struct arena *a, const char *path, unsigned depth, struct cgroup *ret)
{
	struct stat st;
	DIR *dir = depth < MAX_DEPTH && stat(path, &st) == 0 ? opendir(path) : NULL;
	if (!dir)
		return;
	vec_push(a, &ret->ids, st.st_ino);
	read_pids(a, path, ret);
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			read_below(a, arena_printf(a, "%s/%s", path, e->d_name), depth + 1, ret);
	closedir(dir);
}

bool cgroup_read(struct arena *a, struct diag *d, const char *name, struct cgroup *ret)
{
	struct stat st;
	*ret = (struct cgroup){0};
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]) && !ret->path; i++) {
		const char *path = arena_printf(a, "%s%s", mounts[i], name);
		if (*name && is_cgroup2(path))
			ret->path = path;
	}
	if (!ret->path && *name == '/' && stat(name, &st) != 0)
		return diag_error(d, NULL, "--cgroup: %s: %s", name, strerror(errno));
	if (!ret->path)
		return diag_error(d, NULL, "--cgroup: %s is not a cgroup v2 group", name);
	read_below(a, ret->path, 0, ret);
	return true;
}
