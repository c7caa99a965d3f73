/**
 * emit - the one place where a program is written.
 *
 * It reads the tree of the template and its facts (n->expr, found.clauses), and makes tokens for
 * text/program.h. Each node is written once: its kind, its facts, what its parent wants of it and the
 * defects of this bpftrace (dialect/dialect.h) decide how. See emit_priv.h. In a program that is run
 * (given->shapes) calls that print become records; a program for bpftrace alone has tables of names.
 *
 *	made.program = &program;
 *	if (emit_program(b)) ...
 */
#pragma once

#include "bind/bind.h"

/**
 * Call after exprtype_find() and targettype_begin(). Fills in b->made: the program, shapes, map_shapes,
 * enum_tables, max_strlen and the like. False after an error.
 */
bool emit_program(const struct bind *b);

// At a function's first instruction: where that is, and where the function returns to.
#ifdef __x86_64__
#define EMIT_PLACE "reg(\"ip\")"
#define EMIT_CALLER "*(uint64 *)reg(\"sp\")"
#else
#define EMIT_PLACE "reg(\"pc\")"
#define EMIT_CALLER "reg(\"r30\")"
#endif
