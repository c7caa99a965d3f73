/**
 * resident - pages of a process's files that BPF can read.
 *
 * A BPF program reads only pages that the process has mapped in, and the page of a string literal is
 * mapped when the process first reads it: `DTRACE_PROBE1(app, start, "main")` passes the address of a
 * page that nobody has touched. A read through /proc/PID/mem faults it in, as the process's own read
 * would. What is read is one byte of each page, of private mappings of files that nobody can write
 * through; never memory of no file, whose faults a userfaultfd may leave unanswered.
 *
 * A read can wait for a disk, so a child process does it, and is killed after a second. Nothing is
 * reported when a page cannot be read: it stays as it was.
 *
 *	struct resident r = {.arena = &arena, .report = -1};
 *	resident_add_file(&r, dev, ino, STR("app"));
 *	resident_add_process(&r, pid);
 *	resident_begin(&r);		// while something else is done
 *	resident_wait(&r);		// events may begin
 *	resident_add_process(&r, 4712);	// which came later
 *	resident_step(&r);		// now and then
 *	resident_end(&r);
 */
#pragma once

#include "process/proc.h"

struct resident_file {
	dev_t dev;
	ino_t ino;
	struct str name; /**< without its directory */
};

/** What was read. */
struct resident_sum {
	uint64_t bytes;
	unsigned n_processes;
	unsigned ms;
};

struct resident {
	struct arena *arena;
	VEC(struct resident_file) files;
	bool has_all;		/**< of every process that maps one of them; until it was begun */
	const struct proc *one; /**< the process with that PID is this one, or NULL */
	VEC(int) pids;		/**< to be read next */
	struct arena of_seen;
	struct map seen; /**< those that were added */
	pid_t child;	 /**< reads, or 0 */
	int report;	 /**< gets its struct resident_sum */
	unsigned long begun;
	struct resident_sum sum;
};

void resident_add_file(struct resident *r, dev_t dev, ino_t ino, struct str name);
/** Each process once; after the files. */
void resident_add_process(struct resident *r, int pid);
/** Starts to read those that were added. */
void resident_begin(struct resident *r);
/** Until it is done, or a second after it was begun. */
void resident_wait(struct resident *r);
/** Ends what is done, or too slow, and starts to read what was added since, at most ten times a second. */
void resident_step(struct resident *r);
void resident_end(struct resident *r);
