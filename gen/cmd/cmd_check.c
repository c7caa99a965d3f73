/** btgen check - what is wrong with a script, before anything is attached. */
#include <stdio.h>

#include "base/json.h"
#include "base/outfile.h"
#include "check/lock.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"

enum { LOCK = CMD_OWN, AGAINST };

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
    {LOCK, "lock", "FILE", "write what the scripts rely on, to compare other builds with"},
    {AGAINST, "against", "FILE", "say what is not as such a file has it"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {'v', "verbose", NULL, "say which files were chosen"},
    {0},
};

static int take(void *request, const char *command, int letter, const char *value)
{
	struct expand_request *req = request;
	if (letter == LOCK)
		req->lock = value;
	else if (letter == AGAINST)
		req->against = value;
	else
		return expand_take(req, command, letter, value);
	return -1;
}

static const struct cmd_options options = {
    .usage = "Usage: btgen check [OPTION]... SCRIPT...\n"
	     "Say what is wrong with the templates. Attaches nothing; needs neither root nor "
	     "bpftrace.\n"
	     "With --lock or --against each SCRIPT is one by itself, else they are parts of one.\n"
	     "Exit status: 0 no errors, 1 errors.\n"
	     "\n",
    .list = list,
    .take = take,
};

static int check_lock_options(const char *command, const struct expand_request *req)
{
	if (!req->lock && !req->against)
		return -1;
	if (req->lock && req->against)
		return cmd_usage_error(command, "give --lock or --against, not both");
	if (!req->exe && !req->pids.n)
		return cmd_usage_error(command, "give -x or -p: what the scripts rely on is in it");
	for (size_t i = 0; i < req->sources.n && req->lock; i++)
		if (!req->sources.v[i].is_text &&
		    outfile_is_same(req->lock, req->sources.v[i].text))
			return cmd_usage_error(command, "--lock: %s is a script", req->lock);
	return -1;
}

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, argc, argv, req);
	for (; optind < argc; optind++)
		vec_push(req->arena, &req->sources, (struct expand_source){argv[optind], false});
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error(argv[0], "give a script to check");
	if (status < 0 && req->exe && req->pids.n)
		status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return status < 0 ? check_lock_options(argv[0], req) : status;
}

/** Each script by itself, and what they rely on together. */
static bool check_lock(struct arena *a, struct diag *d, const struct expand_request *req,
		       struct expansion *x)
{
	struct lock lock = {.arena = a};
	struct expand_request one = *req;
	bool good = true;
	one.facts = &lock;
	one.sources.n = 1;
	for (size_t i = 0; i < req->sources.n; i++) {
		one.sources.v = &req->sources.v[i];
		if (i)
			expand_close(x);
		good &= expand_run(a, d, &one, x);
		lock_add_tables(&x->bind);
	}
	if (req->lock)
		return good && lock_write(&lock, d, req->lock);
	d->is_strict = req->strict;
	d->is_forced = req->forced;
	good &= lock_compare(&x->bind, req->against);
	x->bind.lock = NULL;
	return good;
}

static bool check_all(struct arena *a, struct diag *d, const struct expand_request *req,
		      struct expansion *x)
{
	return req->lock || req->against ? check_lock(a, d, req, x) : expand_run(a, d, req, x);
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
	bool good = check_all(a, d, req, x);
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
	return req->json ? check_to_json(a, d, req, x) : check_all(a, d, req, x);
}

int cmd_check(int argc, char **argv)
{
	return expand_command(argc, argv, parse, check);
}
