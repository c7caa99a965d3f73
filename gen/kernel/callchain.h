/**
 * callchain - the stacks that the kernel takes at a function's first instruction.
 *
 * There the frame pointer is still the caller's, so that a walk along frame pointers leaves the caller
 * out. Since Linux 6.11, the kernel for x86-64 reads the return address first where the probed
 * instruction is `push %rbp` or, in a kernel that is built with IBT, `endbr64`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * Does the kernel leave out the caller of a function whose code begins with these @n bytes? For the two
 * instructions, a uprobe on a function of our own tells, once. False: it does not, or it cannot be found out.
 */
bool callchain_misses_caller(const void *code, size_t n);
