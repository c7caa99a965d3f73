/**
 * pp - the C preprocessor for templates.
 *
 * C11 6.10 with GNU's comma elision, #include_next left out, and our pragmas. `gcc -E -P` is the oracle for what a
 * macro expands to. The result is one list of tokens without directives; each token knows its place.
 *
 *	struct pp pp;
 *	pp_init(&pp, &arena, &diag);
 *	pp_add_dir(&pp, "bpf");
 *	pp_define(&pp, "DEBUG=1");
 *	pp_predefine(&pp, "__BPFTRACE__", "17");
 *	if (pp_file(&pp, file)) use(pp.out);
 */
#ifndef TEXT_PP_H
#define TEXT_PP_H

#include "base/map.h"
#include "base/vec.h"
#include "text/lex.h"

/** A #pragma that the preprocessor does not know itself, for the later layers. */
struct pp_pragma {
	struct token *tokens; /**< what follows `pragma`, macros not expanded, ends in TOK_EOF */
	struct src_loc loc;
};

struct pp {
	struct arena *arena;
	struct diag *diag;
	VEC(const char *) dirs;	       /**< folders for <...>, and for "..." after the file's own */
	struct map macros;	       /**< name -> struct macro */
	VEC(struct pp_pragma) pragmas; /**< in order of appearance */
	/** #include of C headers (*.h), for bpftrace to read: the whole directive as text. */
	VEC(struct token *) c_includes;
	VEC(struct src_file *) files; /**< every file read, for dependency lists */
	struct token *out;   /**< the tokens of everything processed so far, ends in TOK_EOF */
	struct token **tail; /**< where the next token goes */
	unsigned depth;	     /**< nesting of #include */
	unsigned counter;    /**< __COUNTER__ */
	struct map once;     /**< files under #pragma once */
};

void pp_init(struct pp *pp, struct arena *a, struct diag *d);
void pp_add_dir(struct pp *pp, const char *dir);
/** As -D of cpp: NAME, NAME=TEXT or NAME(args)=TEXT; an error names the option. */
bool pp_define(struct pp *pp, const char *def);
/** A macro of ours (defined() is true for it); no warning when a template defines it again: that is an error. */
void pp_predefine(struct pp *pp, const char *name, const char *text);
/** Processes @f and adds its tokens to pp->out; false when there was an error. */
bool pp_file(struct pp *pp, const struct src_file *f);

#endif
