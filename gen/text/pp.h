/**
 * pp - the C preprocessor for templates.
 *
 * C11 6.10 with GNU's comma elision, without #include_next, computed #include, #line and __VA_OPT__, and with pragmas of btgen. `gcc -E -P` is the
 * oracle for expansions. The result is one list of tokens without directives; each token has its place.
 *
 *	struct pp pp;
 *	pp_init(&pp, &arena, &diag);
 *	pp_add_dir(&pp, "bpf");
 *	pp_define(&pp, "DEBUG=1");
 *	pp_predefine(&pp, "__BPFTRACE__", "17");
 *	if (pp_file(&pp, file)) use(pp.out);
 *
 * What bpftrace itself must read stays: `#pragma pack(...)` is one TOK_DIRECTIVE token at its place in
 * pp->out (its arguments macro-expanded); #include of a C header (a name that ends in .h) is collected in
 * pp->c_lines, with the absolute path when our search finds it, and not expanded. `#pragma option NAME
 * DEFAULT "help"` defines NAME unless pp_define() did, and is listed in pp->options. #if arithmetic also
 * takes bpftrace's 1e6 and 1_000_000. Everything is bounded: files, nesting, tokens made (PP_MAX_*), so
 * that a hostile template ends in an error, not in a full machine.
 *
 * Headers define macros that #if cannot see. A name in #if that is not known counts as undefined, and a
 * line for bpftrace's clang in pp->c_lines makes it an error if that is wrong. So the answer is right or an
 * error, and a guard for a default (`#ifndef N`, `#define N 1`) works. The same goes for names that only a
 * compiler defines (`__NAME`), and for __has_include of C headers.
 */
#pragma once

#include "text/lex.h"

#define PP_MAX_TOKENS 2000000u	 /**< tokens read and made by macros, in a whole run */
#define PP_MAX_BYTES (64u << 20) /**< text read, and text made by # and ## */
#define PP_MAX_INCLUDES 2000u	 /**< files entered */
#define PP_MAX_DEPTH 64u	 /**< nesting of #include */
#define PP_MAX_NESTING 200u	 /**< macro calls in arguments of macro calls */
#define PP_MAX_CONDS 1000u	 /**< nesting of #if in one file */

/** A #pragma that the preprocessor does not know itself, for the later layers. */
struct pp_pragma {
	struct token *tokens; /**< what follows `pragma`, macros not expanded, ends in TOK_EOF */
	struct src_loc loc;
};

/** `#pragma option NAME DEFAULT "help"`: a macro that -D may set. */
struct pp_option {
	struct str name;
	struct str value;   /**< the default, as it is spelled */
	struct str help;    /**< without its quotes */
	struct src_loc loc; /**< of the name */
};

/** A line for bpftrace's clang: #include of a C header, and what goes with it. */
struct pp_c_line {
	struct token *directive; /**< TOK_DIRECTIVE */
	struct token **at;	 /**< its place in pp->out: the link to the token after it */
};

struct pp_level;   /**< a file being read; pp's own */
struct pp_context; /**< a list of tokens being read again; pp's own */

struct pp {
	struct arena *arena;
	struct diag *diag;
	VEC(const char *) dirs; /**< directories for <...>, and for "..." after the file's own */
	struct map macros;	/**< name -> struct macro */
	VEC(struct pp_pragma) pragmas; /**< in order of appearance */
	VEC(struct pp_option) options; /**< those declared, each once, in order of appearance */
	struct map option_names;       /**< name -> 1 + index in `options` */
	VEC(struct pp_c_line) c_lines; /**< in order of appearance */
	unsigned n_c_headers;	       /**< C headers among them */
	/**
	 * What C headers that our search finds define: tags of struct, union and enum; macros and
	 * enumerators, as in constant.h.
	 */
	struct map header_tags, header_names;
	VEC(struct src_file *) files; /**< every file read, for dependency lists, each once */
	struct token *out;   /**< the tokens of everything processed so far, ends in TOK_EOF */
	struct token **tail; /**< where the next token goes */
	unsigned depth;	     /**< nesting of #include */
	unsigned counter;    /**< __COUNTER__ */
	struct map once;     /**< files under #pragma once */

	// The rest is the preprocessor's own state.
	struct pp_level *level;	    /**< innermost file */
	struct pp_context *context; /**< innermost list being read instead of the file */
	struct map loaded;	    /**< path -> struct src_file */
	struct strbuf *lost;	    /**< blanks and comments before removed directives */
	struct map external;	    /**< of bpftrace's clang -> text, "" when not known */
	struct map guessed; /**< what clang was asked to confirm, each once for each header */
	struct map scanned; /**< C headers looked into, by path */
	bool pad;	    /**< a blank before a macro that expanded to nothing is still owed */
	bool vanished;	    /**< a macro expanded to nothing since this was last cleared */
	bool in_args;	    /**< reading the arguments of a macro call */
	bool fatal;	    /**< a limit was passed: everything ends */
	bool failed;	    /**< an error was reported */
	int braces;	    /**< depth of { } in what was put out */
	unsigned nesting;   /**< of macro calls in arguments */
	unsigned n_includes;
	size_t n_tokens, n_bytes; /**< spent of PP_MAX_TOKENS and PP_MAX_BYTES */
};

void pp_init(struct pp *pp, struct arena *a, struct diag *d);
void pp_add_dir(struct pp *pp, const char *dir);
/** As -D of cpp: NAME, NAME=TEXT or NAME(args)=TEXT; an error names the option. */
bool pp_define(struct pp *pp, const char *def);
/** A macro of ours (defined() is true for it); no warning when a template defines it again: that is an error. */
void pp_predefine(struct pp *pp, const char *name, const char *text);
/**
 * A macro of bpftrace's own, which #if knows and the text does not: it is left there. @value is a
 * number, NULL when only bpftrace knows it.
 */
void pp_add_external(struct pp *pp, const char *name, const char *value);
/** Processes @f and adds its tokens to pp->out; false when there was an error. */
bool pp_file(struct pp *pp, const struct src_file *f);
/**
 * To be called after all files: where they declare options, a macro of pp_define() that none of
 * them asked for is a mistyped one, and a warning. Without options anything may be given, as for
 * cpp.
 */
void pp_warn_unused(struct pp *pp);
/** Did any of the files use the macro @name, or ask for it? */
bool pp_is_used(const struct pp *pp, struct str name);
