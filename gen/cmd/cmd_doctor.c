/** btgen doctor - can this machine, this process and this script be traced, and if not, what helps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "doctor/machine.h"
#include "dialect/dialect.h"

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
static int take_operand(void *ctx, const char *word)
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
		return expand_take_script(req, word);
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
    .operand = take_operand,
};

static int parse(int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, o->req.arena, argc, argv, o);
	for (; status < 0 && optind < argc; optind++)
		status = take_operand(o, argv[optind]);
	if (status < 0 && !o->req.sources.n && (o->req.defines.n || o->req.dirs.n))
		status = cmd_usage_error("-D and -I are for a script: give one");
	if (status < 0 && o->root && o->req.sources.n)
		status = cmd_usage_error("--root: a script is checked on this machine only");
	return status;
}

static void examine_process(const struct options *o, struct findings *f, const char *procfs,
			    unsigned version)
{
	const struct expand_request *req = &o->req;
	f->about = "process";
	if (req->pids.n > 1) {
		proc_parents_first(procfs, req->pids.v, req->pids.n);
		finding_add(f, FINDING_OK, "processes", NULL, "the first of %zu is examined",
			    req->pids.n);
	}
	process_examine(f, procfs, req->pids.v[0], version);
}

/** What `btgen check` would say: as text, or as the elements of an array. */
static bool check_script(const struct options *o, struct diag *d, struct str *ret)
{
	struct arena *a = o->req.arena;
	struct strbuf array = {0};
	struct json j = {.out = &array};
	char *said = NULL;
	size_t n = 0;
	diag_init(d, stdout);
	d->out = open_memstream(&said, &n);
	if (!d->out)
		base_oom();
	json_open(&j, NULL, '[');
	d->json = o->req.json ? &j : NULL;

	struct expansion x = {0};
	bool good = expand_run(a, d, &o->req, &x);
	expand_close(&x);

	diag_end_json(d);
	json_close(&j, ']');
	fclose(d->out);
	*ret = str_copy(a, o->req.json ? strbuf_str(&array) : (struct str){said, n});
	strbuf_fini(&array);
	free(said);
	return good;
}

static void examine_script(const struct options *o, struct findings *f)
{
	const char *name = o->req.sources.v[0].text;
	f->about = "script";
	struct diag d;
	struct str said;
	bool good = check_script(o, &d, &said);
	if (!good)
		finding_add(f, FINDING_ERROR, "script", NULL, "%s has errors", name);
	else
		finding_add(f, d.n_warnings ? FINDING_WARNING : FINDING_OK, "script", NULL,
			    "%s has %s for bpftrace " DIALECT_FMT, name,
			    d.n_warnings ? "warnings" : "no errors",
			    DIALECT_ARG(o->req.given.version));
	f->list.v[f->list.n - 1].messages = said;
}

static int examine(struct options *o)
{
	struct arena *a = o->req.arena;
	struct findings f = {.arena = a, .about = "machine"};
	struct machine m = {.out = &f,
			    .procfs = o->root ? arena_printf(a, "%s" PROCFS, o->root) : PROCFS,
			    .root = o->root,
			    .bpftrace = o->bpftrace};
	machine_examine(&m);
	unsigned before = f.n_errors;
	o->req.given.version = m.found.version ? m.found.version : DIALECT_DEFAULT;
	if (o->req.pids.n)
		examine_process(o, &f, m.procfs, m.found.version);
	if (o->req.sources.n && f.n_errors == before)
		examine_script(o, &f);
	if (o->req.json)
		findings_print_json(&f, stdout);
	else
		findings_print(&f, stdout);
	bool written = fflush(stdout) == 0 && !ferror(stdout);
	return f.n_errors || !written ? CMD_INPUT : CMD_OK;
}

int cmd_doctor(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {.req.arena = a};
	int status = parse(argc, argv, &o);
	(void)d; // what is wrong is a finding
	return status < 0 ? examine(&o) : status;
}
