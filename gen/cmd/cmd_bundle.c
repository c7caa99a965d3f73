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
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "code/code.h"
#include "base/json.h"
#include "sema/expr.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "dialect/dialect.h"
#include "elf/img.h"
#include "text/variants.h"

/** What is asked for. */
struct bundle {
	struct expand_request req;
	word_list builds; // files of -x: of one program
};

/** A file, or each ELF file in a directory. */
static int take_build(void *ctx, const char *value)
{
	struct bundle *b = ctx;
	struct arena *a = b->req.arena;
	struct dirent **found;
	int n = scandir(value, &found, NULL, alphasort);
	if (n < 0) {
		vec_push(a, &b->builds, value);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		const char *path = arena_printf(a, "%s/%s", value, found[i]->d_name);
		if (img_is_elf(path))
			vec_push(a, &b->builds, path);
		free(found[i]);
	}
	free(found);
	return b->builds.n ? -1 : cmd_usage_error("-x: no program in %s", value);
}

static const struct cmd_option list[] = {
    {'x', "exe", "FILE", CMD_CALL(take_build),
     "program or library to trace; several builds of it, or a directory of these"},
    {0, "at", "PATH", CMD_STRING(struct bundle, req.at),
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
	     "builds. With several builds, it chooses the program of the one it finds.\n"
	     "\n"
	     "  btgen bundle -x /usr/sbin/app --for 0.23 app.bt -o app-trace.sh\n"
	     "  ssh root@host sh -s <app-trace.sh\n"
	     "  btgen bundle -x app-1.2 -x app-1.3 --at /usr/sbin/app app.bt -o app-trace.sh\n"
	     "  btgen bundle --pcp -x /usr/sbin/app --for 0.23 app.bt -o autostart/app.bt\n"
	     "\n",
    .list = list,
};

/** The agent calls a script, and so its metrics, by the name of its file. */
static bool is_metric_file(const char *path)
{
	const char *name = str_base(str_from(path)).p;
	size_t n = 0;
	while (isalnum((unsigned char)name[n]) || (n && name[n] == '_'))
		n++;
	return n && !isdigit((unsigned char)name[0]) && strcmp(name + n, ".bt") == 0;
}

static int parse(int argc, char **argv, struct bundle *b)
{
	struct expand_request *req = &b->req;
	int status = cmd_read_options(&options, req->arena, argc, argv, b);
	for (; status < 0 && optind < argc; optind++)
		status = expand_take_script(req, argv[optind]);
	if (status < 0 && !b->builds.n && !req->pcp)
		status = cmd_usage_error("give the program to trace: -x FILE");
	if (status < 0 && b->builds.n > 1 && !req->at)
		status =
		    cmd_usage_error("several builds need --at PATH: where they are on the target");
	if (status < 0 && b->builds.n > 1 && req->pcp)
		status = cmd_usage_error("--pcp takes one build");
	if (status < 0 && b->builds.n > VARIANTS_MOST)
		status = cmd_usage_error("at most %d builds fit into one script", VARIANTS_MOST);
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
    "Trace every process of $shown with bpftrace $version; ^C ends the trace.\n"
    "A file that replaces it, as in an upgrade, is not traced: start the trace again.\n"
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
    "  --builds       list the builds that this is for\n"
    "  -h, --help     this text\n"
    "\n"
    "ENVIRONMENT: BPFTRACE is the bpftrace to run.\n"
    "END\n"
    "}\n"
    "read_options() {\n"
    "\twhile getopts :o:f:p:c:qvkB:h-: option; do\n"
    "\t\tcase $option-$OPTARG in\n"
    "\t\th* | --help) usage && exit ;;\n"
    "\t\t--builds) builds && exit ;;\n"
    "\t\tf-text | f-json | B-full | B-none | B-line) ;;\n"
    "\t\tf*) misuse \"-f: unknown format '$OPTARG': text or json\" ;;\n"
    "\t\tB*) misuse \"-B: unknown mode '$OPTARG': full, none or line\" ;;\n"
    "\t\tp- | p-0* | p-*[!0-9]*) misuse \"-p: '$OPTARG' is not a process ID\" ;;\n"
    "\t\tp-*) ! grep -qF \" $file (deleted)\" \"/proc/$OPTARG/maps\" 2>/dev/null ||\n"
    "\t\t\trefuse \"process $OPTARG runs a $shown that has been replaced: restart it\" ;;\n"
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

/** The letter of a build, before the lines that its program has. */
static char letter_of(size_t i)
{
	return (char)(i < 26 ? 'a' + (int)i : 'A' + (int)i - 26);
}

/** In hex. */
static const char *build_id(struct arena *a, const struct expansion *x)
{
	return str_dup(a, str_hex(a, x->files.list.v[0].bin.img->build_id));
}

/** Is attach point @to in the file at @path, not in one whose path only has that in it? */
static bool is_in(struct arena *a, struct str to, struct str path)
{
	return str_contains(to, str_printf(a, ":" STR_FMT ":", STR_ARG(path))) ||
	       str_contains(to, str_printf(a, ":\"" STR_FMT "\":", STR_ARG(path)));
}

/** The functions of its file that the program of @x attaches to by their names. */
static struct str functions_of(struct arena *a, const struct expansion *x)
{
	struct str names = STR("");
	vec_each(struct script_clause *const, c, &x->bind.found.script.clauses)
		vec_each(const struct script_attach, at, &(*c)->attach)
			vec_each(const struct str, to, &at->bound) {
				struct str name = str_last(*to, ':');
				if (provider_is_function(at->provider) &&
				    is_in(a, *to, x->files.list.v[0].path) &&
				    !isdigit((unsigned char)*name.p))
					names = str_printf(a, STR_FMT " " STR_FMT, STR_ARG(names),
							   STR_ARG(name));
			}
	return names;
}

/**
 * Its functions that know the builds: `builds` lists them, `choose` sets $build to the letter of the file's, $unsafe and
 * $functions.
 */
static void write_builds(struct arena *a, const struct expansion *x, size_t n, struct code *out)
{
	code_z(out, "builds() {\n");
	for (size_t i = 0; i < n; i++) {
		code_f(out, "\tprintf '%%s %%s\\n' %s ", build_id(a, &x[i]));
		code_shell(out, str_printable(a, x[i].files.list.v[0].open_path));
		code_z(out, "\n");
	}
	code_z(out, "}\nchoose() {\n");
	for (size_t i = 0; i < n; i++) {
		const struct img *img = x[i].files.list.v[0].bin.img;
		code_f(out,
		       "\tfound=$(od -A n -v -t x1 -j %" PRIu64 " -N %zu \"$file\" | tr -d ' \\n"
		       "')\n"
		       "\t[ \"$found\" != %s ] || { build=%c unsafe=%s functions=",
		       img->build_id_off, img->build_id.n, build_id(a, &x[i]), letter_of(i),
		       x[i].bind.found.unsafe ? "--unsafe" : "''");
		code_shell(out, functions_of(a, &x[i]));
		code_z(out, " && return; }\n");
	}
	if (n == 1)
		code_f(out,
		       "\trefuse \"$shown is not the build that this script is for (build ID "
		       "%s)\"\n}\n",
		       build_id(a, x));
	else
		code_z(out, "\trefuse \"$shown is none of the builds that this script is for "
			    "(--builds lists them)\"\n}\n");
}

/** The longest strings that any of the builds has. */
static unsigned max_strlen(const struct expansion *x, size_t n)
{
	unsigned most = 0;
	for (size_t i = 0; i < n; i++)
		if (x[i].bind.made->max_strlen > most)
			most = x[i].bind.made->max_strlen;
	return most;
}

/** What goes before the program. */
static void write_head(struct arena *a, const struct expand_request *req, const struct expansion *x,
		       size_t n, struct code *out)
{
	unsigned strlen = max_strlen(x, n);
	code_z(out, "#!/bin/sh\n"
		    "# Made by btgen bundle.\n"
		    "file=");
	code_shell(out, x->files.list.v[0].path);
	code_z(out, "\nshown="); // in messages
	code_shell(out, str_printable(a, x->files.list.v[0].path));
	code_f(out, "\nversion=" DIALECT_FMT "\nbpftrace=${BPFTRACE:-bpftrace}\n",
	       DIALECT_ARG(req->given.version));
	write_builds(a, x, n, out);
	code_z(out, read_line);
	code_z(
	    out,
	    "[ -r \"$file\" ] || refuse \"there is no $shown here\"\nchoose\n"
	    "words() { LC_ALL=C tr '\\0' '\\n' <\"$file\"; }\n"
	    "words | grep -q '\\.symtab$' || for name in $functions; do\n"
	    "\twords | grep -q \"$name\\$\" ||\n"
	    "\t\tprintf 'warning: %s is stripped: without a debug file it has no function %s\\n' "
	    "\"$shown\" \"$name\" >&2\n"
	    "done\n");
	code_f(out, "is=$(\"$bpftrace\" --version) || refuse \"$bpftrace cannot be run\"\n"
		    "case $is in\n"
		    "*v$version | *v$version.* | *v$version-*) ;;\n"
		    "*) refuse \"$is: this is for bpftrace $version\" ;;\n"
		    "esac\n");
	if (strlen)
		code_f(out, "export %s=\"${%s-%u}\"\n", dialect_strlen_variable(req->given.version),
		       dialect_strlen_variable(req->given.version), strlen);
	if (dialect_closes_descriptors(req->given.version))
		code_z(out,
		       "export GLIBC_TUNABLES=\"${GLIBC_TUNABLES-" DIALECT_FILLS_MEMORY "}\"\n");
	if (dialect_finds_types_by_number(req->given.version))
		code_f(out,
		       "case $(uname -r) in [1-4].* | 5.[0-9].* | 5.10.*)\n"
		       "\t[ ! -r /sys/kernel/btf/vmlinux ] ||\n"
		       "\t\texport BPFTRACE_BTF=\"${BPFTRACE_BTF-/sys/kernel/btf/vmlinux}\" ;;\n"
		       "esac\n");
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
	struct strbuf names = {0}, lines = {0}, prints = {0};
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
	json_printf(&j, "version", "\"" DIALECT_FMT "\"", DIALECT_ARG(req->given.version));
	if (x->files.list.n) {
		const struct img *img = x->files.list.v[0].bin.img;
		json_str(&j, "file", x->files.list.v[0].path);
		json_printf(&j, "offset", "%" PRIu64, img->build_id_off);
		json_str(&j, "build_id", str_hex(a, img->build_id));
	}
	if (x->bind.made->max_strlen)
		json_printf(&j, dialect_strlen_variable(req->given.version), "%u",
			    x->bind.made->max_strlen);
	json_bool(&j, "by_number", dialect_finds_types_by_number(req->given.version));
	json_close(&j, '}');
	strbuf_addc(out, '\n');
}

static bool write_pcp(struct arena *a, struct diag *d, const struct expand_request *req,
		      struct expansion *x)
{
	struct strbuf text = {0};
	strbuf_adds(&text, strbuf_str(&x->program.text));
	write_conditions(a, req, x, &text);
	bool good = write_metrics(&x->bind, &text) ||
		    diag_error(d, NULL,
			       "the script has no metrics: use maps of count(), sum(), min(), "
			       "max(), avg(), stats(), hist() or lhist() that END does not clear");
	good = good && outfile_write(a, d, "-o", req->out, strbuf_str(&text));
	strbuf_fini(&text);
	return good;
}

/** The lines of all programs, each behind the letters of those that have it. */
static void write_programs(struct arena *a, const struct expansion *x, size_t n, const char *end,
			   struct code *out)
{
	struct variants v = {.arena = a};
	for (size_t i = 0; i < n; i++)
		variants_add(&v, strbuf_str(&x[i].program.text));
	code_f(out, "program=$(LC_ALL=C sed -n \"s/^[^\t]*$build[^\t]*\t//p\" <<'END-%s'\n", end);
	for (size_t i = 0; i < v.lines.n; i++) {
		char letters[VARIANTS_MOST + 1], *p = letters;
		for (size_t k = 0; k < n; k++)
			if (v.lines.v[i].of >> k & 1)
				*p++ = letter_of(k);
		*p = '\0';
		code_f(out, "%s\t", letters);
		code_text(out, v.lines.v[i].text);
		code_z(out, "\n");
	}
	code_f(
	    out,
	    "END-%s\n)\nexec \"$bpftrace\" $unsafe \"$@\" /dev/fd/3 3<<END-%s\n$program\nEND-%s\n",
	    end, end, end);
}

/** The line that ends a program has a build-id: no line of it is the same. */
static bool write_bundle(struct arena *a, struct diag *d, const struct expand_request *req,
			 const struct expansion *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!x[i].files.list.v[0].bin.img->build_id.n)
			return diag_error(d, NULL,
					  STR_FMT " has no build ID: relink it with -Wl,--build-id",
					  STR_ARG(x[i].files.list.v[0].open_path));
	const char *end = build_id(a, x);
	struct code text = {0};
	write_head(a, req, x, n, &text);
	if (n > 1) {
		write_programs(a, x, n, end, &text);
	} else {
		code_f(&text, "exec \"$bpftrace\" $unsafe \"$@\" /dev/fd/3 3<<'END-%s'\n", end);
		code_text(&text, strbuf_str(&x->program.text));
		code_f(&text, "\nEND-%s\n", end);
	}
	bool good = outfile_write(a, d, "-o", req->out, code_str(&text));
	code_fini(&text);
	return good;
}

/** The program of each build; an error says which. */
static bool expand_all(struct arena *a, struct diag *d, struct bundle *b, struct expansion *x)
{
	for (size_t i = 0; i < b->builds.n; i++) {
		b->req.exe = b->builds.v[i];
		if (expand_run(a, d, &b->req, &x[i]))
			continue;
		if (b->builds.n > 1)
			diag_note(d, NULL, "this is for %s", b->req.exe);
		return false;
	}
	return b->builds.n || expand_run(a, d, &b->req, x);
}

int cmd_bundle(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct bundle b = {.req = {.arena = a, .given.is_bare = true}};
	int status = parse(argc, argv, &b);
	if (status < 0) {
		struct expansion *x = arena_array(a, struct expansion, b.builds.n + 1);
		expand_choose_version(a, d, &b.req);
		bool good = expand_all(a, d, &b, x) &&
			    (b.req.pcp ? write_pcp(a, d, &b.req, x)
				       : write_bundle(a, d, &b.req, x, b.builds.n));
		status = good ? CMD_OK : CMD_INPUT;
		for (size_t i = 0; i < b.builds.n + !b.builds.n; i++)
			expand_close(&x[i]);
	}
	return status;
}
