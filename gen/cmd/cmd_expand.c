/** btgen expand - the program that a template stands for. */
#include <stdio.h>

#include "base/outfile.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

static const char help[] =
    "Usage: btgen expand [OPTION]... SCRIPT...\n"
    "Prints the bpftrace program that the templates stand for. Needs neither root nor bpftrace.\n"
    "\n"
    "  -p, --pid PID        look names up in this process\n"
    "  -x, --exe FILE       look names up in this file\n"
    "  -e, --text TEXT      template text instead of a file\n"
    "  -D NAME[=VALUE]      define a macro\n"
    "  -I DIR               search DIR for #include\n"
    "  -o, --output FILE    write there; FILE is replaced only when all went well\n"
    "      --for VERSION    bpftrace version to write for [the one installed, else 0.17]\n"
    "      --conf FILE      list of enum tables [bpf/enums.conf]\n"
    "  -v, --verbose        say which files were chosen\n"
    "  -h, --help           this text\n";

static int parse(int argc, char **argv, struct expand_request *req)
{
	static const struct option longs[] = {
	    EXPAND_LONG_OPTIONS, EXPAND_LONG_FOR, {"output", required_argument, NULL, 'o'}, {0}};
	static const struct cmd_options options = {EXPAND_OPTIONS "o:", longs, help, expand_take};
	int status = cmd_read_options(&options, argc, argv, req);
	for (; optind < argc; optind++)
		vec_push(req->arena, &req->sources, (struct expand_source){argv[optind], false});
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error(argv[0], "give a script to expand");
	if (status < 0 && req->exe && req->pids.n)
		status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return status;
}

static bool write_program(struct arena *a, struct diag *d, const struct expand_request *req,
			  struct expansion *x)
{
	return expand_run(a, d, req, x) &&
	       outfile_write(a, d, req->out, strbuf_str(&x->program.text));
}

int cmd_expand(int argc, char **argv)
{
	return expand_command(argc, argv, parse, write_program);
}
