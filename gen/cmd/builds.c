#include "cmd/builds.h"

#include <string.h>

#include "base/json.h"

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

/** Has it what the script traces? Other mistakes are the script's, and said later. */
static bool has_probes(struct builds *b, struct build *build)
{
	struct diag_log log = {.arena = b->arena};
	struct diag *d = b->diag;
	unsigned n_before = d->n_errors;
	struct run_options options = build->options;
	d->log = &log;
	d->n_errors = 0;
	bool good = run_options_expand(b->arena, d, &options, &build->x);
	bool lacks_names = !good && d->n_errors && d->n_errors == build->x.files.n_missing;
	expand_close(&build->x);
	build->x = (struct expansion){0};
	d->log = NULL;
	d->n_errors = n_before;
	return !lacks_names;
}

void builds_skip_without_probes(struct builds *b, struct run_options *o)
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

struct str build_id_of(struct arena *a, struct expansion *x)
{
	struct targetfile *exe = x->files.list.n ? &x->files.list.v[0] : NULL;
	const struct img *img = exe ? targetfile_open(&x->files, exe) : NULL;
	return img ? str_copy(a, img->build_id) : STR("");
}

/** The first bytes of the build ID, in hex; empty for none. */
static const char *short_build(struct arena *a, struct expansion *x)
{
	enum { SHOWN = 6 };
	struct str id = build_id_of(a, x);
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

void builds_set_headings(struct builds *b, const struct output_share *share)
{
	for (size_t i = 0; i < b->list.n; i++) {
		struct build *build = &b->list.v[i];
		const char *id = short_build(b->arena, &build->x);
		build->note = *id ? arena_printf(b->arena, ", build %s", id) : "";
		build->share = *share;
		build->share.self = (unsigned)i + 1;
		build->share.heading = heading_of(b, build, id);
	}
}

void builds_close(struct builds *b)
{
	vec_each(struct build, build, &b->list)
		expand_close(&build->x);
}
