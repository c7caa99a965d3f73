/**
 * btgen bundle - a shell script with a program in it, for machines where only bpftrace is.
 *
 * Paths, places of arguments, layouts and numbers of enumerators are those of one build, which the
 * script looks for in the file before bpftrace attaches to that. The process that fires could not
 * be asked: a page that it shares with its parent and has not read itself, as that of the build-id,
 * is out of BPF's reach.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "out/dialect.h"

static const struct cmd_option list[] = {
    {'x', "exe", "FILE", "the program or library that it is for"},
    {'e', "text", "TEXT", "template text instead of a file"},
    CMD_DEFINE,
    CMD_DIR,
    CMD_FINDINGS,
    CMD_FORCED,
    {'o', "output", "FILE", "write to FILE, which is replaced only on success"},
    {CMD_FOR, "for", "VERSION", "the bpftrace there [the one installed here, else 0.17]"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {'v', "verbose", NULL, "say which files were chosen"},
    {0},
};

static const struct cmd_options options = {
    .usage =
	"Usage: btgen bundle -x FILE [OPTION]... SCRIPT...\n"
	"Write a shell script that needs nothing but bpftrace, for machines with the same build "
	"of FILE in\n"
	"the same place: it traces every process of it, and refuses another build.\n"
	"\n"
	"  btgen bundle -x /usr/sbin/app --for 0.23 app.bt -o app-trace.sh\n"
	"  ssh root@host sh -s <app-trace.sh\n"
	"\n",
    .list = list,
    .take = expand_take,
};

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, argc, argv, req);
	for (; optind < argc; optind++)
		vec_push(req->arena, &req->sources, (struct expand_source){argv[optind], false});
	if (status < 0 && !req->exe)
		status = cmd_usage_error(argv[0], "give the program that it is for: -x FILE");
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error(argv[0], "give a script to bundle");
	return status;
}

/** In single quotes, for sh(1). */
static struct str shell_quote(struct arena *a, struct str s)
{
	struct strbuf b;
	strbuf_init(&b);
	strbuf_addc(&b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			strbuf_adds(&b, STR("'\\'"));
		strbuf_addc(&b, s.p[i]);
	}
	strbuf_addc(&b, '\'');
	return strbuf_take(&b, a);
}

/** What goes before the program. The line that ends it has the build-id: no line of it is the same. */
static void write_head(struct arena *a, const struct expand_request *req, const struct expansion *x,
		       struct strbuf *out)
{
	const struct targetfile *file = &x->files.list.v[0];
	const struct img *img = file->bin.img;
	const char *id = str_dup(a, str_hex(a, img->build_id));
	strbuf_addf(out,
		    "#!/bin/sh\n"
		    "# Made by btgen bundle.\n"
		    "file=" STR_FMT "\n"
		    "id=%s version=0.%u\n"
		    "bpftrace=${BPFTRACE:-bpftrace}\n"
		    "refuse() { printf 'error: %%s\\n' \"$*\" >&2 && exit 1; }\n",
		    STR_ARG(shell_quote(a, file->path)), id, req->version);
	strbuf_addf(
	    out,
	    "[ -r \"$file\" ] || refuse \"there is no $file here\"\n"
	    "found=$(od -A n -v -t x1 -j %" PRIu64 " -N %zu \"$file\" | tr -d ' \\n')\n"
	    "[ \"$found\" = $id ] ||\n"
	    "\trefuse \"$file is another build than the one that this is for, with build-id "
	    "$id\"\n",
	    img->build_id_off, img->build_id.n);
	strbuf_addf(out, "is=$(\"$bpftrace\" --version) || refuse \"$bpftrace cannot be run\"\n"
			 "case $is in\n"
			 "*v$version | *v$version.* | *v$version-*) ;;\n"
			 "*) refuse \"$is: this is for bpftrace $version\" ;;\n"
			 "esac\n");
	if (x->bind.max_strlen)
		strbuf_addf(out, "export %s=\"${%s-%u}\"\n", dialect_strlen_variable(req->version),
			    dialect_strlen_variable(req->version), x->bind.max_strlen);
	if (dialect_finds_types_by_number(req->version))
		strbuf_addf(
		    out, "case $(uname -r) in [1-4].* | 5.[0-9].* | 5.10.*)\n"
			 "\t[ ! -r /sys/kernel/btf/vmlinux ] ||\n"
			 "\t\texport BPFTRACE_BTF=\"${BPFTRACE_BTF-/sys/kernel/btf/vmlinux}\" ;;\n"
			 "esac\n");
	strbuf_addf(out, "exec \"$bpftrace\" \"$@\" /dev/fd/3 3<<'END-%s'\n", id);
}

static bool write_bundle(struct arena *a, struct diag *d, const struct expand_request *req,
			 struct expansion *x)
{
	if (!expand_run(a, d, req, x))
		return false;
	const struct targetfile *file = &x->files.list.v[0];
	if (!file->bin.img->build_id.n)
		return diag_error(d, NULL,
				  STR_FMT ": it has no build-id to be told by: link it with "
					  "--build-id",
				  STR_ARG(file->path));
	struct strbuf text;
	strbuf_init(&text);
	write_head(a, req, x, &text);
	strbuf_adds(&text, strbuf_str(&x->program.text));
	strbuf_addf(&text, "\nEND-%s\n", str_dup(a, str_hex(a, file->bin.img->build_id)));
	bool good = outfile_write(a, d, req->out, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

int cmd_bundle(int argc, char **argv)
{
	return expand_command(argc, argv, parse, write_bundle);
}
