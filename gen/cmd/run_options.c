#include "cmd/run_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "convert/convert.h"
#include "elf/img.h"

enum {
	ECHO_TEXT = CMD_OWN,
	RAW,
	BPFTRACE,
	READY_FILE,
	READY_FD,
	STRICT,
	TIME,
	DEEP,
	STACK,
	FILTER,
	COUNT,
	LATENCY,
	KEY,
	FOLLOW
};

static const struct cmd_option list[] = {
    {'p', "pid", "PID|NAME", "trace this process, or those that run a program of this name"},
    {'x', "exe", "FILE", "trace every process that runs or maps FILE, later ones too"},
    CMD_FAMILY,
    CMD_GROUP,
    {'w', "wait", NULL, "wait until a program of the name given runs"},
    {FOLLOW, "follow", NULL, "when it ends, wait for the next of its name, and go on"},
    {'c', "command", "COMMAND", "start COMMAND and trace it from its first instruction"},
    {'e', "text", "TEXT", "template text instead of a file"},
    {'t', "trace", "PATTERN", "instead of a script: print every event of the probes that match"},
    {DEEP, "deep", "N", "-t: show the structs that pointers lead to, N levels"},
    {STACK, "stack", NULL, "-t: show the user stack behind each event"},
    {FILTER, "filter", "CONDITION", "-t: of events for which this holds, as 'args.len > 4096'"},
    {COUNT, "count", "[=KEY,...]",
     "-t: count the events of each KEY [probe]: probe, comm, pid, tid, an argument"},
    {LATENCY, "latency", "START DONE",
     "instead of -t: how long from a probe START to a probe DONE"},
    {KEY, "key", "KEY", "--latency: what the two have in common [tid]"},
    {'f', "format", "text|json|perfetto|folded",
     "how lines are printed [text, json to FILE.json]; json: one object a line; a timeline; "
     "stacks"},
    {'s', "sort", NULL, "lines in the order of time, each with time, CPU, PID, TID and probe"},
    {TIME, "time", "wall|mono|since",
     "the time in front of each line: of day, since boot, since the first"},
    CMD_DEFINE,
    CMD_DIR,
    CMD_FINDINGS,
    CMD_FORCED,
    {'o', "output", "FILE", "write the data to FILE; left alone unless probes are attached"},
    {'n', "no-run", NULL, "print the program and stop"},
    {ECHO_TEXT, "echo", NULL, "print the program and go on"},
    {RAW, "raw", NULL, "SCRIPT is the text of a finished program"},
    {BPFTRACE, "bpftrace", "PATH", "the bpftrace to run"},
    {CMD_CONF, "conf", "FILE", "list of enum tables [bpf/enums.conf]"},
    {'T', "duration", "SECONDS", "end the trace after SECONDS, as 10 or 0.5"},
    {'N', "events", "N", "end the trace after N lines of events"},
    {STRICT, "strict", NULL, "lost events or skipped probes are an error: exit status 3"},
    {READY_FILE, "ready-file", "FILE", "write a line there once all probes are attached"},
    {READY_FD, "ready-fd", "N", "the same, to an open descriptor"},
    {'q', "quiet", NULL, "no messages but errors, lost events and skipped probes"},
    {'v', "verbose", NULL, "say which files were chosen and what is run"},
    {0},
};

static int take_format(struct run_options *o, const char *command, const char *value)
{
	o->format = value;
	o->converts = convert_find(value);
	if (!o->converts && strcmp(value, "json") != 0 && strcmp(value, "text") != 0)
		return cmd_usage_error(
		    command, "-f: unknown format '%s': text, json, perfetto or folded", value);
	return -1;
}

static int take_duration(struct run_options *o, const char *command, const char *value)
{
	char *end = (char *)value;
	double seconds = value[strspn(value, "0123456789.")] ? 0 : strtod(value, &end);
	if (*end || seconds < 0.001 || seconds > 1e9)
		return cmd_usage_error(command, "-T: '%s' is not a number of seconds, as 10 or 0.5",
				       value);
	o->duration = (unsigned long)(seconds * 1000);
	return -1;
}

static int take_deep(struct run_options *o, const char *command, const char *value)
{
	uint64_t n;
	if (!str_to_u64(str_from(value), &n) || n > 9)
		return cmd_usage_error(command, "--deep: '%s' is not a number of levels up to 9",
				       value);
	o->req.trace.deep = (unsigned)n;
	return -1;
}

/** The word behind `--latency START` is the other probe. */
static bool wants_done(const struct run_options *o)
{
	return o->req.trace.start && !o->req.trace.done;
}

static int take_events(struct run_options *o, const char *command, const char *value)
{
	if (!str_to_u64(str_from(value), &o->n_events) || !o->n_events)
		return cmd_usage_error(command, "-N: '%s' is not a number of events", value);
	return -1;
}

static int take_time(struct run_options *o, const char *command, const char *value)
{
	static const char *const words[] = {"wall", "mono", "since"};
	static const enum writer_time times[] = {WRITER_WALL, WRITER_MONO, WRITER_SINCE};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0) {
			o->time = times[i];
			o->has_time = true;
			return -1;
		}
	return cmd_usage_error(command, "--time: unknown clock '%s': wall, mono or since", value);
}

static int take_ready_fd(struct run_options *o, const char *command, const char *value)
{
	uint64_t n;
	// Closed at exec: who waits for its end must not wait for bpftrace's.
	if (!str_to_u64(str_from(value), &n) || n > 65535 ||
	    fcntl((int)n, F_SETFD, FD_CLOEXEC) != 0)
		return cmd_usage_error(command, "--ready-fd: '%s' is not an open file descriptor",
				       value);
	o->ready_fd = (int)n;
	return -1;
}

static int take(void *ctx, const char *command, int letter, const char *value)
{
	struct run_options *o = ctx;
	struct trace_request *t = &o->req.trace;
	if (wants_done(o)) {
		if (letter != 1)
			return cmd_usage_error(command, "--latency needs two probes: START DONE");
		t->done = value;
		return -1;
	}
	switch (letter) {
	case 1:
		vec_push(o->req.arena, &o->words, value);
		break;
	case 'w':
		o->waits = true;
		break;
	case FOLLOW:
		o->follows = true;
		break;
	case STACK:
		t->has_stack = true;
		break;
	case FILTER:
		t->filter = value;
		break;
	case COUNT:
		t->counts = value ? value : "probe";
		break;
	case LATENCY:
		t->start = value;
		t->done = NULL;
		break;
	case KEY:
		t->key = value;
		break;
	case 't':
		vec_push(o->req.arena, &o->req.trace.patterns, value);
		break;
	case 'f':
		return take_format(o, command, value);
	case 'T':
		return take_duration(o, command, value);
	case 'N':
		return take_events(o, command, value);
	case STRICT:
		o->strict = true;
		break;
	case 's':
		o->sorts = true;
		break;
	case DEEP:
		return take_deep(o, command, value);
	case TIME:
		return take_time(o, command, value);
	case 'c':
		o->command = value;
		break;
	case 'n':
		o->no_run = true;
		break;
	case ECHO_TEXT:
		o->echo = true;
		break;
	case RAW:
		o->req.raw = true;
		break;
	case BPFTRACE:
		o->bpftrace = value;
		break;
	case READY_FILE:
		o->ready_file = value;
		break;
	case READY_FD:
		return take_ready_fd(o, command, value);
	case 'q':
		o->quiet = true;
		break;
	default:
		return expand_take(&o->req, command, letter, value);
	}
	return -1;
}

static void drop_source(struct expand_request *req, size_t i)
{
	memmove(&req->sources.v[i], &req->sources.v[i + 1],
		(--req->sources.n - i) * sizeof(*req->sources.v));
}

/**
 * Without a target the first word may be the name of a running program: before a script, with -e or
 * -t, or when there is no script of that name. What is a file (but no program), or is spelled like
 * one, is a script.
 */
static int take_name(struct run_options *o, const char *command)
{
	struct expand_request *req = &o->req;
	size_t i = 0;
	while (i < req->sources.n && req->sources.v[i].is_text)
		i++;
	if (i == req->sources.n || o->command || req->exe || req->pids.n)
		return -1;
	const char *word = req->sources.v[i].text;
	if (strchr(word, '/') || str_has_suffix(str_from(word), STR(".bt")) ||
	    (access(word, F_OK) == 0 && !img_is_elf(word)))
		return -1;
	if (o->waits) {
		if (!expand_add_processes(req, word))
			o->awaited = word;
		drop_source(req, i);
		return -1;
	}
	bool is_alone = req->sources.n == 1 && !trace_is_wanted(&req->trace);
	bool is_script = expand_has_script(req->arena, word);
	if ((is_alone && is_script) ||
	    (!expand_add_processes(req, word) && (is_alone || is_script)))
		return -1;
	if (!req->pids.n)
		return cmd_usage_error(
		    command, "'%s' is neither a running program nor a script here or in %s", word,
		    expand_script_dir(req->arena));
	drop_source(req, i);
	return -1;
}

/** The same of -t and its options. */
static int check_trace(const struct run_options *o, const char *command)
{
	const struct trace_request *t = &o->req.trace;
	if (wants_done(o))
		return cmd_usage_error(command, "--latency needs two probes: START DONE");
	if (t->start && (t->patterns.n || t->counts))
		return cmd_usage_error(command, "--latency stands alone, without -t and --count");
	if (t->counts && !t->patterns.n)
		return cmd_usage_error(command, "--count is for -t: a script counts with count()");
	if (t->filter && !trace_is_wanted(t))
		return cmd_usage_error(command, "--filter is for -t: a script has /conditions/");
	if (t->key && !t->start)
		return cmd_usage_error(command, "--key is for --latency: --count has keys itself");
	if (t->deep && !trace_is_list(t))
		return cmd_usage_error(command,
				       "--deep is for -t: a script prints a struct with print(*p)");
	if (t->has_stack && !trace_is_list(t))
		return cmd_usage_error(command, "--stack is for -t: a script prints ustack");
	if (o->n_events && trace_is_wanted(t) && !trace_is_list(t))
		return cmd_usage_error(command, "-N is of lines: -T ends what only counts");
	if (o->converts && o->converts->is_of_events && trace_is_wanted(t) && !trace_is_list(t))
		return cmd_usage_error(command,
				       "-f %s is of events: --count and --latency only count them",
				       o->format);
	if (t->counts && !*t->counts)
		return cmd_usage_error(command, "--count=: give a KEY, or only --count");
	if (t->filter && t->filter[strspn(t->filter, " \t\n")] == '\0')
		return cmd_usage_error(command, "--filter: the condition is empty");
	return -1;
}

/** What does not go together. */
static int check(const struct run_options *o, const char *command)
{
	const struct expand_request *req = &o->req;
	int status = check_trace(o, command);
	if (status >= 0)
		return status;
	if (trace_is_wanted(&req->trace) && req->sources.n)
		return cmd_usage_error(command, "-t replaces the script: drop '%s'",
				       req->sources.v[0].text);
	if (!req->sources.n && !trace_is_wanted(&req->trace))
		return cmd_usage_error(command, "give a script to run");
	if (o->follows && o->converts)
		return cmd_usage_error(command, "--follow makes several traces, -f %s shows one",
				       o->format);
	if (req->raw && (o->sorts || o->has_time || o->n_events || o->converts))
		return cmd_usage_error(
		    command,
		    "-s, --time, -N and -f perfetto need a template: a finished program does "
		    "not say when, nor of what, it prints");
	if (o->command && (req->pids.n || req->exe))
		return cmd_usage_error(command,
				       "-c starts the process: it cannot be used with -p or -x");
	if (req->exe && req->pids.n)
		return cmd_usage_error(command, "give -p or -x, not both");
	if (o->waits && !o->awaited && !req->pids.n)
		return cmd_usage_error(command, "-w: give the name of a program to wait for");
	if (o->follows && !o->awaited && !req->pids.n)
		return cmd_usage_error(
		    command,
		    "--follow is for a process, by PID or name: -x FILE traces later ones of "
		    "a file anyhow");
	if (req->cgroup_name &&
	    (req->exe || req->raw || req->has_children || o->command || o->waits || o->follows))
		return cmd_usage_error(
		    command, "--cgroup is for processes that run, by PID or name, or all of "
			     "it, with a template: later ones are traced anyhow");
	if (req->has_children && (req->exe || req->raw))
		return cmd_usage_error(
		    command, req->exe ? "--children is for processes: with -x all are traced"
				      : "--children needs a template: a finished program is not "
					"filtered");
	return -1;
}

static const struct cmd_options how_to_read = {
    .usage = "Usage: btgen run [OPTION]... [NAME] SCRIPT... [-- ARG...]\n"
	     "       btgen run [OPTION]... -t PATTERN\n"
	     "       btgen run [OPTION]... --latency START DONE\n"
	     "Expand the templates and run the program under bpftrace. bpftrace.sh is a shorthand "
	     "for this.\n"
	     "\n",
    .list = list,
    .in_order = true,
    .take = take,
};

int run_options_read(int argc, char **argv, struct run_options *o)
{
	int status = cmd_read_options(&how_to_read, argc, argv, o);
	for (size_t i = 0; i < o->words.n; i++)
		vec_push(o->req.arena, &o->req.sources,
			 (struct expand_source){o->words.v[i], o->req.raw});
	o->req.args = argv + optind; // behind --
	bool is_json_file = o->req.out && str_has_suffix(str_from(o->req.out), STR(".json"));
	o->req.json = o->converts || (o->format ? strcmp(o->format, "json") == 0 : is_json_file);
	o->sorts |= o->converts != NULL; // what lasts is from one record to the next
	if (status < 0 && !o->req.raw)
		status = take_name(o, argv[0]);
	return status < 0 ? check(o, argv[0]) : status;
}
