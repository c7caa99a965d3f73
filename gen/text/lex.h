/**
 * lex - templates cut into tokens: C's preprocessing tokens plus what bpftrace adds.
 *
 * The cut is the preprocessor's (C11 6.4): identifiers (with $, as GNU C), pp-numbers, strings, punctuators;
 * any other byte is a token by itself. Two things are bpftrace's own:
 *  - outside of braces, text that follows a colon without a blank is part of an attach point: slashes in
 *    it start no comment (usdt:/usr/lib/x:a, uprobe:/opt/*:f), as in bpftrace's own lexer;
 *  - @name and $name are cut as `@` `name` and `$name`.
 * A token knows the blanks and comments before it, so that a program can be written out as it was read.
 */
#ifndef TEXT_LEX_H
#define TEXT_LEX_H

#include "text/src.h"

enum tok_kind {
	TOK_EOF,
	TOK_IDENT,
	TOK_NUMBER, /**< pp-number: 1, 0x1f, 1e6, 10ms */
	TOK_STRING, /**< with its quotes */
	TOK_CHAR,   /**< 'x' with its quotes */
	TOK_PUNCT,
	TOK_OTHER, /**< a byte that starts nothing, or a quote that is not closed on its line */
};

struct hideset; /**< names that may not be expanded again in this token; pp's own */

struct token {
	enum tok_kind kind;
	bool bol;	    /**< the first token on its line */
	bool space;	    /**< blanks or a comment before it (or bol) */
	bool from_macro;    /**< came out of a macro's replacement list or was made by # or ## */
	struct str text;    /**< spelling, with line splices removed */
	struct str before;  /**< blanks and comments before it, verbatim, newlines included */
	struct src_loc loc; /**< where it is spelled; in a macro's definition when from_macro */
	struct src_loc
	    use; /**< where it stands in the program: the outermost macro call, else = loc */
	struct hideset *hide;
	struct token *next; /**< the list ends in a TOK_EOF */
};

/** True for identifier @t spelled @z, or punctuator @z. */
bool tok_is(const struct token *t, const char *z);
struct diag_place tok_place(const struct token *t);

/** Cuts all of @f; unterminated comments and strings are errors. CR LF counts as a newline. */
bool lex_file(struct arena *a, struct diag *d, const struct src_file *f, struct token **ret);

/** The value of a string token with its escapes resolved (C's and bpftrace's: \n \t \" \\ \r \NNN \xNN). */
struct str lex_string_value(struct arena *a, const struct token *t);

#endif
