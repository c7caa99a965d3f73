/**
 * debugpackage - which package of the distribution has a file's symbols and debug information.
 *
 * Asks dpkg-query or rpm, whichever the machine has, for the package that the file came in. About a
 * tenth of a second: for messages only.
 */
#ifndef ELF_DEBUGPACKAGE_H
#define ELF_DEBUGPACKAGE_H

#include "base/str.h"

/**
 * What installs the debug information of the file that is @path in our own file system, such as
 * "install the package bash-dbgsym or bash-dbg" or "dnf debuginfo-install bash", in @a; empty when no package has it.
 */
struct str debugpackage_install(struct arena *a, struct str path);

#endif
