/**
 * perfmap - names of code that a process made itself, out of /tmp/perf-PID.map.
 *
 * A just-in-time compiler that is asked to (java -XX:+UnlockDiagnosticVMOptions
 * -XX:+DumpPerfMapAtExit or an agent, node
 * --perf-basic-prof) adds a line for each function: address and size in hexadecimal, a name that may have blanks. The PID and
 * the directory are those of the process's own namespaces. Format:
 * tools/perf/Documentation/jit-interface.txt of Linux.
 */
#ifndef VALUE_PERFMAP_H
#define VALUE_PERFMAP_H

#include "base/diag.h"
#include "base/vec.h"
#include "process/proc.h"

struct perfmap_entry {
	uint64_t addr, size;
	struct str name;
};

struct perfmap {
	struct arena
	    names; /**< its own: the process may write the file anew as often as it likes */
	struct diag *diag;
	const struct proc *proc;
	bool is_full;	/**< no more is read until it is written anew */
	bool was_said;	/**< that it is */
	uint64_t done;	/**< bytes of the file that were read */
	char tail[256]; /**< the last n_tail of them: others there are another file */
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
/** The function at @addr that was added last, valid until perfmap_read(); empty when there is none. */
struct str perfmap_find(const struct perfmap *m, uint64_t addr);

#endif
