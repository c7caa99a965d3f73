/**
 * cmd - what the subcommands of btgen share: the table of commands and the options that most of them take.
 *
 * Exit status of every command: 0 done, 1 the input is wrong (said on stderr), 2 the command line is wrong.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <getopt.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

enum { CMD_OK = 0, CMD_INPUT = 1, CMD_USAGE = 2 };

struct cmd {
	const char *name;
	const char *summary;		   /**< one line for `btgen --help` */
	int (*run)(int argc, char **argv); /**< argv[0] is the command's name */
};

int cmd_diff(int argc, char **argv);
int cmd_enums(int argc, char **argv);
int cmd_expand(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_skeleton(int argc, char **argv);
int cmd_types(int argc, char **argv);

/**
 * "btgen NAME: MESSAGE" and "Try 'btgen NAME --help'." on stderr, or bpftrace.sh's name when that has called us (it sets
 * $BTGEN_CALLED_AS); returns CMD_USAGE.
 */
int cmd_usage_error(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** For getopt's '?' and ':' (with opterr = 0 and a leading ':' in the option string). */
int cmd_bad_option(const char *name, char **argv, int opt);
/** What a command takes: see cmd_read_options(). */
struct cmd_options {
	/** As getopt's; h, for the help, is not among them. With - in front an operand before -- is an option, 1. */
	const char *letters;
	const struct option *longs; /**< "help" with the value 'h' among them */
	const char *help;
	/** Takes one option (@value is NULL for those without); -1, or the exit status of a bad one, which is said. */
	int (*take)(void *ctx, const char *command, int letter, const char *value);
};

/** Reads all options, up to the operands at argv[optind]. Returns -1, or the exit status when nothing is left to do. */
int cmd_read_options(const struct cmd_options *o, int argc, char **argv, void *ctx);

/** Decimal PID, or false. */
bool cmd_parse_pid(const char *text, int *ret);

#endif
