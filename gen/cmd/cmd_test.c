/** btgen test - the command line of scripts/python/test.py. */
#include "base/outfile.h"
#include "cmd/expand.h"

struct options {
	struct expand_request req;
	const char *junit;
	bool is_complete, may_not_skip;
};

static const struct cmd_option list[] = {
    EXPAND_FILE_ROW("check each case against FILE first, and name its probes that no case traces"),
    {0, "all", NULL, CMD_FLAG(struct options, is_complete),
     "with -x: a probe that no case traces is a failure"},
    EXPAND_MACRO_ROWS,
    {0, "junit", "FILE", CMD_STRING(struct options, junit),
     "also write the results to FILE, as JUnit's XML"},
    {0, "no-skip", NULL, CMD_FLAG(struct options, may_not_skip),
     "a case that cannot be traced here is a failure, not skipped"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen test [OPTION]... FILE...\n"
	     "Run the cases of each FILE: a program is started and traced, and what is\n"
	     "printed is compared with what the case expects. Prints TAP. The form of FILE is\n"
	     "in btgen(1).\n"
	     "Exit status: 0 all cases pass or are skipped, 1 some fail.\n"
	     "\n",
    .list = list,
};

int cmd_test(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {.req = {.arena = a}};
	int status = cmd_read_options(&options, a, argc, argv, &o);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cmd_usage_error("give a file of cases");
	if (o.is_complete && !o.req.exe)
		return cmd_usage_error("--all needs -x FILE");
	// Before anything is traced.
	if (o.junit && !outfile_may_write(a, d, "--junit", o.junit))
		return CMD_INPUT;
	return cmd_become_python(a, d, "test.py", argv + optind);
}
