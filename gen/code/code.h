/**
 * code - the one way of a target's names into text that something else reads as a language.
 *
 * Names of probes, functions, types, members, enumerators and files, and the text of a header about them,
 * are chosen by whoever built the target. In a program, in a format of printf(), in a shell script or on a
 * page they must stay what they are: names. Such text is written into a `struct code`, which accepts a
 * struct str only through a function for its use there. A `struct safe_word` has passed such a function and
 * can be kept; only this file makes one (`make lint` checks).
 *
 *	struct code c = {0};
 *	code_z(&c, "args.");
 *	code_word(&c, word_ident(a, member->name, "member", i));
 */
#pragma once

#include "base/str.h"

/** Letters of an alphabet, none of which ends a string, a format, a comment or a clause. */
struct safe_word {
	struct str s;
};

/** @name as a word when all of it is of @which, which is neither quoted nor a pattern; else false. */
bool word_take(struct str name, enum alphabet which, struct safe_word *ret);
/** @name when it is an identifier, else @other followed by @n: arg2. */
struct safe_word word_ident(struct arena *a, struct str name, const char *other, size_t n);
/** btgen's own: retval; @z is not made of a name. */
struct safe_word word_own(const char *z);
/** 0x11a4 */
struct safe_word word_number(struct arena *a, uint64_t n);
/** @name with a _ for what an identifier cannot have. */
struct safe_word word_spell(struct arena *a, struct str name);
/** Two words with btgen's own @between: provider:name. */
struct safe_word word_join(struct arena *a, struct safe_word first, const char *between,
			   struct safe_word second);

/**
 * @text between quotes, as strings and attach points have it: exactly, but for \" and \\, and ? for a
 * control character. 0.27 reads \xNN in an attach point as the letters xNN.
 */
struct safe_word word_quote(struct arena *a, struct str text);

/** Text of a program, a script or a page. */
struct code {
	struct strbuf checked; /**< for code.c alone; owned */
};

void code_fini(struct code *c);
/** What was written; valid until the next change of @c. */
struct str code_str(const struct code *c);

/** btgen's own text. */
void code_z(struct code *c, const char *z);
/** The same with numbers, and strings that are btgen's own. */
void code_f(struct code *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void code_word(struct code *c, struct safe_word w);
/** As word_spell() has it. */
void code_ident(struct code *c, struct str name);
/** What the user wrote, and what was made of it: a condition, a key, a program. Never a name of the target's. */
void code_text(struct code *c, struct str text);
/** What another one has. */
void code_code(struct code *c, const struct code *other);

/** In a comment that ends with its line. */
void code_comment(struct code *c, struct str text);
/**
 * A string of a bpftrace program, with its quotes: of @most bytes, and ? for what is no printable
 * ASCII or has a meaning there.
 */
void code_string(struct code *c, struct str text, size_t most);
