/**
 * lower - what this bpftrace reads wrong, or not at all, becomes what it reads right.
 *
 * A table of rules over the tree, each for one thing that some version gets wrong (measured;
 * out/dialect.h has those that differ). They change the nodes of an expression, its parts before
 * the whole:
 *
 *	char array		str(ADDRESS, N), or ADDRESS, N within str()
 *	signed and narrow	(int64)(int32)x
 *	signed bitfield		((x ^ SIGN) - SIGN)
 *	variable index		*(uint32 *)(ADDRESS), and a struct behind it by its address
 *	c ? p : q		of pointers: (struct x *)(c ? (uint64)p : (uint64)q)
 *	x / y, x % y, x >> y	of what may be negative: see lower/division.h
 *	p.m			p->m
 *	sizeof(x)		a number
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "bind/bind.h"

/** To be called behind exprtype_find(). False after an error. */
bool lower_program(struct bind *b);

#endif
