/**
 * import - files that the script asks bpftrace for.
 *
 * bpftrace (from 0.24 on) looks for `import "helpers.bt"` beside the script. The program that it is
 * given lies in no directory, so the path is written out in full.
 */
#ifndef TEMPLATE_IMPORT_H
#define TEMPLATE_IMPORT_H

#include "bind/bind.h"

/** Makes the paths of imports absolute that are there beside the template that has them. */
void import_resolve(struct bind *b);

#endif
