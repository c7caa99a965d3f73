/**
 * btgen diff - what a tracer sees change between two builds, and which scripts rely on it: the facts
 * of the old one, as a lock in memory (lock/lock.h), compared with the new.
 */

#include "base/json.h"
#include "cmd/expand.h"
#include "lock/lock.h"

/** As diff(1): what is wrong with the input is not a difference. */
enum { DIFF_SAME = 0, DIFF_CHANGED = 1, DIFF_TROUBLE = 2 };

struct build {
	const char *path;
	struct targetfiles files;
	struct lock lock;
};

struct options {
	struct expand_request req; /**< -D, -I, version, scripts */
	struct arena *arena;
	struct diag *diag;
	struct build before, after;
	VEC(const char *) broken; /**< scripts that cannot be expanded for the new build */
	bool quiet;
};

static const struct cmd_option list[] = {
    EXPAND_JSON_ROW("print changes as one JSON array"),
    EXPAND_VERSION_ROW("expand scripts for this version of bpftrace [the installed one]"),
    EXPAND_MACRO_ROWS,
    {'q', "quiet", NULL, CMD_FLAG(struct options, quiet),
     "print nothing: only set the exit status"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen diff [OPTION]... OLD NEW [SCRIPT]...\n"
	     "Report what changed between two builds of a program or library: probes, their\n"
	     "arguments, and the enumerators of their types; with SCRIPTs, also everything\n"
	     "else that they use.\n"
	     "\n"
	     "  btgen diff build.old/app build/app bpf/*.bt && echo 'the scripts still work'\n"
	     "\n",
    .list = list,
    .notes = "\n"
	     "Exit status: 0 nothing changed (with SCRIPTs: nothing that they rely on), 1 it\n"
	     "did, 2 trouble. If a build has no types to compare, a warning reports this; the\n"
	     "status does not change. A SCRIPT relies on what `btgen check --lock` writes: the\n"
	     "probes, arguments, struct members, functions and enumerators that it uses.\n",
};

static int parse(int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, o->arena, argc, argv, o);
	if (status < 0 && argc - optind < 2)
		status = cmd_usage_error("give the two files to compare: OLD NEW");
	if (status < 0 && o->quiet && o->req.json)
		status = cmd_usage_error("give -q or --json, not both");
	if (status < 0 && argc - optind == 2 && (o->req.defines.n || o->req.dirs.n))
		status = cmd_usage_error("-D and -I are for scripts: give one");
	if (status >= 0)
		return status;
	o->before.path = argv[optind++];
	o->after.path = argv[optind++];
	for (; status < 0 && optind < argc; optind++)
		status = expand_add_script(o, argv[optind]);
	return status;
}

static bool read_build(struct options *o, struct build *ret)
{
	ret->lock.arena = o->arena;
	if (!targetfiles_of_file(o->arena, o->diag, ret->path, &ret->files))
		return false;
	ret->files.signatures = expand_signatures(o->arena, o->diag);
	lock_add_build(&ret->lock, &ret->files);
	return true;
}

/** Adds what the script relies on in the build; false when it does not work there. */
static bool add_script(struct options *o, struct expand_source *script, struct build *build)
{
	struct expansion x = {0};
	struct expand_request one = o->req;
	one.sources.v = script;
	one.sources.n = 1;
	one.exe = build->path;
	one.given.lock = &build->lock;
	build->lock.script = script->text;
	bool good = expand_as_run(o->arena, o->diag, &one, &x);
	if (good)
		lock_add_names(&x.bind);
	build->lock.script = NULL;
	expand_close(&x);
	return good;
}

/** A script that does not work with the new build is a finding, and so are the errors about it. */
static bool read_scripts(struct options *o)
{
	bool good = true;
	vec_each(struct expand_source, script, &o->req.sources) {
		unsigned n_errors = o->diag->n_errors;
		if (!add_script(o, script, &o->before)) {
			good = false;
			continue;
		}
		if (!add_script(o, script, &o->after))
			vec_push(o->arena, &o->broken, script->text);
		o->diag->n_errors = n_errors;
	}
	return good;
}

static void print_text(const struct options *o, const struct lock_differences *ds)
{
	struct strbuf b = {0};
	vec_each(const struct lock_difference, d, &ds->list) {
		strbuf_add_printable(&b, d->text);
		for (size_t k = 0; k < d->fact->scripts.n; k++) {
			strbuf_addz(&b, k ? ", " : "  [used by ");
			strbuf_add_printable(&b, str_from(d->fact->scripts.v[k]));
		}
		strbuf_addz(&b, d->fact->scripts.n ? "]\n" : "\n");
	}
	for (size_t i = 0; i < o->broken.n; i++) {
		strbuf_addz(&b, "script ");
		strbuf_add_printable(&b, str_from(o->broken.v[i]));
		strbuf_addz(&b, " no longer works\n");
	}
	fwrite(b.n ? b.p : "", 1, b.n, stdout);
	strbuf_fini(&b);
}

/** "probe removed", "type of argument" */
static struct str change_text(struct arena *a, const struct lock_difference *d)
{
	bool is_argument = str_eqz(str_from(d->kind), "argument");
	const char *kind = str_eqz(str_from(d->kind), "enum") ? "enumerator" : d->kind;
	if (d->change == LOCK_CHANGED && str_eqz(str_from(kind), "probe"))
		return STR("arguments");
	if (d->change == LOCK_CHANGED && is_argument)
		return STR("type of argument");
	if (d->change == LOCK_RENAMED)
		return STR("name of argument");
	static const char *const texts[] = {
	    [LOCK_REMOVED] = " removed",
	    [LOCK_ADDED] = " added",
	    [LOCK_CHANGED] = " value",
	    [LOCK_MOVED] = " moved",
	};
	return str_printf(a, "%s%s", kind, texts[d->change]);
}

/** What is not there is null; a probe without arguments is "". */
static void add_side(struct json *j, struct arena *a, const char *key,
		     const struct lock_difference *d, struct str text)
{
	bool is_part = d->name.n && !str_eqz(str_from(d->kind), "argument");
	if (!text.p)
		json_null(j, key);
	else
		json_str(j, key,
			 is_part
			     ? str_printf(a, STR_FMT " = " STR_FMT, STR_ARG(d->name), STR_ARG(text))
			     : text);
}

static void print_json(struct options *o, const struct lock_differences *ds)
{
	struct arena *a = o->arena;
	struct strbuf b = {0};
	struct json j = {.out = &b};
	json_open(&j, NULL, '[');
	vec_each(const struct lock_difference, d, &ds->list) {
		json_open_line(&j, "");
		json_str(&j, "change", change_text(a, d));
		json_str(&j, "subject", d->subject);
		if (str_eqz(str_from(d->kind), "argument"))
			json_printf(&j, "arg", STR_FMT, STR_ARG(d->name));
		add_side(&j, a, "was", d, d->was);
		add_side(&j, a, "is", d, d->is);
		json_open(&j, "scripts", '[');
		for (size_t k = 0; k < d->fact->scripts.n; k++)
			json_str(&j, NULL, str_from(d->fact->scripts.v[k]));
		json_close(&j, ']');
		json_close(&j, '}');
	}
	for (size_t i = 0; i < o->broken.n; i++) {
		json_open_line(&j, "");
		json_str(&j, "change", STR("script fails"));
		json_str(&j, "subject", str_from(o->broken.v[i]));
		json_close(&j, '}');
	}
	json_close_lines(&j);
	fwrite(b.p, 1, b.n, stdout);
	strbuf_fini(&b);
}

static void warn_untyped(struct options *o)
{
	struct str was = o->before.lock.untyped, is = o->after.lock.untyped;
	const struct str files[] = {was, str_eq(was, is) ? STR("") : is};
	for (size_t i = 0; i < 2 && !o->quiet; i++)
		if (files[i].n)
			diag_warning(o->diag, NULL,
				     STR_FMT " has no debug information: types and enumerators "
					     "were not compared",
				     STR_ARG(files[i]));
}

static int compare(struct options *o)
{
	struct lock_differences ds = {0};
	size_t n = o->broken.n;
	struct bind_given given = {.files = &o->after.files, .lock = &o->after.lock};
	struct bind_made made = {0};
	struct bind_cache cache = {0};
	struct bind b = {o->arena, o->diag, &given, .made = &made, .cache = &cache};
	lock_compare(&b, &o->before.lock, &ds);
	if (o->diag->n_errors)
		return DIFF_TROUBLE;
	if (o->req.json)
		print_json(o, &ds);
	else if (!o->quiet)
		print_text(o, &ds);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		diag_error(o->diag, NULL, "cannot write the list");
		return DIFF_TROUBLE;
	}
	for (size_t i = 0; i < ds.list.n; i++)
		n += !o->req.sources.n || ds.list.v[i].fact->scripts.n;
	warn_untyped(o);
	return n ? DIFF_CHANGED : DIFF_SAME;
}

int cmd_diff(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {.arena = a, .diag = d, .req.arena = a};
	int status = parse(argc, argv, &o);
	if (status >= 0)
		return status;
	expand_choose_version(a, d, &o.req);
	bool good = read_build(&o, &o.before) && read_build(&o, &o.after) && read_scripts(&o);
	status = good ? compare(&o) : DIFF_TROUBLE;
	targetfiles_close(&o.before.files);
	targetfiles_close(&o.after.files);
	return status;
}
