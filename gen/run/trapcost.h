/** trapcost - what a breakpoint of this kernel takes on this machine. */
#ifndef RUN_TRAPCOST_H
#define RUN_TRAPCOST_H

/**
 * ns that a uprobe takes a hit, without the program that it starts: measured on a function of btgen's
 * own, in a quarter of a second. A usual value if this process may not.
 */
double trapcost_measure(void);

#endif
