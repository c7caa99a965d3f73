/**
 * debugpackage - which package of the distribution has a file's symbols and debug information.
 *
 * Debian's packages are found in the lists that dpkg keeps (/var/lib/dpkg/info/NAME.list, a path a
 * line): nothing is run, and a container's own are read. rpm is asked. It takes some 20 ms, or a tenth
 * of a second with rpm: for messages only.
 */
#ifndef ELF_DEBUGPACKAGE_H
#define ELF_DEBUGPACKAGE_H

#include "base/str.h"

/**
 * What installs the debug information of the file @path, such as "install the package bash-dbgsym or
 * bash-dbg" or "dnf debuginfo-install bash", in @a; empty when no package has it. @root is "", or the
 * file system of a container, as in img_set_root().
 */
struct str debugpackage_install(struct arena *a, const char *root, struct str path);

#endif
