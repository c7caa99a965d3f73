/**
 * python - btgen's programs in Python, for what works on finished facts and finished output.
 *
 * They are in scripts/python of a checkout and in share/btgen/python of an installation, and are run as
 * `/usr/bin/python3 -I -B PROGRAM ARG...`: nothing of the user's environment or directory gets into them. Each puts its own
 * directory into sys.path.
 *
 *	return python_become(a, d, "convert.py", (const char *const *)argv + 1);
 */
#pragma once

#include <sys/types.h>

#include "base/diag.h"

/** Exit status where /usr/bin/python3 or the program is missing. */
enum { PYTHON_NOT_FOUND = 127 };

/** The path of the program @name in *@ret. False, with an error that names what is missing. */
bool python_find(struct arena *a, struct diag *d, const char *name, const char **ret);
/** Becomes the program @name; returns only when that fails: the exit status. @args ends in NULL. */
int python_become(struct arena *a, struct diag *d, const char *name, const char *const *args);
/**
 * Starts @program, which python_find() found, as a child that reads @in and writes @out; -1 with errno. No signal is blocked in it.
 */
pid_t python_start(struct arena *a, const char *program, const char *const *args, int in, int out);
