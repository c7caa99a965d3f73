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
/**
 * Can what the pointer type @type leads to be named in a cast? Not without a name, nor with one
 * that is not made of words and `::`: a hostile binary's "names" must not become program text.
 */
bool targettype_can_point(struct ctype *type);
/**
 * What a pointer of type @type must be cast to: `struct x *`, which is defined then, `uint16 *`.
 * Empty where it cannot be.
 */
struct str targettype_pointer(const struct bind *b, struct ctype *type);
/**
 * What bpftrace takes for @n, a NODE_TYPE in clause @c; empty where it takes @n itself. @is_cast: what
 * is cast to a narrow signed number gets 64 bits. An error for a struct that neither target nor kernel has.
 */
bool targettype_spell(const struct bind *b, const struct attach_clause *c, const struct node *n,
		      bool is_cast, struct str *ret);
/**
 * What @n in clause @c names in the target. False when that is nothing, or a type of the template's
 * or the kernel's; @name is empty then when @n spells no type at all.
 */
bool targettype_find(const struct bind *b, const struct attach_clause *c, const struct node *n,
		     struct targettype_name *name, struct ctype **ret);
/** The number of a sizeof() or offsetof() of a type of the target; empty for any other call. */
bool targettype_fold(const struct bind *b, const struct attach_clause *c, const struct node *call,
		     struct str *ret);
/** Can an enum of the program's be defined whose tag, or one of whose enumerators, is @name? */
bool targettype_is_free(const struct bind *b, struct str name);
/** No struct of the program's gets @tag from here on; false when one has it already. */
bool targettype_reserve(const struct bind *b, struct str tag);
/** Puts @text before all others, on lines of its own. */
void targettype_prepend(struct arena *a, struct token **list, struct str text);
/** Puts the definitions that are needed before the program. */
bool targettype_define(const struct bind *b, struct token **list);
/** Gives back the kernel's types, also after an error and without targettype_begin(). */
void targettype_end(const struct bind *b);

#endif
