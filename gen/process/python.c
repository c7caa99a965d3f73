#include "process/python.h"

#include <fcntl.h>
#include <signal.h>

#include "process/proc.h"

#define PYTHON "/usr/bin/python3"

bool python_find(struct arena *a, struct diag *d, const char *name, const char **ret)
{
	static const char *const beside[] = {"scripts/python", "share/btgen/python"};
	if (access(PYTHON, X_OK) != 0)
		return diag_error(d, NULL, "cannot run " PYTHON ": %s: install the package python3",
				  strerror(errno));
	*ret = proc_find_beside(a, beside, sizeof(beside) / sizeof(beside[0]));
	*ret = *ret ? arena_printf(a, "%s/%s", *ret, name) : NULL;
	if (*ret && access(*ret, R_OK) == 0)
		return true;
	return diag_error(d, NULL, "btgen's program %s is missing: install btgen again", name);
}

/** PYTHON -I -B @program @args... */
static char **make_argv(struct arena *a, const char *program, const char *const *args)
{
	size_t n = 0;
	while (args[n])
		n++;
	char **argv = arena_array(a, char *, n + 5);
	const char *const first[] = {PYTHON, "-I", "-B", program};
	memcpy(argv, first, sizeof(first));
	memcpy(argv + 4, args, n * sizeof(*args));
	return argv;
}

int python_become(struct arena *a, struct diag *d, const char *name, const char *const *args)
{
	const char *program;
	if (!python_find(a, d, name, &program))
		return PYTHON_NOT_FOUND;
	execv(PYTHON, make_argv(a, program, args));
	diag_error(d, NULL, "cannot run " PYTHON ": %s", strerror(errno));
	return PYTHON_NOT_FOUND;
}

/** @fd becomes @to, and is not closed by exec(), also where it is that already. */
static bool move(int fd, int to)
{
	return fd == to ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, to) == to;
}

pid_t python_start(struct arena *a, const char *program, const char *const *args, int in, int out)
{
	sigset_t none;
	char **argv = make_argv(a, program, args);
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (move(in, STDIN_FILENO) && move(out, STDOUT_FILENO))
		execv(PYTHON, argv);
	_exit(PYTHON_NOT_FOUND);
}
