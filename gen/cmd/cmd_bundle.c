/** btgen bundle - the command line of scripts/python/bundle.py. */

#include "cmd/expand.h"

static const struct cmd_option list[] = {
    EXPAND_FILE_ROW("program or library to trace"),
    {0, "at", "PATH", CMD_STRING(struct expand_request, at),
     "where it is on the target, if not at FILE"},
    EXPAND_SCRIPT_ROWS,
    EXPAND_OUT_ROW("write to FILE, which is replaced only on success"),
    EXPAND_VERSION_ROW("version of bpftrace on the target [the one installed here, else 0.17]"),
    {0, "pcp", NULL, CMD_FLAG(struct expand_request, pcp),
     "write a program for PCP's bpftrace agent, with maps as metrics"},
    EXPAND_VERBOSE_ROW("report the files chosen"),
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen bundle -x FILE [OPTION]... SCRIPT...\n"
	     "Write a shell script that traces every process of FILE and needs only bpftrace,\n"
	     "for machines with the same build of FILE in the same place. It refuses other\n"
	     "builds.\n"
	     "\n"
	     "  btgen bundle -x /usr/sbin/app --for 0.23 app.bt -o app-trace.sh\n"
	     "  ssh root@host sh -s <app-trace.sh\n"
	     "  btgen bundle --pcp -x /usr/sbin/app --for 0.23 app.bt -o autostart/app.bt\n"
	     "\n",
    .list = list,
};

/** The agent calls a script, and so its metrics, by the name of its file. */
static bool is_metric_file(const char *path)
{
	struct str name = str_base(str_from(path));
	return str_has_suffix(name, STR(".bt")) && name.p[0] != '_' &&
	       str_is_ident(str_slice(name, 0, name.n - strlen(".bt")));
}

static int check(const struct expand_request *req)
{
	if (!req->exe && !req->pcp)
		return cmd_usage_error("give the program to trace: -x FILE");
	if (req->at && !req->exe)
		return cmd_usage_error("--at needs -x FILE");
	if (!req->sources.n)
		return cmd_usage_error("give a script to bundle");
	if (req->pcp && req->out && !is_metric_file(req->out))
		return cmd_usage_error("-o: the file name becomes the metric name: use letters, "
				       "digits and _, as in app.bt");
	return -1;
}

int cmd_bundle(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct expand_request req = {.arena = a};
	int status = cmd_read_options(&options, a, argc, argv, &req);
	for (int i = optind; status < 0 && i < argc; i++)
		status = expand_add_script(&req, argv[i]);
	status = status < 0 ? check(&req) : status;
	if (status >= 0)
		return status;
	if (!expand_spares_scripts(d, &req, "-o", req.out))
		return CMD_INPUT;
	return cmd_become_python(a, d, "bundle.py", argv + optind);
}
