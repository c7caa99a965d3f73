/**
 * printcall - printf(), print() and time() of a program that is run: they print records.
 *
 * Each becomes a printf() of raw values in the form of record/shape.h, and its shape tells what
 * makes text or JSON of them: conversions, names of enumerators and functions, where values stand.
 *
 *	printf("%s %d\n", enum_name(state, args.s), pid);
 *	@fired_9f3c[4] = count(); printf("@9f3c<4,%ld,%ld>\n", args.s, pid);
 *
 * What cannot be known here (a format that is no literal, a number of values that does not fit, a
 * body of a macro) is left as it is, and printed by bpftrace.
 */
#ifndef NAMES_PRINTCALL_H
#define NAMES_PRINTCALL_H

#include "bind/bind.h"

/**
 * Fills b->shapes; does nothing without one. Behind exprtype_find(), and before expressions are
 * lowered. Sets b->names_code when functions are to be named.
 */
void printcall_rewrite(struct bind *b);
/** Adds what the counts of records need: to be called when the clauses are final. */
void printcall_begin(struct bind *b);

#endif
