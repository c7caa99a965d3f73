/**
 * typeuse - the types that a template names and does not define.
 *
 * `((struct subsystem *)arg1)->name` needs a definition of struct subsystem: it is taken from the target's debug
 * information, with all that it embeds and with what the pointers that the template follows lead to, and put before
 * the program. Typedefs and C++ names in casts become what bpftrace can spell; a tag that the kernel also has
 * is renamed, as is every tag in a program with a uprobe for a version that would take the file's types for them;
 * `sizeof` and `offsetof` of such types become numbers. In clauses of kernel probes a kernel type of the same name is
 * meant, and bpftrace finds that itself.
 */
#ifndef BIND_TYPEUSE_H
#define BIND_TYPEUSE_H

#include "bind/bind.h"

/** A type name in the program, e.g. `struct foo *` or `ns::foo`. */
struct typeuse_name {
	struct token *first, *last; /**< keyword and name, without the stars */
	struct str name;	    /**< with its keyword, as lookup_type() takes it */
	bool has_keyword;
	unsigned stars;
	struct token *end; /**< the token behind the stars */
};

/** Reads the type name that starts at @t; false when none does. */
bool typeuse_parse(struct arena *a, struct token *t, struct typeuse_name *ret);
/** Words that bpftrace itself takes for types: int32, bool, char ... */
bool typeuse_is_builtin(struct str name);

/**
 * What a pointer of type @type must be cast to: `struct x *`, `uint16 *`. Empty for what is no pointer, has no name, or
 * has one that is not made of words and `::`: a hostile binary's "names" must not become program text.
 */
struct str typeuse_pointer_text(struct arena *a, struct ctype *type);

/** Probes of the kernel, where a kernel's type or constant is meant. */
bool typeuse_is_kernel_clause(const struct script_clause *c);

/** To be called when the attach points are bound. An error for a struct that neither target nor kernel has. */
bool typeuse_resolve(struct bind *b, struct pp *pp);

#endif
