/**
 * lex - templates cut into tokens: C's preprocessing tokens plus what bpftrace adds.
 *
 * The cut is the preprocessor's (C11 6.4): identifiers (with $, as GNU C), pp-numbers, strings,
 * punctuators; any other byte is a token by itself. Two things are bpftrace's own:
 *  - outside of braces, a word and a colon with no blank around it begin an attach point: until the next blank,
 *    comma or brace, slashes start no comment (usdt:/usr//lib/x:a, uprobe:/opt/ *:f without the blank), as in
 *    bpftrace's own lexer. Its tokens are marked `attach`;
 *  - @name and $name are cut as `@` `name` and `$name`.
 * A token knows the blanks and comments before it, so that a program can be written out as it was
 * read.
 *
 * A struct lexer cuts one token at a time, because what braces mean depends on conditionals and
 * macros, which only the preprocessor knows: it corrects `braces` as it goes.
 */
#pragma once

#include "text/src.h"

enum tok_kind {
	TOK_EOF,
	TOK_IDENT,
	TOK_NUMBER, /**< pp-number: 1, 0x1f, 1e6, 10ms */
	TOK_STRING, /**< with its quotes */
	TOK_CHAR,   /**< 'x' with its quotes */
	TOK_PUNCT,  /**< C's, and @ */
	TOK_OTHER, /**< a byte that starts nothing, a run of non-ASCII bytes, or a quote not closed on its line */
	/** A whole line for bpftrace, as text: `#pragma pack(1)`. Must stand on a line of its own. */
	TOK_DIRECTIVE,
};

struct token {
	enum tok_kind kind : 8; /**< one of a million: 72 bytes, not 96 */
	bool bol;		/**< the first token on its line */
	bool space;		/**< blanks or a comment before it (or bol) */
	bool attach;	/**< part of an attach point's text: nothing may be inserted before it */
	bool no_expand; /**< a macro's name within its expansion (C11 6.10.3.4) */
	/**
	 * Came out of a macro's replacement list or was made by # or ##. False for a macro argument that is
	 * written in the program itself.
	 */
	bool from_macro;
	struct str text; /**< spelling, with line splices removed */
	/**
	 * Blanks and comments before it, verbatim, newlines included; only line splices are gone,
	 * for bpftrace knows none.
	 */
	struct str before;
	struct src_loc loc; /**< where it is spelled; in a macro's definition when from_macro */
	struct src_loc use; /**< the outermost macro call when from_macro, else = loc */
	struct token *next; /**< the list ends in a TOK_EOF */
};

/** True for identifier @t spelled @z, or punctuator @z. */
bool tok_is(const struct token *t, const char *z);
/** The same for any of @words, which end in NULL. */
bool tok_is_any(const struct token *t, const char *const *words);
/** Where it is spelled, and the macro call that it came out of. */
struct diag_place tok_place(const struct token *t);
/** The same, as an argument of a diagnostic. */
#define tok_at(t) diag_at(tok_place(t))
/**
 * Must a blank stand between @prev and @next, two tokens that did not touch in the source, so that
 * they are read as two again? Never inside an attach point.
 */
bool tok_needs_space(const struct token *prev, const struct token *next);

struct lexer {
	struct arena *arena;
	struct diag *diag;
	const struct src_file *file;
	uint32_t pos;	   /**< next byte */
	int braces;	   /**< depth of { }: attach points are looked for at 0 only */
	bool quiet;	   /**< skipped text: say nothing */
	bool in_directive; /**< a newline ends the line with TOK_EOF and is not taken */
	bool failed;	   /**< an error was reported */
	bool bol;	   /**< no token on this line yet */
	/** How far the word before `pos` is on its way to an attach point. */
	enum { LEX_WORD_NONE, LEX_WORD_NAME, LEX_WORD_ATTACH } word;
	bool after_at;	     /**< the token before is an @ */
	bool word_may_start; /**< the token before is one that a probe's name can follow directly */
	uint32_t unquoted_to; /**< no ' before here opens a quoted text: one was looked for */
};

void lexer_init(struct lexer *lx, struct arena *a, struct diag *d, const struct src_file *f);
/** Cuts the next token into @ret (TOK_EOF at the end). Errors set lx->failed; the token is there all the same. */
void lexer_next(struct lexer *lx, struct token *ret);
/** The tokens from here on, up to TOK_EOF. */
struct token *lexer_list(struct lexer *lx);
/** The rest of the line, unchanged, without consuming it. */
struct str lexer_rest_of_line(const struct lexer *lx);

/** Cuts @text, made by ##; false when it is not exactly one token. */
bool lex_one(struct arena *a, struct str text, struct token *ret);

/**
 * The value of a string token with its escapes resolved (C's and bpftrace's: \n \t \" \\ \r \NNN
 * \xNN; a backslash before anything else stays).
 */
struct str lex_string_value(struct arena *a, const struct token *t);

/** @text as a bpftrace string literal, quotes included; bytes that are not printable ASCII as \xNN. */
struct str lex_quote(struct arena *a, struct str text);
