/**
 * stock - which file a script's name on the command line means.
 *
 * As given, then among btgen's own ("stock") scripts, each with and without ".bt". Scripts run as root:
 * a bare name that a stock script has does not mean a file that somebody else can have put there.
 */
#ifndef CMD_STOCK_H
#define CMD_STOCK_H

#include "base/diag.h"

/** A file that @name may mean, whoever wrote it; @dir is where our own are, or NULL. NULL: none. */
const char *stock_find(struct arena *a, const char *name, const char *dir);
/** The same; false after an error when it is somebody else's in place of our own. */
bool stock_choose(struct arena *a, struct diag *d, const char *name, const char *dir,
		  const char **ret);

#endif
