/** btgen expand - the program that a template stands for. */
#include <stdio.h>

#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

enum { WHICH = CMD_OWN };

static const struct cmd_option list[] = {
    {'p', "pid", "PID", "look names up in this process"},
    {'x', "exe", "FILE", "look names up in this file"},
    CMD_FAMILY,
    CMD_GROUP,
    {'e', "text", "TEXT", "template text instead of a file"},
    CMD_DEFINE,
    CMD_DIR,
    CMD_FINDINGS,
    CMD_FORCED,
    {'o', "output", "FILE", "write to FILE, which is replaced only on success"},
    {CMD_FOR, "for", "VERSION",
     "write for this version of bpftrace [the one installed, else 0.17]"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {WHICH, "which", NULL, "print the path of each SCRIPT and stop"},
    {'v', "verbose", NULL, "say which files were chosen"},
    {0},
};

static int take(void *request, const char *command, int letter, const char *value)
{
	struct expand_request *req = request;
	if (letter != WHICH)
		return expand_take(req, command, letter, value);
	req->which = true;
	return -1;
}

static const struct cmd_options options = {
    .usage = "Usage: btgen expand [OPTION]... SCRIPT... [-- ARG...]\n"
	     "Print the bpftrace program that the templates expand to. Needs neither root nor "
	     "bpftrace.\n"
	     "\n",
    .list = list,
    .in_order = true,
    .take = take,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, argc, argv, req);
	if (status < 0)
		expand_take_rest(req, argc, argv);
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error(argv[0], "give a script to expand");
	if (status < 0 && req->exe && req->pids.n)
		status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return status;
}

static bool write_program(struct arena *a, struct diag *d, const struct expand_request *req,
			  struct expansion *x)
{
	if (req->which)
		return expand_print_which(a, d, req);
	return expand_choose_cgroup(d, (struct expand_request *)req) && expand_run(a, d, req, x) &&
	       outfile_write(a, d, req->out, strbuf_str(&x->program.text));
}

int cmd_expand(int argc, char **argv)
{
	return expand_command(argc, argv, parse, write_program);
}
