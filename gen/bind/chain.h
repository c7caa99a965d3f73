/**
 * chain - chains of members, indices and casts, with the type of each step.
 *
 * `((struct foo *)arg1)->a.b[$i]->name`: what is known about it is where it stands, the type of its value, and how to get
 * at that by address, which is how btgen reads what some bpftrace cannot (chainread.h). The types come from casts, and from
 * variables and maps that were assigned such values; of a chain that starts with anything else nothing is known.
 *
 *	struct chain c;
 *	if (chain_parse(&parser, token, &c) && c.is_place)
 *		text = chain_address(&arena, &c);	// "(uint64)(arg1) + 24 + (uint64)($i) * 8"
 */
#ifndef BIND_CHAIN_H
#define BIND_CHAIN_H

#include "bind/bind.h"

struct chain {
	struct token *first, *last;
	unsigned n_members; /**< steps to a member so far */
	struct ctype *type; /**< NULL: not known */
	bool is_value;	    /**< a member of a struct that bpftrace holds as a value */
	bool is_place;	    /**< something in memory: the rest holds */
	struct str base;    /**< text of a pointer to the aggregate that the last steps are in */
	struct str offset;  /**< text that is added to it: "24" or "24 + (uint64)($i) * 8" */
	bool by_address;    /**< bpftrace cannot follow the last steps: read it by address */
	unsigned bit_size;  /**< of a bitfield, else 0 */
	unsigned bit_shift; /**< where it begins in what stands at the address */
	unsigned bit_bytes; /**< how much of that is to be read: 1, 2, 4 or 8; 0: byte by byte */
};

struct chain_parser {
	struct bind *b;
	struct map own;	      /**< tags that the template defines: bpftrace's own business */
	struct map maps;      /**< map -> struct ctype of what was assigned to it */
	struct map variables; /**< the same for the variables of the clause */
	bool good;	      /**< false after an error */
	unsigned depth;
	/** Expressions in brackets become part of a chain's text: these make them right first. */
	void (*settle)(struct chain_parser *parser, struct token *open, const struct token *end);
	void (*settle_operand)(struct chain_parser *parser, struct chain *operand);
};

/** Reads the chain that starts at @t; false when none does. An error is said for a member that a struct does not have. */
bool chain_parse(struct chain_parser *parser, struct token *t, struct chain *ret);
struct str chain_text(struct arena *a, const struct chain *c);
/** Of a chain that is a place. */
struct str chain_address(struct arena *a, const struct chain *c);
/** What a pointer of type @t leads to; NULL when @t is none. */
struct ctype *chain_pointee(struct ctype *t);
/** The bracket that closes @open; NULL when none does. */
struct token *chain_closing(struct token *open, const char *o, const char *c);

#endif
