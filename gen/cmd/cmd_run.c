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
#include "base/clock.h"
#include "base/file.h"
#include "base/jobs.h"
#include "base/json.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "value/codename.h"
#include "value/perfmap.h"
#include "convert/capture.h"
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "ctype/ctype.h"
#include "dialect/dialect.h"
#include "kernel/semaphore.h"
#include "process/await.h"
#include "run/bpftrace.h"
#include "run/keep.h"
#include "run/output.h"
#include "run/ready.h"
#include "run/run.h"
#include "run/stop.h"
#include "usdt/unraised.h"

/** Descriptors of semaphore_raise(). */
typedef VEC(int) raised_list;

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

/** "usdt:app:query", "uprobe:main", "interval:s:1": an attach point without its file. */
static struct str name_of(struct arena *a, const struct script_attach *at)
{
	bool has_file = at->provider->whose == OF_FILE;
	struct str name = at->kind;
	for (size_t i = has_file && at->fields.n > 1; i < at->fields.n; i++)
		name = str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(name), STR_ARG(at->fields.v[i]));
	return str_printable(a, name);
}

/** The events that it waits for, as a message has it: "usdt:app:query was", "uprobe:f, uprobe:g and 3 others were". */
static struct str list_attached(struct arena *a, const struct bind *b)
{
	enum { SHOWN = 3 };
	struct map names = {0};
	struct str list = {0};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		vec_each(const struct script_attach, at, &c->attach) {
			if (at->provider->whose == OF_TRACE)
				continue;
			struct str name = name_of(a, at);
			if (map_add(a, &names, name) && names.n <= SHOWN)
				list = str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(list),
						  list.n ? ", " : "", STR_ARG(name));
		}
	}
	if (names.n > SHOWN)
		return str_printf(a, STR_FMT " and %zu other%s were", STR_ARG(list),
				  names.n - SHOWN, names.n - SHOWN == 1 ? "" : "s");
	return names.n ? str_printf(a, STR_FMT "%s", STR_ARG(list), names.n == 1 ? " was" : " were")
		       : list;
}

// --- semaphores

/** Those of the probe that this bpftrace does not raise, and how many they are. */
static size_t find_unraised(struct arena *a, const struct bind *b, const struct attach_match *m,
			    unraised_list *ret)
{
	struct map taken = {0};
	if (!dialect_raises_first_semaphore(b->given->version) || !unraised_count_sites(m->probe))
		return 0;
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		vec_each(const struct context_place, p, &b->found.clauses[i]->near.places)
			if (p->src == m->file->bin.src)
				map_add_u64(a, &taken, p->addr);
	unraised_find(a, m->file->bin.img, m->probe, &taken, ret);
	return ret->n;
}

/** Raises those of a probe for @pid; where one cannot be, the probe counts as skipped. */
static void raise_semaphores(struct diag *d, const struct run_options *o, struct expansion *x,
			     const struct attach_match *m, pid_t pid, raised_list *ret)
{
	struct arena *a = x->bind.arena;
	unraised_list list = {0};
	size_t n_failed = 0;
	int error = 0;
	find_unraised(a, &x->bind, m, &list);
	vec_each(const struct unraised, u, &list) {
		errno = EOPNOTSUPP;
		int fd = u->place && u->counter ? semaphore_raise(str_dup(a, m->file->open_path),
								  u->place, u->counter, pid)
						: -1;
		if (fd >= 0)
			vec_push(a, ret, fd);
		error = fd < 0 ? errno : error;
		n_failed += fd < 0;
	}
	if (list.n > n_failed && x->bind.given->verbose && !o->run.quiet)
		diag_note(d, NULL,
			  STR_FMT ":" STR_FMT
				  ": semaphores that bpftrace does not raise, raised by btgen: %zu",
			  STR_ARG(m->probe->provider), STR_ARG(m->probe->name), list.n - n_failed);
	if (!n_failed)
		return;
	bool was_quiet = d->quiet;
	d->quiet = false;
	diag_warning(
	    d, NULL,
	    STR_FMT ":" STR_FMT
		    ": %zu of its %zu semaphores stay 0, so their sites do not fire: bpftrace does "
		    "not raise them, and the kernel cannot: %s",
	    STR_ARG(m->probe->provider), STR_ARG(m->probe->name), n_failed, list.n + 1,
	    strerror(error));
	d->quiet = was_quiet;
	skipped_add(&x->files.skipped, a, m->probe,
		    STR("some of its sites have semaphores that cannot be raised"));
	x->skipped = skipped_json(
	    &x->files.skipped, a,
	    arena_printf(a, "bpftrace " DIALECT_FMT, DIALECT_ARG(x->bind.given->version)));
}

/** Until raised_end(). It takes 10 to 20 ms each. */
static void raise_all(struct diag *d, const struct run_options *o, struct expansion *x,
		      raised_list *ret)
{
	struct map seen = {0};
	bool is_one = x->proc && x->bind.found.scope == BIND_BY_PID && !expand_has_several(&o->req);
	for (size_t i = 0; i < x->bind.found.script.clauses.n; i++)
		vec_each(const struct attach_match, m, &x->bind.found.clauses[i]->probes)
			if (map_add_ptr(x->bind.arena, &seen, m->probe))
				raise_semaphores(d, o, x, m, is_one ? x->proc->pid : -1, ret);
}

static void raised_end(const raised_list *list)
{
	vec_each(const int, fd, list)
		close(*fd);
}

struct cost_list {
	struct arena *arena;
	struct map seen;
	cost_names names;
};

static void add_cost_name(struct cost_list *l, struct str name, struct str program,
			  const struct provider *p, double n_extra)
{
	bool has_trap = p->memory == MEMORY_PROGRAM && p->place != PLACE_NONE;
	unsigned n = has_trap + (has_trap && p->place == PLACE_RETURN);
	if (map_add(l->arena, &l->seen, program.n ? program : name))
		vec_push(l->arena, &l->names, (struct cost_name){name, program, n, n_extra});
}

/** Functions and lines are places in the code: each is "uprobe:4515" there, or has a symbol. */
static void add_places(struct cost_list *l, const struct script_attach *at)
{
	struct str name = name_of(l->arena, at);
	for (size_t i = 0; i < at->bound.n; i++) {
		struct str place = str_last(at->bound.v[i], ':');
		uint64_t addr;
		if (str_to_u64(place, &addr))
			place = str_printf(l->arena, "%llu", (unsigned long long)addr);
		add_cost_name(
		    l, name,
		    str_printf(l->arena, "%s:" STR_FMT, at->provider->name, STR_ARG(place)),
		    at->provider, 0);
	}
	if (!at->bound.n)
		add_cost_name(l, name, STR(""), at->provider, 0);
}

/** The probe @m of @at, which is attached to once for each site if it is by address. */
static void add_usdt_cost(struct cost_list *l, const struct bind *b, const struct script_attach *at,
			  const struct attach_match *m)
{
	struct str name = str_printf(l->arena, STR_FMT ":" STR_FMT ":" STR_FMT, STR_ARG(at->kind),
				     STR_ARG(m->probe->provider), STR_ARG(m->probe->name));
	struct str program = STR("");
	unraised_list raised = {0};
	size_t n_raised = find_unraised(l->arena, b, m, &raised);
	for (size_t i = 0; i < (attach_is_by_address(b, m) ? m->probe->n_sites : 1); i++) {
		if (attach_is_by_address(b, m))
			program = attach_program(l->arena, m, &m->probe->sites[i]);
		add_cost_name(l, name, program, at->provider,
			      (double)n_raised / (double)m->probe->n_sites);
	}
}

/** What the clauses attach to: USDT probes by their names, others as the attach point has them. */
static cost_names list_cost_names(struct arena *a, const struct bind *b)
{
	struct cost_list list = {.arena = a};
	for (size_t i = 0; i < b->found.script.clauses.n; i++) {
		const struct script_clause *c = b->found.script.clauses.v[i];
		const struct attach_clause *bound = b->found.clauses[i];
		vec_each(const struct script_attach, at, &c->attach) {
			bool is_usdt = at->provider->place == PLACE_USDT;
			for (size_t m = 0; is_usdt && m < bound->probes.n; m++)
				add_usdt_cost(&list, b, at, &bound->probes.v[m]);
			if (!is_usdt || !bound->probes.n)
				add_places(&list, at);
		}
	}
	return list.names;
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

/** The build-id of the program, in @a; empty where it has none. */
static struct str build_of(struct arena *a, struct expansion *x)
{
	struct targetfile *exe = x->files.list.n ? &x->files.list.v[0] : NULL;
	const struct img *img = exe ? targetfile_open(&x->files, exe) : NULL;
	return img ? str_copy(a, img->build_id) : STR("");
}

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

/** What a trace of @x is run as; without a writer. */
static struct run_config config_of(struct arena *a, const struct run_options *o,
				   const struct bpftrace *bt, const struct expansion *x,
				   const struct spawned *child, struct series *series)
{
	bool is_host = x->bind.found.scope == BIND_HOST;
	bool is_several = !is_host && expand_has_several(&o->req);
	bool has_end = child->target || o->follows || (!is_host && !is_several);
	struct run_config cfg = o->run;
	cfg.bpftrace = bt;
	cfg.program = strbuf_str(&x->program.text);
	cfg.map = o->req.raw ? NULL : &x->program.map;
	// A trace of the whole host, or of several, has no process that it ends with, unless it has started one.
	cfg.proc = has_end ? x->proc : NULL;
	cfg.pass_pid = has_end && x->proc && x->bind.found.scope == BIND_BY_PID;
	cfg.is_unsafe = x->bind.found.unsafe != NULL;
	cfg.attached_to = expand_attached_to(a, &o->req, x, has_end, series->note);
	cfg.out_path = cfg.is_estimate				    ? "/dev/null"
		       : o->req.out && strcmp(o->req.out, "-") == 0 ? NULL
								    : o->req.out;
	cfg.begun = &series->begun;
	cfg.has_summary = o->req.given.verbose || isatty(STDERR_FILENO);
	cfg.attached = list_attached(a, &x->bind);
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
	cfg.cost_names = list_cost_names(a, &x->bind);
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

/** The program reads memory of its target, in one of the ways that are written so; or a text of it is. */
static bool reads_memory(struct str program)
{
	return str_contains(program, STR("str(")) || str_contains(program, STR("buf(")) ||
	       str_contains(program, STR("->")) || str_contains(program, STR("*("));
}

static void add_file(struct resident *r, const struct targetfile *tf)
{
	const struct proc_file *f = tf->mapped;
	struct stat st;
	if (f && f->have_id)
		resident_add_file(r, f->dev, f->ino, str_base(tf->path));
	else if (stat(str_dup(r->arena, tf->open_path), &st) == 0)
		resident_add_file(r, st.st_dev, st.st_ino, str_base(tf->path));
}

/** Literals are in the program, and in the files whose probes and functions the script names. */
static struct resident *make_resident(struct arena *a, const struct run_options *o,
				      const struct expansion *x)
{
	struct resident *r = arena_new(a, struct resident);
	if (!x->files.list.n || !reads_memory(strbuf_str(&x->program.text)))
		return NULL;
	resident_init(r, a);
	r->one = x->proc;
	r->has_all = !x->proc;
	add_file(r, &x->files.list.v[0]);
	for (size_t i = 0; i < x->bind.found.script.clauses.n; i++) {
		const struct attach_clause *c = x->bind.found.clauses[i];
		vec_each(const struct attach_match, m, &c->probes)
			add_file(r, m->file);
		vec_each(const struct targetfile, tf, &x->files.list)
			if (vec_any(const struct context_place, p, &c->near.places,
				    p->src == tf->bin.src))
				add_file(r, tf);
	}
	vec_each(const int, pid, &o->req.pids)
		resident_add_process(r, *pid);
	return r;
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
	unsigned limit = own ? (unsigned)strtoul(own, NULL, 10) : cfg->max_strlen;
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
		raise_all(d, o, x, &raised);
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
	cfg.resident = o->req.raw ? NULL : make_resident(a, o, x);
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
	raised_end(&raised);
	filetext_free(texts);
	writer_free(cfg.writer);
	convert_free(cfg.convert);
	codename_close(names);
	return status;
}

/** The program, for the process that is held or, if there is none, those that were given. */
static bool expand(struct arena *a, struct diag *d, struct run_options *o, struct expansion *x)
{
	bool has_head = o->req.json || o->output.sorts || o->has_time || o->run.keep_ms ||
			trace_is_list(&o->req.trace) || o->req.trace.calls.n;
	o->shapes = (struct shapes){0};
	shapes_init(&o->shapes, a, has_head);
	shapes_add_key(&o->shapes);
	o->shapes.can_gate = o->can_gate;
	o->req.given.is_bare = o->no_run;
	if (!o->no_run && !o->req.raw) // elsewhere nobody would decode them
		o->req.given.shapes = &o->shapes;
	return expand_run(a, d, &o->req, x) && expand_check_reach(d, &o->req, x, DIAG_ERROR);
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
		good = expand(a, d, o, x);
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
	s->build = build_of(a, x);
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

static int expand_and_trace(struct arena *a, struct diag *d, struct run_options *o,
			    const struct bpftrace *bt, struct series *series)
{
	struct spawned child = {0};
	struct expansion x = {0};
	sigset_t ends;
	int status = CMD_INPUT;
	bool good = o->command ? start_command(a, d, o, &child, &x) : expand(a, d, o, &x);
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
			status = trace(a, d, o, bt, &x, &child, NULL, series);
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

/** The processes of one build of a program, of several that are traced side by side. */
struct build {
	struct run_options options; /**< for these */
	struct expansion x;
	struct output_share share;
	const char *note; /**< for the message that it is attached to */
};

struct builds {
	struct arena *arena;
	struct diag *diag;
	const struct bpftrace *bpftrace;
	const struct run_options *options; /**< for all of them */
	VEC(struct build) list;
};

/** The processes given, by the file that they run. */
static void sort_by_build(struct builds *b, struct run_options *o)
{
	int *pids = o->req.pids.v;
	for (size_t i = 0, n; i < o->req.pids.n; i += n) {
		n = proc_same_exe_first(PROCFS, pids + i, o->req.pids.n - i);
		struct build build = {.options = *o};
		build.options.req.pids.v = pids + i;
		build.options.req.pids.n = n;
		vec_push(b->arena, &b->list, build);
	}
}

/**
 * They are one program of which several builds run: a file that was replaced while older processes go on, or
 * each container's own.
 */
static bool is_one_program(struct builds *b)
{
	struct str name = STR("");
	for (size_t i = 0; i < b->list.n; i++) {
		int pid = b->list.v[i].options.req.pids.v[0];
		struct str other = proc_exe_name(b->arena, PROCFS, pid);
		if (i > 0 && !str_eq(other, name))
			return false;
		name = other;
	}
	return true;
}

/** Has it what the script traces? Other mistakes are the script's, and said later. */
static bool has_probes(struct builds *b, struct build *build)
{
	struct diag_log log = {.arena = b->arena};
	struct diag *d = b->diag;
	unsigned n_before = d->n_errors;
	struct run_options options = build->options;
	d->log = &log;
	d->n_errors = 0;
	bool good = expand(b->arena, d, &options, &build->x);
	bool lacks_names = !good && d->n_errors && d->n_errors == build->x.files.n_missing;
	expand_close(&build->x);
	build->x = (struct expansion){0};
	d->log = NULL;
	d->n_errors = n_before;
	return !lacks_names;
}

/** Of those that were found by a name, which anybody can take, the ones without the probes are not meant. */
static void skip_without_probes(struct builds *b, struct run_options *o)
{
	struct arena *a = b->arena;
	bool *has = arena_array(a, bool, b->list.n);
	size_t n_good = 0, kept = 0, n_pids = 0;
	for (size_t i = 0; i < b->list.n; i++)
		n_good += has[i] = has_probes(b, &b->list.v[i]);
	if (!n_good || n_good == b->list.n)
		return;
	int *pids = arena_array(a, int, o->req.pids.n);
	for (size_t i = 0; i < b->list.n; i++) {
		struct build *build = &b->list.v[i];
		int *own = build->options.req.pids.v;
		size_t n = build->options.req.pids.n;
		if (!has[i]) {
			diag_warning(b->diag, NULL,
				     "process %d%s is not traced: " STR_FMT
				     " (uid %u) does not have the probes or functions",
				     own[0], n > 1 ? arena_printf(a, " (and %zu more)", n - 1) : "",
				     STR_ARG(proc_exe(a, PROCFS, own[0])),
				     (unsigned)proc_uid(a, PROCFS, own[0], PROC_UID_REAL));
			continue;
		}
		memcpy(pids + n_pids, own, n * sizeof(*own));
		build->options.req.pids.v = pids + n_pids;
		n_pids += n;
		b->list.v[kept++] = *build;
	}
	b->list.n = kept;
	o->req.pids.v = pids;
	o->req.pids.n = n_pids;
}

/** The first bytes of the build ID, in hex; empty for none. */
static const char *short_build(struct arena *a, struct expansion *x)
{
	enum { SHOWN = 6 };
	struct str id = build_of(a, x);
	return str_dup(a, str_hex(a, str_slice(id, 0, id.n < SHOWN ? id.n : SHOWN)));
}

/** Says which processes run which build, so that those of one can be given. */
static bool refuse_builds(struct builds *b)
{
	struct arena *a = b->arena;
	diag_error(b->diag, NULL,
		   "%zu builds of the program are running, and the script is for the whole host: "
		   "give the PIDs of one build",
		   b->list.n);
	vec_each(struct build, build, &b->list) {
		const char *id = short_build(a, &build->x), *pids = "";
		for (size_t k = 0; k < build->options.req.pids.n; k++)
			pids = arena_printf(a, "%s %d", pids, build->options.req.pids.v[k]);
		struct str exe = proc_exe(a, PROCFS, build->options.req.pids.v[0]);
		diag_note(b->diag, NULL, STR_FMT ", build ID %s: PID%s%s",
			  STR_ARG(str_printable(a, exe)), *id ? id : "unknown",
			  build->options.req.pids.n > 1 ? "s" : "", pids);
	}
	return false;
}

/** What is wrong with the script is said once, not of each build. */
static bool expand_builds(struct builds *b)
{
	struct arena *a = b->arena;
	struct diag *d = b->diag;
	struct diag_log said = {.arena = a};
	bool good = true;
	for (size_t i = 0; i < b->list.n; i++) {
		struct diag_log log = {.arena = a};
		struct build *build = &b->list.v[i];
		d->log = &log;
		good &= expand(a, d, &build->options, &build->x);
		d->log = NULL;
		vec_each(const struct diag_message, m, &log.messages) {
			if (!vec_any(const struct diag_message, other, &said.messages,
				     str_eq(other->text, m->text) && other->at.line == m->at.line))
				diag_show(d, m);
			vec_push(a, &said.messages, *m);
		}
	}
	bool is_for_host = good && b->list.v[0].x.bind.found.scope == BIND_HOST;
	return good && (!is_for_host || refuse_builds(b));
}

/** What goes before its lines, as tail has it for several files. @id: the build's, in hex */
static struct str heading_of(struct builds *b, const struct build *build, const char *id)
{
	struct str name = proc_name(build->x.proc);
	struct strbuf text = {0};
	if (build->options.req.json) {
		struct json j = {&text, false};
		json_open(&j, NULL, '{');
		json_str(&j, "program", name);
		json_printf(&j, "pid", "%d", build->x.proc->pid);
		json_str_or_null(&j, "build", str_from(id));
		json_close(&j, '}');
		strbuf_addf(&text, "\n");
	} else {
		strbuf_addf(&text, "==> " STR_FMT " (PID %d)%s <==\n",
			    STR_ARG(str_printable(b->arena, name)), build->x.proc->pid,
			    build->note);
	}
	return strbuf_take(&text, b->arena);
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
	struct jobs_work work = {b->list.n, trace_build, builds_are_ready, b, {{0}}};
	int status = CMD_INPUT;
	if (!expand_builds(b))
		;
	else if (!output_share_new(&share))
		diag_error(b->diag, NULL, "cannot share the output: %s", strerror(errno));
	else {
		for (size_t i = 0; i < b->list.n; i++) {
			struct build *build = &b->list.v[i];
			const char *id = short_build(b->arena, &build->x);
			build->note = *id ? arena_printf(b->arena, ", build %s", id) : "";
			build->share = share;
			build->share.self = (unsigned)i + 1;
			build->share.heading = heading_of(b, build, id);
		}
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
	for (size_t i = 0; i < b->list.n; i++)
		expand_close(&b->list.v[i].x);
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
	struct builds builds = {a, d, bt, o, {0}};
	if (!o->req.given.cgroup)
		sort_by_build(&builds, o);
	if (builds.list.n > 1 && o->req.by_name)
		skip_without_probes(&builds, o);
	if (o->no_run || o->echo || o->follows || !is_one_program(&builds))
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
		vec_push(a, &argv,
			 arena_printf(a, "-%c%s", access(word, F_OK) == 0 ? 'x' : 'p', word));
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
