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
#pragma once

#include "bind/bind.h"

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
/** Takes the next one out of @set, as a sentence lists them; NULL: none remains that matters here. */
const char *privilege_next_name(uint64_t *set);
/** "CAP_BPF, CAP_PERFMON and CAP_KILL", in @a. */
struct str privilege_names(struct arena *a, uint64_t set);

/**
 * May @p open uprobes as perf events, by which the kernel raises semaphores, too? CAP_PERFMON was
 * enough once, newer and mended kernels want CAP_SYS_ADMIN: so this one is asked. True, too, when
 * nothing can be learnt.
 */
bool privilege_may_uprobe(const struct privilege *p);

/**
 * allowed.c: whether the user may run a trace, and what is missing: reported before bpftrace is started,
 * which would report it late, unclearly, or attach and remain silent. Only what is certain is an error. For
 * the measurements see bpftrace.sh(8), WITHOUT ROOT.
 */
/** May this bpftrace trace anything at all? Else false, after an error. */
bool allowed_to_run(struct arena *a, struct diag *d, const struct privilege *p, unsigned version);
/** Likewise what @b is bound to. @has_pid: bpftrace is given its process, -p. */
bool allowed_to_attach(struct diag *d, const struct privilege *p, const struct bind *b,
		       bool has_pid);
/** Notes what may have kept bpftrace from attaching, in words that are not its own. */
void allowed_note(struct diag *d, const struct privilege *p, const struct bind *b);
