#include "cmd/builds.h"

void builds_sort(struct builds *b, struct run_options *o)
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

bool builds_are_one_program(struct builds *b)
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

void builds_report_left(struct diag *d, struct arena *a, const int *pids, size_t n,
			const char *fate, const char *why)
{
	struct str exe = proc_exe(a, PROCFS, pids[0]);
	uid_t uid = proc_uid(a, PROCFS, pids[0], PROC_UID_REAL);
	const char *more = n > 1 ? arena_printf(a, " (and %zu more)", n - 1) : "";
	if (uid == (uid_t)-1)
		diag_warning(d, NULL, "process %d%s is %s: it has exited", pids[0], more, fate);
	else
		diag_warning(d, NULL, "process %d%s is %s: " STR_FMT " (uid %u) %s", pids[0], more,
			     fate, STR_ARG(exe), (unsigned)uid, why);
}

/** Why processes cannot be those that @o selects; NULL: they can. Mistakes of the script are reported later. */
static const char *why_not_meant(struct builds *b, struct run_options o)
{
	struct diag_log log = {.arena = b->arena};
	struct diag *d = b->diag;
	struct expansion x = {0};
	const char *why = NULL;
	unsigned n_before = d->n_errors;
	d->log = &log;
	d->n_errors = 0;
	bool good = run_options_expand(b->arena, d, &o, &x);
	const struct diag_message *first =
	    vec_find(const struct diag_message, m, &log.messages, m->level == DIAG_ERROR);
	if (!good && !x.is_open && first)
		why = arena_printf(b->arena, "cannot be traced: " STR_FMT, STR_ARG(first->text));
	else if (!good && d->n_errors && d->n_errors == x.files.n_missing)
		why = "does not have the probes or functions";
	expand_close(&x);
	d->log = NULL;
	d->n_errors = n_before;
	return why;
}

static word_list *patterns_of(struct run_options *o)
{
	return o->req.trace.calls.n ? &o->req.trace.calls : &o->req.trace.patterns;
}

/**
 * Each build gets those of several patterns that it has, and all of them if it has none. A pattern that no
 * build has remains for all of them: it is an error.
 */
static void choose_patterns(struct builds *b, struct run_options *o)
{
	word_list all = *patterns_of(o);
	vec_each(struct build, build, &b->list)
		*patterns_of(&build->options) = (word_list){0};
	for (size_t k = 0; k < all.n; k++) {
		bool *has = arena_array(b->arena, bool, b->list.n);
		size_t n_have = 0;
		for (size_t i = 0; i < b->list.n; i++) {
			struct run_options one = *o;
			one.req.pids = b->list.v[i].options.req.pids;
			*patterns_of(&one) = (word_list){0};
			vec_push(b->arena, patterns_of(&one), all.v[k]);
			n_have += has[i] = !why_not_meant(b, one);
		}
		for (size_t i = 0; i < b->list.n; i++)
			if (has[i] || !n_have)
				vec_push(b->arena, patterns_of(&b->list.v[i].options), all.v[k]);
	}
	vec_each(struct build, build, &b->list)
		if (!patterns_of(&build->options)->n)
			*patterns_of(&build->options) = all;
}

static void report_patterns(struct builds *b, struct build *build, struct run_options *o)
{
	const struct expand_request *req = &build->options.req;
	vec_each(const char *const, pattern, patterns_of(o)) {
		if (vec_any(const char *const, own, patterns_of(&build->options), *own == *pattern))
			continue;
		const char *fate = arena_printf(b->arena, "traced without '%s'", *pattern);
		builds_report_left(b->diag, b->arena, req->pids.v, req->pids.n, fate,
				   "does not have it");
	}
}

void builds_skip_without_probes(struct builds *b, struct run_options *o)
{
	struct arena *a = b->arena;
	const char **why = arena_array(a, const char *, b->list.n);
	size_t n_good = 0, kept = 0, n_pids = 0;
	if (patterns_of(o)->n > 1)
		choose_patterns(b, o);
	for (size_t i = 0; i < b->list.n; i++) {
		why[i] = why_not_meant(b, b->list.v[i].options);
		n_good += !why[i];
	}
	if (!n_good)
		return;
	int *pids = arena_array(a, int, o->req.pids.n);
	for (size_t i = 0; i < b->list.n; i++) {
		struct build *build = &b->list.v[i];
		int *own = build->options.req.pids.v;
		size_t n = build->options.req.pids.n;
		if (why[i]) {
			builds_report_left(b->diag, a, own, n, "not traced", why[i]);
			continue;
		}
		report_patterns(b, build, o);
		memcpy(pids + n_pids, own, n * sizeof(*own));
		build->options.req.pids.v = pids + n_pids;
		n_pids += n;
		b->list.v[kept++] = *build;
	}
	b->list.n = kept;
	o->req.pids.v = pids;
	o->req.pids.n = n_pids;
}

struct str build_id_of(struct arena *a, struct expansion *x)
{
	struct targetfile *exe = x->files.list.n ? &x->files.list.v[0] : NULL;
	const struct img *img = exe ? targetfile_open(&x->files, exe) : NULL;
	return img ? str_copy(a, img->build_id) : STR("");
}

const char *build_short_id(struct arena *a, struct expansion *x)
{
	return img_short_id(a, build_id_of(a, x));
}

/** Reports which processes run which build, so that those of one can be given. */
static bool refuse_builds(struct builds *b)
{
	struct arena *a = b->arena;
	diag_error(b->diag, NULL,
		   "%zu builds of the program are running, and the script is for the whole host: "
		   "give the PIDs of one build",
		   b->list.n);
	vec_each(struct build, build, &b->list) {
		const char *id = build_short_id(a, &build->x);
		size_t n = build->options.req.pids.n;
		struct str exe = proc_exe(a, PROCFS, build->options.req.pids.v[0]);
		diag_note(b->diag, NULL, STR_FMT ", build ID %s: PID%s %s",
			  STR_ARG(str_printable(a, exe)), *id ? id : "unknown", n > 1 ? "s" : "",
			  expand_list_pids(a, build->options.req.pids.v, n, " "));
	}
	return false;
}

bool builds_expand(struct builds *b)
{
	struct arena *a = b->arena;
	struct diag *d = b->diag;
	struct diag_log said = {.arena = a};
	bool good = true;
	for (size_t i = 0; i < b->list.n; i++) {
		struct diag_log log = {.arena = a};
		struct build *build = &b->list.v[i];
		d->log = &log;
		good &= run_options_expand(a, d, &build->options, &build->x);
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

struct str build_heading(struct arena *a, const struct run_options *o, struct expansion *x,
			 const char *id)
{
	struct str name = x->proc ? proc_name(x->proc) : str_base(str_from(o->req.exe));
	int pid = x->proc && !o->req.given.cgroup ? x->proc->pid : 0;
	struct strbuf text = {0};
	if (o->req.json) {
		struct json j = {&text, false};
		json_open(&j, NULL, '{');
		json_str(&j, "program", name);
		json_printf(&j, "pid", pid ? "%d" : "null", pid);
		json_str_or_null(&j, "build", str_from(id));
		json_close(&j, '}');
		strbuf_addf(&text, "\n");
	} else {
		strbuf_addf(&text, "==> " STR_FMT "%s%s%s <==\n", STR_ARG(str_printable(a, name)),
			    pid ? arena_printf(a, " (PID %d)", pid) : "", *id ? ", build " : "",
			    id);
	}
	return strbuf_take(&text, a);
}

void builds_set_headings(struct builds *b, const struct output_share *share)
{
	for (size_t i = 0; i < b->list.n; i++) {
		struct build *build = &b->list.v[i];
		const char *id = build_short_id(b->arena, &build->x);
		build->note = *id ? arena_printf(b->arena, ", build %s", id) : "";
		build->share = *share;
		build->share.self = (unsigned)i + 1;
		build->share.heading = build_heading(b->arena, &build->options, &build->x, id);
	}
}
