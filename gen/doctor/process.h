/**
 * process - can this process be traced: is it there and may be looked into, and what of it bpftrace
 * can attach to, probe by probe.
 */
#ifndef DOCTOR_PROCESS_H
#define DOCTOR_PROCESS_H

#include "doctor/finding.h"

/**
 * Adds what is found of process @pid to @f. @version: of the bpftrace that would attach; 0: there
 * is none, and whether it could is not asked.
 */
void process_examine(struct findings *f, const char *procfs, int pid, unsigned version);

#endif
