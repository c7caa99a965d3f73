#include "run/bpftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "out/dialect.h"

#ifndef BTGEN_BPFTRACE
#define BTGEN_BPFTRACE "" // what configure --with-bpftrace was given
#endif

/** Where shells look for commands when PATH is not set at all. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

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

/** The first line that `PATH --version` prints; empty when it cannot be run. */
static struct str ask_version(struct arena *a, const char *path)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0)
		return STR("");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	char *argv[] = {(char *)path, (char *)"--version", NULL};
	pid_t pid;
	int err = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);

	char text[256];
	size_t n = 0;
	ssize_t got = 0;
	while (
	    !err && n < sizeof(text) &&
	    ((got = read(out[0], text + n, sizeof(text) - n)) > 0 || (got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	close(out[0]);
	if (err)
		return STR("");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	struct str line = {text, n};
	return str_copy(a, str_trim(str_slice(line, 0, str_find(line, '\n'))));
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
	struct str line = ask_version(a, ret->path);
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
