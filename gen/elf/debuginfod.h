/**
 * debuginfod - debug files of the servers in DEBUGINFOD_URLS, by libdw's own client.
 *
 * A server that accepts and never answers holds the client for 90 s for each file (DEBUGINFOD_TIMEOUT). After 2 s a line
 * names it, and one that gave nothing for so long is not asked again.
 */
#pragma once

#include <elfutils/libdwfl.h>

#include "base/diag.h"

/** The debug file of @module, which @name is in messages, as a descriptor; -1 where there is none. */
int debuginfod_find(struct diag *d, Dwfl_Module *module, struct str name);
/** The last one that was asked did not answer. */
bool debuginfod_is_silent(void);
/** How long was waited since this was asked before, in ms. */
unsigned long debuginfod_waited(void);
