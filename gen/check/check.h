/**
 * check - complaints about a template that can be made before anything is attached.
 *
 * While the clauses are bound each is looked at by itself (check_clause_*); when all are, and the
 * type of each expression is known, the script as a whole (check_script). Each finding has a name
 * (names.h) and goes to b->diag by diag_finding(). An error is what is not there, what would certainly
 * print something else than the script says, or what bpftrace refuses late, in unclear words or with a
 * signal; a warning is what may be meant, or what is known from inferred or listed types only. Of what
 * is not known nothing is said, nor of what every bpftrace refuses at its place: a name or variable
 * that is not there, a value of another kind than a function, a map or an operator takes
 * (tests/live/refused.t).
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "bind/bind.h"

/**
 * Every argN that clause @c reads exists at every site of its probes and can be read by this
 * bpftrace; every operand is one that this bpftrace can attach to. Otherwise an error at the
 * argument: newer versions would read 0 in silence.
 */
bool check_arguments(const struct bind *b, const struct attach_clause *c);
/**
 * No macro that a clause of a usdt probe calls, or that such a macro calls, reads argN: newer
 * versions would read what lies anywhere (measured with 0.27; of a function's clause they read it
 * right). Otherwise an error at the argument.
 */
bool check_macros(const struct bind *b);
/**
 * No more probes than this bpftrace can attach to, which it would find out after half a minute.
 */
bool check_number(const struct bind *b);
/**
 * Warns of probes that cannot fire in this process: code that it has moved, semaphores that nothing
 * can raise, files that it has not mapped. False when the user has made that an error.
 */
bool check_reach(const struct bind *b);
/**
 * Warns of probes of interpreters that fire only when the process was started so, or has told
 * itself, unless it is seen that it was. False when the user has made that an error.
 */
bool check_switches(const struct bind *b);
/**
 * The script has no word and no syntax that came with a newer bpftrace, or that this one has no
 * more; each is an error, once.
 */
bool check_words(const struct bind *b);

/**
 * Everything that needs types, or all of the script. To be called behind exprtype_find(), before a
 * node is changed. False after an error.
 */
bool check_script(const struct bind *b);
/**
 * Warns of the longest char array that is read, if this bpftrace cannot hold all of it: behind
 * strings_limit().
 */
bool check_strings(const struct bind *b);
/** Does @c have what tells processes apart: a test, or what it shows of the process? */
bool check_tells_processes(const struct script_clause *c);

#endif
