#include "cmd/expand.h"

#include "base/outfile.h"
#include "bind/filter.h"
#include "check/check.h"
#include "template/template.h"
#include "dialect/dialect.h"
#include "dialect/predefined.h"
#include "probe/attachable.h"
#include "run/bpftrace.h"

static bool has_pid(const struct expand_request *req, int pid)
{
	return vec_any(const int, p, &req->pids, *p == pid);
}

static void add_pid(struct expand_request *req, int pid)
{
	if (!has_pid(req, pid))
		vec_push(req->arena, &req->pids, pid);
}

bool expand_add_processes(struct expand_request *req, const char *word)
{
	static const char apart[] = " \t\n,";
	int pid;
	size_t n = 0;
	if (word[strspn(word, "0123456789 \t\n,")] == '\0') {
		for (word += strspn(word, apart); *word; word += strspn(word, apart)) {
			size_t length = strcspn(word, apart);
			if (!cmd_parse_pid(arena_strndup(req->arena, word, length), &pid))
				return false;
			add_pid(req, pid);
			word += length;
		}
		return req->pids.n > 0;
	}
	int *found = proc_find_named(req->arena, PROCFS, word, &n);
	req->by_name |= n > 0;
	for (size_t i = 0; i < n; i++)
		add_pid(req, found[i]);
	return n > 0;
}

bool expand_choose_cgroup(struct diag *d, struct expand_request *req)
{
	struct arena *a = req->arena;
	struct cgroup *group = arena_new(a, struct cgroup);
	VEC(int) chosen = {0};
	if (!req->cgroup_name)
		return true;
	if (!cgroup_read(a, d, req->cgroup_name, group))
		return false;
	for (size_t i = 0; i < group->pids.n; i++)
		if (!req->pids.n || has_pid(req, group->pids.v[i]))
			vec_push(a, &chosen, group->pids.v[i]);
	if (!chosen.n)
		return diag_error(d, NULL, "--cgroup: %s in %s",
				  req->pids.n ? "none of the processes given is"
					      : "there is no process",
				  group->path);
	for (size_t i = 1; i < chosen.n; i++)
		if (!proc_same_exe(PROCFS, chosen.v[0], chosen.v[i]))
			return diag_error(
			    d, NULL,
			    "--cgroup: processes %d and %d there run different programs: "
			    "give the name of one",
			    chosen.v[0], chosen.v[i]);
	req->pids.n = 0;
	for (size_t i = 0; i < chosen.n; i++)
		add_pid(req, chosen.v[i]);
	req->given.cgroup = group;
	return true;
}

int expand_set_finding(void *request, const char *value)
{
	struct expand_request *req = request;
	struct str name = str_from(value);
	bool is_on = !str_has_prefix(name, STR("no-"));
	if (str_eqz(name, "help")) {
		for (size_t i = 0; i < n_check_names; i++)
			printf("%-16s %s\n", check_names[i].name, check_names[i].summary);
		return CMD_OK;
	}
	if (str_eqz(name, "error")) {
		req->strict = true;
		return -1;
	}
	if (!is_on)
		name = str_from_offset(name, 3);
	const struct check_name *known = check_name_find(name);
	const char *near = known ? NULL : check_name_near(name);
	if (!known)
		return cmd_usage_error("-W: no finding is called '%s'%s%s%s",
				       str_dup(req->arena, name), CMD_NEAR(near));
	vec_push(req->arena, &req->findings, (struct diag_choice){known->name, is_on});
	return -1;
}

int expand_add_process(void *request, const char *value)
{
	if (expand_add_processes(request, value))
		return -1;
	return cmd_usage_error("'%s' is neither a PID nor the name of a running program", value);
}

int expand_set_file(void *request, const char *value)
{
	struct expand_request *req = request;
	if (req->exe)
		return cmd_usage_error("-x: one file at a time");
	req->exe = value;
	return -1;
}

int expand_add_text(void *request, const char *value)
{
	struct expand_request *req = request;
	vec_push(req->arena, &req->sources, (struct expand_source){value, true, NULL});
	return -1;
}

int expand_add_define(void *request, const char *value)
{
	struct expand_request *req = request;
	if (*value == '-')
		return cmd_usage_error("-D: '%s' is not NAME or NAME=VALUE", value);
	vec_push(req->arena, &req->defines, value);
	return -1;
}

int expand_add_script(void *request, const char *word)
{
	struct expand_request *req = request;
	if (!*word)
		return cmd_usage_error("an empty argument in place of a script");
	vec_push(req->arena, &req->sources, (struct expand_source){word, false, NULL});
	return -1;
}

/** Arguments after --: the values of $1, $2 ...; the scripts, where none was given before it. */
static int add_rest(struct expand_request *req, int argc, char **argv)
{
	int status = -1;
	if (!req->sources.n) // scripts whose names begin with -
		for (; status < 0 && optind < argc; optind++)
			status = expand_add_script(req, argv[optind]);
	else if (strcmp(argv[optind - 1], "--") == 0)
		req->given.args = argv + optind;
	return status;
}

int expand_read_options(const struct cmd_options *options, const char *purpose, int argc,
			char **argv, struct expand_request *req)
{
	int status = cmd_read_options(options, req->arena, argc, argv, req);
	if (status >= 0)
		return status;
	status = add_rest(req, argc, argv);
	if (status >= 0)
		return status;
	if (!req->sources.n)
		return cmd_usage_error("give a script to %s", purpose);
	if (req->exe && req->pids.n)
		return cmd_usage_error("give -p or -x, not both");
	if (req->exe && (req->given.has_family || req->cgroup_name))
		return cmd_usage_error("--children and --cgroup are for processes: with -x all are "
				       "traced");
	return status;
}

void expand_choose_version(struct arena *a, struct diag *d, struct expand_request *req)
{
	struct bpftrace bt;
	if (!req->given.version && bpftrace_find(a, &(struct diag){0}, NULL, true, &bt) == 0)
		req->given.version = bt.version;
	bpftrace_note_newer(d, req->given.version);
	req->given.is_any_version = !req->given.version;
	if (!req->given.version)
		req->given.version = DIALECT_DEFAULT;
}

const char *expand_script_dir(struct arena *a)
{
	static const char *const beside[] = {"bpf", "share/btgen/bpf"};
	return proc_find_beside(a, beside, sizeof(beside) / sizeof(beside[0]));
}

struct probesigs *expand_signatures(struct arena *a, struct diag *d)
{
	const char *dir = expand_script_dir(a);
	const char *path = dir ? arena_printf(a, "%s/probes.conf", dir) : NULL;
	if (!path || access(path, F_OK) != 0)
		return NULL;
	struct probesigs *s = arena_new(a, struct probesigs);
	return probesig_load(a, d, path, s) ? s : NULL;
}

/** The script, or the program that runs, with the name nearest to @word; NULL: none is near. */
static const char *near_word(struct arena *a, const char *word)
{
	const char *near = stock_near(a, word);
	int pid;
	struct str program = near ? STR("") : proc_nearest(a, PROCFS, word, &pid);
	return program.n ? arena_printf(a, STR_FMT " (PID %d)", STR_ARG(program), pid) : near;
}

bool expand_find_script(struct arena *a, struct diag *d, const char *name, bool has_pid,
			const char **ret)
{
	size_t n;
	if (!stock_choose(a, d, name, ret))
		return false;
	if (!*ret && !has_pid && proc_find_named(a, PROCFS, name, &n) && n)
		return diag_error(
		    d, NULL, "'%s' is a running program, not a script; put it before the script",
		    name);
	if (!*ret && strchr(name, '{'))
		return diag_error(d, NULL, "'%s' is script text, not a file: put -e before it",
				  name);
	if (*ret && img_is_elf(*ret))
		return diag_error(d, NULL,
				  "'%s' is a program, not a script: write -x %s to trace its "
				  "processes",
				  name, name);
	if (*ret)
		return true;
	const char *dir = expand_script_dir(a),
		   *near = has_pid ? stock_near(a, name) : near_word(a, name);
	return diag_error(d, NULL, "no script '%s' here%s%s%s%s%s", name, dir ? ", nor in " : "",
			  dir ? dir : "", CMD_NEAR(near));
}

int expand_unknown_word(const struct expand_request *req, const char *word)
{
	const char *dir = expand_script_dir(req->arena), *near = near_word(req->arena, word);
	int pid = 0;
	struct str program = near ? STR("") : proc_nearest(req->arena, PROCFS, word, &pid);
	if (program.n)
		near = arena_printf(req->arena, STR_FMT " (PID %d)", STR_ARG(program), pid);
	return cmd_usage_error("'%s' is neither a running program nor a script here or in %s%s%s%s",
			       word, dir ? dir : "btgen's directory", CMD_NEAR(near));
}

static bool load_source(struct arena *a, struct diag *d, const struct expand_request *req,
			const struct expand_source *s, struct src_file **ret)
{
	if (s->is_text) {
		*ret =
		    s->made ? s->made : src_from_text(a, STR("<command line>"), str_from(s->text));
		return true;
	}
	const char *path;
	if (!expand_find_script(a, d, s->text, req->pids.n > 0, &path))
		return false;
	char real[PATH_MAX];
	if (req->given.verbose && !d->quiet)
		diag_note(d, NULL, "script '%s' is %s", s->text,
			  realpath(path, real) ? real : path);
	return src_load(a, d, path, str_from(path), ret);
}

static bool preprocess(struct arena *a, struct diag *d, const struct expand_request *req,
		       const struct proc *proc, struct pp *pp, struct src_file **main)
{
	pp_init(pp, a, d);
	for (size_t i = 0; i < req->dirs.n; i++)
		pp_add_dir(pp, req->dirs.v[i]);
	const char *own = expand_script_dir(a);
	if (own)
		pp_add_dir(pp, own);
	pp_predefine(pp, "__BPFTRACE__", arena_printf(a, "%u", req->given.version));
#if defined(__x86_64__)
	pp_predefine(pp, "__ARCH_X86_64__", "1");
#elif defined(__aarch64__)
	pp_predefine(pp, "__ARCH_AARCH64__", "1");
#endif
	predefined_add(pp);
	if (proc)
		pp_predefine(pp, "__PID__", arena_printf(a, "%d", proc->pid));

	bool good = true;
	for (size_t i = 0; i < req->defines.n; i++)
		good &= pp_define(pp, req->defines.v[i]);
	*main = NULL;
	for (size_t i = 0; good && i < req->sources.n; i++) {
		struct src_file *f;
		good = load_source(a, d, req, &req->sources.v[i], &f) && pp_file(pp, f);
		if (good && !*main)
			*main = f;
	}
	if (good)
		pp_warn_unused(pp);
	if (!good || (pp->out && pp->out->kind != TOK_EOF))
		return good;
	// It would attach nothing and wait for ever.
	struct diag_place at = {.file = *main ? (*main)->name : STR("<command line>")};
	return diag_error(d, &at, "the script is empty");
}

/** The process or file that names are looked up in; @x must be closed also after a failure. */
static bool open_target(struct arena *a, struct diag *d, const struct expand_request *req,
			struct expansion *x)
{
	*x = (struct expansion){.bind = {.arena = a,
					 .diag = d,
					 .given = arena_new(a, struct bind_given),
					 .made = arena_new(a, struct bind_made),
					 .cache = arena_new(a, struct bind_cache)}};
	if (!req->exe && !req->pids.n)
		return true;
	if (req->exe) {
		if (!targetfiles_of_file(a, d, req->exe, &x->files))
			return false;
	} else {
		x->n_parents = proc_parents_first(PROCFS, req->pids.v, req->pids.n);
		if (!proc_open(a, d, PROCFS, req->pids.v[0], &x->proc)) {
			x->proc = NULL;
			return false;
		}
		targetfiles_of_proc(a, d, x->proc, &x->files);
	}
	struct targetfile *program = &x->files.list.v[0];
	if (img_is_32bit(str_dup(a, program->open_path)))
		return diag_error(d, NULL,
				  STR_FMT " is a 32-bit program, which is not supported: %s",
				  STR_ARG(program->path), IMG_WHY_NOT_32BIT);
	unsigned n_errors = d->n_errors;
	x->is_open = true;
	x->files.signatures = expand_signatures(a, d);
	program->path = req->exe && req->at ? str_from(req->at) : program->path;
	return d->n_errors == n_errors;
}

/** Of several processes the first one names the files: they must be those of the others. */
static bool check_same_exe(struct diag *d, const struct expand_request *req)
{
	for (size_t i = 1; i < req->pids.n; i++)
		if (!proc_same_exe(PROCFS, req->pids.v[0], req->pids.v[i]))
			return diag_error(d, NULL,
					  "process %d does not run the same program as process %d: "
					  "trace them separately",
					  req->pids.v[i], req->pids.v[0]);
	return true;
}

const struct script_attach *expand_find_global(const struct expansion *x, bool also_filtered)
{
	for (size_t i = 0; i < x->bind.found.script.clauses.n; i++) {
		const struct script_clause *c = x->bind.found.script.clauses.v[i];
		for (size_t k = 0; k < c->attach.n; k++)
			if (c->attach.v[k].provider->whose <= OF_PROCESS &&
			    (also_filtered || !check_tells_processes(c)))
				return &c->attach.v[k];
	}
	return NULL;
}

bool expand_check_reach(struct diag *d, const struct expand_request *req, const struct expansion *x,
			enum diag_level level)
{
	const struct script_attach *at = expand_find_global(x, level == DIAG_ERROR);
	if (!req->exe || !at || x->bind.found.scope == BIND_HOST)
		return true;
	return diag_finding(
		   d, "scope", level, tok_at(at->node->first),
		   "with -x this would fire for every process on the machine: give a PID") ||
	       diag_note(d, NULL, "#pragma scope host marks a script that traces all processes");
}

bool expand_has_several(const struct expand_request *req)
{
	return req->pids.n > 1 || req->given.has_family || req->given.cgroup;
}

const char *expand_list_pids(struct arena *a, const int *pids, size_t n, const char *between)
{
	const char *all = "";
	for (size_t i = 0; i < n; i++)
		all = arena_printf(a, "%s%s%d", all, i ? between : "", pids[i]);
	return all;
}

static const char *several_processes(struct arena *a, const struct expand_request *req,
				     struct str name, const char *note)
{
	enum { SHOWN = 8 };
	const int *pids = req->pids.v;
	size_t n = req->pids.n;
	if (req->given.cgroup)
		return arena_printf(
		    a, "attached to " STR_FMT " in " STR_FMT ", later processes included%s",
		    STR_ARG(name), STR_ARG(str_printable(a, str_from(req->given.cgroup->path))),
		    note);
	if (n == 1)
		return arena_printf(a, "attached to " STR_FMT " (PID %d)%s, and those it forks",
				    STR_ARG(name), pids[0], note);
	return arena_printf(a, "attached to %zu processes of " STR_FMT " (%s%s)%s%s", n,
			    STR_ARG(name), expand_list_pids(a, pids, n < SHOWN ? n : SHOWN, ", "),
			    n > SHOWN ? ", ..." : "", note,
			    req->given.has_family ? ", and those they fork" : "");
}

const char *expand_attached_to(struct arena *a, const struct expand_request *req,
			       const struct expansion *x, bool has_end, const char *note)
{
	bool is_host = x->bind.found.scope == BIND_HOST;
	struct str name = x->proc ? str_printable(a, proc_name(x->proc)) : STR("");
	note = note ? note : "";
	if (!is_host && x->proc && expand_has_several(req))
		return several_processes(a, req, name, note);
	if (is_host && x->proc && x->names_one)
		return arena_printf(
		    a,
		    "attached to the whole host: the script filters by the PID of " STR_FMT ", %d",
		    STR_ARG(name), x->proc->pid);
	if (has_end && x->proc)
		return arena_printf(a, "attached to " STR_FMT " (PID %d)%s", STR_ARG(name),
				    x->proc->pid, note);
	if (req->exe && !req->raw && !expand_find_global(x, true))
		return arena_printf(a, "attached to every process of " STR_FMT "%s",
				    STR_ARG(str_printable(a, str_from(req->exe))), note);
	return "attached";
}

/**
 * Several processes of one program are selected by a filter, which the script need not know: one that names
 * its process by __PID__ is for one. A script of the whole host that finds its process itself gets, of a
 * server and its children, the server.
 */
static bool check_pids(struct arena *a, struct diag *d, const struct expand_request *req,
		       const struct expansion *x, bool is_host, bool names_one)
{
	const int *pids = req->pids.v;
	size_t n = req->pids.n;
	if (is_host && req->given.cgroup && !names_one)
		return diag_error(
		    d, NULL,
		    "--cgroup: the script traces the whole host, so it would show other processes");
	if (!names_one || n == 0)
		return check_same_exe(d, req);
	if (!is_host && req->given.cgroup)
		return diag_error(d, NULL,
				  "--cgroup: the script refers to one process, __PID__, and would "
				  "miss the others");
	struct str why = req->raw ? STR("") : filter_why_blind(a, req->given.version, x->proc);
	if (why.n)
		return diag_error(d, NULL, "the script uses __PID__: " STR_FMT, STR_ARG(why));
	if (n == 1)
		return is_host || !req->given.has_family ||
		       diag_error(d, NULL,
				  "--children: the script refers to one process, __PID__, and "
				  "would miss its children");
	if (is_host && x->n_parents == 1) {
		if (!d->quiet)
			diag_note(d, NULL, "tracing %d and its %zu %s", pids[0], n - 1,
				  n == 2 ? "child" : "children");
		return true;
	}
	diag_error(d, NULL, "%zu processes were given (%s), and %s: give only the one to trace", n,
		   expand_list_pids(a, pids, n, " "),
		   req->raw ? "a finished program is not filtered"
			    : "the script refers to one, __PID__");
	if (is_host && x->n_parents < n)
		diag_note(d, NULL, "%s are not children of the others",
			  expand_list_pids(a, pids, x->n_parents, " "));
	return false;
}

/** -t: the script is made here. */
static bool write_trace(struct arena *a, struct diag *d, const struct expand_request *req,
			struct expansion *x, struct expand_request *ret)
{
	const struct trace_request *t = &req->trace;
	if (!x->files.list.n)
		return diag_error(
		    d, NULL,
		    "%s %s%s%s needs a process: give its PID or name, or -x FILE for every "
		    "process of a program",
		    t->patterns.n ? "-t"
		    : t->calls.n  ? "--calls"
				  : "--latency",
		    t->patterns.n ? t->patterns.v[0]
		    : t->calls.n  ? t->calls.v[0]
				  : t->start,
		    t->start ? " " : "", t->start ? t->done : "");
	if (!check_same_exe(d, req))
		return false;
	struct src_file *made = trace_make(a, d, &x->files, req->given.version, &req->trace,
					   x->proc && !expand_has_several(req), req->given.shapes);
	if (!made)
		return false;
	x->script = made->text;
	*ret = *req;
	ret->sources.v = NULL;
	ret->sources.n = ret->sources.cap = 0;
	vec_push(a, &ret->sources, (struct expand_source){made->text.p, true, made});
	return true;
}

bool expand_spares_scripts(struct diag *d, const struct expand_request *req, const char *option,
			   const char *path)
{
	for (size_t i = 0; i < req->sources.n && path; i++) {
		const struct expand_source *s = &req->sources.v[i];
		if (!s->is_text && outfile_is_same(path, s->text))
			return diag_error(d, NULL, "%s: %s is the script itself", option, path);
	}
	return true;
}

/** What the steps of a template are given. */
static const struct bind_given *given_by(struct arena *a, const struct expand_request *req,
					 struct expansion *x, const struct src_file *main)
{
	const char *own = expand_script_dir(a);
	const char *conf = own ? arena_printf(a, "%s/enums.conf", own) : NULL;
	struct bind_given *given = arena_new(a, struct bind_given);
	*given = req->given;
	if (!given->conf && conf && access(conf, F_OK) == 0)
		given->conf = conf;
	given->files = x->files.list.n ? &x->files : NULL;
	given->proc = x->proc;
	given->pids = req->pids.v;
	given->n_pids = x->proc ? req->pids.n : 0;
	given->is_trace = trace_is_wanted(&req->trace);
	given->is_generated = trace_is_list(&req->trace) || req->trace.calls.n;
	given->main = main;
	given->functions = req->given.shapes ? &req->given.shapes->functions : NULL;
	return given;
}

static bool make_program(struct arena *a, struct diag *d, const struct expand_request *req,
			 struct expansion *x)
{
	if (!expand_spares_scripts(d, req, "-o", req->out) || !open_target(a, d, req, x))
		return false;
	for (size_t i = 0; i < req->sources.n && req->raw; i++)
		strbuf_addf(&x->program.text, "%s\n", req->sources.v[i].text);
	if (req->raw) // a finished program: passed on as it is
		return check_pids(a, d, req, x, false, true);

	struct pp pp;
	struct src_file *main;
	struct expand_request traced;
	if (trace_is_wanted(&req->trace)) {
		if (!write_trace(a, d, req, x, &traced))
			return false;
		req = &traced;
	}
	// Before names are looked up in the first of several.
	if (!preprocess(a, d, req, x->proc, &pp, &main))
		return false;
	x->names_one = pp_is_used(&pp, STR("__PID__"));
	bool is_host = vec_any(const struct pp_pragma, p, &pp.pragmas,
			       tok_is(p->tokens, "scope") && tok_is(p->tokens->next, "host"));
	if (!check_pids(a, d, req, x, is_host, x->names_one))
		return false;

	x->bind.given = given_by(a, req, x, main);
	x->bind.made->program = req->without_text ? NULL : &x->program;
	x->bind.made->printed_strlen =
	    req->given.shapes ? trace_strlen(req->given.shapes, req->given.version) : UINT_MAX;
	x->bind.found.scope = expand_has_several(req) ? BIND_BY_FILTER : BIND_BY_PID;
	if (!template_bind(&x->bind, &pp) || d->n_errors)
		return false;
	return true;
}

/** The probes that are not traced; not @good without an error: none is left. */
static void report_skipped(struct arena *a, struct diag *d, unsigned version, struct expansion *x,
			   bool good)
{
	struct skipped *s = &x->files.skipped;
	const char *name = arena_printf(a, "bpftrace " DIALECT_FMT, DIALECT_ARG(version));
	s->most = dialect_max_usdt(version);
	s->instead = dialect_has_libbpf_usdt(version) ? "bpftrace 0.23" : NULL;
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].why.n && !attachable_has_name(s->list.v[i].probe, 23))
			s->instead = NULL; // not all of them
	skipped_report(s, a, d, name);
	x->skipped = skipped_json(s, a, name);
	if (!good && !d->n_errors)
		diag_error(d, NULL, "no probes remain to be traced");
}

bool expand_run(struct arena *a, struct diag *d, const struct expand_request *req,
		struct expansion *x)
{
	d->choices = req->findings.v;
	d->n_choices = req->findings.n;
	d->is_strict = req->strict;
	d->is_forced = req->forced;
	bool good = make_program(a, d, req, x);
	d->is_strict = d->is_forced = false; // messages of bpftrace are its own
	if (good && req->given.verbose)
		targetfiles_note_skips(&x->files);
	if (good || trace_is_wanted(&req->trace)) // errors of a script are reported
		report_skipped(a, d, req->given.version, x, good);
	return good;
}

bool expand_as_run(struct arena *a, struct diag *d, const struct expand_request *req,
		   struct expansion *x)
{
	struct expand_request run = *req;
	run.given.shapes = arena_new(a, struct shapes);
	shapes_init(run.given.shapes, a, false);
	shapes_add_key(run.given.shapes);
	run.without_text = true;
	run.given.is_unsafe = true; // how bpftrace is started is no matter of a script
	return expand_run(a, d, &run, x);
}

void expand_close(struct expansion *x)
{
	program_fini(&x->program);
	targetfiles_close(&x->files);
	if (x->proc)
		proc_close(x->proc);
	x->proc = NULL;
}
