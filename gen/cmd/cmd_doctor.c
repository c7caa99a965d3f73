/** btgen doctor - the command line of scripts/python/doctor.py. */

#include "cmd/expand.h"

struct options {
	struct expand_request req;
	const char *bpftrace, *root;
};

static const struct cmd_option list[] = {
    EXPAND_PROCESS_ROW("the process; the same as PID or NAME"),
    EXPAND_MACRO_ROWS,
    {0, "bpftrace", "PATH", CMD_STRING(struct options, bpftrace), "bpftrace to run"},
    EXPAND_JSON_ROW("print findings as one JSON array"),
    {0, "root", "DIR", CMD_STRING(struct options, root),
     "inspect the machine whose /proc and /sys are in DIR"},
    {0},
};

/** An operand is a PID or a running program's name, and then a script. */
static int add_operand(void *ctx, const char *word)
{
	struct expand_request *req = &((struct options *)ctx)->req;
	int pid;
	bool may_be_process = !req->sources.n;
	bool is_path = strchr(word, '/') || str_has_suffix(str_from(word), STR(".bt"));
	if (!*word)
		return cmd_usage_error("an empty argument in place of a PID or a script: "
				       "is the program running?");
	if (may_be_process && cmd_parse_pid(word, &pid)) {
		vec_push(req->arena, &req->pids, pid);
		return -1;
	}
	if (is_path || stock_find(req->arena, word))
		return expand_add_script(req, word);
	if (may_be_process && !req->pids.n && expand_add_processes(req, word))
		return -1;
	if (!may_be_process && cmd_parse_pid(word, &pid))
		return cmd_usage_error("the PID goes before the script");
	return expand_unknown_word(req, word);
}

static const struct cmd_options options = {
    .usage = "Usage: btgen doctor [OPTION]... [PID|NAME] [SCRIPT]\n"
	     "Report whether this machine can trace, whether the process can be traced, and\n"
	     "what is wrong with the script, each with the remedy. Attaches nothing. Run it as\n"
	     "root, like a trace.\n"
	     "\n",
    .list = list,
    .notes = "\n"
	     "Exit status: 0 no errors (there may be warnings), 1 errors, 2 usage.\n",
    .operand = add_operand,
};

static int parse(int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, o->req.arena, argc, argv, o);
	for (; status < 0 && optind < argc; optind++)
		status = add_operand(o, argv[optind]);
	if (status < 0 && !o->req.sources.n && (o->req.defines.n || o->req.dirs.n))
		status = cmd_usage_error("-D and -I are for a script: give one");
	if (status < 0 && o->root && o->req.sources.n)
		status = cmd_usage_error("--root: a script is checked on this machine only");
	return status;
}

/** The PIDs, a server before its children, with blanks between them. */
static const char *list_pids(const struct options *o)
{
	struct arena *a = o->req.arena;
	const char *procfs = o->root ? arena_printf(a, "%s" PROCFS, o->root) : PROCFS;
	proc_parents_first(procfs, o->req.pids.v, o->req.pids.n);
	return expand_list_pids(a, o->req.pids.v, o->req.pids.n, " ");
}

int cmd_doctor(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {.req.arena = a};
	int status = parse(argc, argv, &o);
	if (status >= 0)
		return status;
	const char *script = o.req.sources.n ? o.req.sources.v[0].text : "";
	char *operands[] = {(char *)list_pids(&o), (char *)script, NULL};
	return cmd_become_python(a, d, "doctor.py", operands);
}
