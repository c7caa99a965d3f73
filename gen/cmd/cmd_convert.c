/** btgen convert - the command line of scripts/python/convert.py: a capture of bpftrace.sh -f json in another tool's format. */

#include "cmd/cmd.h"
#include "convert/convert.h"

struct options {
	const char *format, *map, *out;
};

static int parse_format(void *ctx, const char *value)
{
	struct options *o = ctx;
	o->format = value;
	return convert_is_format(value)
		   ? -1
		   : cmd_usage_error("-f: unknown format '%s': " CONVERT_NAMES, value);
}

static const struct cmd_option list[] = {
    {'f', "format", CONVERT_VALUES, CMD_CALL(parse_format),
     "a timeline, spans or flame-graph stacks"},
    {0, "map", "@NAME", CMD_STRING(struct options, map),
     "folded: map with the stacks, if more than one has them"},
    {'o', "output", "FILE", CMD_STRING(struct options, out),
     "write to FILE, which is replaced only on success [standard output]"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen convert -f FORMAT [OPTION]... [CAPTURE]\n"
	     "Convert a CAPTURE, the output of bpftrace.sh -f json, for another tool. Without\n"
	     "CAPTURE, read standard input. Lines that are not records are skipped and counted\n"
	     "(exit status 3).\n"
	     "\n"
	     "  bpftrace.sh -s -o trace.json `pidof nvmf_tgt` nvmf.bt\n"
	     "  btgen convert -f perfetto -o timeline.json trace.json     for ui.perfetto.dev\n"
	     "  btgen convert -f otlp -o spans.jsonl trace.json           for OpenTelemetry\n"
	     "  btgen convert -f folded trace.json | flamegraph.pl > stacks.svg\n"
	     "\n",
    .list = list,
};

int cmd_convert(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {0};
	int status = cmd_read_options(&options, a, argc, argv, &o);
	if (status >= 0)
		return status;
	if (!o.format)
		return cmd_usage_error("give a format: -f " CONVERT_NAMES);
	if (o.map && strcmp(o.format, "folded") != 0)
		return cmd_usage_error("--map needs -f folded");
	if (o.map && o.map[0] != '@')
		return cmd_usage_error("--map: '%s' is not the name of a map: @%s", o.map, o.map);
	if (argc - optind > 1)
		return cmd_usage_error("one CAPTURE at a time");
	return cmd_become_python(a, d, "convert.py", argv + optind);
}
