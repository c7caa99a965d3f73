/**
 * program - tokens written out as a bpftrace program, and where each piece of it came from.
 *
 * A token of the first template keeps its line and, unless something before it on the line changed
 * its length, its column: an error that bpftrace reports then points at the same place in both.
 * What comes from other files, macros and btgen itself is put where it fits; the line map knows the
 * origin of every token. Comments stay, except inside definitions, where bpftrace before 0.24
 * counts the braces in them.
 */
#pragma once

#include "text/lex.h"

/** One token of the program. */
struct linemap_entry {
	uint32_t line, col; /**< in the program, from 1 */
	uint32_t at;	    /**< byte of its text */
	unsigned n : 29;    /**< bytes */
	bool is_ours : 1;   /**< put together by btgen: of no place in a file */
	bool is_words : 1;  /**< not even a token of the template's */
	bool bol : 1;
	const struct token *of; /**< what it is or replaces; of->use.file is NULL: no place */
};

struct linemap {
	VEC(struct linemap_entry) entries; /**< in program order; owned by the program */
	struct str text;		   /**< the program's */
};

/** Empty as {0}. */
struct program {
	struct strbuf text; /**< owned: program_fini() */
	struct linemap map;
};

void program_fini(struct program *p);

/** Tokens on their way into a program, one after the other. */
struct program_sink {
	struct program *p;
	const struct src_file *main; /**< its lines keep their number where possible */
	uint32_t line, col;	     /**< of the next byte */
	int depth;		     /**< of braces */
	bool in_definition;
	struct token last;
	const struct token *prev; /**< that, or NULL */
};

void program_begin(struct program_sink *w, struct program *p, const struct src_file *main);
/** @of: the token of the template that it is or replaces, which must outlive the program. */
void program_put(struct program_sink *w, const struct token *t, const struct token *of);
/** @end: blanks and comments before it, the end of the template, are written; or NULL. */
void program_end(struct program_sink *w, const struct token *end);

/** The entry at program position @line:@col, or the last before it; NULL: there is none. */
const struct linemap_entry *linemap_find(const struct linemap *m, unsigned line, unsigned col);
