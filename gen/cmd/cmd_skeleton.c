/** btgen skeleton, btgen expand - write a template that prints every matching probe, and the program that a template stands for. */
#include <stdio.h>

#include "base/outfile.h"
#include "template/skeleton.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

static const struct cmd_option list[] = {
    EXPAND_PROCESS_ROW("write for the probes of all files that a process has mapped"),
    EXPAND_FILE_ROW("write for the probes of a file"),
    EXPAND_VERSION_ROW("write for this version of bpftrace [the installed one]"),
    EXPAND_OUT_ROW("write to FILE instead of standard output"),
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen skeleton (-p PID | -x FILE) [OPTION]... PATTERN...\n"
	     "Write a template that prints every event of the matching probes, to edit and\n"
	     "run.\n"
	     "\n"
	     "  btgen skeleton -p 4242 'nvmf_subsystem_*' >my.bt\n"
	     "  bpftrace.sh 4242 my.bt\n"
	     "\n"
	     "A PATTERN is NAME or PROVIDER:NAME and can contain * and ?; for functions it is\n"
	     "uprobe:[FILE:]NAME or uretprobe:[FILE:]NAME. bpftrace.sh -t PATTERN PID traces\n"
	     "without a script.\n"
	     "\n",
    .list = list,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, req->arena, argc, argv, req);
	if (status < 0 && req->pids.n && req->exe)
		status = cmd_usage_error("give -p or -x, not both");
	if (status < 0 && !req->pids.n && !req->exe)
		status = cmd_usage_error("give a process (-p PID) or a file (-x FILE)");
	if (status < 0 && req->pids.n > 1)
		status = cmd_usage_error("-p: one process at a time");
	if (status < 0 && optind == argc)
		status = cmd_usage_error("give a PATTERN of probes, or '*'");
	for (; optind < argc; optind++)
		vec_push(req->arena, &req->trace.patterns, argv[optind]);
	return status;
}

int cmd_skeleton(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct expand_request req = {.arena = a};
	struct expansion x = {0};
	struct code text = {0};
	int status = parse(argc, argv, &req);
	if (status >= 0)
		return status;
	expand_choose_version(a, d, &req);
	struct skeleton sk = {
	    .arena = a, .diag = d, .files = &x.files, .version = req.given.version};
	bool good = expand_open_target(a, d, &req, &x) &&
		    skeleton_collect(&sk, req.trace.patterns.v, req.trace.patterns.n);
	expand_report_skipped(a, d, req.given.version, &x, good);
	if (good)
		skeleton_write_template(&sk, &text);
	good = good && outfile_write(a, d, "-o", req.out, code_str(&text));
	code_fini(&text);
	expand_close(&x);
	return good ? CMD_OK : CMD_INPUT;
}

// --- btgen expand

static const struct cmd_option expand_list[] = {
    EXPAND_PROCESS_ROW("look names up in this process"),
    EXPAND_FILE_ROW("look names up in this file"),
    EXPAND_FAMILY_ROWS,
    EXPAND_SCRIPT_ROWS,
    EXPAND_OUT_ROW("write to FILE, which is replaced only on success"),
    EXPAND_VERSION_ROW("write for this version of bpftrace [the one installed, else 0.17]"),
    EXPAND_VERBOSE_ROW("report the files chosen"),
    {0},
};

static const struct cmd_options expand_options = {
    .usage = "Usage: btgen expand [OPTION]... SCRIPT... [-- ARG...]\n"
	     "Print the bpftrace program that the templates expand to. Needs neither root nor\n"
	     "bpftrace.\n"
	     "\n",
    .list = expand_list,
    .operand = expand_take_script,
};

int cmd_expand(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct expand_request req = {.arena = a, .given.is_bare = true};
	struct expansion x = {0};
	int status = expand_read_options(&expand_options, "expand", argc, argv, &req);
	if (status >= 0)
		return status;
	expand_choose_version(a, d, &req);
	bool good = expand_choose_cgroup(d, &req) && expand_run(a, d, &req, &x) &&
		    outfile_write(a, d, "-o", req.out, strbuf_str(&x.program.text));
	expand_close(&x);
	return good ? CMD_OK : CMD_INPUT;
}
