/**
 * facts - what this bpftrace is and may do here, and what it can attach to in a process, as JSON: `btgen run --facts`.
 *
 * Facts only: scripts/python/doctor.py makes findings of them. Reads /proc below a directory that the caller names, so that
 * tests can bring their own.
 */
#pragma once

#include "base/json.h"
#include "doctor/privilege.h"
#include "run/bpftrace.h"

/**
 * Adds the members "bpftrace", "rights", "obstacle", "limits", "defects". @wanted: as for bpftrace_find(). Returns
 * the version of that bpftrace; 0: none runs.
 */
unsigned facts_add_machine(struct arena *a, struct json *j, const char *procfs, const char *wanted);
/** Adds the member "process". @version: of the bpftrace that would attach; 0: there is none. */
void facts_add_process(struct arena *a, struct json *j, const char *procfs, int pid,
		       unsigned version);
