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
 *	struct codename *c = codename_open(&arena, &diag, proc);
 *	struct str name = codename_find(c, 0x55d0c0001234);	// "main", "ns::f(int)"; empty: none has it
 *	codename_close(c);
 */
#pragma once

#include "process/proc.h"

struct codename;

/** Opens the files of @proc, which must outlive it as @d must. Never fails: what cannot be read has no names. */
struct codename *codename_open(struct arena *a, struct diag *d, struct proc *proc);
/** The function at @addr as C++ writes it, valid until the next call; empty when there is none. */
struct str codename_find(struct codename *c, uint64_t addr);
/**
 * The same, followed by its place if other functions have that name, as static ones may: "stop
 * (ctrlr.c:2345)", or the address without debug information, "stop (0x55d0c0001234)".
 */
struct str codename_find_distinct(struct codename *c, uint64_t addr);
/**
 * Adds what has @addr inside of it, a variable mostly: "log_lock", "pool+16", and where several
 * have the name, "lock (0x55d0c0001238)". False: nothing that a file of the process has there now,
 * as on the heap.
 */
bool codename_add_variable(struct codename *c, uint64_t addr, struct strbuf *out);
/**
 * Is @addr the first instruction of a function whose caller the kernel leaves out of stacks there? See
 * kernel/callchain.h.
 */
bool codename_misses_caller(struct codename *c, uint64_t addr);
/** Adds a frame of a stack, at @addr or, of a caller, returning to it: "main+21", or the address. */
void codename_add_frame(struct codename *c, uint64_t addr, bool is_caller, struct strbuf *out);
/** What a file of the process has at an address that is no code. */
enum codename_text {
	CODENAME_NOTHING,  /**< not known, or an empty string */
	CODENAME_LITERAL,  /**< a string that the program cannot change */
	CODENAME_VARIABLE, /**< a string of a variable, which may have another one now */
};
/** Of up to @most bytes; @ret gets the literal. */
enum codename_text codename_find_text(struct codename *c, uint64_t addr, size_t most,
				      struct strbuf *ret);
/** NULL is fine. */
void codename_close(struct codename *c);
