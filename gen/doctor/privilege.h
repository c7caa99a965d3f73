/**
 * privilege - what bpftrace will be allowed to do, and what it lacks to trace.
 *
 * The rights that count are those that bpftrace has once it is executed (capabilities(7)), which are
 * not this process's own: root gets its bounding set; others keep their ambient set, unless the
 * file of bpftrace has capabilities of its own or the bit setuid. Nothing is guessed: where it cannot
 * be known, or where the kernel may or may not insist, nothing is missing.
 *
 *	struct privilege p;
 *	privilege_read(&arena, PROCFS, "/usr/bin/bpftrace", &p);
 *	uint64_t missing = privilege_missing(&p, 27);	// of CAP_BPF, CAP_PERFMON, ...
 */
#ifndef DOCTOR_PRIVILEGE_H
#define DOCTOR_PRIVILEGE_H

#include "base/str.h"

/** Bits of a process's capabilities, of linux/capability.h. */
enum capability {
	CAPABLE_DAC_OVERRIDE = 1,
	CAPABLE_DAC_READ_SEARCH = 2,
	CAPABLE_KILL = 5,
	CAPABLE_IPC_LOCK = 14,
	CAPABLE_SYS_PTRACE = 19,
	CAPABLE_SYS_ADMIN = 21,
	CAPABLE_SYS_RESOURCE = 24,
	CAPABLE_PERFMON = 38,
	CAPABLE_BPF = 39,
};

struct privilege {
	long user;	 /**< that bpftrace will be; -1: not known */
	uint64_t set;	 /**< bits of its capabilities */
	bool is_unknown; /**< it is a script, which may start bpftrace with other rights */
};

/** @bpftrace: the path of the program, or NULL: its file is not looked at. */
void privilege_read(struct arena *a, const char *procfs, const char *bpftrace,
		    struct privilege *ret);
bool privilege_has(const struct privilege *p, enum capability c);
/** Those without which this bpftrace can trace nothing at all. */
uint64_t privilege_missing(const struct privilege *p, unsigned version);
/** All that a user other than root needs for this @version; 0: it wants root. */
uint64_t privilege_needed(unsigned version);
/** "CAP_BPF, CAP_PERFMON and CAP_KILL", in @a. */
struct str privilege_names(struct arena *a, uint64_t set);

/**
 * May @p open uprobes as perf events, by which the kernel raises semaphores, too? CAP_PERFMON was
 * enough once, newer and mended kernels want CAP_SYS_ADMIN: so this one is asked. True, too, when
 * nothing can be learnt.
 */
bool privilege_may_uprobe(const struct privilege *p);

#endif
