/**
 * codename - which function of a process an address is in.
 *
 * bpftrace looks a name up when it prints the line, in a process that may just be ending: what is
 * still to be printed then has numbers for names, and 0.17 may end with an exception. Here the
 * files of the process are opened when the trace starts, and names come out of them for as long as
 * there are lines to print.
 *
 * Of code that is in no file, /tmp/perf-PID.map has the names. What the process loads later is
 * found when an address is in no file that is known, or after a second. What was unloaded keeps its
 * names until something else is at its place.
 *
 *	struct codename *c = codename_open(&arena, proc);
 *	struct str name = codename_find(c, 0x55d0c0001234);	// "main", "ns::f(int)"; empty: none has it
 *	codename_close(c);
 */
#ifndef MARKS_CODENAME_H
#define MARKS_CODENAME_H

#include "elf/img.h"
#include "target/proc.h"

struct codename;

/**
 * Opens the files of @proc, which must outlive it. Never fails: what cannot be read has no names.
 */
struct codename *codename_open(struct arena *a, struct proc *proc);
/**
 * The function at @addr as C++ writes it, valid until codename_close(); empty when there is none.
 */
struct str codename_find(struct codename *c, uint64_t addr);
/**
 * The same, with its place behind it where other functions have that name, as static ones may:
 * "stop (ctrlr.c:2345)", or the address without debug information, "stop (0x55d0c0001234)".
 */
struct str codename_find_distinct(struct codename *c, uint64_t addr);
/** NULL is fine. */
void codename_close(struct codename *c);

#endif
