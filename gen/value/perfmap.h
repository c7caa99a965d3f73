/**
 * perfmap - names of code that a process made itself, out of /tmp/perf-PID.map.
 *
 * A just-in-time compiler that is asked to (java -XX:+UnlockDiagnosticVMOptions
 * -XX:+DumpPerfMapAtExit or an agent, node
 * --perf-basic-prof) adds a line for each function: address and size in hexadecimal, a name that may have blanks. The PID and
 * the directory are those of the process's own namespaces. Format:
 * tools/perf/Documentation/jit-interface.txt of Linux.
 *
 * Anybody may put a file of that name into /tmp. As perf does it, only root's and those of the process's own user are
 * believed.
 */
#pragma once

#include "process/proc.h"

struct perfmap_entry {
	uint64_t addr, size;
	struct str name;
};

struct perfmap {
	struct arena names; /**< its own: the process may write the file often */
	struct diag *diag;
	const struct proc *proc;
	uid_t user;	  /**< of the process, the last that is known */
	bool is_full;	  /**< no more is read until it is written anew */
	bool was_said;	  /**< that it is */
	bool was_foreign; /**< and that is said */
	uint64_t done;	  /**< bytes of the file that were read */
	char tail[256];	  /**< the last n_tail of them: others there are another file */
	size_t n_tail;
	VEC(struct perfmap_entry) entries;
};

/** @d and @proc must outlive it. Reads nothing yet. */
void perfmap_init(struct perfmap *m, struct diag *d, const struct proc *proc);
void perfmap_fini(struct perfmap *m);
/**
 * Reads what was added to the file, if there is one, or all of one that was written anew. Of
 * more than 64 MiB or 2^20 functions the first ones have names, which is said once.
 */
void perfmap_read(struct perfmap *m);
/**
 * Before bpftrace reads the perf map of process @pid, in its own /tmp or ours: an error, and false, for what it would
 * wait on for ever, such as a FIFO; with @shows_names a warning for one that is not to be believed.
 */
bool perfmap_check(struct arena *a, struct diag *d, int pid, bool shows_names);
/** The function at @addr that was added last, valid until perfmap_read(); empty when there is none. */
struct str perfmap_find(const struct perfmap *m, uint64_t addr);
