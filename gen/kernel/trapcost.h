/** trapcost - what a breakpoint of this kernel takes on this machine. */
#ifndef KERNEL_TRAPCOST_H
#define KERNEL_TRAPCOST_H

#include <sys/types.h>

struct trapcost {
	pid_t child; /**< who measures it, or 0 */
	int result;  /**< a pipe from there */
};

/**
 * Begins to measure, in a process of its own, on a function of btgen's. It takes a quarter of a second,
 * most of which the kernel waits.
 */
void trapcost_begin(struct trapcost *t);
/**
 * ns that a uprobe takes a hit, without the program that it starts: as measured, or a usual value if that is not
 * done or may not be. Ends the process.
 */
double trapcost_end(struct trapcost *t);

#endif
