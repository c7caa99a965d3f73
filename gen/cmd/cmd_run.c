/** btgen run - expand a template and run it under bpftrace; what bpftrace.sh calls. */

#include "bind/path.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/jobs.h"
#include "base/progress.h"
#include "cmd/builds.h"
#include "cmd/run_once.h"
#include "doctor/facts.h"
#include "setup/upgrade.h"
#include "dialect/dialect.h"
#include "elf/debuginfod.h"
#include "process/await.h"
#include "run/keep.h"
#include "run/ready.h"
#include "process/python.h"
#include "run/stop.h"

/**
 * Starts the command of -c. A program that only starts others (a shell, timeout) is passed over: the first
 * program with something that the script traces is held. If there is none, the errors are those of the
 * first.
 */
static bool start_command(struct arena *a, struct diag *d, struct run_options *o,
			  struct spawned *child, struct expansion *x)
{
	struct diag_log said = {.arena = a};
	unsigned n_errors = d->n_errors;
	bool good = false, is_elsewhere = true;
	o->req.given.is_started = true;
	if (!spawn_held(a, d, o->command, child))
		return false;
	// Another program, as one with a mistake in the script, is not to run in vain.
	bool starts_others = spawn_is_wrapper(child);
	do {
		struct diag_log log = {.arena = a};
		bool is_wrapper = spawn_is_wrapper(child);
		expand_close(x);
		o->req.pids.n = 0;
		vec_push(a, &o->req.pids, child->target);
		d->n_errors = n_errors;
		d->log = &log;
		good = run_options_expand(a, d, o, x);
		d->log = NULL;
		if (is_wrapper && x->bind.found.scope != BIND_HOST) { // it may lack anything
			good = false;
			continue;
		}
		is_elsewhere = d->n_errors - n_errors == x->files.n_missing;
		if (good || !is_elsewhere || !said.messages.n)
			said = log;
	} while (!good && is_elsewhere && starts_others && spawn_next(child));
	if (good && child->is_early)
		diag_warning(
		    d, NULL,
		    "-c: another trace has a probe at the entry point of %s: its libraries are "
		    "not loaded yet and cannot be traced",
		    o->command);
	if (good && !o->no_run)
		spawn_keep(child);
	for (size_t i = 0; i < said.messages.n; i++)
		diag_show(d, &said.messages.v[i]);
	if (!good && !said.messages.n)
		diag_error(d, NULL, "-c: %s did not start another program", o->command);
	return good;
}

/** Those whose next process --follow takes for its own. */
static void add_user(struct arena *a, struct series *s, uid_t user)
{
	if (user != (uid_t)-1 && !vec_any(const uid_t, u, &s->users, *u == user))
		vec_push(a, &s->users, user);
}

/** "/tmp/app, of uid 1001", for a process of neither root nor who runs this, or called sudo(8); else NULL. */
static const char *stranger_of(struct arena *a, const struct proc *p)
{
	struct arena look = {0};
	uid_t uid = proc_uid(&look, PROCFS, p->pid, PROC_UID_REAL);
	arena_fini(&look);
	if (uid == (uid_t)-1 || file_is_trusted(uid))
		return NULL;
	return arena_printf(a, STR_FMT ", of uid %u", STR_ARG(str_printable(a, p->files.v[0].path)),
			    (unsigned)uid);
}

/** Describes a process that was found by its name, which the user did not choose. */
static void note_process(struct arena *a, struct run_options *o, struct series *s,
			 struct expansion *x)
{
	struct str was = s->build, path = x->proc ? x->proc->files.v[0].path : STR("");
	const char *stranger = o->awaited && x->proc ? stranger_of(a, x->proc) : NULL;
	s->build = build_id_of(a, x);
	bool is_other = was.n && s->build.n && !str_eq(was, s->build);
	bool has_moved = s->path.n && path.n && !str_eq(s->path, path);
	s->note = is_other ? ", another build" : NULL;
	if (stranger)
		s->note = arena_printf(a, "%s: %s", s->note ? s->note : "", stranger);
	else if (has_moved)
		s->note = arena_printf(a, "%s: " STR_FMT, s->note ? s->note : "",
				       STR_ARG(str_printable(a, path)));
	s->path = str_copy(a, path);
}

// --- a file that is replaced

struct upgraded {
	struct arena *arena;
	struct diag *diag;
	const struct bpftrace *bpftrace;
	struct run_options *options;
	struct expansion *first;
	struct series *series;
};

/** The new file's build, in a process of its own. What is wrong with it is no error of the trace. */
static int trace_next(struct upgraded *u, struct run_options *o, struct output_share *share,
		      struct expansion *x)
{
	struct arena *a = u->arena;
	struct diag warnings = {.warns = u->diag};
	struct spawned none = {0};
	struct series series = {0};
	debuginfod_waited(); // for the first build
	if (!expand_choose_cgroup(&warnings, &o->req) || !run_options_expand(a, &warnings, o, x))
		return JOBS_NOT_BEGUN;
	const char *id = build_short_id(a, x);
	share->heading = build_heading(a, o, x, id);
	series.note = *id ? arena_printf(a, ", build %s", id) : ", another build";
	int status = run_once(a, u->diag, o, u->bpftrace, x, &none, share, &series);
	return series.was_ready || !status ? status : JOBS_NOT_BEGUN;
}

static int trace_upgraded(void *ctx, const struct upgrade_build *b)
{
	struct upgraded *u = ctx;
	struct run_options o = *u->options;
	struct expansion x = {0};
	struct spawned none = {0};
	struct output_share share = b->share;
	o.run.ready_file = NULL;
	o.run.ready_fd = b->ready_fd;
	o.run.duration = b->duration;
	if (!b->i)
		return run_once(u->arena, u->diag, &o, u->bpftrace, u->first, &none,
				o.converts ? NULL : &share, u->series);
	if (b->pid) {
		o.req.pids.n = 0;
		vec_push(u->arena, &o.req.pids, b->pid);
	}
	int status = trace_next(u, &o, &share, &x);
	expand_close(&x);
	return status;
}

static void upgraded_is_ready(void *ctx)
{
	struct upgraded *u = ctx;
	ready_pass_on(u->diag, u->options->run.ready_file, u->options->run.ready_fd);
}

/** Of a file or a cgroup, whose processes come and go: it outlives the file. */
static bool outlives_file(const struct run_options *o, const struct expansion *x)
{
	return !o->req.raw && !o->follows && !o->command && !o->run.is_estimate &&
	       (o->req.exe || o->req.given.cgroup) && x->files.list.n;
}

/** Of some attach point, by another bpftrace, too, there would be two events. */
static bool attaches_elsewhere(struct expansion *x, const struct stat *first)
{
	struct bind *b = &x->bind;
	struct diag silent = {0}, *shown = b->diag;
	b->diag = &silent; // a path that cannot be written has no attach point
	const char *path = path_of(b, &x->files.list.v[0], b->found.script.program->first);
	b->diag = shown;
	const char *own = path ? arena_printf(b->arena, ":%s:", path) : NULL;
	if (!own || expand_find_global(x, true))
		return true;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct script_attach, at, &b->found.script.clauses.v[i]->attach) {
			struct stat st;
			if (at->provider->whose != OF_FILE || at->absent)
				continue;
			if (!at->bound.n &&
			    (stat(str_dup(b->arena, at->fields.v[0]), &st) != 0 ||
			     st.st_dev != first->st_dev || st.st_ino != first->st_ino))
				return true;
			vec_each(const struct str, one, &at->bound)
				if (!str_contains(*one, str_from(own)))
					return true;
		}
	return false;
}

/** Those that an upgrade of -x FILE has left, which look like a program that does nothing. */
static void warn_of_replaced(struct arena *a, struct diag *d, const char *file)
{
	size_t n = 0;
	char *path = realpath(file, NULL);
	int *pids = path ? proc_list_replaced(a, PROCFS, str_from(path), &n) : NULL;
	free(path);
	if (n)
		diag_warning(d, NULL,
			     "%s was replaced, and process %d%s runs the older file, which is not "
			     "traced: give PIDs instead",
			     str_dup(a, str_printable(a, str_from(file))), pids[0],
			     n > 1 ? arena_printf(a, " (and %zu more)", n - 1) : "");
}

static int trace_upgrades(struct arena *a, struct diag *d, struct run_options *o,
			  const struct bpftrace *bt, struct expansion *x, struct series *series)
{
	struct upgraded ctx = {a, d, bt, o, x, series};
	struct img *img = targetfile_open(&x->files, &x->files.list.v[0]);
	bool is_missed = false;
	struct upgrade u = {.arena = a,
			    .diag = d,
			    .quiet = o->run.quiet,
			    .duration = o->run.duration,
			    .trace = trace_upgraded,
			    .ready = upgraded_is_ready,
			    .ctx = &ctx,
			    .heading = build_heading(a, o, x, build_short_id(a, x))};
	if (!img || fstat(img->fd, &u.first) != 0)
		return CMD_INPUT;
	u.build = img->build_id;
	if (o->converts)
		u.why_one =
		    arena_printf(a,
				 "it is not traced: -f %s handles one build; use -f json and "
				 "btgen convert",
				 o->format);
	if (attaches_elsewhere(x, &u.first))
		u.why_shared = "it is not traced, as the script traces more than this file: start "
			       "the trace again";
	if (o->req.exe) {
		u.file = o->req.exe;
	} else {
		u.cgroup = o->req.given.cgroup->path;
		u.group = o->req.given.cgroup->ids.v[0];
		u.name = proc_name(x->proc);
	}
	stop_signals(&u.signals);
	if (o->run.keep_ms)
		sigaddset(&u.signals, SIGUSR1);
	signal(SIGPIPE, SIG_IGN);
	int status = upgrade_run(&u, &is_missed);
	return is_missed && o->run.loss_fails && status == 0 ? RUN_LOST : status;
}

/** @all: what outlives this trace is there. */
static int expand_and_trace(struct arena *a, struct arena *all, struct diag *d,
			    struct run_options *o, const struct bpftrace *bt, struct series *series)
{
	struct spawned child = {0};
	struct expansion x = {0};
	sigset_t ends;
	int status = CMD_INPUT;
	bool good =
	    o->command ? start_command(a, d, o, &child, &x) : run_options_expand(a, d, o, &x);
	// Of -t that is the script to go on from.
	struct str shown =
	    o->no_run && trace_is_wanted(&o->req.trace) ? x.script : strbuf_str(&x.program.text);
	const char *stranger =
	    !good && x.proc && (o->awaited || o->req.by_name) ? stranger_of(a, x.proc) : NULL;
	if (stranger)
		diag_note(d, NULL, "process %d runs %s", x.proc->pid, stranger);
	for (size_t i = 0; i < o->req.pids.n; i++)
		add_user(all, series, proc_uid(a, PROCFS, o->req.pids.v[i], PROC_UID_REAL));
	if (good && o->no_run)
		status = outfile_write(a, d, NULL, NULL, shown) ? CMD_OK : CMD_INPUT;
	else if (good) {
		if (!o->echo || outfile_write(a, d, NULL, NULL, strbuf_str(&x.program.text))) {
			note_process(all, o, series, &x);
			if (o->req.exe && !o->req.raw)
				warn_of_replaced(a, d, o->req.exe);
			status = outlives_file(o, &x)
				     ? trace_upgrades(a, d, o, bt, &x, series)
				     : run_once(a, d, o, bt, &x, &child, NULL, series);
		}
	}
	add_user(all, series, series->end.user);
	if (x.proc) {
		if (!str_eq(series->name, proc_name(x.proc)))
			series->name = str_copy(all, proc_name(x.proc));
		series->started = x.proc->start_time;
	}
	// Also one that was gone before it could be looked at.
	series->end.is_gone |=
	    !good && o->follows && o->req.pids.n &&
	    (x.proc ? !proc_is_same(x.proc) : !proc_exists(PROCFS, o->req.pids.v[0]));
	stop_signals(&ends);
	spawn_end(&child, &ends);
	expand_close(&x);
	return status;
}

static int trace_build(void *ctx, size_t i, int ready_fd)
{
	struct builds *b = ctx;
	struct build *build = &b->list.v[i];
	struct spawned none = {0};
	struct series series = {.note = build->note};
	build->options.run.ready_file = NULL;
	build->options.run.ready_fd = ready_fd;
	return run_once(b->arena, b->diag, &build->options, b->bpftrace, &build->x, &none,
			&build->share, &series);
}

static void builds_are_ready(void *ctx)
{
	struct builds *b = ctx;
	ready_pass_on(b->diag, b->options->run.ready_file, b->options->run.ready_fd);
}

/** Each build's processes by a bpftrace of their own, as each has its own types. */
static int trace_builds(struct builds *b)
{
	struct output_share share;
	struct jobs_work work = {
	    .n = b->list.n, .work = trace_build, .all_ready = builds_are_ready, .ctx = b};
	int status = CMD_INPUT;
	if (!builds_expand(b))
		;
	else if (!output_share_new(&share, 0))
		diag_error(b->diag, NULL, "cannot share the output: %s", strerror(errno));
	else {
		builds_set_headings(b, &share);
		stop_signals(&work.signals);
		if (b->options->run.keep_ms)
			sigaddset(&work.signals, SIGUSR1);
		signal(SIGPIPE, SIG_IGN); // nobody may read --ready-fd any more
		status = jobs_run(&work);
		if (status < 0) {
			diag_error(b->diag, NULL, "cannot start %zu processes: %s", b->list.n,
				   strerror(errno));
			status = 1;
		}
	}
	vec_each(struct build, build, &b->list)
		expand_close(&build->x);
	return status;
}

/**
 * Waits for the next processes of this name. A server's first one includes its children if one was traced.
 * Returns 0, the number of a signal that came, or SIGALRM at the end of -T.
 */
static int await(struct arena *a, struct diag *d, struct run_options *o, const struct series *s,
		 const char *name)
{
	size_t n, n_before = o->req.pids.n;
	int sig;
	struct awaited what = {.name = name,
			       .after = s->started,
			       .known = o->req.pids.v,
			       .n_known = n_before,
			       .users = s->users.v,
			       .n_users = s->users.n,
			       .diag = d,
			       .deadline = s->over};
	stop_signals(&what.signals);
	if (!o->run.quiet)
		fprintf(stderr, "btgen: waiting for %s\n",
			str_dup(a, str_printable(a, str_from(name))));
	int *found = await_process(a, &what, &n, &sig);
	if (!found)
		return sig;
	bool has_many = n_before > 1 || (n_before == 0 && !o->req.given.has_family);
	size_t n_parents = proc_parents_first(PROCFS, found, n);
	o->req.pids.n = 0;
	o->req.by_name = true;
	for (size_t i = 0; i < (has_many ? n : n_parents); i++)
		vec_push(a, &o->req.pids, found[i]);
	return 0;
}

/** A reader of a FIFO would see its end after the first trace. */
static bool check_followed(struct diag *d, const struct run_options *o)
{
	struct stat st;
	bool is_fifo = o->req.out && stat(o->req.out, &st) == 0 && S_ISFIFO(st.st_mode);
	return !o->follows || !is_fifo ||
	       diag_error(d, NULL, "-o: %s is a FIFO, which --follow cannot reopen", o->req.out);
}

/** While no process is traced, nothing is kept that could be printed. */
static void ignore_wish(int sig)
{
	(void)sig;
}

static void refuse_wish(int sig)
{
	(void)sig;
	keep_report_missing();
}

static void end_between(int sig)
{
	(void)sig;
	_exit(CMD_OK);
}

/** --follow: while the next process is looked at, ^C ends at once. What was traced before is written. */
static void allow_end_between(bool has_traced)
{
	sigset_t ends;
	stop_signals(&ends);
	for (int sig = 1; sig < NSIG && has_traced; sig++)
		if (sigismember(&ends, sig))
			signal(sig, end_between);
	sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

/** One trace, or with --follow one of each process that comes. */
static int trace_all(struct arena *a, struct diag *d, struct run_options *o,
		     const struct bpftrace *bt)
{
	struct series s = {0};
	int status, sig;
	signal(SIGUSR1, o->run.keep_ms ? ignore_wish : refuse_wish);
	if (!expand_choose_cgroup(d, &o->req) || !check_followed(d, o))
		return CMD_INPUT;
	if (o->run.ready_file && !o->no_run &&
	    (!expand_spares_scripts(d, &o->req, "--ready-file", o->run.ready_file) ||
	     !outfile_may_write(a, d, "--ready-file", o->run.ready_file)))
		return CMD_INPUT;
	if (o->awaited && (sig = await(a, d, o, &s, o->awaited)))
		return 128 + sig;
	s.name = o->awaited ? str_from(o->awaited) : STR("");
	if (o->run.duration && o->follows)
		s.over = clock_ms() + o->run.duration;
	struct builds builds = {.arena = a, .diag = d, .bpftrace = bt, .options = o};
	if (!o->req.given.cgroup)
		builds_sort(&builds, o);
	if (builds.list.n > 1 && o->req.by_name)
		builds_skip_without_probes(&builds, o);
	if (o->no_run || o->echo || o->follows ||
	    (!o->req.by_name && !builds_are_one_program(&builds)))
		builds.list.n = 0;
	if (builds.list.n > 1 && o->converts) {
		diag_error(d, NULL,
			   "several builds of the program are running, but -f %s handles one: use "
			   "-f json and btgen convert",
			   o->format);
		return CMD_INPUT;
	}
	if (builds.list.n > 1)
		return trace_builds(&builds);
	for (;;) {
		struct arena once = {0}; // two MB that a year of restarts must not add up
		s.end = (struct run_end){.user = (uid_t)-1};
		o->req.arena = &once;
		status = expand_and_trace(&once, a, d, o, bt, &s);
		o->req.arena = a;
		arena_fini(&once);
		if (!o->follows || !s.end.is_gone || !s.name.n)
			return status;
		if (o->run.n_events && s.end.n_events >= o->run.n_events)
			return status;
		if (o->run.n_events)
			o->run.n_events -= s.end.n_events;
		if (await(a, d, o, &s, str_dup(a, s.name)))
			return s.was_ready ? CMD_OK : status;
		allow_end_between(s.was_ready);
		if (s.was_ready) {
			o->run.ready_file = NULL;
			o->run.ready_fd = -1;
		}
		d->n_errors = 0;
		if (s.over) // one that is nearly over lasts a moment
			o->run.duration = s.over > clock_ms() ? s.over - clock_ms() : 1;
	}
}

/** -l */
static int list_probes(struct diag *d, struct run_options *o)
{
	struct expand_request *req = &o->req;
	struct arena *a = req->arena;
	struct probes_request list = {
	    .bpftrace = o->bpftrace, .verbose = req->given.verbose, .json = req->json};
	size_t first = 0;
	if (req->exe)
		vec_push(a, &list.files, req->exe);
	for (size_t i = 0; i < req->pids.n; i++)
		vec_push(a, &list.processes, arena_printf(a, "%d", req->pids.v[i]));
	if (!req->exe && !req->pids.n) {
		if (!o->words.n)
			return cmd_usage_error("-l: give a process or a file");
		const char *word = o->words.v[first++];
		size_t n = 0;
		if (!strchr(word, '/')) // a process of that name goes before a file, as with -t
			proc_find_named(a, PROCFS, word, &n);
		bool is_file = !n && access(word, F_OK) == 0;
		vec_push(a, is_file ? &list.files : &list.processes, word);
	}
	for (; first < o->words.n; first++)
		vec_push(a, &list.patterns, o->words.v[first]);
	for (char **pattern = req->given.args; *pattern; pattern++)
		vec_push(a, &list.patterns, *pattern);
	return probes_list(a, d, &list);
}

/** --facts */
static int print_facts(struct arena *a, struct diag *d, const struct run_options *o)
{
	struct strbuf text = {0};
	struct json j = {.out = &text};
	const char *procfs = arena_printf(a, "%s" PROCFS, o->facts);
	json_open(&j, NULL, '{');
	unsigned version = facts_add_machine(a, &j, procfs, o->bpftrace);
	if (o->req.pids.n)
		facts_add_process(a, &j, procfs, o->req.pids.v[0], version);
	json_close(&j, '}');
	strbuf_addc(&text, '\n');
	bool good = outfile_write(a, d, NULL, NULL, strbuf_str(&text));
	strbuf_fini(&text);
	return good ? CMD_OK : CMD_INPUT;
}

/** Finds bpftrace and what it may do, and traces. Returns the exit status. */
static int run(struct arena *a, struct diag *d, struct run_options *o)
{
	struct bpftrace bt;
	struct privilege own;
	const char *converter;
	d->quiet = o->run.quiet;
	struct diag silent = {0};
	int status = bpftrace_find(a, o->no_run ? &silent : d, o->bpftrace, true, &bt);
	if (status && !o->no_run)
		return status;
	if (o->converts && !o->no_run && !python_find(a, d, "convert.py", &converter))
		return PYTHON_NOT_FOUND;
	if (status) // printing a program needs no bpftrace
		bt.version = DIALECT_DEFAULT;
	o->req.given.version = bt.version;
	if (bt.version < DIALECT_OLDEST) {
		diag_error(d, NULL, "%s is version " DIALECT_FMT ": 0.%u or newer is needed",
			   bt.path, DIALECT_ARG(bt.version), DIALECT_OLDEST);
		return CMD_INPUT;
	}
	if (!o->no_run) {
		privilege_read(a, PROCFS, bt.path, &o->may);
		privilege_read(a, PROCFS, NULL, &own);
		o->can_gate =
		    privilege_has(&own, CAPABLE_SYS_ADMIN) || privilege_has(&own, CAPABLE_BPF);
		if (!allowed_to_run(a, d, &o->may, bt.version))
			return CMD_INPUT;
	}
	bpftrace_note_newer(d, bt.version);
	if (o->run.duration)
		setenv("DEBUGINFOD_MAXTIME", arena_printf(a, "%lu", (o->run.duration + 999) / 1000),
		       0);
	return trace_all(a, d, o, &bt);
}

int cmd_run(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct run_options o = {.req = {.arena = a, .given.cheap_only = true}, .run.ready_fd = -1};
	char help[] = "-h";
	if (argc > 1 && strcmp(argv[1], "help") == 0 && access("help", F_OK) != 0)
		argv[1] = help; // help, help SCRIPT
	// While it is ignored, as a parent may have left it, wait() reports no exit status.
	signal(SIGCHLD, SIG_DFL);
	int status = run_options_read(argc, argv, &o);
	if (o.run.quiet)
		progress_off();
	if (status >= 0)
		return status;
	if (o.facts)
		return print_facts(a, d, &o);
	return o.lists ? list_probes(d, &o) : run(a, d, &o);
}
