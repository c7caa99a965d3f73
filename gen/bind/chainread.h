/**
 * chainread - how the value at the end of a chain must be read so that every bpftrace reads it right.
 *
 *  - a char array is read as a string of its own length by address: `str((uint64)(base) + 24, 224)`;
 *  - a narrow signed member is sign-extended; a signed bitfield, too;
 *  - what lies behind an index that is not a constant, in a further dimension or in a flexible array is read by address; a
 *    bitfield there is shifted and masked.
 */
#ifndef BIND_CHAINREAD_H
#define BIND_CHAINREAD_H

#include "bind/chain.h"

/**
 * What the chain must become, or an empty text when bpftrace reads it right. @function and @paren are the two tokens
 * before it: str() and its kin want other things than the rest.
 */
struct str chain_read(struct bind *b, const struct chain *c, const struct token *function,
		      const struct token *paren);

#endif
