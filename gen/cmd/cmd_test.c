/** btgen test - what a program's probes say, asserted: traces it and compares what is printed. */
#include <inttypes.h>
#include <stdio.h>

#include "base/outfile.h"
#include "cmd/cmd.h"
#include "cmd/expand.h"
#include "doctor/privilege.h"
#include "run/bpftrace.h"
#include "suite/cases.h"

struct options {
	struct expand_request req; // -x, -D, -I, for each case
	const char *junit;
	bool is_complete; // --all
	bool may_not_skip;
};

static const struct cmd_option list[] = {
    EXPAND_FILE_ROW("check each case against FILE first, and name its probes that no case traces"),
    {0, "all", NULL, CMD_FLAG(struct options, is_complete),
     "with -x: a probe that no case traces is a failure"},
    EXPAND_MACRO_ROWS,
    {0, "junit", "FILE", CMD_STRING(struct options, junit),
     "also write the results to FILE, as JUnit's XML"},
    {0, "no-skip", NULL, CMD_FLAG(struct options, may_not_skip),
     "a case that cannot be traced here is a failure, not skipped"},
    {0},
};

static const struct cmd_options options = {
    .usage = "Usage: btgen test [OPTION]... FILE...\n"
	     "Run the cases of each FILE: a program is started and traced, and what is\n"
	     "printed is compared with what the case expects. Prints TAP. The form of FILE is\n"
	     "in btgen(1).\n"
	     "Exit status: 0 all cases pass or are skipped, 1 some fail.\n"
	     "\n",
    .list = list,
};

/** All files, while their cases run. */
struct session {
	struct arena *arena;
	struct diag *diag;
	const struct options *options;
	const char *unable; /**< why nothing can be traced here; or NULL */
	const char *self;   /**< btgen's own program */
	const char **words; /**< of -D and -I, for each trace; ends in NULL */
	struct map traced;  /**< provider:name of the probes that cases trace */
	struct report report;
};

/** Messages as lines. */
static struct str spell_log(struct arena *a, const struct diag_log *log)
{
	struct strbuf b = {0};
	vec_each(const struct diag_message, m, &log->messages) {
		if (m->at.file.n)
			strbuf_addf(&b, STR_FMT ":%u: ", STR_ARG(m->at.file), m->at.line);
		strbuf_addf(&b, STR_FMT "\n", STR_ARG(m->text));
	}
	return strbuf_take(&b, a);
}

static void note_traced(struct session *s, const struct bind *b)
{
	for (size_t i = 0; i < b->found.script.clauses.n; i++)
		for (size_t k = 0; k < b->found.clauses[i]->probes.n; k++) {
			const struct sdt_probe *p = b->found.clauses[i]->probes.v[k].probe;
			map_add(s->arena, &s->traced,
				str_printf(s->arena, STR_FMT ":" STR_FMT, STR_ARG(p->provider),
					   STR_ARG(p->name)));
		}
}

/** Is @c right for the file of -x? Else false, and what is wrong in *@more. */
static bool check_case(struct session *s, const struct suite_case *c, struct str *more)
{
	struct arena *a = s->arena;
	struct expand_request req = s->options->req;
	struct expansion x = {0};
	struct diag_log log = {.arena = a};
	struct diag d = {.log = &log};
	const char *script = c->script;
	for (size_t i = 0; i < c->patterns.n; i++)
		vec_push(a, &req.trace.patterns, c->patterns.v[i]);
	bool good = !script || expand_find_script(a, &d, script, true, &script);
	if (c->script || c->text)
		vec_push(a, &req.sources,
			 (struct expand_source){c->text ? c->text : script, c->text != NULL, NULL});
	good = good && expand_run(a, &d, &req, &x);
	if (good)
		note_traced(s, &x.bind);
	expand_close(&x);
	*more = spell_log(a, &log);
	return good;
}

static const char *spell_expect(struct arena *a, const struct expect *e, const char *path,
				const char *why)
{
	static const char *const words[] = {"EXPECT", "EXPECT_REGEX", "EXPECT_NONE", "EXPECT_LEAST",
					    "EXPECT_FILE"};
	const char *n = e->kind == EXPECT_LEAST ? arena_printf(a, "%" PRIu64 " ", e->n) : "";
	return arena_printf(a, "%s:%u: %s %s" STR_FMT ": %s", path, e->line, words[e->kind], n,
			    STR_ARG(e->text), why);
}

/** What was printed, and the messages, for who looks into it; not all of much. */
static struct str spell_trace(struct arena *a, const struct tracing *t)
{
	enum { SHOWN = 20 };
	struct strbuf b = {0};
	struct str rest = t->output, messages = t->messages;
	strbuf_addz(&b, rest.n ? "printed:\n" : "nothing was printed\n");
	for (unsigned n = 0; rest.n && n < SHOWN; n++) {
		struct str line = str_take_line(&rest);
		strbuf_addf(&b, "  " STR_FMT "\n", STR_ARG(line));
	}
	strbuf_addz(&b, rest.n ? "  ...\n" : "");
	for (unsigned n = 0; messages.n && n < SHOWN; n++) {
		struct str line = str_take_line(&messages);
		strbuf_addf(&b, STR_FMT "\n", STR_ARG(line));
	}
	strbuf_addz(&b, messages.n ? "...\n" : "");
	return strbuf_take(&b, a);
}

static void run_case(struct session *s, const char *path, const struct suite_case *c)
{
	struct arena *a = s->arena;
	struct report_result r = {.name = c->name, .file = path};
	struct tracing t = {0};
	const char *unable =
	    tracing_is_possible(c) ? s->unable : arena_printf(a, "REQUIRES %s", c->requires);
	if (unable == s->unable && s->options->req.exe && !check_case(s, c, &r.more)) {
		r.why =
		    arena_printf(a, "%s:%u: does not match %s", path, c->line, s->options->req.exe);
	} else if (unable && s->options->may_not_skip) {
		r.why = unable;
		r.more = STR("");
	} else if (unable) {
		r.skipped = unable;
	} else {
		tracing_run(a, s->self, s->words, c, &t);
		const char *why = t.why;
		const struct expect *missing =
		    why ? NULL : judge_find_missing(a, c, t.output, &why);
		r.why = missing ? spell_expect(a, missing, path, why) : t.why;
		r.more = spell_trace(a, &t);
		r.seconds = t.seconds;
	}
	report_add(a, &s->report, &r);
}

/** Why no trace can be had here; NULL: it can. */
static const char *find_obstacle(struct arena *a, unsigned *version)
{
	struct diag_log log = {.arena = a};
	struct diag d = {.log = &log};
	struct bpftrace bt;
	struct privilege may;
	if (bpftrace_find(a, &d, NULL, true, &bt) != 0)
		return log.messages.n ? str_dup(a, log.messages.v[0].text)
				      : "bpftrace is not installed";
	*version = bt.version;
	privilege_read(a, PROCFS, bt.path, &may);
	return allowed_to_run(a, &d, &may, bt.version) ? NULL : str_dup(a, log.messages.v[0].text);
}

/** Names the probes of -x that no case traces; with --all that is one more result. */
static void report_untested(struct session *s)
{
	struct arena *a = s->arena;
	struct targetfiles files;
	struct str names = STR("");
	if (!targetfiles_of_file(a, s->diag, s->options->req.exe, &files))
		return;
	const struct sdt_list *probes = targetfile_probes(&files, &files.list.v[0]);
	for (size_t i = 0; i < probes->n_probes; i++) {
		const struct sdt_probe *p = &probes->probes[i];
		struct str name =
		    str_printf(a, STR_FMT ":" STR_FMT, STR_ARG(p->provider), STR_ARG(p->name));
		if (!map_get(&s->traced, name))
			names = str_printf(a, STR_FMT STR_FMT "\n", STR_ARG(names), STR_ARG(name));
	}
	targetfiles_close(&files);
	if (s->options->is_complete)
		report_add(a, &s->report,
			   &(struct report_result){.name = STR("each probe is traced by a case"),
						   .file = s->options->req.exe,
						   .why = names.n ? "these are not:" : NULL,
						   .more = names});
	else
		while (names.n) {
			struct str name = str_printable(a, str_take_line(&names));
			printf("# no case traces " STR_FMT "\n", STR_ARG(name));
		}
}

/** -D and -I for btgen run. */
static const char **words_for_run(struct arena *a, const struct expand_request *req)
{
	VEC(const char *) words = {0};
	for (size_t i = 0; i < req->defines.n; i++)
		vec_push(a, &words, arena_printf(a, "-D%s", req->defines.v[i]));
	for (size_t i = 0; i < req->dirs.n; i++)
		vec_push(a, &words, arena_printf(a, "-I%s", req->dirs.v[i]));
	vec_push(a, &words, NULL);
	return words.v;
}

static int run_files(struct session *s, char **paths, size_t n)
{
	struct arena *a = s->arena;
	struct suite *suites = arena_array(a, struct suite, n);
	size_t n_cases = s->options->is_complete;
	bool good = true;
	if (s->options->junit && !outfile_may_write(a, s->diag, "--junit", s->options->junit))
		return CMD_INPUT;
	for (size_t i = 0; i < n; i++) {
		if (s->options->junit && outfile_is_same(s->options->junit, paths[i]))
			good =
			    diag_error(s->diag, NULL, "--junit: %s is a file of cases", paths[i]);
		good &= suite_read(a, s->diag, paths[i], &suites[i]);
		n_cases += suites[i].cases.n;
	}
	if (!good)
		return CMD_INPUT;
	printf("1..%zu\n", n_cases);
	fflush(stdout);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < suites[i].cases.n; k++)
			run_case(s, paths[i], &suites[i].cases.v[k]);
	if (s->options->req.exe)
		report_untested(s);
	if (s->options->junit &&
	    !outfile_write(a, s->diag, "--junit", s->options->junit, report_junit(a, &s->report)))
		return CMD_INPUT;
	return report_count_failures(&s->report) ? CMD_INPUT : CMD_OK;
}

int cmd_test(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct options o = {.req = {.arena = a}};
	struct session s = {.arena = a, .diag = d, .options = &o, .self = proc_own_exe(a).p};
	int status = cmd_read_options(&options, a, argc, argv, &o);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cmd_usage_error("give a file of cases");
	if (o.is_complete && !o.req.exe)
		return cmd_usage_error("--all needs -x FILE");
	s.unable = find_obstacle(a, &o.req.given.version);
	expand_choose_version(a, d, &o.req);
	s.words = words_for_run(a, &o.req);
	return run_files(&s, argv + optind, (size_t)(argc - optind));
}
