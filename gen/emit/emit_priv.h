/**
 * What the parts of emit share.
 *
 *	clause.c	clauses: which are joined, filters, what BEGIN and END get
 *	statement.c	statements, and which calls print
 *	expression.c	expressions that need nothing else than their parts
 *	number.c	numbers as C has them; division.c, what bpftrace divides wrong
 *	store.c		what goes into variables, maps, keys, tuples and aggregations
 *	place.c		members, elements, pointees
 *	arg.c		args.NAME, argN, retval
 *	types.c		how casts name types, and the definitions before the program
 *	traced.c	the filter each clause needs: the traced processes
 *	key.c		keys of maps, named when they are printed
 *	name.c		enum_name() and the like for bpftrace alone; tables.c, the tables of names
 *	since.c		the time before a line, without records
 *	record.c	calls that print, as records; field.c, their values; whole.c, structs
 */
#pragma once

#include "ctype/closure.h"
#include "emit/emit.h"
#include "emit/text.h"
#include "sema/expr.h"
#include "sema/strings.h"
#include "record/mapentry.h"

/** What a parent needs of a node. */
enum want {
	WANT_VALUE,	  /**< to compute with, to compare, to store, to print */
	WANT_SIGN,	  /**< the same, for a sign-sensitive operator */
	WANT_POINTER,	  /**< to dereference, or to store where it may be dereferenced */
	WANT_STRING,	  /**< the only argument of str() */
	WANT_STRING_PART, /**< the first of two arguments of str() */
	WANT_WHOLE,	  /**< an array or struct, all of it: another size is another value */
	WANT_TYPE,	  /**< only its type: sizeof() */
	WANT_ADDRESS,	  /**< the address of a place */
};

struct print_statement;

/** `for ($kv : @m)`: no bpftrace has arguments in one, so variables have them. */
struct loop {
	struct text *before; /**< what sets these */
	struct map words;    /**< argN, retval -> struct str *, the variable */
};

/** A name that is stored: of a value without a name the number is lost. */
struct unnamed_value {
	struct diag_place at;
	bool is_key;
};

/** An enum of the program made, so that bpftrace itself prints the names of a table. */
struct defined_enum {
	const struct enumtab *names;
	struct str tag;
	bool is_possible; /**< and is defined */
};

struct emitter {
	const struct bind *b;
	struct arena *arena;
	bool good;
	bool makes_records;   /**< calls that print become records */
	struct map variables; /**< of the program, with $, and generated ones */
	// The clause that is being written:
	size_t i;
	const struct attach_clause *clause;
	const struct node *body;       /**< its node */
	const struct map *names;       /**< its renamed variables; or NULL */
	bool in_body;		       /**< of a clause, not of a function or macro */
	struct print_statement *print; /**< the statement; or NULL */
	unsigned in_loop;
	struct loop *loop;		   /**< over a map; or NULL */
	const struct node *last_statement; /**< the NODE_EXPRESSION that was written last */
	const struct node *in_key;	   /**< of this map; or NULL */
	bool repeats_key;		   /**< it is emitted twice */

	struct map tables;	/**< maps that are tables of names */
	struct map tables_used; /**< those that the program reads */
	struct map enums;	/**< map -> struct defined_enum, once looked up */
	struct map stores; /**< struct used_name, and a use of a `let`'s -> struct name_stores */
	struct map words;  /**< of the enums in `defined` */
	VEC(struct defined_enum *) defined;
	struct closure types;	   /**< those that are defined before the program */
	struct map reported_types; /**< of the kernel, with an error or warning */
	bool has_other_types; /**< or names, that are neither the target's nor bpftrace's own */
	struct map spelled;   /**< address of a struct -> names of its members */
	struct map keys;      /**< maps whose keys are named: struct key_names * */
	// Strings written so far, see strings.c: the largest number in one call or key counts.
	unsigned n_strings, n_reads, most_strings;
	unsigned n_kept;		   /**< in generated variables of this clause */
	struct map string_maps;		   /**< maps that strings are assigned to */
	VEC(struct unnamed_value) unnamed; /**< to report when the tables are complete */
	// For BEGIN and END: additions are put before the first, after the second.
	struct str begin, end;
	// Without records, #pragma time since:
	struct map line_starts; /**< calls of printf() that begin a line */
	struct str since;	/**< the variable that has the time; empty: none yet */
	struct str sample[2];	/**< of max() and min(): the variables of int64 and uint64 */
	// Of records:
	struct str key;	       /**< the variable that has KEY */
	VEC(struct str) at;    /**< variables that hold addresses of structs */
	size_t n_variables;    /**< that the clause sets */
	struct strings beside; /**< the rest of the stack of its calls */
};

// --- expression.c ---

/** The text of @n, for @want. After an error (e->good) it may be anything. */
const struct text *emit(struct emitter *e, const struct node *n, enum want want);
/** Generated text in the place of @n, see text_make(). */
#define text_format(e, n, ...) text_make((e)->arena, (n)->first, __VA_ARGS__)
/** All of @n, unchanged. */
struct text *emit_verbatim(struct emitter *e, const struct node *n);
/** @n as the template has it, with @children in the place of its children. */
struct text *emit_with_children(struct emitter *e, const struct node *n,
				const struct text *const *children);
/** Adds the tokens from @from to the one before @end. */
void emit_until(struct emitter *e, struct text *t, const struct token *from,
		const struct token *end);
/** How most nodes use their children. */
enum want emit_wants(const struct emitter *e, const struct node *n, const struct node *child);
/** A number in the place of @n. */
struct text *emit_constant(struct emitter *e, const struct node *n, struct str digits);
/** A text of @t, which may be shared, with the facts of @n. */
const struct text *emit_instead(struct emitter *e, const struct node *n, const struct text *t);
/** Is it has_cpid, or has_cpid(), which this bpftrace inverts? */
bool emit_is_has_cpid(struct emitter *e, const struct node *n);
/** curtask->comm, curtask->parent->comm */
bool emit_is_comm_of_task(const struct node *n);
/** @t of @n truncated to its bits in C, for a cast to an array. */
const struct text *emit_cut_to_width(struct emitter *e, const struct node *n, const struct text *t);
/** A function of bpftrace's, or a macro, with its arguments. */
const struct text *emit_call(struct emitter *e, const struct node *n);
/** The texts of the children of @n, each for @wants(); NULL: for WANT_VALUE. */
const struct text **emit_children(struct emitter *e, const struct node *n,
				  enum want (*wants)(const struct emitter *e, const struct node *n,
						     const struct node *child));
/** Is @t, in which parts of @n may be repeated, short enough? Otherwise an error. */
bool emit_fits(struct emitter *e, const struct node *n, const struct text *t);
/** A pointer as a condition, as a number; anything else unchanged. */
const struct text *emit_null_test(struct emitter *e, const struct node *n, const struct text *t);
/** Whole structs are copied by bpftrace, which gets some members wrong. */
enum copied { IS_PRINTED, IS_KEPT, IS_ELEMENT };
void emit_warn_of_copy(struct emitter *e, const struct node *n, enum copied how);
/** The format of @call, with length modifiers for 64-bit values. */
struct str emit_format(struct emitter *e, const struct node *call, const struct node *format);

// --- types.c ---

void types_begin(struct emitter *e);
/**
 * The cast for a pointer of @type: `struct x *`, whose definition is added, or `uint16 *`. Empty when no
 * cast can name it.
 */
struct str types_pointer(struct emitter *e, struct ctype *type);
/**
 * How bpftrace must spell @n, a NODE_TYPE; empty for @n itself. @is_cast: a cast to a narrow signed
 * number extends to 64 bits. An error for a struct that neither target nor kernel has.
 */
bool types_spell(struct emitter *e, const struct node *n, bool is_cast, struct str *ret);
/** Once all is written: may bpftrace have to look up a type of the kernel? */
bool types_need_kernel(const struct emitter *e);
/** sizeof() or offsetof() of a type of the target, as a number; empty for any other call. */
bool types_fold(struct emitter *e, const struct node *call, struct str *ret);
/** Is @word free to be the tag or an enumerator of a generated enum? */
bool types_has_room(const struct emitter *e, struct str word);
/** Puts @text before all others of @program, on lines of its own. */
void types_prepend(struct emitter *e, struct token **program, const struct code *text);
/** Puts the definitions that the program uses before it. */
bool types_define(struct emitter *e, struct token **program);

// --- traced.c ---

/** The condition that holds for events of the traced processes. */
const char *traced_test(const struct bind *b);
/** With given->has_family: statements for BEGIN and END, and the clauses that maintain its map. */
void traced_follow_family(const struct bind *b, struct str *begin, struct str *clauses,
			  struct str *end);

// --- number.c ---

/** The first place of the variable or map @n. */
const struct use *emit_uses(const struct emitter *e, const struct node *n);
/** The representation of @n in bpftrace when it is written with @children. */
enum repr number_repr(struct emitter *e, const struct node *n, const struct text *const *children);
/** Likewise of a literal, also of one that replaces an enumerator. */
enum repr number_repr_of_literal(const struct emitter *e, uint64_t value);
/** @t of @n converted to 64 bits, signed or not, with the same value. */
const struct text *number_make(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_signed);
/** Sets the representation of @t, a cast that nothing shares yet. */
const struct text *number_set_repr(struct text *t, enum repr repr);
/** A bool as the number 0 or 1, not -1. */
const struct text *number_of_bool(struct emitter *e, const struct node *n, const struct text *t);
/** A number that is stored to be printed later; likewise. */
const struct text *number_for_store(struct emitter *e, const struct node *n, const struct text *t);
/** An operator, assignment or cast; NULL: write it with @children, which may have changed. */
const struct text *number_operator(struct emitter *e, const struct node *n,
				   const struct text **children);
/** `c ? x : y`; likewise. */
const struct text *number_choice(struct emitter *e, const struct node *n,
				 const struct text **children);
/** Must @n, a choice, be written as a sum? False, too, after an error. */
bool number_sums_choice(struct emitter *e, const struct node *n);

// --- store.c ---

/** The representation of @n, a variable or map, in bpftrace. */
enum repr store_repr(struct emitter *e, const struct node *n);
/** Of $kv.1, and of $kv.0 or $kv.0.2, in a loop over a map; false: @n is something else. */
bool store_repr_in_loop(struct emitter *e, const struct node *n, enum repr *ret);
/** Is every value of @n, a variable or map, written as a signed number of 64 bits? */
bool store_is_int64(struct emitter *e, const struct node *n);
/** @t of @n as it is assigned to @name, a variable or map. */
const struct text *store_value(struct emitter *e, const struct node *name, const struct node *n,
			       const struct text *t);
/** Is it an integer, so that values are truncated to its type? */
bool store_is_integer(const struct ctype *t);
/** @t of @n as a number of 64 bits, truncated to @to, an integer: of `let $x : int16`. */
const struct text *store_cut(struct emitter *e, const struct ctype *to, const struct node *n,
			     const struct text *t);
/** Likewise element @i of @tuple, .. */
const struct text *store_element(struct emitter *e, const struct node *tuple, size_t i,
				 const struct node *n, const struct text *t);
/** .. value @i of the key of @map, .. */
const struct text *store_key(struct emitter *e, const struct node *map, size_t i,
			     const struct node *n, const struct text *t);
/** @t, a literal that something follows in a key, with zeros up to a place where any number can be, if the map has literals of several sizes. */
const struct text *store_align(struct emitter *e, const struct node *map, size_t i,
			       const struct node *n, const struct text *t);
/** .. and an argument of @call, an aggregation. */
const struct text *store_sample(struct emitter *e, const struct node *call, const struct node *n,
				const struct text *t);
/** How what @map has of max() or min() is kept, where bpftrace would lose some of it. */
enum value_shift store_shift(const struct emitter *e, struct str map);
/** Such a @call, of @t; NULL: it is as it is written. */
const struct text *store_shifted(struct emitter *e, const struct node *call, const struct text *t);

// --- division.c ---

struct division {
	const struct text *value; /**< can be cast: no operators outside of brackets */
	bool value_is_signed;
	char op;	       /**< '/', '%' or '>' for >> */
	const struct text *by; /**< as @value; of a shift it is never negative */
	bool by_is_signed;
};

/** `value op by`; one of the two is signed, and the other not above the largest int64. */
struct text *division_make(struct arena *a, const struct division *q);

/** Does division_make() repeat the dividend? (It always repeats a signed divisor.) */
bool division_repeats_value(const struct division *q);

// --- place.c, arg.c ---

/** A member, element or pointee, or one in brackets. */
const struct text *place_emit(struct emitter *e, const struct node *n, enum want want);
/** `args.m` for a bpftrace to which args is a pointer, else NULL. */
const struct text *place_after_args(struct emitter *e, const struct node *n);
/** The address of the array that @cast makes a pointer of, which 0.23 and 0.27 refuse; NULL: no such cast. */
const struct text *place_decayed(struct emitter *e, const struct node *cast);
bool place_is_char_array(struct ctype *t, bool bytes, uint64_t *n);
/** The address of vars.NAME, a struct or array; NULL for anything else. */
const struct text *arg_emit_address(struct emitter *e, const struct node *n);
/** args.NAME of a usdt probe or function, vars.NAME; NULL for anything else. */
const struct text *arg_emit_named(struct emitter *e, const struct node *n, enum want want);
/** argN; NULL for anything else. */
const struct text *arg_emit_numbered(struct emitter *e, const struct node *n, enum want want);
const struct text *arg_emit_retval(struct emitter *e, const struct node *n);
/** argN or retval, or the variable that replaces it in a loop over a map. */
struct str arg_emit_word(struct emitter *e, const struct node *n, struct str word);

// --- statement.c ---

/** A statement, or a block. */
const struct text *statement_emit(struct emitter *e, const struct node *n);
/** A call that prints, as a record; NULL: it does not print. */
const struct text *record_emit(struct emitter *e, const struct node *call);
/** What BEGIN does for records. */
void record_begin(struct emitter *e);

/** A statement that is being written, and statements that go before it. */
struct print_statement {
	const struct node *value; /**< all of the statement, without its semicolon */
	struct text *before;
	bool has_key, has_since;
	bool is_done; /**< the text made of `value` is the whole statement */
};

// --- key.c ---

/** Fills b->map_shapes and e->keys. */
void key_find_all(struct emitter *e);
/** Part @k of the key of @map, as a number if keys of that map are named; NULL: as any value. */
const struct text *key_part(struct emitter *e, const struct node *map, const struct node *n,
			    size_t k);

/**
 * The frames of @n, ustack or ustack(N), if the caller may have to be added in clause @c; 0: it is not such
 * a stack. In another mode frames are written in another way.
 */
unsigned key_stack_frames(const struct attach_clause *c, const struct node *n);

// --- name.c ---

/** enum_name(T, x), and @map[x] of a table: which map it is read from, and x. */
struct name_lookup {
	struct str map;
	const struct node *key;
};
bool name_find(struct emitter *e, const struct node *n, struct name_lookup *ret);
/** `@map[x]` */
const struct text *name_emit(struct emitter *e, const struct node *n,
			     const struct name_lookup *found);
/** Is a name looked up in @n, the value of a %s? */
bool name_is_in(struct emitter *e, const struct node *n);
/** `$x = @table[y]` loses the number of a value without a name. */
void name_warn_of_copy(struct emitter *e, const struct node *value);
/**
 * A call that prints names: numbers where there are none. NULL: it prints none. Where e->print is the
 * statement of that call alone, it may become that: then e->print->is_done.
 */
const struct text *name_print(struct emitter *e, const struct node *call);
/** The format of @call, of @format, and after it what it prints first. */
struct str since_format(struct emitter *e, const struct node *call, struct str format);
/** Finds the calls of @c that begin a line, where a line has a time. */
void since_find(struct emitter *e, const struct script_clause *c);
/** Warns of stored names that lose the number, once the program is known to be right. */
void name_warn_of_unnamed(struct emitter *e);
/** A name for a new variable of the program. */
struct str emit_new_variable(struct emitter *e, struct str name);

// --- tables.c, clause.c ---

/** Can %s of (enum @tag)x print the names of @name? Then that enum is defined. */
bool tables_cast(struct emitter *e, const struct name_lookup *name, struct safe_word *tag);
/** Puts the definitions of these enums before the program. */
void tables_define(struct emitter *e, struct token **program);
/** Adds the tables that the program uses to BEGIN and END. False after an error. */
bool tables_add(struct emitter *e);

void clause_add_begin(struct emitter *e, struct str statements);
void clause_add_end(struct emitter *e, struct str statements);
