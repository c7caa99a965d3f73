/** btgen run - expand a template and run it under bpftrace; what bpftrace.sh calls. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bind/attach.h"
#include "bind/path.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/jobs.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "value/codename.h"
#include "value/perfmap.h"
#include "convert/capture.h"
#include "cmd/builds.h"
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "setup/upgrade.h"
#include "ctype/ctype.h"
#include "dialect/dialect.h"
#include "elf/debuginfod.h"
#include "process/await.h"
#include "run/bpftrace.h"
#include "run/keep.h"
#include "run/ready.h"
#include "run/run.h"
#include "run/stop.h"
#include "setup/attached.h"
#include "setup/literals.h"
#include "setup/semaphores.h"

#define COST_OF_EVENTS                                                                             \
	0.25 // of a processor: 30,000 events a second that 0.17 prints, 250,000 of 0.27

/** Functions, or strings with their addresses: what the files of the process tell of them. */
static bool prints_addresses(const struct bind *b)
{
	for (size_t i = 0; b->given->shapes && i < b->given->shapes->list.n; i++)
		for (size_t k = 0; k < b->given->shapes->list.v[i].n_fields; k++) {
			const struct value *v = &b->given->shapes->list.v[i].fields[k].value;
			if (v->how == VALUE_STRING || value_is_code(v) ||
			    (value_has_parts(v) && ctype_has_code(v->type)))
				return true;
		}
	return false;
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

/**
 * bpftrace takes its environment before what a config block of the script says. What btgen sets or reads there is what
 * the block says; what the user has set stands.
 */
static void take_settings(struct arena *a, const struct script *s)
{
	static const struct {
		const char *name, *variable;
	} settings[] = {
	    {"max_strlen", "BPFTRACE_MAX_STRLEN"},
	    {"max_map_keys", "BPFTRACE_MAX_MAP_KEYS"},
	    {"max_probes", "BPFTRACE_MAX_PROBES"},
	    {"max_bpf_progs", "BPFTRACE_MAX_BPF_PROGS"},
	    {"str_trunc_trailer", "BPFTRACE_STR_TRUNC_TRAILER"},
	    {"perf_rb_pages", "BPFTRACE_PERF_RB_PAGES"},
	    {"cache_user_symbols", "BPFTRACE_CACHE_USER_SYMBOLS"},
	};
	for (const struct node *n = s->program->child; n; n = n->next)
		for (const struct token *t = n->first; n->kind == NODE_CONFIG && t != n->last;
		     t = t->next)
			for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
				bool is_it =
				    tok_is(t, settings[i].name) || tok_is(t, settings[i].variable);
				uint64_t number;
				if (!is_it || !tok_is(t->next, "="))
					continue;
				struct str value = t->next->next->text;
				if (str_has_prefix(value, STR("\"")))
					value = str_slice(value, 1, value.n - 2);
				else if (str_to_u64(value, &number)) // 0x20, too
					value = str_printf(a, "%llu", (unsigned long long)number);
				setenv(settings[i].variable, str_dup(a, value), 0);
			}
}

/**
 * What a trace of these @n processes does not show. Where their file has been replaced, -x FILE means
 * the new one, which none of them runs.
 */
static void note_others(struct diag *d, const struct expansion *x, size_t n)
{
	const struct proc_file *exe = &x->proc->files.v[0];
	bool is_replaced = exe->is_deleted || proc_has_successor(x->proc, exe);
	const char *file = str_dup(x->proc->arena, str_printable(x->proc->arena, exe->path));
	unsigned children = n == 1 ? proc_count_children(x->proc) : 0;
	if (children)
		diag_note(d, NULL,
			  "%u children of process %d run the same program and are not traced: use "
			  "--children, or %s",
			  children, x->proc->pid,
			  is_replaced ? "give their PIDs"
				      : arena_printf(x->proc->arena,
						     "-x %s to trace all that run it", file));
	else if (n > 1)
		diag_note(d, NULL,
			  "processes that start later are not traced: use --children for those "
			  "that these fork%s",
			  is_replaced ? ""
				      : arena_printf(x->proc->arena, ", -x %s to trace all", file));
	if (is_replaced && (children || n > 1))
		diag_note(d, NULL,
			  "%s was replaced on disk: -x would trace the new file, which these "
			  "processes do not run",
			  file);
}

static bool is_print(const struct node *n)
{
	return node_is(n, NODE_CALL, "printf") || node_is(n, NODE_CALL, "print");
}

/** Something is printed of each event: that of many a second nobody reads. */
static bool prints_events(const struct bind *b)
{
	bool prints = false;
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		prints |= vec_any(const struct script_attach, at, &c->attach,
				  at->provider->when == WHEN_EVENT) &&
			  node_find(c->node, is_print);
	}
	return prints;
}

/** What is known of the traces before this one: with --follow it is one of a series. */
struct series {
	struct output_begun begun; /**< the file of -o */
	bool was_ready;		   /**< any of them: who waits for that has been told */
	uint64_t started;	   /**< when the last program was, see struct proc */
	struct str build;	   /**< build-id of the last program, empty: none or unknown */
	const char *note;	   /**< what is said of this build, or NULL */
	struct str name;	   /**< of the program */
	struct str path;	   /**< of the last one */
	VEC(uid_t) users;	   /**< of all that were traced */
	unsigned long long over;   /**< ms: when -T is over, on the clock of clock_ms(); 0: never */
	struct run_end end;
};

/** The script's file, or what there is instead of one. */
static struct str script_name(const struct run_options *o)
{
	const struct expand_source *first = o->req.sources.n ? &o->req.sources.v[0] : NULL;
	if (trace_is_wanted(&o->req.trace))
		return o->req.trace.calls.n ? STR("--calls") : STR("-t");
	return !first || first->is_text ? STR("-e") : str_base(str_from(first->text));
}

/**
 * What --keep waits for, as --trigger or the script's #pragma says: a pattern for probes, or NULL; or slices that take
 * longer than *@slow_ns, -1 for a time that is none.
 */
static const char *trigger_of(const struct run_options *o, const struct expansion *x,
			      int64_t *slow_ns)
{
	struct str own = x->bind.found.trigger;
	const char *trigger = o->trigger ? o->trigger : own.n ? own.p : NULL;
	*slow_ns = 0;
	if (!trigger || !o->run.keep_ms)
		return NULL;
	if (!slow_is_condition(trigger, slow_ns))
		return trigger;
	*slow_ns = *slow_ns ? *slow_ns : -1;
	return NULL;
}

/** Several processes without those that they fork: the last one's end ends the trace. */
static void add_ends(struct arena *a, const struct run_options *o, struct run_config *cfg)
{
	struct proc_id *all = arena_array(a, struct proc_id, o->req.pids.n);
	for (size_t i = 0; i < o->req.pids.n; i++) {
		int pid = o->req.pids.v[i];
		all[i] = (struct proc_id){pid, proc_start_time(PROCFS, pid)};
	}
	cfg->all = all;
	cfg->n_all = o->req.pids.n;
}

/** What a trace of @x is run as; without a writer. */
static struct run_config config_of(struct arena *a, const struct run_options *o,
				   const struct bpftrace *bt, const struct expansion *x,
				   const struct spawned *child, struct series *series)
{
	bool is_host = x->bind.found.scope == BIND_HOST;
	bool is_several = !is_host && expand_has_several(&o->req);
	bool has_end = child->target || o->follows || (!is_host && !is_several);
	struct run_config cfg = o->run;
	unsigned long waited = debuginfod_take_waited();
	if (cfg.duration) // what was waited for a server counts
		cfg.duration = cfg.duration > waited ? cfg.duration - waited : 1;
	cfg.bpftrace = bt;
	cfg.program = strbuf_str(&x->program.text);
	cfg.map = o->req.raw ? NULL : &x->program.map;
	// A trace of the whole host, or of several, has no one process, unless it has started one.
	cfg.proc = has_end ? x->proc : NULL;
	// A script of the whole host that filters by one process has nothing to show after its end.
	cfg.ends_with = has_end || (is_host && x->names_one) ? x->proc : NULL;
	if (is_several && !has_end && !o->req.given.has_family && !o->req.given.cgroup)
		add_ends(a, o, &cfg);
	cfg.pass_pid = has_end && x->proc && x->bind.found.scope == BIND_BY_PID;
	cfg.is_unsafe = o->req.given.is_unsafe || x->bind.found.unsafe;
	cfg.attached_to = expand_attached_to(a, &o->req, x, has_end, series->note);
	cfg.out_path = cfg.is_estimate				    ? "/dev/null"
		       : o->req.out && strcmp(o->req.out, "-") == 0 ? NULL
								    : o->req.out;
	cfg.begun = &series->begun;
	cfg.has_summary = o->req.given.verbose || isatty(STDERR_FILENO);
	cfg.attached = attached_list(a, &x->bind);
	cfg.has_family = is_host || o->req.given.has_family || o->req.given.cgroup;
	cfg.has_skipped = x->skipped.n > 0;
	cfg.max_strlen = o->req.raw ? 0 : x->bind.made->max_strlen;
	cfg.needs_kernel_types = o->req.raw || x->bind.made->needs_kernel_types;
	cfg.args = o->req.given.args;
	cfg.gate = o->shapes.has_gate ? o->shapes.gate : NULL;
	cfg.has_calls = o->req.trace.calls.n;
	cfg.under_way = o->req.trace.start ? "@start" : NULL;
	cfg.is_verbose = o->req.given.verbose;
	cfg.has_account = o->req.given.verbose || cfg.is_estimate || cfg.ceiling.share > 0 ||
			  cfg.ceiling.rate > 0;
	cfg.cost_names = attached_cost_names(a, &x->bind);
	trigger_of(o, x, &cfg.slow_ns);
	// A command of -c would end with the trace, and runs for it alone.
	if (!o->has_ceiling && !o->req.raw && !o->command && prints_events(&x->bind))
		cfg.ceiling.share = COST_OF_EVENTS;
	return cfg;
}

/** The capture's first line, for JSON. */
static struct str first_line_of(struct arena *a, const struct run_options *o,
				const struct expansion *x, const struct run_config *cfg,
				int64_t offset)
{
	struct strbuf b = {0};
	if (o->req.json)
		header_write(
		    &(struct header){.boot_id = proc_text(a, PROCFS, "sys/kernel/random/boot_id"),
				     .program = cfg->pass_pid ? proc_name(cfg->proc) : STR(""),
				     .script = script_name(o),
				     .tracks = x->bind.found.tracks,
				     .skipped = x->skipped,
				     .offset = offset},
		    &b);
	return strbuf_take(&b, a);
}

static void see_process(void *resident, int pid)
{
	resident_add_process(resident, pid);
}

/** Does a record have PIDs as we know them? */
static bool has_own_pids(struct arena *a, unsigned version)
{
	return !dialect_has_host_pids(version) ||
	       str_eqz(proc_namespace(a, PROCFS, 0, "pid"), PROC_FIRST_PID_NAMESPACE);
}

/** Who writes what it prints; owned by the caller. */
static struct writer *make_writer(struct arena *a, struct run_options *o, const struct expansion *x,
				  const struct run_config *cfg, struct codename *names,
				  struct filetext *texts)
{
	unsigned version = cfg->bpftrace->version;
	const char *own = getenv(dialect_strlen_variable(version));
	const char *trailer =
	    getenv("BPFTRACE_STR_TRUNC_TRAILER"); // of the user's, who sees it then
	unsigned limit = own ? (unsigned)strtoul(own, NULL, 10) : cfg->max_strlen;
	limit = trailer && *trailer ? 0 : limit;
	const char *keys = getenv(dialect_map_keys_variable(version));
	int64_t slow_ns;
	struct writer_config how = o->output;
	how.max_keys = keys ? strtoul(keys, NULL, 10) : DIALECT_MAP_KEYS;
	how.json = o->req.json;
	how.has_rounds = dialect_reads_by_processor(version);
	how.head = o->output.sorts		  ? WRITER_WHOLE
		   : trace_is_list(&o->req.trace) ? WRITER_LIST
		   : o->has_time		  ? WRITER_TIME
						  : WRITER_BARE;
	how.has_calls = o->req.trace.calls.n;
	how.has_filter = o->req.trace.filter;
	how.limit = o->run.n_events;
	how.is_printable = trace_is_wanted(&o->req.trace);
	how.has_percentiles = o->req.trace.start != NULL;
	how.has_open_top = dialect_has_narrow_samples(version);
	how.has_lost_lines = dialect_has_lost_lines(version);
	how.render =
	    (struct render){.names = names,
			    .longest = limit ? limit - 1 : 0,
			    .offset = clock_offset_of_probes(),
			    .is_for_terminal = !how.json && output_is_terminal(cfg->out_path),
			    .texts = texts};
	if (!cfg->proc && cfg->resident && has_own_pids(a, version))
		how.on_process = see_process;
	how.process_ctx = cfg->resident;
	how.trigger = trigger_of(o, x, &slow_ns);
	how.sorts |= slow_ns != 0; // what takes long is from one record to the next
	how.maps = x->bind.made->map_shapes.v;
	how.n_maps = x->bind.made->map_shapes.n;
	how.heading = first_line_of(a, o, x, cfg, how.render.offset);
	if (how.has_calls && !how.json && !o->has_time)
		how.heading = STR("# DURATION  THREAD            CALL\n");
	return writer_new(&how, &o->shapes);
}

/** A trigger that nothing prints of would never come. */
static bool check_trigger(struct diag *d, const struct run_options *o, const struct expansion *x)
{
	int64_t slow_ns;
	const char *trigger = trigger_of(o, x, &slow_ns);
	bool may_come = !trigger;
	if (slow_ns < 0)
		return diag_error(d, NULL, "the trigger has no time: write latency>50ms");
	if (slow_ns && !o->req.json)
		return diag_error(d, NULL, "the trigger 'latency' needs -f json, perfetto or otlp");
	for (size_t i = 0; i < o->shapes.list.n && !may_come; i++) {
		struct str probe = o->shapes.list.v[i].probe;
		may_come = o->shapes.list.v[i].style != SHAPE_KEY &&
			   (!probe.n || writer_is_trigger(trigger, probe));
	}
	return may_come ||
	       diag_error(d, NULL, "no probe that matches the trigger '%s' prints anything",
			  trigger);
}

/**
 * bpftrace reads the perf maps of the processes for names, and up to 0.23 that of its -p to attach to USDT
 * probes.
 */
static bool check_perf_maps(struct arena *a, struct diag *d, const struct run_options *o,
			    const struct run_config *cfg)
{
	bool shows_names =
	    str_contains(cfg->program, STR("ustack")) || str_contains(cfg->program, STR("usym"));
	bool good = true;
	if (!shows_names && (!cfg->pass_pid || dialect_has_libbpf_usdt(cfg->bpftrace->version)))
		return true;
	for (size_t i = 0; i < o->req.pids.n; i++)
		good &= perfmap_check(a, d, o->req.pids.v[i], shows_names);
	return good;
}

/** bpftrace makes wall times of strftime() out of its own clock, which in a time namespace is not that of the probes. */
static void warn_of_strftime(struct diag *d, const struct run_config *cfg)
{
	int64_t offset = clock_namespace_offset();
	if (offset && str_contains(cfg->program, STR("strftime(")))
		diag_warning(
		    d, NULL,
		    "strftime() is wrong by %.3f s, because bpftrace runs in a time namespace: "
		    "use --time wall, or trace from outside it",
		    -(double)offset / 1e9);
}

static void raise_semaphores(struct diag *d, const struct run_options *o, struct expansion *x,
			     raised_list *ret)
{
	struct arena *a = x->bind.arena;
	bool is_one = x->proc && x->bind.found.scope == BIND_BY_PID && !expand_has_several(&o->req);
	semaphores_raise(d, &x->bind, is_one ? x->proc->pid : -1, ret);
	x->skipped = skipped_json(
	    &x->files.skipped, a,
	    arena_printf(a, "bpftrace " DIALECT_FMT, DIALECT_ARG(x->bind.given->version)));
}

/** @share: as struct run_config has it. */
static int trace(struct arena *a, struct diag *d, struct run_options *o, const struct bpftrace *bt,
		 struct expansion *x, struct spawned *child, const struct output_share *share,
		 struct series *series)
{
	struct run_config cfg = config_of(a, o, bt, x, child, series);
	cfg.child = child->target ? child : NULL;
	cfg.share = share;
	if (!allowed_to_attach(d, &o->may, &x->bind, cfg.pass_pid) || !check_trigger(d, o, x) ||
	    !check_perf_maps(a, d, o, &cfg))
		return CMD_INPUT;
	raised_list raised = {0};
	if (!o->req.raw)
		raise_semaphores(d, o, x, &raised);
	cfg.has_skipped |= x->skipped.n > 0;
	if (x->bind.found.has_gate && !o->req.raw && !o->can_gate)
		diag_warning(d, NULL,
			     "without CAP_BPF, btgen cannot start and stop all probes at once: "
			     "while they are attached and detached, only some of them count");
	warn_of_strftime(d, &cfg);
	struct codename *names = NULL;
	if (x->bind.made->names_code || (cfg.proc && prints_addresses(&x->bind)))
		names = codename_open(a, d, x->proc);
	struct filetext *texts = NULL;
	if (!cfg.proc && x->files.list.n && o->shapes.has_head && prints_addresses(&x->bind))
		texts = filetext_new(has_own_pids(a, bt->version));
	cfg.resident = o->req.raw ? NULL : literals_find(a, &x->bind, cfg.program);
	if (!o->req.raw)
		take_settings(a, &x->bind.found.script);
	cfg.writer = make_writer(a, o, x, &cfg, names, texts);
	if (o->converts)
		cfg.convert = convert_new(o->converts, NULL, d, "the trace");
	bool is_ours = trace_is_wanted(&o->req.trace); // nothing in it tells that more are meant
	bool is_host = x->bind.found.scope == BIND_HOST;
	bool has_later = o->req.given.has_family || o->req.given.cgroup;
	if ((is_ours || expand_has_several(&o->req)) && !is_host && !has_later && !o->run.quiet &&
	    x->proc)
		note_others(d, x, o->req.pids.n);
	raise_limits(a, d, bt, attach_count_programs(&x->bind));
	int status = run_program(a, d, &cfg, &series->end);
	bool is_signal = status > 128 && status < 128 + NSIG;
	if (status && !is_signal && !series->end.was_ready)
		allowed_note(d, &o->may, &x->bind);
	series->was_ready |= series->end.was_ready;
	semaphores_lower(&raised);
	filetext_free(texts);
	writer_free(cfg.writer);
	convert_free(cfg.convert);
	codename_close(names);
	return status;
}

/**
 * Starts the command of -c. One that is there to start others (a shell, timeout) is not meant: the
 * first program of those that has what the script wants to trace is held. If there is none, what is
 * wrong is said of the first.
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
		if (is_wrapper &&
		    x->bind.found.scope != BIND_HOST) { // what it lacks is of no interest
			good = false;
			continue;
		}
		is_elsewhere = d->n_errors - n_errors == x->files.n_missing;
		if (good || !is_elsewhere || !said.messages.n)
			said = log;
	} while (!good && is_elsewhere && starts_others && spawn_next(child));
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
	uid_t uid = proc_uid(a, PROCFS, p->pid, PROC_UID_REAL);
	if (uid == (uid_t)-1 || file_is_trusted(uid))
		return NULL;
	return arena_printf(a, STR_FMT ", of uid %u", STR_ARG(str_printable(a, p->files.v[0].path)),
			    (unsigned)uid);
}

/** What the message says of a process that was found by its name: what the user did not choose. */
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
	debuginfod_take_waited(); // for the first build
	if (!expand_choose_cgroup(&warnings, &o->req) || !run_options_expand(a, &warnings, o, x))
		return JOBS_NOT_BEGUN;
	const char *id = build_short_id(a, x);
	share->heading = build_heading(a, o, x, id);
	series.note = *id ? arena_printf(a, ", build %s", id) : ", another build";
	int status = trace(a, u->diag, o, u->bpftrace, x, &none, share, &series);
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
		return trace(u->arena, u->diag, &o, u->bpftrace, u->first, &none,
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

static int expand_and_trace(struct arena *a, struct diag *d, struct run_options *o,
			    const struct bpftrace *bt, struct series *series)
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
		add_user(a, series, proc_uid(a, PROCFS, o->req.pids.v[i], PROC_UID_REAL));
	if (good && o->no_run)
		status = outfile_write(a, d, NULL, NULL, shown) ? CMD_OK : CMD_INPUT;
	else if (good) {
		if (!o->echo || outfile_write(a, d, NULL, NULL, strbuf_str(&x.program.text))) {
			note_process(a, o, series, &x);
			status = outlives_file(o, &x)
				     ? trace_upgrades(a, d, o, bt, &x, series)
				     : trace(a, d, o, bt, &x, &child, NULL, series);
		}
	}
	add_user(a, series, series->end.user);
	if (x.proc) {
		series->name = str_copy(a, proc_name(x.proc));
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
	return trace(b->arena, b->diag, &build->options, b->bpftrace, &build->x, &none,
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
	builds_close(b);
	return status;
}

/**
 * Waits for the next processes of this name. A server's first one stands for its children, where one
 * was traced. Returns 0, the number of a signal that came, or SIGALRM at the end of -T.
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
		s.end = (struct run_end){.user = (uid_t)-1};
		status = expand_and_trace(a, d, o, bt, &s);
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

/** -l: what `btgen probes` prints. */
static int list_probes(struct diag *d, struct run_options *o)
{
	struct expand_request *req = &o->req;
	struct arena *a = req->arena;
	cmd_words argv = {0};
	size_t first = 0;
	vec_push(a, &argv, "probes");
	if (o->bpftrace)
		vec_push(a, &argv, arena_printf(a, "--bpftrace=%s", o->bpftrace));
	if (req->given.verbose)
		vec_push(a, &argv, "-v");
	if (req->json)
		vec_push(a, &argv, "--json");
	if (req->exe)
		vec_push(a, &argv, arena_printf(a, "-x%s", req->exe));
	for (size_t i = 0; i < req->pids.n; i++)
		vec_push(a, &argv, arena_printf(a, "-p%d", req->pids.v[i]));
	if (!req->exe && !req->pids.n) {
		if (!o->words.n)
			return cmd_usage_error("-l: give a process or a file");
		const char *word = o->words.v[first++];
		size_t n = 0;
		if (!strchr(word, '/')) // a process of that name goes before a file, as with -t
			proc_find_named(a, PROCFS, word, &n);
		bool is_file = !n && access(word, F_OK) == 0;
		vec_push(a, &argv, arena_printf(a, "-%c%s", is_file ? 'x' : 'p', word));
	}
	vec_push(a, &argv, "--");
	for (; first < o->words.n; first++)
		vec_push(a, &argv, o->words.v[first]);
	for (char **pattern = req->given.args; *pattern; pattern++)
		vec_push(a, &argv, *pattern);
	vec_push(a, &argv, NULL);
	optind = 0; // getopt() starts anew
	return cmd_probes(a, d, (int)argv.n - 1, (char **)argv.v);
}

/** Finds bpftrace and what it may do, and traces. Returns the exit status. */
static int run(struct arena *a, struct diag *d, struct run_options *o)
{
	struct bpftrace bt;
	struct privilege own;
	d->quiet = o->run.quiet;
	struct diag silent = {0};
	int status = bpftrace_find(a, o->no_run ? &silent : d, o->bpftrace, true, &bt);
	if (status && !o->no_run)
		return status;
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
		debuginfod_limit(o->run.duration);
	return trace_all(a, d, o, &bt);
}

int cmd_run(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct run_options o = {.req = {.arena = a, .given.cheap_only = true}, .run.ready_fd = -1};
	// While it is ignored, as a parent may have left it, wait() reports no exit status.
	signal(SIGCHLD, SIG_DFL);
	int status = run_options_read(argc, argv, &o);
	if (o.run.quiet)
		progress_off();
	if (status >= 0)
		return status;
	return o.lists ? list_probes(d, &o) : run(a, d, &o);
}
