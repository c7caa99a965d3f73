/** trapcost - what a breakpoint of this kernel takes on this machine. */
#ifndef KERNEL_TRAPCOST_H
#define KERNEL_TRAPCOST_H

#include <stdbool.h>
#include <sys/types.h>

/** ns a hit: the mean of one in a loop and one after other work. */
struct trapcost_ns {
	double emulated, stepped; /**< by the instruction, kernel/breakpoint.h */
};

struct trapcost {
	pid_t child; /**< who measures it, or 0 */
	int result;  /**< a pipe from there */
};

/**
 * Begins to measure, in a process of its own, on functions of btgen's. It takes half a second,
 * most of which the kernel waits.
 */
void trapcost_begin(struct trapcost *t);
/**
 * What a uprobe takes a hit, without the program that it starts: as measured, or usual values and false as long as that
 * is not done. Where it may not be, usual values and true.
 */
bool trapcost_read(struct trapcost *t, struct trapcost_ns *ret);
/** Ends the process, if it is still there. */
void trapcost_end(struct trapcost *t);

#endif
