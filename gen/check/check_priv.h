/**
 * check_priv - the groups of checks, one file each, that check.c calls for each node of each clause, and what they ask of an
 * expression: each looks at one node of the tree with it, and none knows of another.
 */
#pragma once

#include "check/check.h"
#include "sema/exprtype.h"

struct checker {
	const struct bind *b;
	struct arena *arena; /**< of what only the checks need */
	const struct attach_clause *clause;
	size_t i;	 /**< its number */
	struct map said; /**< what is said once only, each check has words of its own */
	/** Maps that another finding names as the ones that are meant: theirs may follow from it. */
	struct map meant;
	struct map words; /**< of check_count_hidden(), those of each source file */
	bool good;
};

/** What is known of a value, for a message. */
struct meaning {
	struct ctype *type;  /**< as the program has it, qualifiers and all; never NULL */
	struct ctype *plain; /**< the same, stripped; NULL: void */
	bool is_guess;	     /**< inferred or listed */
};

/** False when nothing is known of @n's type. */
bool check_meaning(struct checker *k, const struct node *n, struct meaning *ret);
/** DIAG_ERROR, or, of what is a guess, DIAG_WARNING. */
enum diag_level check_level(const struct meaning *m);
/** Of characters, or of other bytes. */
bool check_is_byte_array(const struct ctype *plain);
/** A double or float, or an integer that is declared to hold the bits of one (USDT_BITS). */
bool check_is_floating(const struct meaning *m);
/**
 * A note with the origin of @n's type: the declaration of the argument, at the line of the probe's first
 * site, or the struct of a member. Nothing if @n is neither.
 */
void check_note_origin(struct checker *k, const struct node *n);
/**
 * How often `@name` or `$name` occurs in @file outside of the program: left out by #if, or in a comment; at
 * least 1 if a macro has it. It may be used there.
 */
size_t check_count_hidden(struct checker *k, const struct src_file *file, const char *word);
/** @n as it is written, for a remedy. */
const char *check_text(struct checker *k, const struct node *n);
/** A finding at @n, and where its type is from. */
void check_report(struct checker *k, const struct node *n, const char *name, enum diag_level level,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** A finding at @t. */
void check_report_at(struct checker *k, const struct token *t, const char *name,
		     enum diag_level level, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/** uintptr_t, or a typedef that marks a number as an address. */
bool check_is_address_word(const struct ctype *t);
/** The table of names in the map @name; NULL: the script fills it, or nothing does. */
const struct bind_table *check_table_of(struct checker *k, struct str name);

/** A number written in the script: a literal, maybe after a -, or an enumerator. */
struct constant {
	uint64_t bits;
	bool is_negative; /**< `bits` are those of an int64 */
};

bool check_constant(struct checker *k, const struct node *n, struct constant *ret);

// One for each group: looks at @n and reports through k->b->diag; k->good is false after an error.
void check_format(struct checker *k, struct node *n);
void check_values(struct checker *k, struct node *n);
void check_compare(struct checker *k, struct node *n);
void check_enums(struct checker *k, struct node *n);
void check_arithmetic(struct checker *k, struct node *n);
void check_pointers(struct checker *k, struct node *n);
void check_flow(struct checker *k, struct node *n);
void check_disagree(struct checker *k, struct node *n);
void check_broken(struct checker *k, struct node *n);

// The same for the script as a whole.
void check_use(struct checker *k);
void check_signs(struct checker *k);
void check_keys(struct checker *k);
void check_clauses(struct checker *k);
