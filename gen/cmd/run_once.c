#include "cmd/run_once.h"

#include <sys/resource.h>

#include "bind/attach.h"
#include "base/clock.h"
#include "value/perfmap.h"
#include "convert/convert.h"
#include "cmd/builds.h"
#include "dialect/dialect.h"
#include "elf/debuginfod.h"
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
			if (v->how == VALUE_STRING || v->how == VALUE_STACK || value_is_code(v) ||
			    (value_has_parts(v) && ctype_has_code(v->type)))
				return true;
		}
	return false;
}

/**
 * bpftrace's limits protect from a pattern that matches more than intended. The probes that we have counted
 * are intended; as many again are allowed for patterns that bpftrace expands, and two descriptors for each.
 * Limits that the user has set are kept.
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
 * In bpftrace the environment overrides a config block of the script. For variables that btgen sets or
 * reads, the block wins; those that the user has set are kept.
 */
static void apply_settings(struct arena *a, const struct script *s)
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
				uint64_t number;
				if (!vocabulary_is_setting(t->text, settings[i].name) ||
				    !tok_is(t->next, "="))
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

/** Does it print something for each event? Nobody reads that at a high rate. */
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

/** The script's file, or what there is instead of one. */
static struct str script_name(const struct run_options *o)
{
	const struct expand_source *first = o->req.sources.n ? &o->req.sources.v[0] : NULL;
	if (trace_is_wanted(&o->req.trace))
		return o->req.trace.calls.n ? STR("--calls") : STR("-t");
	return !first || first->is_text ? STR("-e") : str_base(str_from(first->text));
}

/** The pattern of probes that --keep waits for, as --trigger or the script's #pragma has it; or NULL. */
static const char *trigger_of(const struct run_options *o, const struct expansion *x)
{
	struct str own = x->bind.found.trigger;
	const char *trigger = o->trigger ? o->trigger : own.n ? own.p : NULL;
	return o->run.keep_ms ? trigger : NULL;
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
	unsigned long waited = debuginfod_waited();
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
	cfg.names_one = x->names_one;
	cfg.has_skipped = x->skipped.n > 0;
	cfg.max_strlen = o->req.raw ? 0 : x->bind.made->max_strlen;
	cfg.needs_kernel_types = o->req.raw || x->bind.made->needs_kernel_types;
	cfg.args = o->req.given.args;
	cfg.gate = o->shapes.has_gate ? o->shapes.gate : NULL;
	cfg.is_gate_shut = x->bind.found.has_gate;
	cfg.has_calls = o->req.trace.calls.n;
	cfg.under_way = o->req.trace.start ? "@start" : NULL;
	cfg.is_verbose = o->req.given.verbose;
	cfg.has_account = o->req.given.verbose || cfg.is_estimate || cfg.ceiling.share > 0 ||
			  cfg.ceiling.rate > 0;
	cfg.cost_names = attached_cost_names(a, &x->bind);
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
		convert_write_header(
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
	const char *trailer = getenv("BPFTRACE_STR_TRUNC_TRAILER"); // the user sees it
	unsigned limit = own ? (unsigned)strtoul(own, NULL, 10) : cfg->max_strlen;
	limit = trailer && *trailer ? 0 : limit;
	const char *keys = getenv(dialect_map_keys_variable(version));
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
	how.is_live = o->req.trace.is_live;
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
	how.trigger = trigger_of(o, x);
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
	const char *trigger = trigger_of(o, x);
	bool may_come = !trigger;
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

int run_once(struct arena *a, struct diag *d, struct run_options *o, const struct bpftrace *bt,
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
	if (x->bind.made->names_code || o->shapes.functions.n_items ||
	    (cfg.proc && prints_addresses(&x->bind)))
		names = codename_open(a, d, x->proc);
	struct filetext *texts = NULL;
	if (!cfg.proc && x->files.list.n && o->shapes.has_head && prints_addresses(&x->bind))
		texts = filetext_new(has_own_pids(a, bt->version));
	cfg.resident = o->req.raw ? NULL : literals_find(a, &x->bind, cfg.program);
	if (!o->req.raw)
		apply_settings(a, &x->bind.found.script);
	cfg.writer = make_writer(a, o, x, &cfg, names, texts);
	bool is_ours = trace_is_wanted(&o->req.trace); // nothing in it shows that more are meant
	bool is_host = x->bind.found.scope == BIND_HOST;
	bool has_later = o->req.given.has_family || o->req.given.cgroup;
	if ((is_ours || expand_has_several(&o->req)) && !is_host && !has_later && !o->run.quiet &&
	    x->proc)
		note_others(d, x, o->req.pids.n);
	raise_limits(a, d, bt, attach_count_programs(&x->bind));
	struct convert convert;
	if (o->converts && !convert_begin(a, d, o->format, cfg.out_path, &convert))
		return CMD_INPUT;
	cfg.out_path = o->converts ? convert.capture : cfg.out_path;
	int status = run_program(a, d, &cfg, &series->end);
	bool is_signal = status > 128 && status < 128 + NSIG;
	if (status && !is_signal && !series->end.was_ready)
		allowed_note(d, &o->may, &x->bind);
	series->was_ready |= series->end.was_ready;
	if (o->converts && series->end.was_ready)
		status = convert_end(a, d, &convert, status, !series->end.was_cut);
	vec_each(const int, fd, &raised)
		close(*fd);
	filetext_free(texts);
	writer_free(cfg.writer);
	codename_close(names);
	return status;
}
