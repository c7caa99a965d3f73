/** btgen expand - the program that a template stands for. */
#include <stdio.h>

#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

static const struct cmd_option list[] = {
    EXPAND_PROCESS_ROW("look names up in this process"),
    EXPAND_FILE_ROW("look names up in this file"),
    EXPAND_FAMILY_ROWS,
    EXPAND_SCRIPT_ROWS,
    EXPAND_OUT_ROW("write to FILE, which is replaced only on success"),
    EXPAND_VERSION_ROW("write for this version of bpftrace [the one installed, else 0.17]"),
    EXPAND_VERBOSE_ROW("report the files chosen"),
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen expand [OPTION]... SCRIPT... [-- ARG...]\n"
	     "Print the bpftrace program that the templates expand to. Needs neither root nor\n"
	     "bpftrace.\n"
	     "\n",
    .list = list,
    .operand = expand_take_script,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	return expand_read_options(&options, "expand", argc, argv, req);
}

static bool write_program(struct arena *a, struct diag *d, const struct expand_request *req,
			  struct expansion *x)
{
	return expand_choose_cgroup(d, (struct expand_request *)req) && expand_run(a, d, req, x) &&
	       outfile_write(a, d, req->out, strbuf_str(&x->program.text));
}

int cmd_expand(int argc, char **argv)
{
	return expand_command(argc, argv, parse, write_program);
}
