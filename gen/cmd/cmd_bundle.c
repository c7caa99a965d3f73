/**
 * btgen bundle - a shell script with a program in it, for machines where only bpftrace is.
 *
 * Paths, places of arguments, layouts and numbers of enumerators are those of one build, which the
 * script looks for in the file before bpftrace attaches to that. The process that fires could not
 * be asked: a page that it shares with its parent and has not read itself, as that of the build-id,
 * is out of BPF's reach.
 *
 * With --pcp it is the program itself, for the bpftrace agent of Performance Co-Pilot. That reads
 * variables out of a program's text with a pattern, `@name[key] = fn(`, and takes the last that it
 * finds of each: comments at the end are such lines. scripts/pcp-bpftrace.py, which the agent runs in
 * bpftrace's place, finds there what the shell script looks for.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "code/code.h"
#include "base/json.h"
#include "sema/expr.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "dialect/dialect.h"

static const struct cmd_option list[] = {
    EXPAND_FILE_ROW("program or library to trace"),
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
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = 0;
	while (isalnum((unsigned char)name[n]) || (n && name[n] == '_'))
		n++;
	return n && !isdigit((unsigned char)name[0]) && strcmp(name + n, ".bt") == 0;
}

static int parse(int argc, char **argv, struct expand_request *req)
{
	int status = cmd_read_options(&options, req->arena, argc, argv, req);
	for (; status < 0 && optind < argc; optind++)
		status = expand_take_script(req, argv[optind]);
	if (status < 0 && !req->exe && !req->pcp)
		status = cmd_usage_error("give the program to trace: -x FILE");
	if (status < 0 && !req->sources.n)
		status = cmd_usage_error("give a script to bundle");
	if (status < 0 && req->pcp && req->out && !is_metric_file(req->out))
		status = cmd_usage_error("-o: the file name becomes the metric name: use letters, "
					 "digits and _, as in app.bt");
	return status;
}

/**
 * How the script reads its command line. What it takes are options of bpftrace, which gets them as they are; a
 * wrong one is reported here, for bpftrace's own text is about bpftrace, and about files.
 */
static const char read_line[] =
    "refuse() { printf 'error: %s\\n' \"$*\" >&2 && exit 1; }\n"
    "misuse() { printf \"error: %s\\nTry '--help'.\\n\" \"$*\" >&2 && exit 2; }\n"
    "usage() {\n"
    "\tcat <<END\n"
    "Usage: sh BUNDLE [OPTION]...\n"
    "Trace every process of $file with bpftrace $version; ^C ends the trace.\n"
    "\n"
    "  -o FILE        write the data to FILE\n"
    "  -f text|json   the format of the data\n"
    "  -p PID         trace this process only\n"
    "  -c COMMAND     start COMMAND and trace it only\n"
    "  -q             no messages\n"
    "  -v             more messages\n"
    "  -k             report reads of memory that fail\n"
    "  -B full|none|line  when the data is written\n"
    "  --no-warnings  no warnings\n"
    "  --unsafe       allow system() and the like\n"
    "  --usdt-file-activation  enable semaphores by the file's path\n"
    "  -h, --help     this text\n"
    "\n"
    "ENVIRONMENT: BPFTRACE is the bpftrace to run.\n"
    "END\n"
    "}\n"
    "read_options() {\n"
    "\twhile getopts :o:f:p:c:qvkB:h-: option; do\n"
    "\t\tcase $option-$OPTARG in\n"
    "\t\th* | --help) usage && exit ;;\n"
    "\t\tf-text | f-json | B-full | B-none | B-line) ;;\n"
    "\t\tf*) misuse \"-f: unknown format '$OPTARG': text or json\" ;;\n"
    "\t\tB*) misuse \"-B: unknown mode '$OPTARG': full, none or line\" ;;\n"
    "\t\tp- | p-0* | p-*[!0-9]*) misuse \"-p: '$OPTARG' is not a process ID\" ;;\n"
    "\t\t--no-warnings | --unsafe | --usdt-file-activation) ;;\n"
    "\t\t--*) misuse \"unknown option '--$OPTARG'\" ;;\n"
    "\t\t:-*) misuse \"option '-$OPTARG' needs a value\" ;;\n"
    "\t\t\\?-*) misuse \"unknown option '-$OPTARG'\" ;;\n"
    "\t\tesac\n"
    "\tdone\n"
    "\tshift $((OPTIND - 1))\n"
    "\t[ $# = 0 ] || misuse \"unexpected argument '$1'\"\n"
    "}\n"
    "read_options \"$@\"\n";

/** What goes before the program. The line that ends it has the build-id: no line of it is the same. */
static void write_head(struct arena *a, const struct expand_request *req, const struct expansion *x,
		       struct code *out)
{
	const struct targetfile *file = &x->files.list.v[0];
	const struct img *img = file->bin.img;
	const char *id = str_dup(a, str_hex(a, img->build_id));
	code_z(out, "#!/bin/sh\n"
		    "# Made by btgen bundle.\n"
		    "file=");
	code_shell(out, file->path);
	code_f(out,
	       "\nid=%s version=%u.%u\n"
	       "bpftrace=${BPFTRACE:-bpftrace}\n",
	       id, req->version / 1000, req->version % 1000);
	code_z(out, read_line);
	code_f(out,
	       "[ -r \"$file\" ] || refuse \"there is no $file here\"\n"
	       "found=$(od -A n -v -t x1 -j %" PRIu64 " -N %zu \"$file\" | tr -d ' \\n"
	       "')\n"
	       "[ \"$found\" = $id ] ||\n"
	       "\trefuse \"$file is not the build that this script is for (build ID $id)\"\n",
	       img->build_id_off, img->build_id.n);
	code_f(out, "is=$(\"$bpftrace\" --version) || refuse \"$bpftrace cannot be run\"\n"
		    "case $is in\n"
		    "*v$version | *v$version.* | *v$version-*) ;;\n"
		    "*) refuse \"$is: this is for bpftrace $version\" ;;\n"
		    "esac\n");
	if (x->bind.made->max_strlen)
		code_f(out, "export %s=\"${%s-%u}\"\n", dialect_strlen_variable(req->version),
		       dialect_strlen_variable(req->version), x->bind.made->max_strlen);
	if (dialect_closes_descriptors(req->version))
		code_z(out,
		       "export GLIBC_TUNABLES=\"${GLIBC_TUNABLES-" DIALECT_FILLS_MEMORY "}\"\n");
	if (dialect_finds_types_by_number(req->version))
		code_f(out,
		       "case $(uname -r) in [1-4].* | 5.[0-9].* | 5.10.*)\n"
		       "\t[ ! -r /sys/kernel/btf/vmlinux ] ||\n"
		       "\t\texport BPFTRACE_BTF=\"${BPFTRACE_BTF-/sys/kernel/btf/vmlinux}\" ;;\n"
		       "esac\n");
	code_f(out, "exec \"$bpftrace\" %s\"$@\" /dev/fd/3 3<<'END-%s'\n",
	       x->bind.found.unsafe ? "--unsafe " : "", id);
}

/** A map of the script's, as PCP has it. */
struct metric {
	struct str name;
	struct str fn; /**< empty: it is none */
	bool has_key;
	bool is_own;   /**< the script's own: END clears it */
	bool may_fall; /**< something may be added that is negative */
};

static void look_at_use(const struct use *u, struct metric *m)
{
	static const char *const fns[] = {"count", "sum",  "min",   "max", "avg",
					  "stats", "hist", "lhist", NULL};
	m->is_own |= (u->does & USE_OPAQUE) || ((u->does & USE_EMPTIES) && use_is_in(u, WHEN_END));
	const struct node *call = u->value;
	if (!call || call->kind != NODE_CALL || !tok_is_any(call->name, fns))
		return;
	const struct expr *e = call->child ? call->child->expr : NULL;
	m->fn = call->name->text;
	m->may_fall |= !e || (e->sign != SIGN_NONE && e->sign != SIGN_UNSIGNED);
	m->has_key = u->node->child || tok_is(call->name, "stats");
}

/**
 * The agent takes a histogram without a key, and cannot know one of equal steps from one of powers
 * of two: the others are maps with a bucket in the key, which pcp-bpftrace.py makes of them.
 */
static const char *metric_suffix(const struct metric *m)
{
	if (str_eqz(m->fn, "lhist"))
		return "_linear";
	return m->has_key && str_eqz(m->fn, "hist") ? "_histogram" : "";
}

static void write_metric(const struct metric *m, struct strbuf *names, struct strbuf *lines,
			 struct strbuf *prints)
{
	const char *more = metric_suffix(m);
	// The agent makes a counter, which has a rate, of count() only.
	bool is_counter = *more || (str_eqz(m->fn, "sum") && !m->may_fall);
	strbuf_addf(names, "%s@" STR_FMT "%s", strbuf_str(names).n ? "," : "", STR_ARG(m->name),
		    more);
	strbuf_addf(lines, "// @" STR_FMT "%s%s = " STR_FMT "()\n", STR_ARG(m->name), more,
		    *more || m->has_key ? "[key]" : "", STR_ARG(is_counter ? STR("count") : m->fn));
	strbuf_addf(prints, " print(@" STR_FMT ");", STR_ARG(m->name));
}

/** What the agent is to know; false when there is nothing for it. */
static bool write_metrics(const struct bind *b, struct strbuf *out)
{
	struct strbuf names, lines, prints;
	strbuf_init(&names);
	strbuf_init(&lines);
	strbuf_init(&prints);
	for (struct map_entry *e = NULL; (e = map_next(&b->found.uses.maps, e));) {
		struct metric m = {.name = e->key};
		for (const struct use *u = uses_of_map(&b->found.uses, m.name); u; u = u->next)
			look_at_use(u, &m);
		if (m.fn.n && !m.is_own)
			write_metric(&m, &names, &lines, &prints);
	}
	bool good = strbuf_str(&names).n > 0;
	strbuf_addf(out, "// include: " STR_FMT "\n// custom-output-block\n" STR_FMT,
		    STR_ARG(strbuf_str(&names)), STR_ARG(strbuf_str(&lines)));
	strbuf_addf(out, "interval:s:1 {" STR_FMT " }\n", STR_ARG(strbuf_str(&prints)));
	strbuf_fini(&names);
	strbuf_fini(&lines);
	strbuf_fini(&prints);
	return good;
}

/** What pcp-bpftrace.py looks for, and sets. */
static void write_conditions(struct arena *a, const struct expand_request *req,
			     const struct expansion *x, struct strbuf *out)
{
	struct json j = {.out = out};
	strbuf_adds(out, STR("\n// btgen "));
	json_open(&j, NULL, '{');
	json_printf(&j, "version", "\"%u.%u\"", req->version / 1000, req->version % 1000);
	if (x->files.list.n) {
		const struct img *img = x->files.list.v[0].bin.img;
		json_str(&j, "file", x->files.list.v[0].path);
		json_printf(&j, "offset", "%" PRIu64, img->build_id_off);
		json_str(&j, "build_id", str_hex(a, img->build_id));
	}
	if (x->bind.made->max_strlen)
		json_printf(&j, dialect_strlen_variable(req->version), "%u",
			    x->bind.made->max_strlen);
	json_bool(&j, "by_number", dialect_finds_types_by_number(req->version));
	json_close(&j, '}');
	strbuf_addc(out, '\n');
}

static bool write_pcp(struct arena *a, struct diag *d, const struct expand_request *req,
		      struct expansion *x)
{
	struct strbuf text;
	strbuf_init(&text);
	strbuf_adds(&text, strbuf_str(&x->program.text));
	write_conditions(a, req, x, &text);
	bool good = write_metrics(&x->bind, &text) ||
		    diag_error(d, NULL,
			       "the script has no metrics: use maps of count(), sum(), min(), "
			       "max(), avg(), stats(), hist() or lhist() that END does not clear");
	good = good && outfile_write(a, d, req->out, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

static bool write_bundle(struct arena *a, struct diag *d, const struct expand_request *req,
			 struct expansion *x)
{
	if (!expand_run(a, d, req, x))
		return false;
	const struct targetfile *file = x->files.list.n ? &x->files.list.v[0] : NULL;
	if (file && !file->bin.img->build_id.n)
		return diag_error(d, NULL,
				  STR_FMT " has no build ID: relink it with -Wl,--build-id",
				  STR_ARG(file->path));
	if (req->pcp)
		return write_pcp(a, d, req, x);
	struct code text;
	code_init(&text);
	write_head(a, req, x, &text);
	code_text(&text, strbuf_str(&x->program.text));
	code_f(&text, "\nEND-%s\n", str_dup(a, str_hex(a, file->bin.img->build_id)));
	bool good = outfile_write(a, d, req->out, code_str(&text));
	code_fini(&text);
	return good;
}

int cmd_bundle(int argc, char **argv)
{
	return expand_command(argc, argv, parse, write_bundle);
}
