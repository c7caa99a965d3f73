/**
 * What the parts of emit share.
 *
 *	clause.c	clauses: which are joined, filters, what BEGIN and END get
 *	statement.c	statements, and which calls print
 *	expression.c	expressions that need nothing else than their parts
 *	number.c	numbers as C has them; division.c, what bpftrace divides wrong
 *	store.c		what goes into variables, maps, keys, tuples and aggregations
 *	place.c		members, elements, what pointers lead to
 *	arg.c		args.NAME, argN, retval
 *	types.c		how casts name types, and the definitions before the program
 *	traced.c	who is traced: what clauses ask
 *	key.c		keys of maps, named when they are printed
 *	name.c		enum_name() and the like for bpftrace alone; tables.c, the tables of names
 *	record.c	what a call prints, as a record; field.c, its values; whole.c, structs
 */
#ifndef EMIT_EMIT_PRIV_H
#define EMIT_EMIT_PRIV_H

#include "bind/bind.h"
#include "code/code.h"
#include "ctype/closure.h"
#include "emit/text.h"
#include "sema/expr.h"
#include "sema/strings.h"

/** What a parent needs of a node. */
enum want {
	WANT_VALUE,	  /**< to compute with, to compare, to keep, to print */
	WANT_SIGN,	  /**< the same, for an operator that minds the sign */
	WANT_POINTER,	  /**< what is followed, or kept where it may be followed */
	WANT_STRING,	  /**< all that str() is given */
	WANT_STRING_PART, /**< the first of two that str() is given */
	WANT_WHOLE,	  /**< an array or struct as it is: another size is another value */
	WANT_TYPE,	  /**< only its type: sizeof() */
	WANT_ADDRESS,	  /**< of a place */
};

struct print_statement;

/** A name that is kept: nothing tells the number of a value that has none. */
struct nameless {
	struct diag_place at;
	bool is_key;
};

/** An enum of the program made, so that bpftrace itself prints the names of a table. */
struct defined_enum {
	const struct enumtab *names;
	struct str tag;
	bool is_possible; /**< and is done */
};

struct emitter {
	const struct bind *b;
	struct arena *arena;
	bool good;
	bool makes_records;   /**< what the program prints becomes records */
	struct map variables; /**< of the program, with $, and those of ours */
	// The clause that is written:
	size_t i;
	const struct attach_clause *clause;
	const struct node *body;       /**< its node */
	const struct map *names;       /**< of its variables that have another one; or NULL */
	bool in_body;		       /**< of a clause, not of a function or macro */
	struct print_statement *print; /**< the statement; or NULL */
	unsigned in_loop;
	const struct node *last_statement; /**< the NODE_EXPRESSION that was written last */
	const struct node *in_key;	   /**< of this map; or NULL */

	struct map tables;	/**< maps that are tables of names */
	struct map tables_used; /**< those that the program reads */
	struct map enums;	/**< map -> struct defined_enum, once it was asked for */
	struct map stores; /**< struct used_name, and a use of a `let`'s -> struct name_stores */
	struct map words;  /**< of those that are defined */
	VEC(struct defined_enum *) defined;
	struct closure types;  /**< those that are defined before the program */
	struct map types_said; /**< kernel's types that were reported */
	bool has_other_types;  /**< or names, that are neither the target's nor bpftrace's own */
	struct map spelled;    /**< address of a struct -> names of its members */
	struct map keys;       /**< maps whose keys are named: struct key_names * */
	// Strings that were written so far, see strings.c: the most of one call or key is what counts.
	unsigned n_strings, n_reads, most_strings;
	unsigned n_kept;	       /**< in variables of ours, of this clause */
	struct map holders;	       /**< maps that strings are assigned to */
	VEC(struct nameless) nameless; /**< to be said when the tables are there */
	// For BEGIN and END: later ones stand before, and behind, what is there.
	struct str begin, end;
	// Of records:
	struct str key;	       /**< the variable that has KEY */
	VEC(struct str) at;    /**< variables that have addresses of structs */
	size_t n_variables;    /**< that the clause sets */
	struct strings beside; /**< what else its calls have on the stack */
};

// --- expression.c ---

/** @n as @want says. After an error (e->good) it may be anything. */
const struct text *emit(struct emitter *e, const struct node *n, enum want want);
/** Text of btgen's own in the place of @n, see text_make(). */
#define made(e, n, ...) text_make((e)->arena, (n)->first, __VA_ARGS__)
/** All of @n, as it is. */
struct text *emit_whole(struct emitter *e, const struct node *n);
/** @n as it is written, with these in the place of its children. */
struct text *emit_written(struct emitter *e, const struct node *n,
			  const struct text *const *children);
/** Adds the tokens from @from to the one before @end. */
void emit_until(struct emitter *e, struct text *t, const struct token *from,
		const struct token *end);
/** The children of @n, each as @wants says; NULL: as values. */
const struct text **emit_children(struct emitter *e, const struct node *n,
				  enum want (*wants)(const struct emitter *e, const struct node *n,
						     const struct node *child));
/** Is what takes the place of @n, in which parts may stand several times, of a bounded size? */
bool emit_fits(struct emitter *e, const struct node *n, const struct text *t);
/** A pointer that is asked whether it is NULL: a number in that place. */
const struct text *emit_asked(struct emitter *e, const struct node *n, const struct text *t);
/** What bpftrace makes of whole structs that are printed or kept is out of our hands. */
enum copied { IS_PRINTED, IS_KEPT, IS_ELEMENT };
void emit_warn_of_copy(struct emitter *e, const struct node *n, enum copied how);
/** The format of @call, with conversions as wide as the values are. */
struct str emit_format(struct emitter *e, const struct node *call, const struct node *format);

// --- types.c ---

void types_begin(struct emitter *e);
/**
 * What a pointer of @type must be cast to: `struct x *`, which is defined then, `uint16 *`. Empty where
 * it cannot be.
 */
struct str types_pointer(struct emitter *e, struct ctype *type);
/**
 * What bpftrace takes for @n, a NODE_TYPE; empty where it takes @n itself. @is_cast: what is cast to a
 * narrow signed number gets 64 bits. An error for a struct that neither target nor kernel has.
 */
bool types_spell(struct emitter *e, const struct node *n, bool is_cast, struct str *ret);
/** Afterwards: may bpftrace have to look up a type of the kernel? */
bool types_need_kernel(const struct emitter *e);
/** The number of a sizeof() or offsetof() of a type of the target; empty for any other call. */
bool types_fold(struct emitter *e, const struct node *call, struct str *ret);
/** Can an enum of the program's be defined whose tag, or one of whose enumerators, is @word? */
bool types_has_room(const struct emitter *e, struct str word);
/** Puts @text before all others of @program, on lines of its own. */
void types_prepend(struct emitter *e, struct token **program, const struct code *text);
/** Puts the definitions that are needed before the program. */
bool types_define(struct emitter *e, struct token **program);

// --- traced.c ---

/** It holds for events of who is traced. */
const char *traced_test(const struct bind *b);
/** With given->has_family: what BEGIN and END do for it, and the clauses that keep its map. */
void traced_follow_family(const struct bind *b, struct str *begin, struct str *clauses,
			  struct str *end);

// --- number.c ---

/** The first place of the variable or map @n. */
const struct use *emit_uses(const struct emitter *e, const struct node *n);
/** What bpftrace takes @n for, as it is written with these children. */
enum held number_held(struct emitter *e, const struct node *n, const struct text *const *children);
/** Likewise a literal, also one that takes an enumerator's place. */
enum held number_held_literal(const struct emitter *e, uint64_t value);
/** @t of @n with 64 bits and a sign, if @is_signed, and the same value. */
const struct text *number_make(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_signed);
/** Where it is counted: true is 1. @is_sample: by an aggregation. */
const struct text *number_counted(struct emitter *e, const struct node *n, const struct text *t,
				  bool is_sample);
/** Where it is kept to be shown; likewise. */
const struct text *number_kept(struct emitter *e, const struct node *n, const struct text *t,
			       bool is_sample);
/** An operator, assignment or cast; NULL: it is written with these children, which may have changed. */
const struct text *number_operator(struct emitter *e, const struct node *n,
				   const struct text **children);
/** `c ? x : y`; likewise. */
const struct text *number_choice(struct emitter *e, const struct node *n,
				 const struct text **children);
/** Must @n, a choice, be written without one? False, too, after an error. */
bool number_sums_choice(struct emitter *e, const struct node *n);

// --- store.c ---

/** What bpftrace takes @n, a variable or map, for. */
enum held store_held(struct emitter *e, const struct node *n);
/** All that goes into @n, a variable or map, is written as a signed number of 64 bits. */
bool store_is_int64(struct emitter *e, const struct node *n);
/** @t of @n as it is assigned to @name, a variable or map. */
const struct text *store_value(struct emitter *e, const struct node *name, const struct node *n,
			       const struct text *t);
/** Is it an integer, which is cut to its type? */
bool store_is_integer(const struct ctype *t);
/** @t of @n as a number of 64 bits that has been cut to @to, an integer: of `let $x : int16`. */
const struct text *store_cut(struct emitter *e, const struct ctype *to, const struct node *n,
			     const struct text *t);
/** Likewise element @i of @tuple, .. */
const struct text *store_element(struct emitter *e, const struct node *tuple, size_t i,
				 const struct node *n, const struct text *t);
/** .. value @i of the key of @map, .. */
const struct text *store_key(struct emitter *e, const struct node *map, size_t i,
			     const struct node *n, const struct text *t);
/** .. and an argument of @call, an aggregation. */
const struct text *store_sample(struct emitter *e, const struct node *call, const struct node *n,
				const struct text *t);

// --- division.c ---

struct division {
	const struct text
	    *value; /**< what may stand behind a cast: no operators outside of brackets */
	bool value_is_signed;
	char op;	       /**< '/', '%' or '>' for >> */
	const struct text *by; /**< as @value; of a shift it is never negative */
	bool by_is_signed;
};

/** `value op by`; one of the two is signed, and the other not above the largest int64. */
struct text *division_make(struct arena *a, const struct division *q);

/** Is the dividend evaluated more than once there? (A divisor that is signed always is.) */
bool division_repeats_value(const struct division *q);

// --- place.c, argument.c ---

/** A member, element or pointee, or one in brackets. */
const struct text *place_emit(struct emitter *e, const struct node *n, enum want want);
/** `args.m` for a bpftrace to which args is a pointer, else NULL. */
const struct text *place_behind_args(struct emitter *e, const struct node *n);
bool place_is_char_array(struct ctype *t, bool bytes, uint64_t *n);
/** The address of vars.NAME, a struct or array; NULL for anything else. */
const struct text *argument_address(struct emitter *e, const struct node *n);
/** args.NAME of a usdt probe or function, vars.NAME; NULL for anything else. */
const struct text *argument_named(struct emitter *e, const struct node *n, enum want want);
/** argN; NULL for anything else. */
const struct text *argument_numbered(struct emitter *e, const struct node *n, enum want want);
const struct text *argument_retval(struct emitter *e, const struct node *n);

// --- statement.c ---

/** A statement, or a block. */
const struct text *statement_emit(struct emitter *e, const struct node *n);
/** A call that prints, with its values as they travel; NULL: it is one like any other. */
const struct text *record_emit(struct emitter *e, const struct node *call);
/** What BEGIN does for records. */
void record_begin(struct emitter *e);

/** A statement that is being written, with what stands in front of it. */
struct print_statement {
	const struct node *value; /**< all of the statement, without its semicolon */
	struct text *before;
	bool has_key;
	bool is_done; /**< what was made of `value` is the whole statement */
};

// --- key.c ---

/** Fills b->map_shapes and e->keys. */
void key_find_all(struct emitter *e);
/** Part @k of the key of @map, as a number if keys of that map are named; NULL: as any value. */
const struct text *key_part(struct emitter *e, const struct node *map, const struct node *n,
			    size_t k);

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
/** Has @n, of a %s, a name in it? */
bool name_is_in(struct emitter *e, const struct node *n);
/** `$x = @table[y]`: nothing tells the number of one without a name. */
void name_warn_of_copy(struct emitter *e, const struct node *value);
/**
 * A call that prints names: numbers where there are none. NULL: it prints none. Where e->print is the
 * statement of that call alone, it may become that: then e->print->is_done.
 */
const struct text *name_print(struct emitter *e, const struct node *call);
/** Says of names that are kept what tells nothing: once the program is known to be right. */
void name_warn_of_nameless(struct emitter *e);
/** A variable of the program's that it does not have yet. */
struct str emit_new_variable(struct emitter *e, struct str name);

// --- tables.c, clause.c ---

/** Has bpftrace the enum of @name itself, so that %s of (enum @tag)x prints its names? It is defined then. */
bool tables_cast(struct emitter *e, const struct name_lookup *name, struct safe_word *tag);
/** Puts the definitions of these enums before the program. */
void tables_define(struct emitter *e, struct token **program);
/** The tables that the program needs, for BEGIN and END. False after an error. */
bool tables_add(struct emitter *e);

void clause_add_begin(struct emitter *e, struct str statements);
void clause_add_end(struct emitter *e, struct str statements);

#endif
