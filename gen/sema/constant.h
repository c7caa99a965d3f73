/**
 * constant - enumerators of the target in a template.
 *
 * `arg1 == NVMF_TGT_RUNNING` becomes `arg1 == 4`, `arg2 == ns::color::red` becomes `arg2 == 1`: no
 * bpftrace knows the name, and a number cannot clash with one of the kernel's. Names that bpftrace,
 * the template or a kernel probe's clause gives a meaning are left alone. Where units differ, a
 * clause means what its own probes' units have.
 */
#ifndef SEMA_CONSTANT_H
#define SEMA_CONSTANT_H

#include "bind/bind.h"

/**
 * Is @n, a NODE_NAME in clause @c, one? Then *@ret is its number. *@good is false after an error about
 * one with scopes (ns::ON) that the target does not have.
 */
bool constant_spell(const struct bind *b, const struct attach_clause *c, const struct node *n,
		    struct str *ret, bool *is_negative, bool *good);

#endif
