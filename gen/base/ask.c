#include "base/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct str ask_program(struct arena *a, const char *const *argv, const char *const *env)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0)
		return STR("");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	pid_t pid;
	int err = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv,
			      env ? (char *const *)env : environ);
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
