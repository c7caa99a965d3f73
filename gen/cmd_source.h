/**
 * cmd_source - where a command reads types from: -p PID, -x FILE, --btf FILE.
 *
 * -p takes the executable of a process and then its libraries, -x files in the order given, --btf a file with BTF
 * ("vmlinux" or a module's name stand for /sys/kernel/btf/NAME). They may be combined; the images come first.
 */
#ifndef CMD_SOURCE_H
#define CMD_SOURCE_H

#include "base/vec.h"
#include "target/proc.h"
#include "types/kbtf.h"
#include "types/lookup.h"

struct cmd_source {
	struct arena arena; /**< of the whole run */
	struct diag diag;
	VEC(const char *) files; /**< -x */
	VEC(int) pids;		 /**< -p */
	const char *btf;	 /**< --btf or NULL */
	struct lookup lookup;	 /**< what was opened */
	struct proc *proc;
	struct kbtf *kernel, *module;
};

void cmd_source_init(struct cmd_source *s);
/** Opens everything that was asked for; an error is said. */
bool cmd_source_open(struct cmd_source *s);
/** Closes it and gives back the arena. */
void cmd_source_fini(struct cmd_source *s);
/** Nothing was asked for: a mistake in the command line. */
bool cmd_source_is_empty(const struct cmd_source *s);

#endif
