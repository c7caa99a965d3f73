/**
 * skeleton_calls - the script of `bpftrace.sh --calls`: a record of each entry and return of some functions,
 * with what places it in its thread's stack. record/calltree.h makes the tree of them.
 */
#ifndef TEMPLATE_SKELETON_CALLS_H
#define TEMPLATE_SKELETON_CALLS_H

#include "template/skeleton.h"

/**
 * May each function of @sk have a return probe? It replaces the return address: an exception that is to
 * pass ends the program, and Go's runtime crashes. False: reported as an error.
 */
bool skeleton_calls_are_safe(const struct skeleton *sk);
/**
 * Adds two shapes for each function, its entry's and its return's, and writes a template that prints
 * such records. @has_args: with arguments and results.
 */
void skeleton_write_calls(struct skeleton *sk, bool has_args, struct shapes *ret, struct code *out);
/** The same as a template to be read and edited: a line for each entry and return. */
void skeleton_write_calls_template(struct skeleton *sk, struct code *out);

#endif
