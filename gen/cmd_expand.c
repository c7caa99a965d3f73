/** btgen expand - the program that a template stands for. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "cmd.h"
#include "expand.h"
#include "out/dialect.h"
#include "run/bpftrace.h"

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

static const struct option long_options[] = {
    {"pid", required_argument, NULL, 'p'},
    {"exe", required_argument, NULL, 'x'},
    {"text", required_argument, NULL, 'e'},
    {"output", required_argument, NULL, 'o'},
    {"for", required_argument, NULL, 'F'},
    {"conf", required_argument, NULL, 'C'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct options {
	struct expand_request req;
	const char *out;
	int status; /**< of a bad command line, or -1 */
};

static bool parse(struct arena *a, int argc, char **argv, struct options *o)
{
	int letter;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":" EXPAND_OPTIONS "o:h", long_options, NULL)) !=
	       -1) {
		if (expand_option(a, &o->req, argv[0], letter, optarg, &o->status))
			continue;
		switch (letter) {
		case 'o':
			o->out = optarg;
			break;
		case 'F':
			if (!dialect_parse(str_from(optarg), &o->req.version))
				o->status =
				    cmd_usage_error(argv[0], "--for: '%s' is no version", optarg);
			break;
		case 'C':
			o->req.conf = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			o->status = CMD_OK;
			return false;
		default:
			o->status = cmd_bad_option(argv[0], argv, letter);
		}
		if (o->status > 0)
			return false;
	}
	for (; optind < argc; optind++)
		vec_push(a, &o->req.sources, (struct expand_source){argv[optind], false});
	if (o->status < 0 && !o->req.sources.n)
		o->status = cmd_usage_error(argv[0], "say which script to expand");
	if (o->status < 0 && o->req.exe && o->req.pids.n)
		o->status = cmd_usage_error(argv[0], "give -p or -x, not both");
	return o->status < 0;
}

int cmd_expand(int argc, char **argv)
{
	struct arena a;
	arena_init(&a);
	struct diag d;
	diag_init(&d, stderr);
	struct options o = {.status = -1};
	if (!parse(&a, argc, argv, &o)) {
		arena_fini(&a);
		return o.status;
	}
	struct bpftrace bt;
	if (!o.req.version && bpftrace_find(&a, &d, NULL, true, &bt) == 0)
		o.req.version = bt.version;
	if (!o.req.version)
		o.req.version = DIALECT_DEFAULT;

	struct expansion x;
	bool good = expand_run(&a, &d, &o.req, &x);
	if (good)
		good = outfile_write(&a, &d, o.out, strbuf_str(&x.program.text));
	expand_close(&x);
	arena_fini(&a);
	return good ? CMD_OK : CMD_INPUT;
}
