/**
 * pp_priv - what the files of the preprocessor share.
 *
 * Tokens flow like this: a struct lexer cuts the innermost file (pp->level); pp_directive()
 * swallows directives; contexts, a stack of lists (replacement lists, arguments, tokens put back),
 * come before the file; pp_next_raw() reads from the top of all that, pp_next() also expands
 * macros. As in gcc a macro is off while its replacement list is on the stack, and a name that
 * meets its own macro switched off is marked for good.
 *
 * A list is linked by `next` and ends in NULL; every token in it belongs to that list alone.
 */
#pragma once

#include "text/pp.h"

enum macro_kind {
	MACRO_OBJECT,
	MACRO_FUNCTION,
	// Those whose text depends on where they stand:
	MACRO_FILE,
	MACRO_LINE,
	MACRO_COUNTER,
};

struct macro {
	struct str name;
	enum macro_kind kind;
	struct src_loc loc; /**< of its name; in no file when btgen made it */
	bool predefined;    /**< ours: may not be defined again */
	bool given;	    /**< on the command line: stronger than an option's default */
	bool in_program;    /**< bpftrace's clang has been given it, for a C header */
	bool used;	    /**< something asked for it: -D of a mistyped name is noticed so */
	bool off;	    /**< its replacement list is being read */
	bool variadic;	    /**< the last parameter takes the rest */
	bool named_rest;    /**< `args...` */
	unsigned n_params;
	struct str *params;
	size_t n_body;
	struct token *body; /**< replacement list, an array */
	int *param;	    /**< for each of its tokens the parameter's index, or -1 */
};

struct pp_cond {
	struct pp_cond *outer;
	struct src_loc loc;	/**< of the #if */
	struct src_loc else_at; /**< of its #else */
	bool taken;		/**< a group of it has been processed */
	bool seen_else;
};

struct pp_level {
	struct pp_level *outer;
	const struct src_file *file;
	struct src_loc included; /**< the #include; in no file for the outermost */
	struct lexer lex;
	struct pp_cond *conds;
	unsigned n_conds;
	bool at_end;
};

struct pp_context {
	struct pp_context *outer;
	struct token *next;  /**< NULL: read to its end */
	struct macro *macro; /**< on again when this list has been read; or NULL */
	struct token *call;  /**< the macro's name where it was called */
	bool pad;	     /**< what is read after it gets a blank */
	bool barrier;	     /**< reading ends here: an argument or a directive's line by itself */
};

/** Empty as {0}. */
struct toklist {
	struct token *head, *last;
	bool pad;  /**< the next token added gets a blank */
	bool lead; /**< something empty came before the first token */
};

// pp.c
/** Adds a token to the program, with the blanks and comments before directives since the last one. */
void pp_emit(struct pp *pp, struct token *t);
void list_add(struct toklist *l, struct token *t);
void list_join(struct toklist *l, struct toklist *more);
struct token *pp_copy(struct pp *pp, const struct token *t);
/** Counts a token made; false, once with an error, when there were too many. */
bool pp_spend(struct pp *pp);
bool pp_spend_bytes(struct pp *pp, size_t n);
/** Errors and warnings at @t, with the macro calls and #includes that led there as notes. They are false. */
#define pp_error(pp, t, ...) (diag_error((pp)->diag, pp_at(t), __VA_ARGS__), pp_fail(pp))
#define pp_warning(pp, t, ...) (diag_warning((pp)->diag, pp_at(t), __VA_ARGS__), pp_notes(pp))
/** As tok_at(), but without the macro call, which is among the notes. */
#define pp_at(t) diag_at(src_place((t)->loc, (t)->text.n))
/** What follows a warning, and an error; false. */
bool pp_notes(struct pp *pp);
bool pp_fail(struct pp *pp);
/** The next token of the innermost file, as it is. */
void pp_lex(struct pp *pp, struct token *ret);
/** The rest of the directive's line as a list. */
struct token *pp_line(struct pp *pp);
/** The tokens of @line with macros expanded, up to a TOK_EOF. */
struct token *pp_expanded_line(struct pp *pp, struct token *line);
/** Warns about what is left on a directive's line. */
void pp_no_more(struct pp *pp, const struct token *t, const char *directive);
/** Reads @f in the place of the #include @at. */
void pp_enter_file(struct pp *pp, const struct src_file *f, struct src_loc at);

// pp_expand.c
struct token *pp_next_raw(struct pp *pp);
struct token *pp_next(struct pp *pp);
/** Reads only @list until pp_end_list(): for arguments and directives. */
void pp_begin_list(struct pp *pp, struct token *list);
void pp_end_list(struct pp *pp);

// pp_subst.c
struct arg {
	struct token *raw;	 /**< unchanged, as in the call */
	struct toklist expanded; /**< after macro expansion, made when first asked for */
	bool is_expanded;
	bool omitted; /**< not there, not even empty: `, ##` takes the comma away */
};
/** The replacement list of @m for @args, to be read again, into the empty *@ret. */
void pp_substitute(struct pp *pp, struct macro *m, struct arg *args, const struct token *call,
		   struct toklist *ret);

// pp_macro.c
void pp_define_line(struct pp *pp, struct token *line, bool predefined);
/** Defines the macro of an option, unless the command line did; @value ends in TOK_EOF. */
void pp_define_option(struct pp *pp, const struct token *name, struct token *value);
void pp_undef_line(struct pp *pp, struct token *line);
void pp_add_builtins(struct pp *pp);
/** The token that replaces a macro like __LINE__ at @call. */
struct token *pp_builtin(struct pp *pp, const struct macro *m, const struct token *call);

/** Text of a list, blanks where tokens had any before them. */
struct str pp_spell(struct pp *pp, const struct token *list);

// pp_dir.c
/** Handles the directive that @hash opens in the innermost file, with what it includes or skips. */
void pp_directive(struct pp *pp, const struct token *hash);

// pp_cond.c
/** True when @name is a conditional, which is then handled. */
bool pp_conditional(struct pp *pp, const struct token *name);

// pp_include.c
void pp_include(struct pp *pp, const struct token *name);
/** The number 0 or 1 for __has_include, whose name is @name; its operand is taken from the list being read. */
struct token *pp_has_include(struct pp *pp, const struct token *name);
/** 1 or 0, in place of @at. */
struct token *pp_truth(struct pp *pp, const struct token *at, bool yes);

// pp_c.c
/** Adds a line for bpftrace's clang, the text of which is the format's; errors in it are reported at @at. */
void pp_c_line(struct pp *pp, const struct token *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** To be called before the #include of a C header at @include: it may ask for the template's macros. */
void pp_c_macros(struct pp *pp, const struct token *include);
/**
 * A macro that we do not know was taken for undefined: has clang confirm that, where a C header or
 * the compiler could have it.
 */
void pp_c_confirm_undefined(struct pp *pp, const struct token *name);
/** The same for what __has_include(@name) was taken to be. */
void pp_c_confirm_header(struct pp *pp, const struct token *at, struct str name, bool angled,
			 bool is_there);
/** Collects what the C header @path and those that it includes define; @depth: in so many others. */
void pp_c_scan(struct pp *pp, const char *path, unsigned depth);

// pp_include.c
/**
 * The path of @name as a file in the directory of @from (NULL: not there) or in those of <...> has it;
 * NULL when none has.
 */
const char *pp_find_header(struct pp *pp, struct str name, const struct src_file *from);

// pp_pragma.c
void pp_pragma(struct pp *pp, const struct token *hash, const struct token *name);

// pp_include.c
/** Identifies a file, whatever its path: for #pragma once. */
struct str pp_file_id(struct pp *pp, const struct src_file *f);
