/**
 * perfmap - names of code that a process made itself, out of /tmp/perf-PID.map.
 *
 * A just-in-time compiler that is asked to (java -XX:+UnlockDiagnosticVMOptions
 * -XX:+DumpPerfMapAtExit or an agent, node
 * --perf-basic-prof) adds a line for each function: address and size in hexadecimal, a name that may have blanks. The PID and
 * the folder are those of the process's own namespaces. Format:
 * tools/perf/Documentation/jit-interface.txt of Linux.
 */
#ifndef VALUE_PERFMAP_H
#define VALUE_PERFMAP_H

#include "base/vec.h"
#include "target/proc.h"

struct perfmap_entry {
	uint64_t addr, size;
	struct str name;
};

struct perfmap {
	struct arena *arena;
	const struct proc *proc;
	uint64_t done; /**< bytes of the file that were read */
	VEC(struct perfmap_entry) entries;
};

/** @proc must outlive it. Reads nothing yet. */
void perfmap_init(struct perfmap *m, struct arena *a, const struct proc *proc);
/** Reads what was added to the file, if there is one; without a message. */
void perfmap_read(struct perfmap *m);
/** The function at @addr that was added last; empty when there is none. */
struct str perfmap_find(const struct perfmap *m, uint64_t addr);

#endif
