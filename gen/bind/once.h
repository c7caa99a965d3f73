/**
 * once - BEGIN and END: what runs once, gathered in one clause each.
 *
 * bpftrace before 0.25 takes one BEGIN and one END in a program; several templates in a run, and the tables that
 * btgen adds, make more. Their bodies are put into the first one, each in a block of its own so that their
 * variables stay apart.
 */
#ifndef BIND_ONCE_H
#define BIND_ONCE_H

#include "bind/bind.h"

/**
 * Makes one clause of all that are called @kind ("BEGIN", "END"), if this bpftrace needs that. False, with an error, when
 * one of them ends early and would take the others with it.
 */
bool once_merge(struct bind *b, struct token **list, const char *kind);
/** Puts statements at the start of the BEGIN clause, which is made when there is none. */
void once_add_begin(struct bind *b, struct token **list, struct str statements);
/**
 * Puts statements at the end of the END clause, which is made when there is none; at its start when it may end early.
 * Only for statements that bpftrace does after the clause anyhow, as clear().
 */
void once_add_end(struct bind *b, struct token **list, struct str statements);

#endif
