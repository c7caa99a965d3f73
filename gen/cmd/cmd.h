/**
 * cmd - what the subcommands of btgen share: how they read options, and say what is wrong with
 * them.
 *
 * Exit status of every command: 0 done, 1 the input is wrong (reported on stderr), 2 the command
 * line is wrong.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <getopt.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

enum { CMD_OK = 0, CMD_INPUT = 1, CMD_USAGE = 2 };

/**
 * "btgen NAME: MESSAGE" and "Try 'btgen NAME --help'." on stderr, or bpftrace.sh's name when that
 * has called us (it sets $BTGEN_CALLED_AS); returns CMD_USAGE.
 */
int cmd_usage_error(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** One option: all that getopt, the help and the command know about it. */
struct cmd_option {
	int letter;	  /**< passed to take(); from 256 on there is no short form */
	const char *name; /**< the long form, or NULL */
	const char
	    *value; /**< what it takes, as the help calls it; NULL: nothing; "[=N]": or nothing */
	const char *help; /**< one line */
};

/** Letters of options that have only a long form; a command's own are from CMD_OWN on. */
enum { CMD_FOR = 256, CMD_CONF, CMD_BTF, CMD_JSON, CMD_FORCE, CMD_CHILDREN, CMD_CGROUP, CMD_OWN };
/** Those that mean the same wherever they are. */
#define CMD_DEFINE ((struct cmd_option){'D', NULL, "NAME[=VALUE]", "define a macro"})
#define CMD_DIR ((struct cmd_option){'I', NULL, "DIR", "search DIR for #include"})
#define CMD_FINDINGS                                                                               \
	((struct cmd_option){                                                                      \
	    'W', NULL, "NAME|no-NAME|error|help",                                                  \
	    "show findings called NAME, or not; make warnings errors; list names"})
#define CMD_FAMILY                                                                                 \
	((struct cmd_option){CMD_CHILDREN, "children", NULL, "trace what the processes fork, too"})
#define CMD_GROUP                                                                                  \
	((struct cmd_option){CMD_CGROUP, "cgroup", "PATH",                                         \
			     "trace the processes in this cgroup, or those of the name given"})
#define CMD_FORCED ((struct cmd_option){CMD_FORCE, "force", NULL, "go on in spite of findings"})

/** What a command takes: see cmd_read_options(). */
struct cmd_options {
	const char *usage;	       /**< the help, before the options */
	const struct cmd_option *list; /**< ends with a letter 0; -h, --help is not among them */
	const char *notes;	       /**< the help behind them, or NULL */
	bool in_order;		       /**< an operand before -- is option 1 */
	/**
	 * Takes one option (@value is NULL for those without); -1, or the exit status of a bad one,
	 * which is reported.
	 */
	int (*take)(void *ctx, const char *command, int letter, const char *value);
};

/**
 * Reads all options, up to the operands at argv[optind]. Returns -1, or the exit status when
 * nothing is left to do.
 */
int cmd_read_options(const struct cmd_options *o, int argc, char **argv, void *ctx);

/** Decimal PID, or false. */
bool cmd_parse_pid(const char *text, int *ret);
/** The @value of --for; -1, or the exit status of a bad one, which is reported. */
int cmd_take_version(const char *command, const char *value, unsigned *ret);

#endif
