/**
 * ctype - the model of a type, whatever it was read from (DWARF or BTF).
 *
 * A graph of nodes in an arena. Every size and offset is the one that the compiler recorded,
 * nothing is worked out again. Structs, unions and enums are filled on demand: a pointer to a
 * struct costs one shell, and the members are read when somebody asks, by ctype_complete().
 *
 *	if (ctype_complete(t))
 *		for (size_t i = 0; i < t->n_members; i++)
 *			use(&t->members[i]);
 *
 * Offsets are bytes from the start of the aggregate; a bitfield has its place in bits from that
 * start, counted from the least significant bit on little-endian machines and from the most
 * significant on big-endian ones.
 */
#pragma once

#include "base/str.h"

enum ctype_kind {
	CTYPE_VOID,
	CTYPE_INT, /**< is_signed, size; is_char for plain char */
	CTYPE_BOOL,
	CTYPE_FLOAT, /**< also complex and decimal ones, by `name` */
	CTYPE_ENUM,
	CTYPE_STRUCT, /**< and C++ classes */
	CTYPE_UNION,
	CTYPE_ARRAY, /**< of `of`, one dimension a node */
	CTYPE_POINTER,
	CTYPE_REFERENCE, /**< C++; a pointer in memory */
	CTYPE_TYPEDEF,
	CTYPE_CONST,
	CTYPE_VOLATILE,
	CTYPE_FUNC,
	CTYPE_OPAQUE, /**< has a size and nothing that we can say about it */
};

struct ctype;

struct ctype_member {
	struct str name; /**< empty for an anonymous member */
	struct ctype *type;
	uint64_t off;	   /**< bytes; for a bitfield the byte that holds its first bit */
	uint64_t bit_off;  /**< bitfield: bits from the start of the aggregate */
	unsigned bit_size; /**< 0: not a bitfield */
	bool is_base;	   /**< a C++ base class */
};

struct ctype_value {
	struct str name;
	int64_t value; /**< of an unsigned 64-bit enum: its bits */
};

/** What a type was loaded by: fills what was left open. */
struct ctype_loader {
	/** Fills the members or values of @t; false when that cannot be done (reported). */
	bool (*complete)(struct ctype_loader *l, struct ctype *t);
};

struct ctype {
	enum ctype_kind kind;
	struct str name; /**< with its scopes, ns::name; or empty */
	uint64_t size;	 /**< bytes; valid when has_size */
	bool has_size;
	bool is_signed;	  /**< integers and enums */
	bool is_char;	  /**< plain char */
	bool is_scoped;	  /**< enum class */
	bool is_class;	  /**< declared with `class` */
	bool is_decl;	  /**< only a declaration is known */
	bool is_complete; /**< members or values are filled in */
	bool is_failed;	  /**< filling in failed and was reported */
	struct ctype *of; /**< of pointers, arrays, typedefs, functions ...; NULL: void */
	uint64_t count;	  /**< array: elements; valid when has_count */
	bool has_count;
	bool is_vector; /**< array: of vector_size(), in registers of their own */
	struct ctype_member *members;
	size_t n_members;
	struct ctype_value *values;
	size_t n_values;
	struct ctype_loader *loader; /**< who fills it in; NULL: nothing left open */
	const void *origin;	     /**< the loader's own reference */
	struct str unit;	     /**< the compilation unit, for messages; may be empty */
};

/** A type that needs nothing more, of @size bytes; an empty @name for none. */
struct ctype *ctype_new(struct arena *a, enum ctype_kind kind, const char *name, uint64_t size,
			bool is_signed);
/** A pointer to @to (NULL: void) of @size bytes. */
struct ctype *ctype_new_pointer(struct arena *a, struct ctype *to, uint64_t size);
/** A typedef, qualifier or function of @of (NULL: void), without a size of its own. */
struct ctype *ctype_new_of(struct arena *a, enum ctype_kind kind, struct ctype *of);
/** Plain char. */
struct ctype *ctype_new_char(struct arena *a, bool is_signed);

/** Members or values are there; false when the type is only declared, or, with an error, corrupt. */
bool ctype_complete(struct ctype *t);
/** Without typedefs, const and volatile; NULL for void. */
struct ctype *ctype_strip(struct ctype *t);
/**
 * What the innermost elements of an array are, stripped; another type is its own. NULL for void, and
 * where corrupt arrays have no end.
 */
struct ctype *ctype_element(struct ctype *t);
/** Size in bytes; false for void, functions, declarations and arrays without a length. */
bool ctype_size(struct ctype *t, uint64_t *ret);
/** Struct, union or class. */
bool ctype_is_aggregate(const struct ctype *t);

/**
 * Equal as far as a reader of memory can tell: kind, size, sign, names and places of members and
 * what they hold by value, or the names and values of an enum; of pointers, by what they lead to. Pointers
 * in members are followed no further than the name of that.
 */
bool ctype_is_same(struct ctype *a, struct ctype *b);
/** The same; adds to *@n how many members were looked at. */
bool ctype_is_same_count(struct ctype *a, struct ctype *b, unsigned *n);

/** Writes the type as C would in a cast, "const struct foo *", "int [4]", "void (*)()". */
struct str ctype_spell(struct arena *a, const struct ctype *t);

/** What ctype_resolve() found at the end of a path. */
struct ctype_place {
	struct ctype *type;
	uint64_t off;	   /**< bytes from the start of the outermost aggregate */
	uint64_t bit_off;  /**< bitfield only */
	unsigned bit_size; /**< 0: not a bitfield */
	struct ctype *in;  /**< of a member: the aggregate that lists it */
};

/**
 * Follows a path of members and constant indices, "a.b[2].c", from @t (typedefs looked through,
 * anonymous members and base classes searched). On failure @bad is the part of the path that does
 * not fit, and @in the type it was looked up in; nothing is reported.
 */
bool ctype_resolve(struct ctype *t, struct str path, struct ctype_place *ret, struct str *bad,
		   struct ctype **in);
/** The member's name in @t that is nearest to @name, or empty. */
struct str ctype_nearest_member(struct ctype *t, struct str name);
/** What a pointer of type @t leads to, without typedefs; NULL when @t is none. */
struct ctype *ctype_pointee(struct ctype *t);
/** Is @t, stripped, an integer, enum or bool? */
bool ctype_is_number(const struct ctype *t);
/** `char *` of any sign, and `const`. Not an array. */
bool ctype_is_text(struct ctype *t);
/** A reference as the pointer that is passed and stored for it; else @t. */
struct ctype *ctype_as_pointer(struct arena *a, struct ctype *t);
/** As many bytes as bpftrace reads at once. */
bool ctype_is_word(uint64_t size);
/** Has it, or anything in it, members of some bits only? */
bool ctype_has_bitfields(struct ctype *t);
/**
 * LLVM 14 records a bitfield as wide as its type like a member that is none, in DWARF and so in BTF. In a packed struct that is the
 * byte in which the bitfield before ends: there @m begins after it.
 */
void ctype_fix_bitfield(const struct ctype_member *before, struct ctype_member *m);
/** Has it, or anything in it, pointers to functions? */
bool ctype_has_code(struct ctype *t);
/** Is it an aggregate or array with a float or double anywhere in it? */
bool ctype_has_floats(struct ctype *t);
/** Is a char array the end of it, or of a struct in it? */
bool ctype_ends_in_text(struct ctype *t);
