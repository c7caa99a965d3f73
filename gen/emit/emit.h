/**
 * emit - the one place where a program is written.
 *
 * The tree of the template and what is known of it (n->expr, found.clauses) are read; what comes out is a
 * list of tokens for text/program.h. Each node is written once, by its kind, by what is known of it, by what
 * its parent wants of it, and by what this bpftrace gets wrong (dialect/dialect.h): see emit_priv.h. For a
 * program that is run (given->shapes) what it prints becomes records; else it is one for bpftrace alone, which
 * has tables of names.
 *
 *	struct token *tokens;
 *	if (emit_program(b, &tokens))
 *		emit_tokens(&arena, tokens, file, &program);
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "bind/bind.h"

/**
 * To be called behind exprtype_find() and targettype_begin(). Fills what b has of the program: shapes,
 * map_shapes, enum_tables, max_strlen and the like. False after an error.
 */
bool emit_program(const struct bind *b, struct token **ret);

#endif
