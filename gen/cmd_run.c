/** btgen run - expand a template and run it under bpftrace; what bpftrace.sh calls. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "bind/enumname.h"
#include "cmd.h"
#include "expand.h"
#include "out/dialect.h"
#include "run/bpftrace.h"
#include "run/run.h"
#include "text/strings.h"

static const char help[] =
    "Usage: btgen run [OPTION]... SCRIPT... [-- ARG...]\n"
    "       btgen run [OPTION]... -t PATTERN...\n"
    "Expands the templates and runs the program under bpftrace. bpftrace.sh is the short way to "
    "it.\n"
    "\n"
    "  -p, --pid PID          trace this process\n"
    "  -x, --exe FILE         look names up in this file (host-wide scripts)\n"
    "  -c, --command COMMAND  start COMMAND and trace it from its first instruction\n"
    "  -e, --text TEXT        template text instead of a file\n"
    "  -t, --trace PATTERN    instead of a script: print every event of the probes that match\n"
    "  -f, --format text|json how -t prints them [text]; json: one object a line\n"
    "  -D NAME[=VALUE]        define a macro\n"
    "  -I DIR                 search DIR for #include\n"
    "  -o, --output FILE      data to FILE; left alone when nothing could be attached\n"
    "  -n, --no-run           print the program and stop\n"
    "      --echo             print the program and go on\n"
    "      --raw              SCRIPT is the text of a finished program\n"
    "      --bpftrace PATH    the bpftrace to run\n"
    "      --conf FILE        list of enum tables [bpf/enums.conf]\n"
    "      --ready-file FILE  write a line there once all probes are attached\n"
    "      --ready-fd N       the same to an open descriptor\n"
    "  -q, --quiet            no messages but errors\n"
    "  -v, --verbose          say which files were chosen and what is run\n"
    "  -h, --help             this text\n";

static const struct option long_options[] = {
    {"pid", required_argument, NULL, 'p'},
    {"exe", required_argument, NULL, 'x'},
    {"command", required_argument, NULL, 'c'},
    {"text", required_argument, NULL, 'e'},
    {"trace", required_argument, NULL, 't'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"no-run", no_argument, NULL, 'n'},
    {"echo", no_argument, NULL, 'E'},
    {"raw", no_argument, NULL, 'R'},
    {"bpftrace", required_argument, NULL, 'B'},
    {"conf", required_argument, NULL, 'C'},
    {"ready-file", required_argument, NULL, 'r'},
    {"ready-fd", required_argument, NULL, 'G'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct options {
	struct expand_request req;
	const char *command, *bpftrace, *out, *ready_file;
	int ready_fd;
	bool no_run, echo, quiet;
	char **args; /**< positional parameters of the script */
	int status;  /**< of a bad command line, or -1 */
};

static void take_option(struct arena *a, struct options *o, char **argv, int letter)
{
	uint64_t n;
	switch (letter) {
	case 't':
		vec_push(a, &o->req.patterns, optarg);
		break;
	case 'f':
		o->req.json = strcmp(optarg, "json") == 0;
		if (!o->req.json && strcmp(optarg, "text") != 0)
			o->status =
			    cmd_usage_error(argv[0], "-f: '%s' is neither text nor json", optarg);
		break;
	case 'c':
		o->command = optarg;
		break;
	case 'o':
		o->out = strcmp(optarg, "-") == 0 ? NULL : optarg;
		break;
	case 'n':
		o->no_run = true;
		break;
	case 'E':
		o->echo = true;
		break;
	case 'R':
		o->req.raw = true;
		break;
	case 'B':
		o->bpftrace = optarg;
		break;
	case 'C':
		o->req.conf = optarg;
		break;
	case 'r':
		o->ready_file = optarg;
		break;
	case 'G':
		// Closed at exec: who waits for its end must not wait for bpftrace's.
		if (str_to_u64(str_from(optarg), &n) && n < 65536 &&
		    fcntl((int)n, F_SETFD, FD_CLOEXEC) == 0)
			o->ready_fd = (int)n;
		else
			o->status = cmd_usage_error(
			    argv[0], "--ready-fd: '%s' is no open descriptor", optarg);
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'h':
		fputs(help, stdout);
		o->status = CMD_OK;
		break;
	default:
		o->status = cmd_bad_option(argv[0], argv, letter);
	}
}

static bool parse(struct arena *a, int argc, char **argv, struct options *o)
{
	int letter;
	opterr = 0;
	while (o->status < 0 && (letter = getopt_long(argc, argv, ":" EXPAND_OPTIONS "c:o:t:f:nqh",
						      long_options, NULL)) != -1)
		if (!expand_option(a, &o->req, argv[0], letter, optarg, &o->status))
			take_option(a, o, argv, letter);
	if (o->status >= 0)
		return false;

	// getopt has moved the scripts behind the options; a second -- starts the script's own arguments.
	for (; optind < argc && strcmp(argv[optind], "--") != 0; optind++)
		vec_push(a, &o->req.sources, (struct expand_source){argv[optind], o->req.raw});
	o->args = optind < argc ? argv + optind + 1 : argv + argc;
	if (o->req.patterns.n && o->req.sources.n)
		o->status =
		    cmd_usage_error(argv[0], "-t takes the place of a script: leave '%s' out",
				    o->req.sources.v[0].text);
	else if (o->req.json && !o->req.patterns.n)
		o->status = cmd_usage_error(
		    argv[0], "-f json is for -t: a script prints what it is written to print");
	else if (!o->req.sources.n && !o->req.patterns.n)
		o->status = cmd_usage_error(argv[0], "say which script to run");
	else if (o->command && (o->req.pids.n || o->req.exe))
		o->status =
		    cmd_usage_error(argv[0], "-c starts a process: give no -p or -x with it");
	else if (o->req.exe && o->req.pids.n)
		o->status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return o->status < 0;
}

/** Tracing needs root; bpftrace would say so late and in other words. */
static bool check_root(struct diag *d)
{
	return geteuid() == 0 ||
	       diag_error(d, NULL,
			  "tracing needs root: run this with sudo (-n shows the program without)");
}

/** The limit for this program's strings, raised to its longest char array; the user is told when that is not enough. */
static unsigned string_limit(struct arena *a, struct diag *d, const struct bpftrace *bt,
			     const struct bind *b)
{
	struct map tables = {0};
	for (size_t i = 0; i < b->enum_tables.n; i++)
		map_add(a, &tables, b->enum_tables.v[i].map);
	unsigned strings = strings_most_in_call(a, &b->script, &tables);
	unsigned limit = dialect_max_strlen(bt->version, strings);
	unsigned ceiling = dialect_strlen_ceiling(bt->version, strings);
	unsigned wanted = b->longest_string < UINT32_MAX ? b->longest_string + 1 : UINT32_MAX;
	if (wanted > limit)
		limit = wanted < ceiling ? wanted : ceiling;
	if (b->longest_string >= limit)
		diag_warning(
		    d, NULL,
		    "strings of up to %u characters are cut at %u: bpftrace 0.%u holds no more",
		    b->longest_string, limit - 1, bt->version);
	return limit;
}

static int trace(struct arena *a, struct diag *d, const struct options *o,
		 const struct bpftrace *bt, struct expansion *x, struct spawned *child)
{
	struct run_config cfg = {
	    .bpftrace = bt,
	    .program = strbuf_str(&x->program.text),
	    .map = o->req.raw ? NULL : &x->program.map,
	    // A trace of the whole host has no process that it ends with, unless it has started one.
	    .proc = x->bind.host_scope && !child->pid ? NULL : x->proc,
	    .pass_pid = !x->bind.host_scope && !x->bind.no_pid,
	    .child = child->pid ? child : NULL,
	    .out_path = o->out,
	    .ready_file = o->ready_file,
	    .ready_fd = o->ready_fd,
	    .quiet = o->quiet,
	    .max_strlen = string_limit(a, d, bt, &x->bind),
	    .args = o->args,
	    .records = x->records,
	};
	if (x->records) {
		const char *own = getenv(dialect_strlen_variable(bt->version));
		unsigned limit = own ? (unsigned)strtoul(own, NULL, 10) : cfg.max_strlen;
		x->records->longest = limit ? limit - 1 : 0;
	}
	return run_program(a, d, &cfg);
}

static int expand_and_trace(struct arena *a, struct diag *d, struct options *o,
			    const struct bpftrace *bt)
{
	struct spawned child = {0};
	struct expansion x = {0};
	int status = CMD_INPUT;
	bool good = true;
	if (o->command) {
		good = spawn_held(a, d, o->command, &child);
		if (good)
			vec_push(a, &o->req.pids, child.pid);
	}
	good = good && expand_run(a, d, &o->req, &x);
	if (good && o->no_run)
		status =
		    outfile_write(a, d, NULL, strbuf_str(&x.program.text)) ? CMD_OK : CMD_INPUT;
	else if (good) {
		if (!o->echo || outfile_write(a, d, NULL, strbuf_str(&x.program.text)))
			status = trace(a, d, o, bt, &x, &child);
	}
	spawn_end(&child);
	expand_close(&x);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct arena a;
	arena_init(&a);
	struct diag d;
	diag_init(&d, stderr);
	struct options o = {.status = -1, .ready_fd = -1};
	int status;
	signal(SIGCHLD, SIG_DFL); // who ignores it, and whose children do, is told no exit status
	if (!parse(&a, argc, argv, &o)) {
		status = o.status;
	} else {
		struct bpftrace bt;
		d.quiet = o.quiet;
		status = bpftrace_find(&a, &d, o.bpftrace, o.no_run, &bt);
		if (status && o.no_run) { // printing a program needs no bpftrace
			bt.version = DIALECT_DEFAULT;
			status = 0;
		}
		o.req.version = bt.version;
		if (!status && bt.version < DIALECT_OLDEST) {
			diag_error(&d, NULL, "%s is version 0.%u: 0.%u or newer is needed", bt.path,
				   bt.version, DIALECT_OLDEST);
			status = CMD_INPUT;
		}
		if (!status && !o.no_run && !check_root(&d))
			status = CMD_INPUT;
		if (!status)
			status = expand_and_trace(&a, &d, &o, &bt);
	}
	arena_fini(&a);
	return status;
}
