#include "kernel/cost.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "base/clock.h"
#include "base/json.h"
#include "kernel/bpfobject.h"
#include "kernel/breakpoint.h"
#include "process/proc.h"

enum { EMULATED_NS = 1000, STEPPED_NS = 10000 };

struct cost_program {
	int fd;
	uint32_t id;
	size_t probe;		  // its index
	double emulated, stepped; // breakpoints of a hit
	struct cost_sum last;	  // as the kernel had it
};

struct opening {
	struct cost *cost;
	const cost_names *names;
	struct btf *btf; // of the program before, mostly that of all
	uint32_t btf_id;
};

bool cost_begin(struct arena *a, struct cost *c)
{
	*c = (struct cost){.arena = a, .stats = bpf_enable_stats(BPF_STATS_RUN_TIME)};
	return c->stats >= 0;
}

// --- whose a program is ---

/** What bpftrace makes of a probe's name, "usdt__tmp_app_query"; of a pattern, one for that. */
static struct str words_of(struct arena *a, struct str s)
{
	char *words = arena_strndup(a, s.p, s.n);
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)words[i]) && words[i] != '*' && words[i] != '?')
			words[i] = '_';
	return (struct str){words, s.n};
}

/** @s without the "_12" at its end, after @what. */
static struct str cut_number(struct str s, struct str what)
{
	size_t n = s.n;
	while (n && isdigit((unsigned char)s.p[n - 1]))
		n--;
	struct str rest = {s.p, n};
	if (n == s.n || !str_has_suffix(rest, what))
		return s;
	rest.n -= what.n;
	return rest;
}

/**
 * The name of the program's function in its BTF: from 0.21 on "KIND_PATH_PROVIDER_NAME" and numbers of the
 * site and of the probe. Empty without BTF.
 */
static struct str function_of(struct opening *o, int fd)
{
	struct bpf_func_info function = {0};
	struct bpf_prog_info info = {.nr_func_info = 1,
				     .func_info = (uintptr_t)&function,
				     .func_info_rec_size = sizeof(function)};
	uint32_t n = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &n) != 0 || !info.btf_id || !info.nr_func_info)
		return STR("");
	if (info.btf_id != o->btf_id) {
		btf__free(o->btf);
		o->btf = btf__load_from_kernel_by_id(info.btf_id);
		o->btf_id = info.btf_id;
	}
	const struct btf_type *type = o->btf ? btf__type_by_id(o->btf, function.type_id) : NULL;
	const char *name = type ? btf__name_by_offset(o->btf, type->name_off) : NULL;
	struct str ret = str_from(arena_strdup(o->cost->arena, name ? name : ""));
	return cut_number(cut_number(ret, STR("_")), STR("_loc"));
}

/**
 * Is it the program of the probe, or pattern, @name? @function as above; without one @cut has 15 bytes of the
 * name's last part.
 */
static bool is_of(struct arena *a, struct str name, struct str function, struct str cut)
{
	const char *kind_end = memchr(name.p, ':', name.n);
	const char *last = memrchr(name.p, ':', name.n);
	if (!kind_end)
		return false;
	size_t kind = (size_t)(kind_end - name.p);
	struct str tail = words_of(a, str_from_offset(name, kind));
	struct str part = words_of(a, str_from_offset(name, (size_t)(last + 1 - name.p)));
	if (function.n)
		return str_glob(
		    str_printf(a, STR_FMT "*" STR_FMT, (int)kind, name.p, STR_ARG(tail)), function);
	bool is_cut = cut.n == BPF_OBJ_NAME_LEN - 1;
	return str_glob(part, cut) ||
	       (is_cut && (str_has_prefix(part, cut) ||
			   str_glob(str_printf(a, STR_FMT "*", STR_ARG(part)), cut)));
}

/** Breakpoints that a hit of one of @names takes, of those that may be meant the one with most. */
static unsigned most_traps(const cost_names *names)
{
	unsigned most = 0;
	for (size_t i = 0; i < names->n; i++)
		most = names->v[i].n_traps > most ? names->v[i].n_traps : most;
	return most;
}

/** The probe, or a new one for all whose names cannot be told apart. */
static size_t probe_of(struct opening *o, int fd, const struct bpf_prog_info *info)
{
	struct cost *c = o->cost;
	struct str function = function_of(o, fd), cut = str_from(info->name);
	cost_names met = {0};
	struct cost_name of = {.name = cut};
	vec_each(const struct cost_name, n, o->names) {
		if (!is_of(c->arena, n->program.n ? n->program : n->name, function, cut))
			continue;
		vec_push(c->arena, &met, *n);
		// Of names that end alike the longest is meant.
		if (met.n == 1 || n->name.n > of.name.n)
			of = *n;
	}
	if (!met.n && info->type == BPF_PROG_TYPE_KPROBE) // rather too much than too little
		of.n_traps = most_traps(o->names);
	if (met.n > 1 && !function.n) {
		of.name = str_printf(c->arena, STR_FMT "* (%zu probes)", STR_ARG(cut), met.n);
		of.n_traps = most_traps(&met);
	}
	for (size_t i = 0; i < c->probes.n; i++)
		if (str_eq(c->probes.v[i].of.name, of.name))
			return i;
	of.name = str_copy(c->arena, of.name);
	vec_push(c->arena, &c->probes, (struct cost_probe){.of = of});
	return c->probes.n - 1;
}

static bool add_program(void *ctx, int fd)
{
	struct opening *o = ctx;
	struct bpf_prog_info info = {0};
	uint32_t n = sizeof(info);
	bool is_new = bpf_obj_get_info_by_fd(fd, &info, &n) == 0;
	for (size_t i = 0; is_new && i < o->cost->programs.n; i++)
		is_new = o->cost->programs.v[i].id != info.id;
	if (is_new)
		vec_push(o->cost->arena, &o->cost->programs,
			 (struct cost_program){
			     .fd = fd, .id = info.id, .probe = probe_of(o, fd, &info)});
	else
		close(fd);
	return true;
}

/** The second number of each thread's schedstat (Documentation/scheduler/sched-stats.rst); the process's own is its main thread's. */
static uint64_t read_waited(int pid)
{
	struct arena a = {0};
	uint64_t sum = 0;
	size_t n;
	const char *tasks = arena_printf(&a, "%s/%d/task", PROCFS, pid);
	const int *tids = proc_list(&a, tasks, &n);
	for (size_t i = 0; i < n; i++) {
		struct str text;
		uint64_t waited;
		if (proc_read(&a, tasks, tids[i], "schedstat", &text) &&
		    sscanf(str_dup(&a, text), "%*u %" SCNu64, &waited) == 1)
			sum += waited;
	}
	arena_fini(&a);
	return sum;
}

/** False: the process is gone. */
static bool read_cputime(int pid, struct cputime *ret)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return false;
	*ret = (struct cputime){(uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec,
				read_waited(pid)};
	return true;
}

void cost_read(struct cost *c)
{
	c->before = c->now;
	c->now = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	c->cpu_before = c->cpu_now;
	// A process that has exited: as if it had run on all processors since.
	if (c->only && !read_cputime(c->only, &c->cpu_now))
		c->cpu_now.ran += (c->now - c->before) * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < c->probes.n; i++) {
		c->probes.v[i].before = c->probes.v[i].sum;
		c->probes.v[i].sum = (struct cost_sum){0};
	}
	vec_each(struct cost_program, program, &c->programs) {
		struct cost_probe *p = &c->probes.v[program->probe];
		struct bpf_prog_info info = {0};
		uint32_t n = sizeof(info);
		if (bpf_obj_get_info_by_fd(program->fd, &info, &n) == 0)
			program->last =
			    (struct cost_sum){.hits = info.run_cnt, .ns = info.run_time_ns};
		p->sum.hits += program->last.hits;
		p->sum.ns += program->last.ns;
		p->sum.emulated += program->emulated * (double)program->last.hits;
		p->sum.stepped += program->stepped * (double)program->last.hits;
	}
}

/** What a hit of @p takes. Programs of one place share its breakpoint, which is the first one's. */
static void count_breakpoints(struct cost *c, struct cost_program *p, const breakpoints *all,
			      struct map *taken)
{
	unsigned n = 0;
	list_each(const struct breakpoint, b, all->v, all->n) {
		if (b->program != p->id)
			continue;
		bool is_first = map_add(c->arena, taken, b->place);
		p->emulated += b->is_return + is_first * (1 - b->stepped);
		p->stepped += is_first * b->stepped;
		n++;
	}
	bool is_shared = n && !p->emulated && !p->stepped;
	if (n) {
		p->emulated /= n;
		p->stepped /= n;
	} else if (c->probes.v[p->probe].of.n_traps) { // not to be seen: as if half were stepped
		p->stepped = 0.5;
		p->emulated = c->probes.v[p->probe].of.n_traps - p->stepped;
	}
	if (!is_shared) // the instruction there may be any
		p->stepped += c->probes.v[p->probe].of.n_extra;
}

bool cost_open(struct cost *c, pid_t pid, const cost_names *names, int only)
{
	struct opening o = {.cost = c, .names = names};
	int error = bpfobject_walk(pid, BPFOBJECT_PROGRAM, add_program, &o);
	btf__free(o.btf);
	breakpoints all = {0};
	struct map taken = {0};
	breakpoint_read(c->arena, pid, &all);
	for (size_t i = 0; i < c->programs.n; i++)
		count_breakpoints(c, &c->programs.v[i], &all, &taken);
	c->only = only;
	cost_read(c);
	c->began = c->now;
	c->cpu_began = c->cpu_now;
	for (size_t i = 0; i < c->probes.n; i++)
		c->probes.v[i].first = c->probes.v[i].sum;
	errno = error ? error : ENOENT;
	return !error && c->programs.n > 0;
}

// --- what it takes ---

/** A probe, and what it has used. */
struct used {
	const struct cost_probe *probe;
	double hits, ns; // with the breakpoints
};

static struct used estimate(const struct cost_probe *p, bool all)
{
	struct cost_sum before = all ? p->first : p->before;
	double hits = (double)(p->sum.hits - before.hits), ns = (double)(p->sum.ns - before.ns);
	ns += (p->sum.emulated - before.emulated) * EMULATED_NS;
	ns += (p->sum.stepped - before.stepped) * STEPPED_NS;
	return (struct used){p, hits, ns};
}

static struct used used_by(const struct cost *c, const struct cost_probe *p, bool all)
{
	struct used used = estimate(p, all);
	// The estimates of probes in the process's code are scaled to fit in its CPU time.
	double sum = 0, ran = (double)(c->cpu_now.ran - (all ? c->cpu_began : c->cpu_before).ran);
	for (size_t i = 0; i < c->probes.n && c->only && p->of.n_traps; i++)
		if (c->probes.v[i].of.n_traps)
			sum += estimate(&c->probes.v[i], all).ns;
	used.ns *= sum > ran ? ran / sum : 1;
	return used;
}

/** Between the two reads, in ns. */
static double time_of(const struct cost *c, bool all)
{
	uint64_t from = all ? c->began : c->before;
	return c->now > from ? (double)(c->now - from) : 1;
}

static struct used used_by_all(const struct cost *c, bool all)
{
	struct used sum = {0};
	for (size_t i = 0; i < c->probes.n; i++) {
		struct used one = used_by(c, &c->probes.v[i], all);
		sum.hits += one.hits;
		sum.ns += one.ns;
	}
	return sum;
}

double cost_share(const struct cost *c, bool all)
{
	return used_by_all(c, all).ns / time_of(c, all);
}

double cost_rate(const struct cost *c)
{
	return used_by_all(c, false).hits * 1e9 / time_of(c, false);
}

double cost_available(const struct cost *c)
{
	double ran = (double)(c->cpu_now.ran - c->cpu_before.ran), time = time_of(c, false);
	double waited = (double)c->cpu_now.waited - (double)c->cpu_before.waited;
	bool is_starved = ran > 0 && waited > ran && ran + waited >= time / 2;
	return is_starved && ran < time ? ran / time : 1;
}

// --- what is said of it ---

static int compare(const void *x, const void *y)
{
	double a = ((const struct used *)x)->ns, b = ((const struct used *)y)->ns;
	return a < b ? 1 : a > b ? -1 : 0;
}

/** Those that were hit, most expensive first. */
static size_t sort_used(const struct cost *c, bool all, struct used **ret)
{
	size_t n = 0;
	*ret = arena_alloc_n(c->arena, c->probes.n + 1, sizeof(**ret));
	for (size_t i = 0; i < c->probes.n; i++) {
		struct used one = used_by(c, &c->probes.v[i], all);
		if (one.hits > 0)
			(*ret)[n++] = one;
	}
	qsort(*ret, n, sizeof(**ret), compare);
	return n;
}

void cost_write_text(const struct cost *c, bool all, struct strbuf *ret)
{
	struct used *sorted;
	size_t n = sort_used(c, all, &sorted);
	double whole = cost_share(c, all), time = time_of(c, all);
	for (size_t i = 0; i < n && sorted[i].ns / time >= whole / 100; i++)
		strbuf_addf(ret, STR_FMT ": %.0f hits/s, %.2f us a hit, %.1f %%\n",
			    STR_ARG(sorted[i].probe->of.name), sorted[i].hits * 1e9 / time,
			    sorted[i].ns / sorted[i].hits / 1000, 100 * sorted[i].ns / time);
}

void cost_write_json(const struct cost *c, struct strbuf *ret)
{
	struct used *sorted;
	size_t n = sort_used(c, true, &sorted);
	struct json j = {.out = ret};
	json_open(&j, NULL, '{');
	json_open(&j, "cost", '{');
	json_printf(&j, "seconds", "%.3f", time_of(c, true) / 1e9);
	json_printf(&j, "percent", "%.3f", 100 * cost_share(c, true));
	json_open(&j, "probes", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(&j, NULL, '{');
		json_str(&j, "probe", sorted[i].probe->of.name);
		json_number(&j, "hits", (int64_t)sorted[i].hits, false);
		json_printf(&j, "ns_per_hit", "%.0f", sorted[i].ns / sorted[i].hits);
		json_printf(&j, "percent", "%.3f", 100 * sorted[i].ns / time_of(c, true));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	json_close(&j, '}');
	strbuf_addc(ret, '\n');
}

void cost_end(struct cost *c)
{
	for (size_t i = 0; i < c->programs.n; i++)
		close(c->programs.v[i].fd);
	if (c->stats >= 0)
		close(c->stats);
	c->programs.n = 0;
	c->stats = -1;
}
