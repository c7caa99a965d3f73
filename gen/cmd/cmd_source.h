/**
 * cmd_source - where a command reads types from: -p PID, -x FILE, --btf FILE.
 *
 * -p takes the executable of a process and then its libraries, -x files in the order given, --btf a file with BTF
 * ("vmlinux" or a module's name stand for /sys/kernel/btf/NAME). They may be combined; the images
 * come first.
 *
 *	struct mine { struct cmd_source source; ... } mine = {.source = {.arena = a, .diag = d}};
 *	static const struct cmd_source_command command = {{.usage = usage, .list = list}, "types", prepare, run};
 *	return cmd_source_main(&mine.source, &command, &mine, argc, argv);
 */
#ifndef CMD_CMD_SOURCE_H
#define CMD_CMD_SOURCE_H

#include "base/vec.h"
#include "cmd/cmd.h"
#include "process/proc.h"
#include "ctype/lookup.h"
#include "btf/kbtf.h"
#include "btf/typenote.h"
#include "dwarf/dwtypes.h"

struct cmd_source {
	struct arena *arena;
	struct diag *diag;
	cmd_words files;	     /**< -x */
	VEC(int) pids;		     /**< -p */
	const char *btf;	     /**< --btf or NULL */
	const char *out;	     /**< -o or NULL */
	struct lookup lookup;	     /**< what was opened */
	struct dwtypes images;	     /**< of -x and -p, a source of the same */
	VEC(struct typenote *) kept; /**< what strip left of theirs, after them */
	struct proc *proc;
	struct kbtf *kernel, *module;
};

/** Rows for a command whose first member is a struct cmd_source. @what: "types" */
#define CMD_SOURCE_ROWS(what)                                                                      \
	CMD_ROW('p', "pid", "PID", CMD_CALL(cmd_source_take_pid),                                  \
		what " of a process: its executable, then its libraries"),                         \
	    CMD_ROW('x', "exe", "FILE", CMD_LIST(struct cmd_source, files),                        \
		    what " of an executable or library (more than one may be given)"),             \
	    CMD_ROW(0, "btf", "FILE", CMD_STRING(struct cmd_source, btf),                          \
		    what " of BTF: a file, or vmlinux, or a kernel module's name"),                \
	    CMD_ROW('o', "output", "FILE", CMD_STRING(struct cmd_source, out),                     \
		    "write to FILE, which is replaced only on success")

int cmd_source_take_pid(void *source, const char *value);

struct cmd_source_command {
	struct cmd_options options;
	const char *what; /**< "types", for messages */
	/** Looks at the operands before anything is opened; -1, or an exit status. */
	int (*prepare)(void *ctx, char **names, int n);
	/** Does it, with s->lookup; returns the exit status. */
	int (*run)(void *ctx, char **names, int n);
};

/** A command from its options to its exit status. @s, which is all zeroes, is part of @ctx. */
int cmd_source_main(struct cmd_source *s, const struct cmd_source_command *cmd, void *ctx, int argc,
		    char **argv);

#endif
