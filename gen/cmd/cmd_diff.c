/**
 * btgen diff - what changed between two builds in probes, arguments and enums, and whether scripts
 * rely on it.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/commands.h"
#include "cmd/cmd.h"
#include "lock/difference.h"
#include "cmd/expand.h"

/** As diff(1): what is wrong with the input is not a difference. */
enum { DIFF_SAME = 0, DIFF_CHANGED = 1, DIFF_TROUBLE = 2 };

struct options {
	struct expand_request req; /**< -D, -I, version, JSON */
	struct arena arena;
	struct diag diag;
	const char *before, *after;
	VEC(const char *) scripts;
	bool quiet;
};

static const struct cmd_option list[] = {
    EXPAND_JSON_ROW("one JSON array of changes"),
    EXPAND_VERSION_ROW("expand scripts for this version of bpftrace [the installed one]"),
    EXPAND_MACRO_ROWS,
    {'q', "quiet", NULL, CMD_FLAG(struct options, quiet), "nothing but the exit status"},
    {0},
};

/** A script whose program differs between the builds. */
struct script_change {
	const char *script;
	bool fails;		 /**< it cannot be expanded for the new build */
	VEC(struct str) was, is; /**< lines that only one program has */
};

typedef VEC(struct script_change) script_changes;

static const struct cmd_options options = {
    .usage = "Usage: btgen diff [OPTION]... OLD NEW [SCRIPT]...\n"
	     "Say what changed between two builds of a program or library: probes, their\n"
	     "arguments, the enumerators of their types; and for each SCRIPT whether it would\n"
	     "expand to another program.\n"
	     "\n"
	     "  btgen diff build.old/app build/app bpf/*.bt && echo 'the scripts still work'\n"
	     "\n",
    .list = list,
    .notes = "\n"
	     "Exit status: 0 nothing changed (with SCRIPTs: nothing that they rely on), 1 it\n"
	     "did, 2 trouble. A warning says when a build has no types to compare; the status\n"
	     "stays. What a SCRIPT relies on are its probes, the arguments it uses, and all\n"
	     "that goes into its program: enumerators, tables, offsets of members that it\n"
	     "reads.\n",
};

static int parse(int argc, char **argv, struct options *o)
{
	int status = cmd_read_options(&options, &o->arena, argc, argv, o);
	if (status < 0 && argc - optind < 2)
		status = cmd_usage_error("give the two files to compare: OLD NEW");
	if (status >= 0)
		return status;
	o->before = argv[optind++];
	o->after = argv[optind++];
	for (; optind < argc; optind++)
		vec_push(&o->arena, &o->scripts, argv[optind]);
	return status;
}

struct lines {
	VEC(struct str) all; // in their order, without empty ones
	struct map set;
};

/** @text with @path, which is another one in each program, as __EXE__; lines as views. */
static void lines_of(struct arena *a, struct str text, struct str path, struct lines *ret)
{
	struct strbuf b;
	strbuf_init(&b);
	while (text.n) {
		const char *hit = path.n ? memmem(text.p, text.n, path.p, path.n) : NULL;
		size_t n = hit ? (size_t)(hit - text.p) : text.n;
		strbuf_adds(&b, str_slice(text, 0, n));
		strbuf_addz(&b, hit ? "__EXE__" : "");
		text = str_from_offset(text, n + (hit ? path.n : 0));
	}
	struct str rest = strbuf_take(&b, a);
	while (rest.n) {
		struct str line = str_take_line(&rest);
		if (!str_trim(line).n)
			continue;
		map_add(a, &ret->set, line);
		vec_push(a, &ret->all, line);
	}
}

/**
 * Lines that only one of the programs has. When both have the same, in another order or number
 * (members that changed places), the part between what is equal at the start and at the end.
 */
static void compare_lines(struct arena *a, const struct lines *was, const struct lines *is,
			  struct script_change *ret)
{
	for (size_t i = 0; i < was->all.n; i++)
		if (!map_get(&is->set, was->all.v[i]))
			vec_push(a, &ret->was, was->all.v[i]);
	for (size_t i = 0; i < is->all.n; i++)
		if (!map_get(&was->set, is->all.v[i]))
			vec_push(a, &ret->is, is->all.v[i]);
	if (ret->was.n || ret->is.n)
		return;
	size_t from = 0, n = was->all.n, m = is->all.n;
	while (from < n && from < m && str_eq(was->all.v[from], is->all.v[from]))
		from++;
	while (n > from && m > from && str_eq(was->all.v[n - 1], is->all.v[m - 1]))
		n--, m--;
	for (size_t i = from; i < n; i++)
		vec_push(a, &ret->was, was->all.v[i]);
	for (size_t i = from; i < m; i++)
		vec_push(a, &ret->is, is->all.v[i]);
}

/**
 * Expands @script for both builds; false when that fails for the old one, which says nothing about
 * the new.
 */
static bool compare_script(struct options *o, struct difference *df, const char *script,
			   script_changes *changes, size_t *relied)
{
	struct arena *a = &o->arena;
	struct expansion was = {0}, is = {0};
	struct script_change c = {.script = script};
	struct lines old_lines = {0}, new_lines = {0};
	vec_push(a, &o->req.sources, (struct expand_source){script, false, NULL});
	o->req.exe = o->before;
	unsigned n_errors = o->diag.n_errors;
	bool good = expand_run(a, &o->diag, &o->req, &was);
	if (good) {
		*relied += difference_mark(df, &was.bind, script);
		o->req.exe = o->after;
		c.fails = !expand_run(a, &o->diag, &o->req, &is);
		o->diag.n_errors = n_errors; // an error of the new build is a finding
		if (!c.fails) {
			lines_of(a, strbuf_str(&was.program.text), was.files.list.v[0].path,
				 &old_lines);
			lines_of(a, strbuf_str(&is.program.text), is.files.list.v[0].path,
				 &new_lines);
			compare_lines(a, &old_lines, &new_lines, &c);
		}
		if (c.fails || c.was.n || c.is.n)
			vec_push(a, changes, c);
		expand_close(&is);
	}
	expand_close(&was);
	o->req.sources.n = 0;
	return good;
}

static const char *kind_text(enum change_kind kind)
{
	static const char *const texts[] = {
	    "probe removed",	"probe added",	      "arguments",	  "type of argument",
	    "name of argument", "enumerator removed", "enumerator added", "enumerator value"};
	return texts[kind];
}

static void add_change(struct strbuf *b, const struct change *c)
{
	bool probe = c->kind <= CHANGE_NAME;
	strbuf_addz(b, probe ? "probe " : "");
	strbuf_add_printable(b, c->subject);
	switch (c->kind) {
	case CHANGE_PROBE_REMOVED:
		strbuf_addz(b, " is gone");
		break;
	case CHANGE_PROBE_ADDED:
		strbuf_addz(b, " is new: (");
		strbuf_add_printable(b, c->is);
		strbuf_addc(b, ')');
		break;
	case CHANGE_COUNT:
		strbuf_addz(b, ": was (");
		strbuf_add_printable(b, c->was);
		strbuf_addz(b, "), is (");
		strbuf_add_printable(b, c->is);
		strbuf_addc(b, ')');
		break;
	case CHANGE_TYPE:
	case CHANGE_NAME:
		strbuf_addf(b, ": arg%u was %s", c->arg, c->kind == CHANGE_NAME ? "called " : "");
		strbuf_add_printable(b, c->was);
		strbuf_addz(b, ", is ");
		strbuf_add_printable(b, c->is);
		break;
	case CHANGE_ENUM_REMOVED:
		strbuf_addz(b, ": no longer has ");
		strbuf_add_printable(b, c->was);
		break;
	case CHANGE_ENUM_ADDED:
		strbuf_addz(b, ": new ");
		strbuf_add_printable(b, c->is);
		break;
	case CHANGE_ENUM_VALUE:
		strbuf_addz(b, ": was ");
		strbuf_add_printable(b, c->was);
		strbuf_addz(b, ", is ");
		strbuf_add_printable(b, c->is);
		break;
	}
	for (size_t i = 0; i < c->scripts.n; i++) {
		strbuf_addz(b, i ? ", " : "  [used by ");
		strbuf_add_printable(b, str_from(c->scripts.v[i]));
	}
	strbuf_addz(b, c->scripts.n ? "]\n" : "\n");
}

enum { SHOWN_LINES = 20 };

static void add_lines(struct strbuf *b, char sign, const struct str *lines, size_t n)
{
	for (size_t i = 0; i < n && i < SHOWN_LINES; i++) {
		strbuf_addf(b, "  %c ", sign);
		struct str line = str_trim(lines[i]);
		strbuf_add_printable(b, str_slice(line, 0, 200));
		strbuf_addz(b, line.n > 200 ? " ...\n" : "\n");
	}
	if (n > SHOWN_LINES)
		strbuf_addf(b, "  %c ... and %zu more lines\n", sign, n - SHOWN_LINES);
}

static void print_text(const struct difference *df, const script_changes *scripts)
{
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < df->changes.n; i++)
		add_change(&b, &df->changes.v[i]);
	for (size_t i = 0; i < scripts->n; i++) {
		const struct script_change *c = &scripts->v[i];
		strbuf_addz(&b, "script ");
		strbuf_add_printable(&b, str_from(c->script));
		strbuf_addz(&b, c->fails ? " no longer works\n" : " expands to another program:\n");
		add_lines(&b, '-', c->was.v, c->was.n);
		add_lines(&b, '+', c->is.v, c->is.n);
	}
	fwrite(b.n ? b.p : "", 1, b.n, stdout);
	strbuf_fini(&b);
}

/** A probe that is not there is null; one without arguments is "". */
static void add_side(struct json *j, const char *key, struct str text)
{
	if (text.p)
		json_str(j, key, text);
	else
		json_null(j, key);
}

static void print_json(const struct difference *df, const script_changes *scripts)
{
	struct strbuf b;
	strbuf_init(&b);
	struct json j = {.out = &b};
	json_open(&j, NULL, '[');
	for (size_t i = 0; i < df->changes.n; i++) {
		const struct change *c = &df->changes.v[i];
		json_line(&j, "");
		json_open(&j, NULL, '{');
		json_str(&j, "change", str_from(kind_text(c->kind)));
		json_str(&j, "subject", c->subject);
		if (c->kind == CHANGE_TYPE || c->kind == CHANGE_NAME)
			json_printf(&j, "arg", "%u", c->arg);
		add_side(&j, "was", c->was);
		add_side(&j, "is", c->is);
		json_open(&j, "scripts", '[');
		for (size_t k = 0; k < c->scripts.n; k++)
			json_str(&j, NULL, str_from(c->scripts.v[k]));
		json_close(&j, ']');
		json_close(&j, '}');
	}
	for (size_t i = 0; i < scripts->n; i++) {
		const struct script_change *c = &scripts->v[i];
		json_line(&j, "");
		json_open(&j, NULL, '{');
		json_str(&j, "change", c->fails ? STR("script fails") : STR("script program"));
		json_str(&j, "subject", str_from(c->script));
		json_close(&j, '}');
	}
	json_close_lines(&j);
	fwrite(b.p, 1, b.n, stdout);
	strbuf_fini(&b);
}

static void warn_untyped(struct options *o, const struct difference *df)
{
	for (size_t i = 0; i < 2 && !o->quiet; i++)
		if (df->untyped[i].n && !(i && str_eq(df->untyped[0], df->untyped[1])))
			diag_warning(&o->diag, NULL,
				     STR_FMT " has no debug information: types and enumerators "
					     "were not compared",
				     STR_ARG(df->untyped[i]));
}

static int compare(struct options *o)
{
	struct arena *a = &o->arena;
	struct targetfiles before = {0}, after = {0};
	struct difference df;
	script_changes scripts = {0};
	size_t relied = 0;
	bool good = targetfiles_of_file(a, &o->diag, o->before, &before) &&
		    targetfiles_of_file(a, &o->diag, o->after, &after);
	if (good) {
		difference_find(&df, a, &before, &after);
		for (size_t i = 0; i < o->scripts.n; i++)
			good &= compare_script(o, &df, o->scripts.v[i], &scripts, &relied);
	}
	good &= !o->diag.n_errors;
	if (good && o->req.json)
		print_json(&df, &scripts);
	else if (good && !o->quiet)
		print_text(&df, &scripts);
	targetfiles_close(&before);
	targetfiles_close(&after);
	if (!good)
		return DIFF_TROUBLE;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		diag_error(&o->diag, NULL, "cannot write the list");
		return DIFF_TROUBLE;
	}
	size_t n = o->scripts.n ? relied + scripts.n : df.changes.n;
	warn_untyped(o, &df);
	return n ? DIFF_CHANGED : DIFF_SAME;
}

int cmd_diff(int argc, char **argv)
{
	struct options o = {0};
	arena_init(&o.arena);
	o.req.arena = &o.arena;
	diag_init(&o.diag, stderr);
	int status = parse(argc, argv, &o);
	if (status < 0) {
		expand_choose_version(&o.arena, &o.diag, &o.req);
		status = compare(&o);
	}
	arena_fini(&o.arena);
	return status;
}
