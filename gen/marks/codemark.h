/**
 * codemark - addresses of functions that a program prints with marks around them, turned into
 * names.
 *
 * names/codecall.h writes a mark where a script says printf("%s", usym(...)): START, the
 * conversion's flags, width and precision as they stand between % and s, ':', the address in
 * hexadecimal, '>'. Where a map has the key usym(...), the program has two keys, KEY and the
 * address, and bpftrace prints @map[KEY, 94729069973817]. START and KEY hold numbers that are
 * chosen at random for each run, so that no string of a traced program can contain one. Control
 * bytes in a name come out as \xNN, as symbol tables and perf maps are written by strangers.
 * Everything else is passed on.
 */
#ifndef MARKS_CODEMARK_H
#define MARKS_CODEMARK_H

#include "marks/codename.h"

struct codemark {
	char start[24], key[24]; /**< made by codemark_init(); the second is a negative number */
	struct codename *names;	 /**< of the process; may be set after codemark_init() */
	struct strbuf pending;	 /**< what may turn out to be a mark */
};

/** Chooses START and KEY. */
void codemark_init(struct codemark *m);
void codemark_fini(struct codemark *m);
/** Takes bytes of the program's output and adds what is complete to @out. */
void codemark_take(struct codemark *m, struct str bytes, struct strbuf *out);
/** Nothing more comes: what is left is passed on as it is. */
void codemark_end(struct codemark *m, struct strbuf *out);

#endif
