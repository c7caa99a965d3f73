#include "run/bpftrace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ask.h"
#include "out/dialect.h"

#ifndef BTGEN_BPFTRACE
#define BTGEN_BPFTRACE "" // what configure --with-bpftrace was given
#endif

/** Where shells look for commands when PATH is not set at all. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *search_path(struct arena *a, const char *name)
{
	const char *path_variable = getenv("PATH");
	struct str dirs = str_from(path_variable ? path_variable : DEFAULT_PATH);
	while (dirs.n) {
		size_t colon = str_find(dirs, ':');
		struct str dir = str_slice(dirs, 0, colon);
		dirs = str_from_offset(dirs, colon + 1);
		const char *path = arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
		// Empty and relative entries mean the current folder: not as root.
		if (str_has_prefix(dir, STR("/")) && is_program(path))
			return path;
	}
	return NULL;
}

int bpftrace_find(struct arena *a, struct diag *d, const char *wanted, bool quiet,
		  struct bpftrace *ret)
{
	*ret = (struct bpftrace){0};
	if (!wanted || !*wanted)
		wanted = getenv("BTGEN_BPFTRACE");
	if (!wanted || !*wanted)
		wanted = BTGEN_BPFTRACE;
	if (*wanted && !strchr(wanted, '/')) {
		const char *found = search_path(a, wanted);
		wanted = found ? found : wanted;
	}
	ret->path = *wanted ? wanted : search_path(a, "bpftrace");

	if (!ret->path || access(ret->path, F_OK) != 0) {
		if (!quiet)
			diag_error(d, NULL,
				   "bpftrace not found%s%s: install it with your package manager, "
				   "or give its path with --bpftrace PATH",
				   ret->path ? " at " : "", ret->path ? ret->path : "");
		return RUN_NOT_FOUND;
	}
	if (!is_program(ret->path)) {
		if (!quiet)
			diag_error(d, NULL, "%s is not an executable file", ret->path);
		return RUN_NOT_RUNNABLE;
	}
	const char *argv[] = {ret->path, "--version", NULL};
	struct str line = ask_program(a, argv, NULL);
	if (!dialect_parse(line, &ret->version)) {
		if (!quiet)
			diag_error(
			    d, NULL,
			    "%s --version does not report a version of bpftrace (but \"" STR_FMT
			    "\")",
			    ret->path, STR_ARG(line));
		return RUN_NOT_RUNNABLE;
	}
	return 0;
}

void bpftrace_note_newer(struct diag *d, unsigned version)
{
	if (version > DIALECT_NEWEST && !d->quiet)
		diag_note(d, NULL,
			  "bpftrace " DIALECT_FMT
			  " is newer than any that btgen knows: treated as 0.%u",
			  DIALECT_ARG(version), DIALECT_NEWEST);
}
