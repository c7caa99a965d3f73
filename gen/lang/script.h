/**
 * script - the structure of a preprocessed template: definitions and clauses.
 *
 * A bpftrace program is a list of C definitions, then clauses: attach points, an optional
 * /predicate/ and a { body }. This lists their nodes, and what the later layers ask about them:
 * what a clause is attached to, the arguments that it uses, the macros by name.
 *
 *	struct script s;
 *	if (script_parse(&arena, &diag, pp.out, &s))
 *		for (size_t i = 0; i < s.clauses.n; i++) use(s.clauses.v[i]);
 */
#pragma once

#include "lang/tree.h"
#include "lang/vocabulary.h"

/** One attach point, e.g. usdt:__EXE__:spdk:nvmf_tgt_state, or BEGIN. */
struct script_attach {
	struct node *node;		 /**< NODE_ATTACH */
	struct str kind;		 /**< "usdt", "uprobe", "BEGIN" ... as written */
	const struct provider *provider; /**< what that is */
	/**
	 * The texts between the colons after the kind, blanks trimmed, quotes of a quoted field removed.
	 * The @ of `PATH@FILE:LINE` is one of these colons.
	 */
	VEC(struct str) fields;
	/** "$2": the last positional parameter outside of quotes that has no value; or empty. */
	struct str missing;
	unsigned n_missing; /**< how many have none */
	/** For bind/: the attach points that take its place, where those are several. */
	VEC(struct str) bound;
	/** For bind/: so many functions, at whose entries and nowhere else it fires; 0: it is not known. */
	unsigned n_entries;
	/** For bind/: the script can do without it, and the target has no such probe or .. */
	bool absent;
	bool unattachable; /**< .. this bpftrace cannot attach to it */
};

/** argN */
struct script_arg {
	struct token *token;
	unsigned n;
};

struct script_clause {
	struct node *node; /**< NODE_CLAUSE, NODE_FUNCTION or NODE_MACRO */
	/** None in `fn` and `macro`, nor in a clause that starts with its body, which is for bpftrace to refuse. */
	VEC(struct script_attach) attach;
	VEC(struct script_arg) args; /**< in predicate and body */
	/** args.NAME or args->NAME; in args.3 the name is the number `.3`, which C cuts as one token. */
	VEC(struct node *) named_args;
	VEC(struct node *) named_vars; /**< vars.NAME */
};

/** Those of one name: they differ in their parameters. */
struct script_macros {
	VEC(struct node *) nodes;
};

struct script {
	struct node *program;
	VEC(struct node *) definitions;	     /**< NODE_DEFINITION */
	VEC(struct script_clause *) clauses; /**< others point to them: they stay where they are */
	struct map macros;		     /**< name -> struct script_macros */
	struct map functions;		     /**< the names of those, and of functions */
	bool has_import;
	struct token *after_c; /**< the first token that is not C */
};

/**
 * Parses @tokens (pp->out) and finds their parts. False, with an error, where parse_program() has
 * one. Directives (#pragma pack) stay where they are in the list and belong to no node of their
 * own.
 */
bool script_parse(struct arena *a, struct diag *d, struct token *tokens, struct script *ret);

/** Does @c wait for any event? What the trace itself does, at its ends and as time passes, is none. */
bool script_has_event(const struct script_clause *c);

/** Its kind and fields anew, with the values of $1, $2 ... (ends in NULL; or NULL: none is known). */
void script_split_attach(struct arena *a, struct script_attach *at, char *const *values);

/** What follows the file of @at, colons and all: a function, with its scopes, or FILE:LINE. */
struct str script_attach_name(struct arena *a, const struct script_attach *at);

/** The tag of a definition, empty when it has none. */
struct str script_tag(const struct node *definition);

/**
 * The macro of the script that @n, a NODE_CALL or NODE_NAME, calls: the first one whose parameters fit, as
 * bpftrace 0.27 chooses (measured). Without parameters it may be called without brackets. NULL: none.
 */
struct node *script_macro(const struct script *s, const struct node *n);
/** Is there a function or macro @name of the script's own, or an import that may have it? */
bool script_has_function(const struct script *s, struct str name);
/** Is the word or map @n, in the body of @macro, a parameter of it? Of NULL it is none. */
bool script_is_parameter(const struct node *macro, const struct node *n);

/** The NODE_PREDICATE of @c, or NULL. */
struct node *script_predicate(const struct script_clause *c);

/** @text, an attach point as it is printed, with the long name of its kind, trimmed: tracepoint:a:b of t:a:b. */
struct str script_long_form(struct arena *a, const struct script_attach *at, struct str text);
