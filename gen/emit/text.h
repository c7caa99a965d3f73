/**
 * text - what a part of the program is written as.
 *
 * A text is a row of pieces: words of btgen's own, tokens of the template, each with its place, and
 * other texts. Once it is made nothing of it changes, so that it may be a piece of several others.
 *
 *	t = text_make(a, n->first, "(int64)(%n)", value);
 *
 * In a format, %n is a const struct text *, %c the same behind a cast (with brackets, if it needs them), %s a const char *, %t a struct str, %u an uint64_t; anything
 * else is words.
 */
#ifndef EMIT_TEXT_H
#define EMIT_TEXT_H

#include "base/arena.h"
#include "base/map.h"
#include "text/lex.h"

/** What bpftrace takes a value for. */
enum held {
	HELD_OPEN,     /**< no number, or nothing is known */
	HELD_ANY,      /**< a literal: it is what stands beside it */
	HELD_NARROW,   /**< never negative, of fewer than 64 bits: a truth, too */
	HELD_UNSIGNED, /**< 64 bits */
	HELD_SIGNED,   /**< 64 bits */
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
	const struct token *at; /**< its place in the template, and what stands before it there */
	struct piece *pieces, *last;
	const struct map *names; /**< of its tokens: variables with another name, struct str * */
	uint32_t size;		 /**< bytes, about */
	bool is_written;	 /**< the template's tokens, which keep their places */
	bool is_whole;		 /**< all of a node, and nothing is changed */
	bool has_lines;		 /**< its tokens keep their lines wherever it stands: a block */
	// Of an expression:
	bool is_tight;	/**< a cast may stand before it */
	bool is_truth;	/**< true or false, with which no bpftrace computes right */
	bool is_made;	/**< `held` by a cast of ours */
	bool is_number; /**< a literal: all of it is digits */
	enum held held : 8;
	unsigned bits : 8;	 /**< it is a signed number that fits into so many; 0: not known */
	const struct text *mask; /**< `~7` with a cast: as it is written, which & may have */
};

/** The last one for a text of the template's tokens. */
struct text *text_new(struct arena *a, const struct token *at, bool is_written);
struct text *text_make(struct arena *a, const struct token *at, const char *format, ...);
void text_add(struct arena *a, struct text *to, const struct text *part);
void text_add_words(struct arena *a, struct text *to, struct str words);
void text_add_tokens(struct arena *a, struct text *to, const struct token *from,
		     const struct token *last, const struct map *names);
/** @part stands where @lead would. */
void text_add_at(struct arena *a, struct text *to, const struct text *part,
		 const struct token *lead);

/** Takes a token, which is gone then; @of: the one of the template that it is or stands for. */
typedef void text_put(void *ctx, const struct token *t, const struct token *of);
/** Calls @fn for each token of @t. */
void text_print(const struct text *t, text_put *fn, void *ctx);
/** @t without what stands before its first token. */
struct str text_str(struct arena *a, const struct text *t);
/** Does it begin with @z? */
bool text_has_prefix(const struct text *t, const char *z);

#endif
