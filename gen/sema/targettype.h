/**
 * targettype - the types that a template names and does not define.
 *
 * `((struct subsystem *)arg1)->name` needs a definition of struct subsystem: it is taken from the
 * target's debug information, with all that it embeds and with what the pointers that the template
 * follows lead to, and put before the program. Typedefs and C++ names in casts become what bpftrace
 * can spell; a tag that the kernel also has is renamed, as is every tag in a program with a uprobe
 * for a version that would take the file's types for them; `sizeof` and `offsetof` of such types
 * become numbers. In clauses of kernel probes a kernel type of the same name is meant, and bpftrace
 * finds that itself.
 */
#ifndef SEMA_TARGETTYPE_H
#define SEMA_TARGETTYPE_H

#include "bind/bind.h"

/** A type name in the program, e.g. `struct foo *` or `ns::foo`. */
struct targettype_name {
	struct token *last; /**< of the name, without the stars */
	struct str name;    /**< with its keyword, as lookup_type() takes it */
	bool has_keyword;
	unsigned stars;
	struct token *end; /**< the token behind the stars */
};

/** Reads the type that @n, a NODE_TYPE or NODE_NAME, spells; false when that has no name. */
bool targettype_read(struct arena *a, const struct node *n, struct targettype_name *ret);
/** Is that all of @n, without an array's bounds and the like? */
bool targettype_is_whole(const struct node *n, const struct targettype_name *name);
/** A number type that bpftrace knows by itself; NULL for string and the like. */
struct ctype *targettype_builtin(struct arena *a, struct str name);
/** Probes of the kernel, where a kernel's type or constant is meant. */
bool targettype_is_kernel_clause(const struct script_clause *c);

/** Makes b->found.types: which tags are the script's own, and which members it reads. */
void targettype_begin(struct bind *b);
/** Is @name, without a keyword, one that the script or its headers define? */
bool targettype_is_own(const struct bind *b, struct str name);
/**
 * Does a definition of the script's or an enum of its headers have the word @name? It is no
 * enumerator of the target's then.
 */
bool targettype_defines(const struct bind *b, struct str name);
/** Does the script read a member of that name, of whatever type? */
bool targettype_is_accessed(const struct bind *b, struct str member);
/**
 * What the pointer @type leads to, with what it is called by. NULL where no cast can name it: what is not
 * made of words and `::` must not become program text, as a hostile binary's "names".
 */
struct ctype *targettype_pointee(struct ctype *type, struct str *name);
/** Of a pointer that no cast can name, which is a number to bpftrace: the size of what it points to. 0 of all others. */
uint64_t targettype_stride(struct ctype *type);
/** @name without its keyword. */
struct str targettype_bare(struct str name);
/** Has the kernel a struct, union or enum of that name? */
bool targettype_is_kernel(const struct bind *b, struct str name);
/** ... or an enumerator? */
bool targettype_is_kernel_word(const struct bind *b, struct str word);
/**
 * @tag cannot be given to a definition. Where those of the program cannot, all of ours begin in a way
 * that hardly any of its own do, so that few have to be looked up.
 */
bool targettype_is_taken(const struct bind *b, struct str tag);
/**
 * What @n in clause @c names in the target. False when that is nothing, or a type of the template's
 * or the kernel's; @name is empty then when @n spells no type at all.
 */
bool targettype_find(const struct bind *b, const struct attach_clause *c, const struct node *n,
		     struct targettype_name *name, struct ctype **ret);
/** Gives back the kernel's types, also after an error and without targettype_begin(). */
void targettype_end(const struct bind *b);

#endif
