/**
 * provider - a probe's arguments as declared in the provider file of dtrace(1).
 *
 * A project with dtrace's probes declares them in a file such as memcached_dtrace.d:
 *
 *	provider memcached {
 *		probe command__get(int connid, const char *key, int keylen);
 *	};
 *
 * It is looked for beside the source of a site and in the folder where that was compiled, by the names that
 * projects give it. Nothing checks that the types are those of the arguments: the binary and argsig.h
 * decide, as about a listed signature.
 */
#pragma once

#include "conf/probesig.h"
#include "dwarf/dwsrc.h"

/**
 * The declaration of the probe, for a site in source file @path of @unit; NULL when there is none, or one
 * with types that probesig.h does not know.
 */
struct probesig *provider_find(struct dwsrc *src, const char *path, Dwarf_Die *unit,
			       struct str provider, struct str name);
