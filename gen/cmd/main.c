/** btgen - the command table. */
#include <fcntl.h>
#include <signal.h>

#include "cmd/cmd.h"

static const struct {
	const char *name;
	const char *summary; // one line for `btgen --help`
	cmd_main *run;
} commands[] = {
    {"expand", "print the bpftrace program that a template expands to", cmd_expand},
    {"run", "expand a template and run it under bpftrace", cmd_run},
    {"bundle", "write a script for machines that have only bpftrace", cmd_bundle},
    {"convert", "convert a JSON trace into a timeline, spans or stacks", cmd_convert},
    {"check", "report mistakes in a template, without attaching anything", cmd_check},
    {"doctor", "report what keeps a machine or process from being traced", cmd_doctor},
    {"probes", "list the USDT probes of a file or process", cmd_probes},
    {"diff", "report what changed between two builds, and for which scripts", cmd_diff},
    {"enums", "print tables of enumerator names", cmd_enums},
    {"test", "run a program and compare what its probes print with expectations", cmd_test},
    {"types", "print C definitions of types", cmd_types},
};
static const size_t n_commands = sizeof(commands) / sizeof(commands[0]);

static void usage(FILE *out)
{
	fputs("Usage: btgen COMMAND [OPTION]...\n"
	      "\n",
	      out);
	for (size_t i = 0; i < n_commands; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\nSee 'btgen COMMAND --help' for more. To trace a program, use bpftrace.sh.\n", out);
}

static int run(cmd_main *command, int argc, char **argv)
{
	struct arena a = {0};
	struct diag d;
	diag_init(&d, stderr);
	int status = command(&a, &d, argc, argv);
	arena_fini(&a);
	return status;
}

int main(int argc, char **argv)
{
	// A file opened later must not become stdout because that was closed: writing fails there as it would have.
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(CMD_INPUT);
	signal(SIGXFSZ, SIG_IGN); // writing fails with EFBIG, which is reported
	if (argc < 2) {
		usage(stderr);
		return CMD_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return CMD_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("btgen " BTGEN_VERSION);
		return CMD_OK;
	}
	char help[] = "--help";
	bool asks = strcmp(argv[1], "help") == 0;
	if (asks && argc == 2) {
		usage(stdout);
		return CMD_OK;
	}
	if (asks) { // help COMMAND
		argv[1] = argv[2];
		argv[2] = help;
	}
	for (size_t i = 0; i < n_commands; i++)
		if (strcmp(argv[1], commands[i].name) == 0) {
			cmd_begin(argv[1]);
			return run(commands[i].run, argc - 1, argv + 1);
		}

	if (strcmp(argv[1], "embed") == 0) // until 0.3, as btgen_embed() of CMake's package
		return cmd_usage_error("embed was removed: keep the debug information in a "
				       "separate file (objcopy --only-keep-debug, then "
				       "--add-gnu-debuglink), a -dbgsym package or debuginfod");
	struct str wanted = str_from(argv[1]);
	const char *near = NULL;
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < n_commands; i++)
		if (str_is_nearer(wanted, str_from(commands[i].name), &best))
			near = commands[i].name;
	return cmd_usage_error("unknown %s '%s'%s%s%s", *argv[1] == '-' ? "option" : "command",
			       argv[1], CMD_NEAR(near));
}
