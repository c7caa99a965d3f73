#include "kernel/tracefs.h"

#include <dirent.h>

/** Where bpftrace looks for them. */
static const char *const roots[] = {"/sys/kernel/tracing/events",
				    "/sys/kernel/debug/tracing/events"};

enum { N_ROOTS = sizeof(roots) / sizeof(roots[0]) };

bool tracefs_is_mounted(void)
{
	for (size_t i = 0; i < N_ROOTS; i++)
		if (access(roots[i], F_OK) == 0)
			return true;
	return false;
}

/** The directory of @category; NULL for none. */
static DIR *open_category(struct str category)
{
	char path[PATH_MAX];
	DIR *dir = NULL;
	for (size_t i = 0; i < N_ROOTS && !dir; i++) {
		int n = snprintf(path, sizeof(path), "%s/" STR_FMT, roots[i], STR_ARG(category));
		if (n < (int)sizeof(path))
			dir = opendir(path);
	}
	return dir;
}

void tracefs_note_missing(struct diag *d, struct str name)
{
	struct str category = str_slice(name, 0, str_find(name, ':'));
	struct str event = str_from_offset(name, category.n + 1);
	if (!str_is_made_of(category, ALPHABET_WORD) || !tracefs_is_mounted())
		return;
	DIR *dir = open_category(category);
	if (!dir) {
		diag_note(d, NULL,
			  "the kernel has no tracepoints " STR_FMT ":*: is their module loaded?",
			  STR_ARG(category));
		return;
	}
	char near[NAME_MAX + 1] = "";
	unsigned best = UINT_MAX;
	for (struct dirent *e; (e = readdir(dir));)
		if (str_is_nearer(event, str_from(e->d_name), &best))
			snprintf(near, sizeof(near), "%s", e->d_name);
	closedir(dir);
	if (*near)
		diag_note(d, NULL, "did you mean " STR_FMT ":%s?", STR_ARG(category), near);
}
