/**
 * check - complaints about a template that can be made before anything is attached.
 *
 * While the clauses are bound each is checked by itself (check_clause_*); once the type of each expression
 * is known, the script as a whole (check_script). Each finding has a name (names.c) and goes to b->diag by
 * diag_finding(). An error is a name that does not exist, a program that would certainly print something
 * else than the script means, or a script that bpftrace refuses late, unclearly or with a signal; a warning
 * is a likely mistake, or one known from inferred or listed types only. No finding where facts are missing,
 * nor where every bpftrace refuses the script at the right place: an unknown name or variable, a value of
 * the wrong kind for a function, map or operator (tests/live/refused.t).
 */
#pragma once

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
/** No more probes than this bpftrace can attach to, which it would find out after half a minute. */
bool check_number(const struct bind *b);
/**
 * Warns of probes that cannot fire in this process: code that it has moved, semaphores that nothing
 * can raise, files that it has not mapped. False when the user has made that an error.
 */
bool check_reach(const struct bind *b);
/**
 * Warns of probes of interpreters that fire only if the process was started with an option, or has set it
 * itself, unless the process shows it. False if the user has made that an error.
 */
bool check_switches(const struct bind *b);
/**
 * The script has no word and no syntax that came with a newer bpftrace, or that this one has no
 * more; each is an error, once.
 */
bool check_words(const struct bind *b);

/** Checks that need types, or all of the script. Call after exprtype_find(). False after an error. */
bool check_script(const struct bind *b);
/**
 * Warns of the longest char array that is read if this bpftrace cannot hold all of it. Call after
 * strings_limit().
 */
bool check_strings(const struct bind *b);
/** Does @c distinguish processes, by a test or by printing the process? */
bool check_tells_processes(const struct script_clause *c);

/** What findings are called: -W NAME, and docs/checks.md. */
struct check_name {
	const char *name;
	const char *summary; /**< what it finds, half a line */
};

/** All of them, in alphabetical order. */
extern const struct check_name check_names[];
extern const size_t n_check_names;

/** NULL: no finding is called so. */
const struct check_name *check_name_find(struct str name);
/** The name that is most like @wanted, or NULL. */
const char *check_name_near(struct str wanted);
