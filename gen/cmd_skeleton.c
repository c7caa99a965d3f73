/** btgen skeleton - writes a template that prints every matching probe, typed and named. */
#include <getopt.h>
#include <stdio.h>

#include "base/outfile.h"
#include "bind/skeleton.h"
#include "cmd.h"
#include "expand.h"
#include "out/dialect.h"
#include "run/bpftrace.h"
#include "target/proc.h"

static const char help[] =
    "Usage: btgen skeleton (-p PID | -x FILE) [OPTION]... PATTERN...\n"
    "Write a template that prints every event of the probes that match: to be edited, then run.\n"
    "\n"
    "  btgen skeleton -p 4242 'nvmf_subsystem_*' >my.bt\n"
    "  bpftrace.sh 4242 my.bt\n"
    "\n"
    "A PATTERN is NAME or PROVIDER:NAME and can contain * and ?. bpftrace.sh -t PATTERN PID "
    "traces\n"
    "without a script.\n"
    "\n"
    "  -p PID          the probes of all files that a process has mapped\n"
    "  -x FILE         the probes of a file\n"
    "      --for VERSION   for that bpftrace [the installed one]\n"
    "  -o FILE         to FILE instead of standard output\n"
    "  -h, --help      this text\n";

struct options {
	int pid;
	const char *exe, *out;
	unsigned version;
	int status; /**< of a bad command line, or -1 */
};

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
	    {"for", required_argument, NULL, 'F'}, {"help", no_argument, NULL, 'h'}, {0}};
	int letter;
	opterr = 0;
	while (o->status < 0 &&
	       (letter = getopt_long(argc, argv, ":p:x:o:h", long_options, NULL)) != -1) {
		switch (letter) {
		case 'p':
			if (!cmd_parse_pid(optarg, &o->pid))
				o->status =
				    cmd_usage_error(argv[0], "-p: '%s' is not a PID", optarg);
			break;
		case 'x':
			o->exe = optarg;
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'F':
			if (!dialect_parse(str_from(optarg), &o->version))
				o->status =
				    cmd_usage_error(argv[0], "--for: '%s' is no version", optarg);
			break;
		case 'h':
			fputs(help, stdout);
			o->status = CMD_OK;
			break;
		default:
			o->status = cmd_bad_option(argv[0], argv, letter);
		}
	}
	if (o->status < 0 && !o->pid == !o->exe)
		o->status =
		    cmd_usage_error(argv[0], "say which process (-p PID) or file (-x FILE)");
	if (o->status < 0 && optind == argc)
		o->status = cmd_usage_error(argv[0], "say which probes: a PATTERN, or '*'");
	return o->status < 0;
}

static bool write_skeleton(struct arena *a, struct diag *d, const struct options *o,
			   struct images *images, char **patterns, int n)
{
	struct skeleton sk;
	if (!skeleton_collect(&sk, a, d, images, o->version, (const char *const *)patterns,
			      (size_t)n))
		return false;
	struct strbuf text;
	strbuf_init(&text);
	skeleton_write_template(&sk, &text);
	bool good = outfile_write(a, d, o->out, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

int cmd_skeleton(int argc, char **argv)
{
	struct options o = {.status = -1};
	if (!parse(argc, argv, &o))
		return o.status;
	struct arena a;
	struct diag d;
	arena_init(&a);
	diag_init(&d, stderr);
	struct bpftrace bt;
	if (!o.version)
		o.version =
		    bpftrace_find(&a, &d, NULL, true, &bt) == 0 ? bt.version : DIALECT_DEFAULT;
	struct images images = {0};
	struct proc *proc = NULL;
	bool good;
	if (o.exe) {
		good = images_of_file(&a, &d, o.exe, &images);
	} else {
		good = proc_open(&a, &d, "/proc", o.pid, &proc);
		if (good)
			images_of_proc(&a, &d, proc, &images);
	}
	if (good) {
		images.signatures = expand_signatures(&a, &d);
		for (size_t i = 0; i < images.files.n; i++)
			if (images.files.v[i].img)
				images.files.v[i].img->signatures = images.signatures;
	}
	good = good && write_skeleton(&a, &d, &o, &images, argv + optind, argc - optind);
	images_close(&images);
	if (proc)
		proc_close(proc);
	arena_fini(&a);
	return good ? CMD_OK : CMD_INPUT;
}
