// Which file the name of a script on the command line means: one that is there, or one of our own ("stock") scripts.
#include "cmd/expand.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/**
 * @name with each of its @from, '-' or '_', as the other: our own scripts had both in their names.
 */
static const char *respell(struct arena *a, const char *name, char from)
{
	char *other = arena_strdup(a, name);
	for (char *c = other; *c; c++)
		if (*c == from)
			*c = from == '-' ? '_' : '-';
	return other;
}

/** @path, or with ".bt" behind it; NULL when there is neither. */
static const char *find_at(struct arena *a, const char *path)
{
	if (access(path, F_OK) == 0)
		return path;
	path = arena_printf(a, "%s.bt", path);
	return access(path, F_OK) == 0 ? path : NULL;
}

static const char *find_own(struct arena *a, const char *name, const char *dir)
{
	const char *names[] = {name, respell(a, name, '_'), respell(a, name, '-')};
	const char *path = NULL;
	for (size_t i = 0; i < 3 && !path && dir && *name != '/'; i++)
		path = find_at(a, arena_printf(a, "%s/%s", dir, names[i]));
	return path;
}

const char *stock_find(struct arena *a, const char *name, const char *dir)
{
	const char *path = find_at(a, name);
	return path ? path : find_own(a, name, dir);
}

bool stock_choose(struct arena *a, struct diag *d, const char *name, const char *dir,
		  const char **ret)
{
	*ret = stock_find(a, name, dir);
	const char *own = strchr(name, '/') || !*ret ? NULL : find_own(a, name, dir);
	const char *why = own && strcmp(own, *ret) != 0 ? file_why_foreign(a, *ret) : NULL;
	char here[PATH_MAX], stock[PATH_MAX];
	if (!why || !realpath(*ret, here) || !realpath(own, stock) || strcmp(here, stock) == 0)
		return true;
	diag_error(d, NULL, "script '%s' is ambiguous: %s (%s) or btgen's own %s", name, here, why,
		   stock);
	return diag_note(d, NULL, "write './%s' for the first, the whole path for the second",
			 *ret);
}
