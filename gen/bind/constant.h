/**
 * constant - enumerators of the target in a template.
 *
 * `arg1 == NVMF_TGT_RUNNING` becomes `arg1 == 4`, `arg2 == ns::color::red` becomes `arg2 == 1`: no bpftrace knows the
 * name, and a number cannot clash with one of the kernel's. Names that bpftrace, the template or a kernel probe's clause
 * gives a meaning are left alone. Where units differ, a clause means what its own probes' units have.
 */
#ifndef BIND_CONSTANT_H
#define BIND_CONSTANT_H

#include "bind/bind.h"

/** Folds the enumerators in all clauses. A word that nobody knows is left for bpftrace to complain about, `a::b` is an error. */
bool constant_fold(struct bind *b);

#endif
