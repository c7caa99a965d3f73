/**
 * emit - the one place where a program is written.
 *
 * The tree of the template and what is known of it (n->expr, found.clauses) are read; what comes out are
 * tokens for text/program.h. Each node is written once, by its kind, by what is known of it, by what
 * its parent wants of it, and by what this bpftrace gets wrong (dialect/dialect.h): see emit_priv.h. For a
 * program that is run (given->shapes) what it prints becomes records; else it is one for bpftrace alone, which
 * has tables of names.
 *
 *	made.program = &program;
 *	if (emit_program(b)) ...
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "bind/bind.h"

/**
 * To be called behind exprtype_find() and targettype_begin(). Fills what b has of the program: its text, shapes,
 * map_shapes, enum_tables, max_strlen and the like. False after an error.
 */
bool emit_program(const struct bind *b);

#endif
