/**
 * cmd - what the commands share: how they read options and report a wrong command line.
 *
 * Each command has one table of its options. It is what parses and what --help prints.
 *
 *	struct mine { struct expand_request req; bool is_loud; const char *out; };
 *	static const struct cmd_option list[] = {
 *		{'l', "loud", NULL, CMD_FLAG(struct mine, is_loud), "print more"},
 *		{'o', "output", "FILE", CMD_STRING(struct mine, out), "write to FILE"},
 *		EXPAND_SCRIPT_ROWS, // shared rows write to a struct that is the first member
 *		{0},
 *	};
 *
 * Exit status of every command: 0 done, 1 the input is wrong (reported on stderr), 2 the command
 * line is wrong.
 */
#pragma once

#include <getopt.h>

#include "base/diag.h"

enum { CMD_OK = 0, CMD_INPUT = 1, CMD_USAGE = 2 };

/** A command: @a and @d are those of the whole run, argv[0] is its name; returns the exit status. */
typedef int cmd_main(struct arena *a, struct diag *d, int argc, char **argv);
/** Each in its cmd_NAME.c. */
cmd_main cmd_bundle, cmd_check, cmd_convert, cmd_diff, cmd_doctor, cmd_enums, cmd_expand,
    cmd_probes, cmd_run, cmd_test, cmd_types;

enum cmd_kind { CMD_IS_FLAG, CMD_IS_TEXT, CMD_IS_LIST, CMD_IS_VERSION, CMD_IS_NUMBER, CMD_IS_CALL };

/** One option. A row with nothing but @help is the heading of those that follow. */
struct cmd_option {
	char letter;	   /**< 0: there is no short form */
	const char *name;  /**< the long form */
	const char *value; /**< as the help calls it; NULL: none; "[=N]": it can be omitted */
	enum cmd_kind kind;
	size_t at; /**< offset of the bool, const char *, word_list or unsigned */
	/** Takes the value (NULL: none); -1, or the exit status when nothing is left to do. */
	int (*call)(void *ctx, const char *value);
	unsigned least, most; /**< of a number */
	const char *help;
};

/** The offset of @member, which must be a @kind. */
#define CMD_AT(type, member, kind)                                                                 \
	(offsetof(type, member) +                                                                  \
	 0 * sizeof(                                                                               \
		 char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), kind) ? 1      \
											  : -1]))
#define CMD_FLAG(type, member) CMD_IS_FLAG, CMD_AT(type, member, bool), NULL, 0, 0
#define CMD_STRING(type, member) CMD_IS_TEXT, CMD_AT(type, member, const char *), NULL, 0, 0
#define CMD_LIST(type, member) CMD_IS_LIST, CMD_AT(type, member, word_list), NULL, 0, 0
#define CMD_VERSION(type, member) CMD_IS_VERSION, CMD_AT(type, member, unsigned), NULL, 0, 0
#define CMD_NUMBER(type, member, least, most)                                                      \
	CMD_IS_NUMBER, CMD_AT(type, member, unsigned), NULL, least, most
#define CMD_CALL(call) CMD_IS_CALL, 0, call, 0, 0
/** For macros of rows. */
#define CMD_ROW(...)                                                                               \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/** How a command is called. */
struct cmd_options {
	const char *usage;	       /**< the help, before the options */
	const struct cmd_option *list; /**< ends with an empty row; -h, --help is not among them */
	const char *notes;	       /**< the help after them, or NULL */
	const char *daily; /**< letters of the options that -h shows; NULL: all, as --help does */
	/** Takes an operand before --, as options are taken; NULL: they are left at argv[optind]. */
	int (*operand)(void *ctx, const char *word);
	int (*page)(void *ctx, const char *word); /**< -h WORD, or NULL; returns the exit status */
};

/**
 * Reads all options into @ctx, up to the operands at argv[optind]. Returns -1, or the exit status
 * when nothing is left to do.
 */
int cmd_read_options(const struct cmd_options *o, struct arena *a, int argc, char **argv,
		     void *ctx);
/**
 * Becomes the program @program in Python, see process/python.h, which gets BTGEN, the options that were read, -- and
 * @operands, up to a NULL: scripts/python/commandline.py. Returns the exit status when that fails.
 */
int cmd_become_python(struct arena *a, struct diag *d, const char *program, char **operands);
/** The word after the value of the option at hand, as of `--latency START DONE`; NULL: there is none. */
const char *cmd_next_word(void);

/** From here on messages are those of `btgen COMMAND`, or of bpftrace.sh if that has called us. */
void cmd_begin(const char *command);
/** "NAME: MESSAGE" and "Try 'NAME --help'." on stderr; returns CMD_USAGE. */
int cmd_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** For "%s%s%s": ", did you mean 'NEAR'?", or nothing when @near is NULL. */
#define CMD_NEAR(near) (near) ? ", did you mean '" : "", (near) ? (near) : "", (near) ? "'?" : ""

/** Decimal PID, or false. */
bool cmd_parse_pid(const char *text, int *ret);
/** The @value of --for; -1, or the exit status of a bad one, which is reported. */
int cmd_parse_version(const char *value, unsigned *ret);
