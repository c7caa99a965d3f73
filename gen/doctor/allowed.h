/**
 * allowed - whether a trace may be run by who runs it, and what is missing: said before bpftrace is
 * started, where that would say it late, in other words, or attach and remain silent.
 *
 * Only what is certain is an error. What was measured stands in bpftrace.sh(8), WITHOUT ROOT.
 */
#ifndef DOCTOR_ALLOWED_H
#define DOCTOR_ALLOWED_H

#include "bind/bind.h"
#include "doctor/privilege.h"

/** May this bpftrace trace anything at all? Else false, after an error. */
bool allowed_to_run(struct arena *a, struct diag *d, const struct privilege *p, unsigned version);
/** Likewise what @b is bound to. @has_pid: bpftrace is given its process, -p. */
bool allowed_to_attach(struct diag *d, const struct privilege *p, const struct bind *b,
		       bool has_pid);
/** Notes what may have kept bpftrace from attaching, in words that are not its own. */
void allowed_note(struct diag *d, const struct privilege *p, const struct bind *b);

#endif
