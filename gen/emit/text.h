/**
 * text - the text of a part of the program.
 *
 * A text is a list of pieces: generated words, tokens of the template, each with its place, and
 * other texts. Once made it does not change, so that it can be a piece of several others.
 *
 *	t = text_make(a, n->first, "(int64)(%n)", value);
 *
 * In a format, %n is a const struct text *, %c the same as the operand of a cast (in brackets, if it needs
 * them), %s a const char *, %t a struct str, %u an uint64_t; anything else is copied.
 */
#pragma once

#include "text/lex.h"

/** How bpftrace represents a value. */
enum repr {
	REPR_UNKNOWN,  /**< no number, or not known */
	REPR_LITERAL,  /**< a literal: it adapts to the other operand */
	REPR_NARROW,   /**< never negative, fewer than 64 bits: a bool, too */
	REPR_UNSIGNED, /**< 64 bits */
	REPR_SIGNED,   /**< 64 bits */
};

/** A large script has millions of these. */
struct piece {
	struct piece *next;
	union {
		const char *words;
		const struct token *token; /**< the first of PIECE_TOKENS */
		const struct text *text;
	};
	uint32_t n; /**< bytes, or tokens */
	enum {
		PIECE_WORDS,
		PIECE_TOKENS, /**< of the template */
		PIECE_TEXT,
	} kind;
};

struct text {
	const struct token *at; /**< its place in the template, with the blanks before it */
	struct piece *pieces, *last;
	const struct map *names; /**< of PIECE_TOKENS: renamed variables -> struct str * */
	uint32_t size;		 /**< bytes, about */
	bool is_written;	 /**< tokens of the template, which keep their places */
	bool is_whole;		 /**< all of a node, unchanged */
	bool is_multiline;	 /**< its tokens keep their lines wherever it is moved: a block */
	// Of an expression:
	bool needs_no_parens; /**< a cast may stand before it */
	bool is_bool;	      /**< true or false, which no bpftrace adds correctly */
	bool is_made;	      /**< a generated cast gives it `repr` */
	bool is_number;	      /**< a literal: all of it is digits */
	enum repr repr : 8;
	unsigned bits : 8;	 /**< a signed number that fits into so many; 0: not known */
	const struct text *mask; /**< of a cast `~7`: without the cast, for & */
};

/** @is_written: for tokens of the template. */
struct text *text_new(struct arena *a, const struct token *at, bool is_written);
struct text *text_make(struct arena *a, const struct token *at, const char *format, ...);
void text_add(struct arena *a, struct text *to, const struct text *part);
void text_add_words(struct arena *a, struct text *to, struct str words);
void text_add_tokens(struct arena *a, struct text *to, const struct token *from,
		     const struct token *last, const struct map *names);
/** Adds @part with the line and the blanks of @lead. */
void text_add_at(struct arena *a, struct text *to, const struct text *part,
		 const struct token *lead);

/** Prints @t, which is valid only during the call; @of: the token of the template that it is, or replaces. */
typedef void text_put(void *ctx, const struct token *t, const struct token *of);
/** Calls @fn for each token of @t. */
void text_print(const struct text *t, text_put *fn, void *ctx);
/** @t without the blanks and comments before its first token. */
struct str text_str(struct arena *a, const struct text *t);
/** Does it begin with @z? */
bool text_has_prefix(const struct text *t, const char *z);
