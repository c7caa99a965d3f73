/**
 * breakpoint - where the uprobes of another process are, and whether the kernel has to single-step there.
 *
 * A uprobe replaces an instruction by a breakpoint. Instructions that the kernel emulates (on x86-64 its
 * own nops, push, jumps and calls, measured on Linux 6.18) take half a microsecond. Any other instruction
 * runs out of line, followed by a second exception: 10 us in a virtual machine. A USDT probe is a nop; a
 * function begins with anything.
 */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/** A breakpoint that starts the BPF program with this number. */
struct breakpoint {
	uint32_t program;
	bool is_return;	  /**< it runs when the function returns */
	struct str place; /**< file and offset */
	double stepped;	  /**< 1, or 0 where it is not; 0.5 where the file does not say */
};
typedef VEC(struct breakpoint) breakpoints;

/** Adds those of the process @pid, as far as the kernel and the files let us see them. */
void breakpoint_read(struct arena *a, pid_t pid, breakpoints *ret);
