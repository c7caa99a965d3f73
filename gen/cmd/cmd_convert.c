/** btgen convert - a capture of bpftrace.sh -f json in the format of another tool. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "convert/convert.h"
#include "convert/format.h"

struct options {
	const struct convert_format *format;
	const char *map, *out;
};

static int take_format(void *ctx, const char *value)
{
	struct options *o = ctx;
	o->format = convert_find(value);
	return o->format ? -1 : cmd_usage_error("-f: unknown format '%s': " FORMAT_NAMES, value);
}

static const struct cmd_option list[] = {
    {'f', "format", FORMAT_VALUES, CMD_CALL(take_format), FORMAT_RESULTS},
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

static int parse(struct arena *a, int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, a, argc, argv, o);
	if (status >= 0)
		return status;
	if (!o->format)
		return cmd_usage_error("give a format: -f " FORMAT_NAMES);
	if (o->map && !o->format->takes_map)
		return cmd_usage_error("--map needs -f folded");
	if (o->map && o->map[0] != '@')
		return cmd_usage_error("--map: '%s' is not the name of a map: @%s", o->map, o->map);
	if (argc - optind > 1)
		return cmd_usage_error("one CAPTURE at a time");
	return status;
}

/** Written, but without lines that are no records; as bpftrace.sh --strict has it. */
enum { SKIPPED = 3 };

/** Reports it, with what unpacks a capture that begins with @start. */
static bool is_compressed(struct diag *d, const char *name, struct str start)
{
	static const struct {
		const char *magic, *format, *unpacker;
	} known[] = {{"\x1f\x8b", "gzip", "zcat"},
		     {"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
		     {"\xfd"
		      "7zXZ",
		      "xz", "xzcat"},
		     {"BZh", "bzip2", "bzcat"},
		     {"\x04\x22\x4d\x18", "lz4", "lz4cat"}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_has_prefix(start, str_from(known[i].magic))) {
			diag_error(d, diag_at({.file = str_from(name)}),
				   "is compressed with %s: unpack it first, or use %s FILE | btgen "
				   "convert -f FORMAT -",
				   known[i].format, known[i].unpacker);
			return true;
		}
	return false;
}

/** Until the end of @fd. */
static bool convert(struct diag *d, struct convert *c, int fd, const char *name,
		    struct outfile *out)
{
	static char bytes[1 << 18];
	struct strbuf ready = {0};
	struct stat st;
	uint64_t size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0, done = 0;
	ssize_t n;
	bool good = true;
	while (good && (n = read(fd, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno != EINTR)
			good = diag_error(d, diag_at({.file = str_from(name)}),
					  "cannot be read: %s", strerror(errno));
		if (n < 0)
			continue;
		if (!done && is_compressed(d, name, (struct str){bytes, (size_t)n}))
			return false;
		convert_take(c, (struct str){bytes, (size_t)n}, &ready);
		good = outfile_add(d, out, strbuf_str(&ready));
		strbuf_clear(&ready);
		done += (uint64_t)n;
		progress_step("converting", done, size);
	}
	progress_clear();
	good = good && convert_end(c, &ready);
	convert_tail(c, &ready);
	good = good && outfile_add(d, out, strbuf_str(&ready));
	strbuf_fini(&ready);
	return good;
}

/** Returns the exit status. */
static int convert_file(struct arena *a, struct diag *d, const struct options *o, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct diag_place at = {.file = str_from(name)};
	struct outfile out;
	int status = CMD_INPUT;
	if (fd < 0) {
		diag_error(d, &at, "cannot be read: %s", strerror(errno));
		return CMD_INPUT;
	}
	if (o->out && outfile_is_same(is_stdin ? "/dev/stdin" : path, o->out)) {
		diag_error(d, &at, "is the capture itself: not overwritten");
	} else if (outfile_begin(a, d, "-o", o->out, &out)) {
		struct convert *c = convert_new(o->format, o->map, d, name);
		bool good = convert(d, c, fd, name, &out);
		if (outfile_end(d, &out, good))
			status = convert_has_skipped(c) ? SKIPPED : CMD_OK;
		convert_free(c);
	}
	if (!is_stdin)
		close(fd);
	return status;
}

int cmd_convert(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {0};
	int status = parse(a, argc, argv, &o);
	return status < 0 ? convert_file(a, d, &o, optind < argc ? argv[optind] : "-") : status;
}
