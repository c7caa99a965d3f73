/**
 * demangle - names of C++ and Rust functions as people write them, from those of the symbol tables.
 *
 *	demangle_symbol(a, STR("_ZN4acme6server6handleEi"))		acme::server::handle(int)
 *	demangle_fit(a, STR("acme::server::handle"), that)		DEMANGLE_SAME
 */
#pragma once

#include "base/str.h"

/** As nm -C and __cxa_demangle() write it, Rust's without its hash; empty for what is not mangled, or not known. */
struct str demangle_symbol(struct arena *a, struct str symbol);
/** Is it mangled as Rust does it, by its own scheme or by the older one, which is C++'s with a hash? */
bool demangle_is_rust(struct str symbol);
/** @name with std::string and std::string_view for the templates that they are instances of. */
struct str demangle_shorten(struct arena *a, struct str name);
/** Does the name of a function of C++ have them? Not `ns::f`, `operator()` and `(anonymous namespace)::f`. */
bool demangle_has_parameters(struct str name);
/** @name, of demangle_symbol() or shortened, without parameters and result; ` [clone .isra.0]` stays. */
struct str demangle_bare(struct arena *a, struct str name);
/** The symbol's name, shortened; what is not mangled stays as it is. */
struct str demangle_written(struct arena *a, struct str symbol);
/** As demangle_symbol(), without parameters and result. */
struct str demangle_name(struct arena *a, struct str symbol);
/** Does @pattern, with * and ?, mean the function of @symbol? By its name without parameters, and of templates without arguments. */
bool demangle_matches(struct arena *a, struct str pattern, struct str symbol);
/** How many parameters the function of C++ has, without `...`; -1: the symbol does not have them. */
int demangle_count_parameters(struct arena *a, struct str symbol);
/** Code that compilers add to what was written; C++ ABI for Itanium, 5.1.4. */
enum demangle_kind {
	DEMANGLE_FUNCTION, /**< what was written, or anything else */
	DEMANGLE_THUNK, /**< moves `this`, or the result, for the virtual function of another base */
	DEMANGLE_TLS,	/**< of a thread_local variable */
	DEMANGLE_PIECE, /**< f.cold, f.part.0: split off a function, and none itself */
	DEMANGLE_CLONE, /**< f.isra.0, f.constprop.0: a function whose parameters may be others */
};
/** C as C++: what gcc adds after a dot counts, too. */
enum demangle_kind demangle_kind_of(struct str symbol);
/**
 * Are @one and @other variants of a constructor or destructor? Where their numbers are: 0 gives the memory back, too,
 * and calls 1, which is complete and calls 2, that of a base; what gcc shares between 1 and 2 has number 4. Else 0.
 */
size_t demangle_find_variant(struct str one, struct str other);
/** The function that the thunk called @name is one of. */
struct str demangle_thunk_of(struct str name);
/** The same for symbols: `_ZThn16_N1A1fEv` is one of `_ZN1A1fEv`. One that moves the result is one of no symbol. */
struct str demangle_thunk_symbol(struct arena *a, struct str symbol);
/** False, at once, for symbols whose name cannot be that of the function @wanted. */
bool demangle_may_fit(struct str wanted, struct str symbol);
enum demangle_fit {
	DEMANGLE_OTHER,
	DEMANGLE_INSTANCE, /**< `f(int)` of f<int>(int): meant where no function is f(int) itself */
	DEMANGLE_SAME
};

/**
 * Does a user who writes @wanted mean the function @name, of demangle_symbol()? With its parameters or
 * without; template arguments and unnamed namespaces need not be written.
 */
enum demangle_fit demangle_fit(struct arena *a, struct str wanted, struct str name);
