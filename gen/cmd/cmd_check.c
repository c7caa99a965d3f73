/** btgen check - what is wrong with a script, before anything is attached. */
#include <stdio.h>

#include "base/json.h"
#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

static const struct cmd_option list[] = {
    {'p', "pid", "PID|NAME", "check against this process, or that of a program of this name"},
    {'x', "exe", "FILE", "check against this file"},
    {'e', "text", "TEXT", "template text instead of a file"},
    CMD_DEFINE,
    CMD_DIR,
    {CMD_FOR, "for", "VERSION",
     "check for this version of bpftrace [the one installed, else 0.17]"},
    CMD_FINDINGS,
    CMD_FORCED,
    {CMD_JSON, "json", NULL, "one array of findings on standard output"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {'v', "verbose", NULL, "say which files were chosen"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen check [OPTION]... SCRIPT...\n"
	     "Say what is wrong with the templates. Attaches nothing; needs neither root nor "
	     "bpftrace.\n"
	     "Exit status: 0 no errors, 1 errors.\n"
	     "\n",
    .list = list,
    .take = expand_take,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, argc, argv, req);
	for (; optind < argc; optind++)
		vec_push(req->arena, &req->sources, (struct expand_source){argv[optind], false});
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error(argv[0], "give a script to check");
	if (status < 0 && req->exe && req->pids.n)
		status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return status;
}

/** The findings as one array; true unless writing fails. */
static bool check_to_json(struct arena *a, struct diag *d, const struct expand_request *req,
			  struct expansion *x)
{
	struct strbuf text;
	strbuf_init(&text);
	struct json j = {.out = &text};
	json_open(&j, NULL, '[');
	d->json = &j;
	bool good = expand_run(a, d, req, x);
	diag_end_json(d);
	d->json = NULL;
	json_close_lines(&j);
	good &= outfile_write(a, d, NULL, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

static bool check(struct arena *a, struct diag *d, const struct expand_request *req,
		  struct expansion *x)
{
	return req->json ? check_to_json(a, d, req, x) : expand_run(a, d, req, x);
}

int cmd_check(int argc, char **argv)
{
	return expand_command(argc, argv, parse, check);
}
