/**
 * skipped - the probes that were asked for and are not traced: the one account of them.
 *
 * A pattern takes what this bpftrace can attach to; what it cannot, or has no room for, counts as lost
 * events do: one message, also with -q, a member of the capture, and a status with --strict.
 *
 *	skipped_match(&s, a, probe);			// each probe that a pattern or a name means
 *	skipped_add(&s, a, probe, why);			// and is not traced, for such a reason
 *	skipped_report(&s, a, diag, "bpftrace 0.27");
 */
#pragma once

#include "usdt/sdt.h"

struct skipped_probe {
	const struct sdt_probe *probe;
	struct str why; /**< why bpftrace cannot attach to it; empty: it is one too many */
};

struct skipped {
	struct map matched, seen; /**< probes, by their addresses */
	VEC(struct skipped_probe) list;
	unsigned most;	     /**< that bpftrace attaches to at once */
	const char *instead; /**< a bpftrace that can attach to what this one cannot; or NULL */
};

void skipped_match(struct skipped *s, struct arena *a, const struct sdt_probe *p);
/** Counts each probe once. @why: from attachable_why_not(), or empty. */
void skipped_add(struct skipped *s, struct arena *a, const struct sdt_probe *p, struct str why);
/** One warning about all of them, also where @d is quiet; nothing if there is none. */
void skipped_report(const struct skipped *s, struct arena *a, struct diag *d, const char *bpftrace);
/** [{"probe": "app:query", "reason": "..."}], empty if there is none. */
struct str skipped_json(const struct skipped *s, struct arena *a, const char *bpftrace);
