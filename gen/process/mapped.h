/**
 * mapped - the ELF files that a process has mapped, opened as images.
 */
#ifndef PROCESS_MAPPED_H
#define PROCESS_MAPPED_H

#include "elf/img.h"
#include "process/proc.h"

/**
 * Opens @f of @proc, for the caller to close; NULL with an error when it cannot be read. Debug
 * files of a process that lives in another file system are looked for there.
 */
struct img *mapped_open(struct arena *a, struct diag *d, const struct proc *proc,
			const struct proc_file *f);

#endif
