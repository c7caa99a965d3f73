/**
 * targettype - types that a template uses and does not define.
 *
 * `((struct subsystem *)arg1)->name` needs a definition of struct subsystem: it is taken from the target's
 * debug information, with all that it embeds and the pointees that the template dereferences, and put
 * before the program. Typedefs and C++ names in casts become names that bpftrace can spell; a tag that the
 * kernel also has is renamed, as is every tag in a program with a uprobe for a version that would use the
 * file's types instead; `sizeof` and `offsetof` of such types become numbers. In clauses of kernel probes a
 * kernel type of the same name is meant, which bpftrace finds itself.
 */
#pragma once

#include "bind/bind.h"
#include "text/constant.h"

/** A type name in the program, e.g. `struct foo *` or `ns::foo`. */
struct targettype_name {
	struct token *last; /**< of the name, without the stars */
	struct str name;    /**< with its keyword, as for lookup_type() */
	bool has_keyword;
	unsigned stars;
	struct token *end; /**< the token after the stars */
};

/** Reads the type that @n, a NODE_TYPE or NODE_NAME, spells; false if that has no name. */
bool targettype_read(struct arena *a, const struct node *n, struct targettype_name *ret);
/** Is that all of @n, without an array's bounds and the like? */
bool targettype_is_whole(const struct node *n, const struct targettype_name *name);
/** A number type that bpftrace knows by itself; NULL for string and the like. */
struct ctype *targettype_builtin(struct arena *a, struct str name);
/** Has it probes of the kernel? Then types and constants are the kernel's. */
bool targettype_is_kernel_clause(const struct script_clause *c);

/** Makes b->found.types: the tags that the script defines, and the members that it reads. */
void targettype_begin(struct bind *b);
/** Does the script, or its headers, define @name (without a keyword)? */
bool targettype_is_scripts(const struct bind *b, struct str name);
/**
 * Is the word @name used in a definition of the script or an enum of its headers? Then it is no enumerator
 * of the target.
 */
bool targettype_defines(const struct bind *b, struct str name);
/** Is it a macro or an enumerator there? */
bool targettype_is_constant(const struct bind *b, struct str name);
/** The value of such a name; false: it has none, or it is not known. */
bool targettype_constant(const struct bind *b, struct str name, struct constant_value *ret);
/** Does the script read a member of that name, of whatever type? */
bool targettype_is_accessed(const struct bind *b, struct str member);
/**
 * The pointee of the pointer @type, and its @name. NULL if no cast can name it: a name that is not made of
 * words and `::` must not become program text, as in a hostile binary.
 */
struct ctype *targettype_pointee(struct ctype *type, struct str *name);
/** The size of the pointee, of a pointer that no cast can name and that is a number to bpftrace; 0 of all others. */
uint64_t targettype_stride(struct ctype *type);
/** @name without its keyword. */
struct str targettype_bare(struct str name);
/** Has the kernel a struct, union or enum of that name? */
bool targettype_is_kernel(const struct bind *b, struct str name);
/** Behind an error about an unknown type: where the kernel's types cannot be read, it may be one of them. */
void targettype_note_kernel(const struct bind *b);
/** ... or an enumerator? */
bool targettype_is_kernel_word(const struct bind *b, struct str word);
/**
 * @tag cannot be given to a definition. If tags of the program are avoided, all definitions get a prefix
 * that hardly any of its own have, so that few have to be looked up.
 */
bool targettype_is_taken(const struct bind *b, struct str tag);
/**
 * The type of the target that @n in clause @c names. False if it is none, or a type of the template or the
 * kernel; @name is empty if @n spells no type at all.
 */
bool targettype_find(const struct bind *b, const struct attach_clause *c, const struct node *n,
		     struct targettype_name *name, struct ctype **ret);
/** Frees the kernel's types, also after an error and without targettype_begin(). */
void targettype_end(const struct bind *b);
