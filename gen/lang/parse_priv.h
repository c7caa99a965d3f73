/** What the parts of the parser share: parse.c, parse_statement.c and parse_expression.c. */
#pragma once

#include "lang/parse.h"

/**
 * Parsing and walking recurse. No bpftrace compiles what is nested like that: brackets beyond the
 * first limit are an error, and so is what makes a tree higher than the second (a + b + c ...
 * grows, too).
 */
#define PARSE_MAX_NESTING 500
#define PARSE_MAX_HEIGHT 2000
#define PARSE_MAX_MEMBERS 256 /**< a->b->c ...: each is written with all before it */

struct parser {
	struct arena *arena;
	struct diag *diag;
	struct token *at;	 /**< the next token */
	struct token *prev;	 /**< the one that was taken last */
	unsigned depth;		 /**< of the recursion */
	struct token *failed_at; /**< where a limit was met; NULL: nowhere */
	const char *why;
	bool is_c;	   /**< bpftrace's own words are words like others */
	bool in_predicate; /**< at its top level, where a slash before a { is its end */
};

/** A node that starts at the next token, or where its first child @child does. */
struct node *parse_begin(struct parser *p, enum node_kind kind);
struct node *parse_begin_at(struct parser *p, enum node_kind kind, struct node *child);
/** Adds a child; false when there is none, so that calls can be chained: a part that does not fit fails the whole. */
bool parse_add(struct node *parent, struct node *child);
/** The node ends with the token that was taken last. NULL when the tree would be too high. */
struct node *parse_end(struct parser *p, struct node *n);

bool parse_is(const struct parser *p, const char *z);
/** Takes the next token if it is @z. */
bool parse_accept(struct parser *p, const char *z);
struct token *parse_advance(struct parser *p);
/** One of ( [ { */
bool parse_is_opener(const struct token *t);
/**
 * The bracket that closes the one at @open, or the last token of all: in a body, whose brackets are
 * known to match.
 */
struct token *parse_closing(struct token *open);
bool parse_is_variable(const struct token *t);
/** False when the recursion is too deep; parse_leave() goes with each that returned true. */
bool parse_enter(struct parser *p);
void parse_leave(struct parser *p);

/** Each returns NULL when what is there is none; the tokens up to there are taken then. */
struct node *parse_expression(struct parser *p);
struct node *parse_unary(struct parser *p);
struct node *parse_primary(struct parser *p);
/**
 * A type or typeof(...); after a type must follow one of the characters @terminators. NULL, and nothing
 * consumed, if there is none.
 */
struct node *parse_type_annotation(struct parser *p, const char *terminators);
/** =, += and the like */
bool parse_is_assignment(const struct token *t);
/** if ... else ..., which is an expression, too. */
struct node *parse_if(struct parser *p);
struct node *parse_block(struct parser *p);
