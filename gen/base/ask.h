/**
 * ask - one line of output of another program.
 *
 *	const char *argv[] = {"/usr/bin/rpm", "-qf", path, NULL};
 *	struct str package = ask_program(&arena, argv, NULL);
 */
#ifndef BASE_ASK_H
#define BASE_ASK_H

#include "base/str.h"

/**
 * The first line that the program argv[0], a path, prints on its standard output, trimmed, in @a; cut after
 * 255 bytes. Empty when it cannot be run or prints nothing. Its standard input is empty, and its standard
 * error is dropped. @env: its environment, NULL: ours.
 */
struct str ask_program(struct arena *a, const char *const *argv, const char *const *env);

#endif
