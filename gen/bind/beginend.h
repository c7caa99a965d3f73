/**
 * beginend - BEGIN and END, gathered in one clause each.
 *
 * bpftrace before 0.25 takes one BEGIN and one END in a program; several templates in a run, and
 * the tables that btgen adds, make more. Their bodies are put into the first one, each in a block
 * of its own, with variables of its own.
 */
#ifndef BIND_BEGINEND_H
#define BIND_BEGINEND_H

#include "bind/bind.h"

/**
 * Makes one clause of all BEGIN, or all END (@when), if this bpftrace needs that.
 * False, with an error, when one of them ends early and would take the others with it.
 */
bool beginend_merge(struct bind *b, enum provider_when when);
/** Puts statements at the start of the BEGIN clause, which is made when there is none. */
void beginend_add_begin(struct bind *b, struct str statements);
/**
 * Puts statements at the end of the END clause, which is made when there is none; at its start when
 * it may end early. Only for statements that bpftrace does after the clause anyhow, as clear().
 */
void beginend_add_end(struct bind *b, struct str statements);

#endif
