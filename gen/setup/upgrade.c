#include "setup/upgrade.h"

#include "base/clock.h"
#include "base/jobs.h"
#include "process/cgroup.h"
#include "process/proc.h"

#define LOOK_MS 500	  // a new file is attached to once two looks have seen the same
#define USED_LOOK_MS 5000 // looks through the maps of all processes
#define MAX_BUILDS 8	  // at once: each bpftrace takes some 100 MB

struct build {
	struct stat file;
	struct str id;	// its build ID, empty: none
	uint64_t group; // of a cgroup: its number
	bool is_traced;
};

struct watch {
	const struct upgrade *wanted;
	struct output_share share;
	VEC(struct build) builds; // one each job
	struct stat seen;	  // at the last look
	int seen_pid;
	bool is_gone; // and that was reported
	bool is_missed;
	bool is_given_up;    // no further build is attached to, which was reported
	unsigned long began; // ms: the first was ready; 0: it is not yet
	unsigned long used_at;
	int next_pid; // for the next job
};

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return is_same_file(a, b) && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/** Empty where the file is no ELF file, or has none. */
static struct str build_id_of(struct arena *a, const char *path)
{
	struct diag silent = {0};
	struct img *img;
	if (!img_open(a, &silent, path, str_from(path), &img))
		return STR("");
	struct str id = str_copy(a, img->build_id);
	img_close(img);
	return id;
}

static const char *shown_target(struct watch *w)
{
	const struct upgrade *u = w->wanted;
	return str_dup(u->arena, str_printable(u->arena, str_from(u->file ? u->file : u->cgroup)));
}

/** Also with -q: what is not traced looks like a program that does nothing. */
static void report_missed(struct watch *w, const char *what, const char *why)
{
	struct diag *d = w->wanted->diag;
	bool was_quiet = d->quiet;
	d->quiet = false;
	diag_warning(d, NULL, "%s: %s", what, why);
	d->quiet = was_quiet;
	w->is_missed = true;
}

static void begin_next(struct watch *w, struct jobs *jobs, const struct build *build, int pid,
		       const char *what)
{
	const struct upgrade *u = w->wanted;
	size_t n_traced = 0;
	vec_each(const struct build, b, &w->builds)
		n_traced += b->is_traced;
	if (w->is_given_up)
		return;
	bool is_anew = build->group != w->builds.v[0].group;
	const char *why = u->why_one		      ? u->why_one
			  : !is_anew && u->why_shared ? u->why_shared
			  : n_traced >= MAX_BUILDS
			      ? "too many builds at once: start the trace again"
			      : NULL;
	if (why) {
		w->is_given_up = true;
		report_missed(w, what, why);
		return;
	}
	vec_push(u->arena, &w->builds, *build);
	w->next_pid = pid;
	if (!u->quiet)
		fprintf(stderr, "btgen: %s: attaching to it\n", what);
	if (jobs_add(jobs) >= 0)
		return;
	report_missed(w, what, strerror(errno));
	w->builds.n--;
	w->is_given_up = true;
}

static void look_at_file(struct watch *w, struct jobs *jobs)
{
	struct arena *a = w->wanted->arena;
	const char *path = w->wanted->file;
	struct build *last = &w->builds.v[w->builds.n - 1], next = {.is_traced = true};
	struct stat st;
	if (stat(path, &st) != 0) {
		st = (struct stat){0};
		if (!w->is_gone && is_unchanged(&st, &w->seen)) {
			w->is_gone = true;
			report_missed(w, arena_printf(a, "%s is gone", shown_target(w)),
				      "only processes that already run it are traced");
		}
	}
	bool is_still = is_unchanged(&st, &w->seen);
	w->seen = st;
	if (!st.st_ino || !is_still || is_unchanged(&st, &last->file))
		return;
	w->is_gone = false;
	next.file = st;
	next.id = build_id_of(a, path);
	bool is_overwritten = is_same_file(&st, &last->file);
	if (is_overwritten && str_eq(next.id, last->id) && next.id.n) { // only touched
		last->file = st;
		return;
	}
	if (is_overwritten) // its probes are at places of another code
		jobs_end(jobs, w->builds.n - 1);
	last->is_traced &= !is_overwritten;
	begin_next(w, jobs, &next, 0,
		   arena_printf(a, "%s was replaced by another file (%s%s)", shown_target(w),
				next.id.n ? "build ID " : "no build ID", img_short_id(a, next.id)));
}

/** A process of the group with the name that none of the builds is; 0: none. */
static int find_other(const struct watch *w, struct arena *a, const struct cgroup *group,
		      struct stat *file)
{
	for (size_t i = 0; i < group->pids.n; i++) {
		int pid = group->pids.v[i];
		bool is_meant = proc_exe_stat(PROCFS, pid, file) &&
				str_eq(proc_exe_name(a, PROCFS, pid), w->wanted->name);
		if (is_meant &&
		    !vec_any(const struct build, b, &w->builds,
			     b->group == group->ids.v[0] && is_same_file(&b->file, file)))
			return pid;
	}
	return 0;
}

static void look_at_cgroup(struct watch *w, struct jobs *jobs)
{
	struct arena *a = w->wanted->arena, own = {0};
	struct diag silent = {0};
	struct cgroup group;
	struct build next = {.is_traced = true};
	size_t n_old = w->builds.n;
	bool is_there = cgroup_read(&own, &silent, w->wanted->cgroup, &group);
	int pid = is_there ? find_other(w, &own, &group, &next.file) : 0;
	if (pid && pid == w->seen_pid) { // by now it has its libraries
		bool is_anew = group.ids.v[0] != w->builds.v[n_old - 1].group;
		next.group = group.ids.v[0];
		begin_next(w, jobs, &next, pid,
			   is_anew ? arena_printf(a, "%s was made anew", shown_target(w))
				   : arena_printf(a, "process %d in %s runs another file", pid,
						  shown_target(w)));
	}
	w->seen_pid = pid;
	arena_fini(&own);
}

static void end_unused(struct watch *w, struct jobs *jobs)
{
	if (w->builds.n < 2 || clock_ms() - w->used_at < USED_LOOK_MS)
		return;
	w->used_at = clock_ms();
	const struct upgrade *u = w->wanted;
	for (size_t i = 0; i + 1 < w->builds.n; i++) {
		struct build *b = &w->builds.v[i];
		if (!b->is_traced ||
		    proc_file_is_used(PROCFS, &b->file, u->file ? str_from(u->file) : u->name))
			continue;
		b->is_traced = false;
		jobs_end(jobs, i);
	}
}

static void look(void *ctx, struct jobs *jobs)
{
	struct watch *w = ctx;
	if (w->wanted->file)
		look_at_file(w, jobs);
	else
		look_at_cgroup(w, jobs);
	end_unused(w, jobs);
}

static int trace_one(void *ctx, size_t i, int ready_fd)
{
	struct watch *w = ctx;
	const struct upgrade *u = w->wanted;
	struct upgrade_build b = {i, w->next_pid, u->duration, w->share, ready_fd};
	unsigned long over = w->began + u->duration, now = clock_ms();
	if (u->duration && w->began) // one that is nearly over lasts a moment
		b.duration = over > now ? over - now : 1;
	b.share.self = (unsigned)i + 1;
	b.share.heading = i ? STR("") : u->heading;
	return u->trace(u->ctx, &b);
}

static void not_begun(void *ctx, size_t i)
{
	struct watch *w = ctx;
	w->builds.v[i].is_traced = false;
	report_missed(w, shown_target(w), "what runs the new file is not traced");
}

static void is_ready(void *ctx)
{
	struct watch *w = ctx;
	w->began = clock_ms();
	w->wanted->ready(w->wanted->ctx);
}

int upgrade_run(const struct upgrade *u, bool *is_missed)
{
	struct watch w = {.wanted = u, .seen = u->first};
	struct build first = {.file = u->first, .id = u->build, .is_traced = true};
	struct jobs_work work = {.n = 1,
				 .work = trace_one,
				 .all_ready = is_ready,
				 .ctx = &w,
				 .signals = u->signals,
				 .look = look,
				 .look_ms = LOOK_MS,
				 .not_begun = not_begun};
	if (u->cgroup)
		first.group = u->group;
	vec_push(u->arena, &w.builds, first);
	int status = output_share_new(&w.share, 1) ? jobs_run(&work) : -1;
	if (status < 0)
		diag_error(u->diag, NULL, "cannot start a process: %s", strerror(errno));
	*is_missed = w.is_missed;
	return status < 0 ? 1 : status;
}
