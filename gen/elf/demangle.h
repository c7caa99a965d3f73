/**
 * demangle - names of C++ and Rust functions as people write them, from those of the symbol tables.
 *
 *	demangle_symbol(a, STR("_ZN4acme6server6handleEi"))		acme::server::handle(int)
 *	demangle_fits(a, STR("acme::server::handle"), that)		true
 */
#ifndef ELF_DEMANGLE_H
#define ELF_DEMANGLE_H

#include "base/arena.h"
#include "base/str.h"

/** As __cxa_demangle() writes it, Rust's without its hash; empty for what is not mangled, or not known. */
struct str demangle_symbol(struct arena *a, struct str symbol);
/** The same; what is not mangled stays as it is. */
struct str demangle_written(struct arena *a, struct str symbol);
/** The same without parameters and result. */
struct str demangle_name(struct arena *a, struct str symbol);
/** False, at once, for symbols whose name cannot be that of the function @wanted. */
bool demangle_may_fit(struct str wanted, struct str symbol);
/**
 * Does a user who writes @wanted mean the function @name, of demangle_symbol()? With its parameters or
 * without; template arguments and unnamed namespaces need not be written.
 */
bool demangle_fits(struct arena *a, struct str wanted, struct str name);

#endif
