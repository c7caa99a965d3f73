#include "value/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct str demangle(struct arena *a, struct str symbol)
{
	static char *(*cxa_demangle)(const char *, char *, size_t *, int *);
	if (!str_has_prefix(symbol, STR("_Z")))
		return symbol;
	if (!cxa_demangle) {
		// The library that every bpftrace needs; it stays.
		void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		void *f = cxx ? dlsym(cxx, "__cxa_demangle") : NULL;
		memcpy(&cxa_demangle, &f, sizeof(f)); // ISO C has no cast for that
	}
	int status = 0;
	char *text = cxa_demangle ? cxa_demangle(str_dup(a, symbol), NULL, NULL, &status) : NULL;
	struct str ret = text && status == 0 ? str_from(arena_strdup(a, text)) : symbol;
	free(text);
	return ret;
}
