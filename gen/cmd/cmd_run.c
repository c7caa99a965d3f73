/** btgen run - expand a template and run it under bpftrace; what bpftrace.sh calls. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/outfile.h"
#include "marks/codename.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "elf/img.h"
#include "out/dialect.h"
#include "run/bpftrace.h"
#include "run/run.h"

enum { ECHO_TEXT = CMD_OWN, RAW, BPFTRACE, READY_FILE, READY_FD };

static const struct cmd_option list[] = {
    {'p', "pid", "PID|NAME", "trace this process, or those that run a program of this name"},
    {'x', "exe", "FILE", "trace every process that runs or maps FILE, later ones too"},
    {'c', "command", "COMMAND", "start COMMAND and trace it from its first instruction"},
    {'e', "text", "TEXT", "template text instead of a file"},
    {'t', "trace", "PATTERN", "instead of a script: print every event of the probes that match"},
    {'f', "format", "text|json", "how -t prints them [text]; json: one object a line"},
    CMD_DEFINE,
    CMD_DIR,
    CMD_FINDINGS,
    CMD_FORCED,
    {'o', "output", "FILE", "write the data to FILE; left alone unless probes are attached"},
    {'n', "no-run", NULL, "print the program and stop"},
    {ECHO_TEXT, "echo", NULL, "print the program and go on"},
    {RAW, "raw", NULL, "SCRIPT is the text of a finished program"},
    {BPFTRACE, "bpftrace", "PATH", "the bpftrace to run"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {READY_FILE, "ready-file", "FILE", "write a line there once all probes are attached"},
    {READY_FD, "ready-fd", "N", "the same, to an open descriptor"},
    {'q', "quiet", NULL, "no messages but errors and lost events"},
    {'v', "verbose", NULL, "say which files were chosen and what is run"},
    {0},
};

struct options {
	struct expand_request req;
	const char *command, *bpftrace, *ready_file;
	int ready_fd;
	bool no_run, echo, quiet;
	struct codemark codemark; /**< with req.code_mark */
	VEC(const char *) words;  /**< scripts, and maybe a program's name */
	char **args;		  /**< positional parameters of the script */
};

static int take_format(struct options *o, const char *command, const char *value)
{
	o->req.json = strcmp(value, "json") == 0;
	if (!o->req.json && strcmp(value, "text") != 0)
		return cmd_usage_error(command, "-f: unknown format '%s': text or json", value);
	return -1;
}

static int take_ready_fd(struct options *o, const char *command, const char *value)
{
	uint64_t n;
	// Closed at exec: who waits for its end must not wait for bpftrace's.
	if (!str_to_u64(str_from(value), &n) || n > 65535 ||
	    fcntl((int)n, F_SETFD, FD_CLOEXEC) != 0)
		return cmd_usage_error(command, "--ready-fd: '%s' is not an open file descriptor",
				       value);
	o->ready_fd = (int)n;
	return -1;
}

static int take(void *ctx, const char *command, int letter, const char *value)
{
	struct options *o = ctx;
	switch (letter) {
	case 1:
		vec_push(o->req.arena, &o->words, value);
		break;
	case 't':
		vec_push(o->req.arena, &o->req.patterns, value);
		break;
	case 'f':
		return take_format(o, command, value);
	case 'c':
		o->command = value;
		break;
	case 'n':
		o->no_run = true;
		break;
	case ECHO_TEXT:
		o->echo = true;
		break;
	case RAW:
		o->req.raw = true;
		break;
	case BPFTRACE:
		o->bpftrace = value;
		break;
	case READY_FILE:
		o->ready_file = value;
		break;
	case READY_FD:
		return take_ready_fd(o, command, value);
	case 'q':
		o->quiet = true;
		break;
	default:
		return expand_take(&o->req, command, letter, value);
	}
	return -1;
}

/**
 * Without a target the first word may be the name of a running program: before a script, with -e or
 * -t, or when there is no script of that name. What is a file (but no program), or is spelled like
 * one, is a script.
 */
static int take_name(struct options *o, const char *command)
{
	struct expand_request *req = &o->req;
	size_t i = 0;
	while (i < req->sources.n && req->sources.v[i].is_text)
		i++;
	if (i == req->sources.n || o->command || req->exe || req->pids.n)
		return -1;
	const char *word = req->sources.v[i].text;
	if (strchr(word, '/') || str_has_suffix(str_from(word), STR(".bt")) ||
	    (access(word, F_OK) == 0 && !img_is_elf(word)))
		return -1;
	bool is_alone = req->sources.n == 1 && !req->patterns.n;
	bool is_script = expand_has_script(req->arena, word);
	if ((is_alone && is_script) ||
	    (!expand_add_processes(req, word) && (is_alone || is_script)))
		return -1;
	if (!req->pids.n)
		return cmd_usage_error(
		    command, "'%s' is neither a running program nor a script here or in %s", word,
		    expand_script_dir(req->arena));
	memmove(&req->sources.v[i], &req->sources.v[i + 1],
		(--req->sources.n - i) * sizeof(*req->sources.v));
	return -1;
}

/** What does not go together. */
static int check(const struct options *o, const char *command)
{
	const struct expand_request *req = &o->req;
	if (req->patterns.n && req->sources.n)
		return cmd_usage_error(command, "-t replaces the script: drop '%s'",
				       req->sources.v[0].text);
	if (req->json && !req->patterns.n)
		return cmd_usage_error(command,
				       "-f json needs -t: a script prints in its own format");
	if (!req->sources.n && !req->patterns.n)
		return cmd_usage_error(command, "give a script to run");
	if (o->command && (req->pids.n || req->exe))
		return cmd_usage_error(command,
				       "-c starts the process: it cannot be used with -p or -x");
	if (req->exe && req->pids.n)
		return cmd_usage_error(command, "give -p or -x, not both");
	return -1;
}

static const struct cmd_options options = {
    .usage = "Usage: btgen run [OPTION]... [NAME] SCRIPT... [-- ARG...]\n"
	     "       btgen run [OPTION]... -t PATTERN...\n"
	     "Expand the templates and run the program under bpftrace. bpftrace.sh is a shorthand "
	     "for this.\n"
	     "\n",
    .list = list,
    .in_order = true,
    .take = take,
};

static int parse(int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, argc, argv, o);
	for (size_t i = 0; i < o->words.n; i++)
		vec_push(o->req.arena, &o->req.sources,
			 (struct expand_source){o->words.v[i], o->req.raw});
	o->args = argv + optind; // behind --
	if (status < 0 && !o->req.raw)
		status = take_name(o, argv[0]);
	return status < 0 ? check(o, argv[0]) : status;
}

/** Tracing needs root; bpftrace would say so late and in other words. */
static bool check_root(struct diag *d)
{
	return geteuid() == 0 ||
	       diag_error(d, NULL,
			  "tracing needs root: use sudo (-n prints the program without it)");
}

/** The limit for the strings of -t: the one that the fullest of its records has room for. */
static unsigned record_limit(const struct records *r, unsigned version)
{
	unsigned least = dialect_record_strlen(version, 0, 0);
	for (size_t i = 0; i < r->n_probes; i++) {
		unsigned strings = 0, fields = 0;
		for (size_t k = 0; k < r->probes[i].n_fields; k++) {
			fields += r->probes[i].fields[k].kind != RECORD_HIDDEN;
			strings += r->probes[i].fields[k].kind == RECORD_STRING;
		}
		unsigned n = dialect_record_strlen(version, strings, fields);
		least = n < least ? n : least;
	}
	return least;
}

/**
 * bpftrace's limits are there for a pattern that matches more than was meant. What we have counted
 * was meant; as much again is left for patterns that bpftrace expands, and two descriptors for
 * each. What the user has set stands.
 */
static void raise_limits(struct arena *a, struct diag *d, const struct bpftrace *bt,
			 unsigned n_programs)
{
	struct rlimit files;
	if (n_programs <= dialect_max_programs(bt->version))
		return;
	const char *number = arena_printf(a, "%u", 2 * n_programs);
	setenv("BPFTRACE_MAX_PROBES", number, 0);
	setenv("BPFTRACE_MAX_BPF_PROGS", number, 0);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 4 * (rlim_t)n_programs) {
		rlim_t wanted = 4 * (rlim_t)n_programs;
		files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	diag_warning(d, NULL,
		     "%u sites to trace: bpftrace takes minutes to attach, and again to detach",
		     n_programs);
}

/** Of no file, so that it fires for every process. */
static bool is_global(const struct provider *p)
{
	return !p || p->kind == PROVIDER_KPROBE || p->kind == PROVIDER_KRETPROBE ||
	       p->kind == PROVIDER_OTHER;
}

/** The first attach point that is global; NULL when there is none. */
static const struct script_attach *find_global(const struct bind *b)
{
	for (size_t i = 0; i < b->script.clauses.n; i++) {
		const struct script_clause *c = &b->script.clauses.v[i];
		for (size_t k = 0; k < c->attach.n; k++)
			if (is_global(c->attach.v[k].provider))
				return &c->attach.v[k];
	}
	return NULL;
}

/** With -x there is no process that events of the kernel could be those of. */
static bool check_reach(struct diag *d, const struct bind *b)
{
	const struct script_attach *at = find_global(b);
	if (!at || b->scope == BIND_HOST)
		return true;
	struct diag_place place = tok_place(at->node->first);
	diag_error(d, &place,
		   "with -x this would fire for every process on the machine: give a PID");
	return diag_note(d, NULL, "#pragma scope host says that a script is for all processes");
}

/**
 * The end of a burst is lost without a word unless there is an event after it, on every processor.
 */
static void add_heartbeat(struct program *p)
{
	strbuf_addf(&p->text, "\nprofile:hz:%d { printf(\"\"); }\n", RUN_HEARTBEAT_HZ);
}

/** Each key is there before two processors want to make it at once. */
static void add_first_counts(struct program *p, struct records *r)
{
	strbuf_addz(&p->text, "\nBEGIN {");
	for (size_t i = 0; i < r->n_probes; i++)
		strbuf_addf(&p->text, " %s[%zu] = count();", r->counts, i);
	strbuf_addz(&p->text, " }\n");
	r->first_count = 1;
}

/** What -t of these @n processes does not show. */
static void note_others(struct diag *d, const struct expansion *x, size_t n)
{
	struct str file = x->proc->files.v[0].path;
	unsigned children = n == 1 ? proc_count_children(x->proc) : 0;
	if (children)
		diag_note(d, NULL,
			  "%u children of process %d run the same program and are not traced: use "
			  "-x " STR_FMT " to trace all",
			  children, x->proc->pid, STR_ARG(file));
	else if (n > 1)
		diag_note(d, NULL,
			  "processes that start later are not traced: use -x " STR_FMT
			  " to trace all",
			  STR_ARG(file));
}

static int trace(struct arena *a, struct diag *d, struct options *o, const struct bpftrace *bt,
		 struct expansion *x, struct spawned *child)
{
	// What -t prints it counts, and a finished program is run as it is.
	bool beats = dialect_tells_loss_late(bt->version) && !x->records && !o->req.raw;
	if (beats)
		add_heartbeat(&x->program);
	bool counts_first = x->records && dialect_misses_first_count(bt->version);
	if (counts_first)
		add_first_counts(&x->program, x->records);
	bool is_host = x->bind.scope == BIND_HOST;
	struct run_config cfg = {
	    .bpftrace = bt,
	    .program = strbuf_str(&x->program.text),
	    .map = o->req.raw ? NULL : &x->program.map,
	    // A trace of the whole host, or of several, has no process that it ends with, unless it has started one.
	    .proc = (is_host && !child->pid) || o->req.pids.n > 1 ? NULL : x->proc,
	    .exe = !o->req.raw && !find_global(&x->bind) ? o->req.exe : NULL,
	    .child = child->pid ? child : NULL,
	    .out_path = o->req.out && strcmp(o->req.out, "-") == 0 ? NULL : o->req.out,
	    .ready_file = o->ready_file,
	    .ready_fd = o->ready_fd,
	    .quiet = o->quiet,
	    .max_strlen = o->req.raw   ? 0
			  : x->records ? record_limit(x->records, bt->version)
				       : x->bind.max_strlen,
	    .args = o->args,
	    .records = x->records,
	    .has_heartbeat = beats,
	};
	cfg.pass_pid = cfg.proc && x->bind.scope == BIND_BY_PID;
	struct codename *names = NULL;
	if (x->bind.marks_code || (x->records && x->records->has_code && cfg.proc))
		names = codename_open(a, x->proc);
	if (x->bind.marks_code) {
		cfg.codemark = &o->codemark;
		cfg.codemark->names = names;
	}
	if (x->records) {
		x->records->names = names;
		const char *own = getenv(dialect_strlen_variable(bt->version));
		unsigned limit = own ? (unsigned)strtoul(own, NULL, 10) : cfg.max_strlen;
		x->records->longest = limit ? limit - 1 : 0;
	}
	if (x->records && !o->quiet && x->proc)
		note_others(d, x, o->req.pids.n);
	raise_limits(a, d, bt, x->bind.n_programs + beats + counts_first);
	int status = run_program(a, d, &cfg);
	codename_close(names);
	return status;
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
		o->req.is_started = good;
	}
	if (!o->no_run) { // elsewhere nobody would name them
		codemark_init(&o->codemark);
		o->req.code_mark = o->codemark.start;
		o->req.code_key = o->codemark.key;
	}
	good = good && expand_run(a, d, &o->req, &x);
	good = good && (!o->req.exe || check_reach(d, &x.bind));
	if (good && o->no_run)
		status =
		    outfile_write(a, d, NULL, strbuf_str(&x.program.text)) ? CMD_OK : CMD_INPUT;
	else if (good) {
		if (!o->echo || outfile_write(a, d, NULL, strbuf_str(&x.program.text)))
			status = trace(a, d, o, bt, &x, &child);
	}
	spawn_end(&child);
	expand_close(&x);
	if (o->req.code_mark)
		codemark_fini(&o->codemark);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct arena a;
	arena_init(&a);
	struct diag d;
	diag_init(&d, stderr);
	struct options o = {.req = {.arena = &a, .is_thrifty = true}, .ready_fd = -1};
	signal(
	    SIGCHLD,
	    SIG_DFL); // while it is ignored, as a parent may have left it, wait() reports no exit status
	int status = parse(argc, argv, &o);
	if (status < 0) {
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
