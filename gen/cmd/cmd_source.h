/**
 * cmd_source - where a command reads types from: -p PID, -x FILE, --btf FILE.
 *
 * -p takes the executable of a process and then its libraries, -x files in the order given, --btf a file with BTF
 * ("vmlinux" or a module's name stand for /sys/kernel/btf/NAME). They may be combined; the images
 * come first.
 *
 *	struct mine { struct cmd_source source; ... } mine = {.source = {.arena = a, .diag = d}};
 *	int status = cmd_source_read(&mine.source, &options, "types", argc, argv);
 *	if (status < 0)
 *		status = cmd_source_open(&mine.source) ? run(&mine) : CMD_INPUT;
 *	cmd_source_close(&mine.source);
 */
#pragma once

#include "cmd/cmd.h"
#include "process/proc.h"
#include "btf/kbtf.h"
#include "probe/binary.h"

struct cmd_source {
	struct arena *arena;
	struct diag *diag;
	word_list files;	     /**< -x */
	VEC(int) pids;		     /**< -p */
	const char *btf;	     /**< --btf or NULL */
	const char *out;	     /**< -o or NULL */
	struct lookup lookup;	     /**< what was opened */
	struct dwtypes images;	     /**< of -x and -p, a source of the same */
	VEC(struct binary) binaries; /**< the same, opened */
	struct proc *proc;
	struct kbtf *kernel, *module;
};

/** Rows for a command whose first member is a struct cmd_source. @what: "types" */
#define CMD_SOURCE_ROWS(what)                                                                      \
	CMD_ROW('p', "pid", "PID", CMD_CALL(cmd_source_set_pid),                                   \
		what " of a process: its executable, then its libraries"),                         \
	    CMD_ROW('x', "exe", "FILE", CMD_LIST(struct cmd_source, files),                        \
		    what " of an executable or library (more than one may be given)"),             \
	    CMD_ROW(0, "btf", "FILE", CMD_STRING(struct cmd_source, btf),                          \
		    what " of BTF: a file, or vmlinux, or a kernel module's name"),                \
	    CMD_ROW('o', "output", "FILE", CMD_STRING(struct cmd_source, out),                     \
		    "write to FILE, which is replaced only on success")

int cmd_source_set_pid(void *source, const char *value);

/** Reads the options of the command whose first member is @s, which is asked for @what; -1, or the exit status. */
int cmd_source_read(struct cmd_source *s, const struct cmd_options *o, const char *what, int argc,
		    char **argv);
/** Opens everything that was asked for, for s->lookup; false after an error. */
bool cmd_source_open(struct cmd_source *s);
void cmd_source_close(struct cmd_source *s);
