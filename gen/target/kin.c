// Processes that run the same program.
#include "target/kin.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

bool kin_run_same_file(int pid, int other)
{
	char path[64];
	struct stat a, b;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &a) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", other);
	return stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/** Field 4 of /proc/PID/stat, behind the name in brackets, which may have any character; -1 when it is gone. */
static int parent_of(int pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return -1;
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	const char *name_end = strrchr(text, ')');
	int parent;
	return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

unsigned kin_count_children(int pid)
{
	unsigned n = 0;
	DIR *dir = opendir("/proc");
	for (struct dirent *e; dir && (e = readdir(dir));) {
		int other = atoi(e->d_name);
		if (other > 0 && parent_of(other) == pid && kin_run_same_file(pid, other))
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

size_t kin_parents_first(int *pids, size_t n)
{
	size_t n_parents = 0;
	for (size_t i = 0; i < n; i++) {
		int parent = parent_of(pids[i]);
		bool is_child = false;
		for (size_t k = 0; k < n && !is_child; k++)
			is_child = pids[k] == parent && kin_run_same_file(pids[k], pids[i]);
		if (is_child)
			continue;
		int swapped = pids[n_parents];
		pids[n_parents++] = pids[i];
		pids[i] = swapped;
	}
	return n_parents;
}

/** Reads as much of a file of /proc as @size holds; its length without the newline at its end. */
static size_t read_line(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, size, f) : 0;
	if (f)
		fclose(f);
	return n && text[n - 1] == '\n' ? n - 1 : n;
}

static bool has_name(int pid, struct str name)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	ssize_t n = readlink(path, text, sizeof(text));
	if (n < 0 && errno != EACCES) // gone, or of the kernel
		return false;
	struct str exe = {text, n < 0 ? 0 : (size_t)n};
	if (str_has_suffix(exe, STR(" (deleted)")))
		exe.n -= strlen(" (deleted)");
	if (exe.n > name.n && exe.p[exe.n - name.n - 1] == '/' && str_has_suffix(exe, name))
		return true;
	return str_eq((struct str){text, read_line(pid, "comm", text, sizeof(text))}, name);
}

int *kin_find(struct arena *a, const char *name, size_t *n)
{
	VEC(int) found = {0};
	DIR *dir = opendir("/proc");
	for (struct dirent *e;
	     dir && *name && (e = readdir(dir));) { // a thread's name may be empty
		int pid = atoi(e->d_name);
		if (pid > 0 && pid != getpid() && has_name(pid, str_from(name)))
			vec_push(a, &found, pid);
	}
	if (dir)
		closedir(dir);
	*n = found.n;
	return found.v;
}
