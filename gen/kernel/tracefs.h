/**
 * tracefs - the kernel's tracepoints, as files: whether it is mounted, and what is in it.
 */
#pragma once

#include "base/diag.h"

/** False in most containers and bare machines. */
bool tracefs_is_mounted(void);
/**
 * Notes why there is no tracepoint @name, "category:event": no such category, as when a module is
 * not loaded, or an event of it that is spelled alike.
 */
void tracefs_note_missing(struct diag *d, struct str name);
