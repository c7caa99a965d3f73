#include "cmd/run_options.h"

#include <fcntl.h>

#include "convert/convert.h"

#define KEEP_SIZE (64 << 20) // bytes
#define KEEP_LEAST (1 << 20)
#define ESTIMATE_MS 2000

static int parse_format(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	o->format = value;
	o->converts = convert_is_format(value);
	if (!o->converts && strcmp(value, "json") != 0 && strcmp(value, "text") != 0)
		return cmd_usage_error("-f: unknown format '%s': text, json, " CONVERT_NAMES,
				       value);
	return -1;
}

static int parse_max_cost(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	bool is_none = strcmp(value, "none") == 0;
	char *end = (char *)value;
	double percent = value[strspn(value, "0123456789.")] == '%' ? strtod(value, &end) : 0;
	if (!is_none && (percent <= 0 || strcmp(end, "%") != 0))
		return cmd_usage_error(
		    "--max-cost: '%s' is not a share of a processor, such as 2%%, or none", value);
	o->has_ceiling = true;
	o->run.ceiling.share = percent / 100;
	return -1;
}

/** A number and its unit, one of @letters, a ' ' for none: moves *@text after both. 0: it is none. */
static double parse_number(const char **text, const char *letters, const double *factors)
{
	size_t n = strspn(*text, "0123456789.");
	char *end = NULL;
	double value = n ? strtod(*text, &end) : 0;
	const char *unit =
	    strchr(letters, (*text)[n] && strchr(letters, (*text)[n]) ? (*text)[n] : ' ');
	bool is_number = n && end == *text + n && unit;
	*text += n + (unit && *unit != ' ');
	return is_number ? value * factors[unit - letters] : 0;
}

/** 10, 0.5, 500ms, 90s, 10m, 2h or 1d: moves *@text after it; milliseconds. 0: it is none. */
static double parse_ms(const char **text)
{
	static const double units[] = {1e3, 1e3, 60e3, 3600e3, 86400e3};
	double ms = parse_number(text, " smhd", units);
	bool is_ms = ms > 0 && (*text)[-1] == 'm' && **text == 's';
	*text += is_ms;
	return is_ms ? ms / 60e3 : ms;
}

static int parse_duration(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	const char *rest = value;
	double ms = parse_ms(&rest);
	if (*rest || ms < 1 || ms > 1e12)
		return cmd_usage_error("-T: '%s' is not a time, such as 10, 0.5s or 10m", value);
	o->run.duration = (unsigned long)ms;
	return -1;
}

static int parse_max_rate(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	const char *rest = value;
	o->run.ceiling.rate = parse_number(&rest, " kM", (const double[]){1, 1e3, 1e6});
	if (o->run.ceiling.rate <= 0 || (*rest && strcmp(rest, "/s") != 0))
		return cmd_usage_error(
		    "--max-rate: '%s' is not a number of events a second, such as 50k", value);
	o->has_ceiling = true;
	return -1;
}

static int parse_keep(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	static const double bytes[] = {1 << 10, 1 << 20, 1 << 30};
	const char *rest = value;
	double ms = parse_ms(&rest), size = KEEP_SIZE;
	if (*rest == ',') {
		rest++;
		size = parse_number(&rest, "KMG", bytes);
		rest += *rest == 'B';
	}
	if (*rest || ms < 1 || ms > 1e12 || size < KEEP_LEAST || size > 1e12)
		return cmd_usage_error(
		    "--keep: '%s' is not a time and a size of at least 1M, such as 60s,64M", value);
	o->run.keep_ms = (unsigned long)ms;
	o->run.keep_size = (size_t)size;
	return -1;
}

static int parse_events(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	if (!str_to_u64(str_from(value), &o->run.n_events) || !o->run.n_events)
		return cmd_usage_error("-N: '%s' is not a number of events", value);
	return -1;
}

static int parse_time(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	static const char *const words[] = {"wall", "mono", "since"};
	static const enum writer_time times[] = {WRITER_WALL, WRITER_MONO, WRITER_SINCE};
	o->no_time = strcmp(value, "none") == 0;
	o->has_time = !o->no_time;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0) {
			o->output.time = times[i];
			return -1;
		}
	return o->no_time ? -1
			  : cmd_usage_error("--time: unknown clock '%s': wall, mono, since or none",
					    value);
}

static int parse_ready_fd(void *ctx, const char *value)
{
	struct run_options *o = ctx;
	uint64_t n;
	// Closed at exec: who waits for its end must not wait for bpftrace's.
	if (!str_to_u64(str_from(value), &n) || n > 65535 ||
	    fcntl((int)n, F_SETFD, FD_CLOEXEC) != 0)
		return cmd_usage_error("--ready-fd: '%s' is not an open file descriptor", value);
	o->run.ready_fd = (int)n;
	return -1;
}

static int set_count(void *ctx, const char *value)
{
	struct trace_request *t = &((struct run_options *)ctx)->req.trace;
	if (t->counts)
		return cmd_usage_error("--count is given twice: name all keys in one, as in "
				       "--count=comm,pid");
	t->counts = value ? value : "probe";
	return -1;
}

static int set_latency(void *ctx, const char *value)
{
	struct trace_request *t = &((struct run_options *)ctx)->req.trace;
	t->start = value;
	t->done = cmd_next_word();
	bool is_probe = t->done && t->done[strspn(t->done, "0123456789")];
	return is_probe ? -1 : cmd_usage_error("--latency needs two probes: START DONE");
}

static int print_version(void *ctx, const char *value)
{
	(void)ctx, (void)value;
	puts("btgen " BTGEN_VERSION);
	return CMD_OK;
}

static int print_scripts(void *ctx, const char *value)
{
	const char *word = cmd_next_word();
	(void)value;
	if (word)
		return cmd_usage_error("-L lists all scripts: for one, use -h %s", word);
	return stock_list(((struct run_options *)ctx)->req.arena) ? CMD_OK : CMD_INPUT;
}

static int print_page(void *ctx, const char *word)
{
	return stock_page(((struct run_options *)ctx)->req.arena, word) ? CMD_OK : CMD_INPUT;
}

/** pidof(1) gives several words, or one in quotes, or none. After a script a number is a script's name. */
static int add_word(void *ctx, const char *word)
{
	struct run_options *o = ctx;
	int pid;
	if (word[strspn(word, " \t\n,")] == '\0')
		return cmd_usage_error(
		    "an empty argument in place of a PID or a script: is the program running?");
	if (!o->words.n && word[strspn(word, "0123456789 \t\n,")] == '\0')
		return expand_add_process(&o->req, word);
	if (o->words.n && cmd_parse_pid(word, &pid) && proc_exists(PROCFS, pid) &&
	    access(word, F_OK) != 0)
		return cmd_usage_error("the PID goes before the script: bpftrace.sh %s %s", word,
				       o->words.v[0]);
	if (o->words.n == 1 && str_has_suffix(str_from(o->words.v[0]), STR(".bt")) &&
	    img_is_elf(word))
		return cmd_usage_error("the program goes before the script: bpftrace.sh %s %s; "
				       "as the script's $1: bpftrace.sh %s -- %s",
				       word, o->words.v[0], o->words.v[0], word);
	vec_push(o->req.arena, &o->words, word);
	return -1;
}

static const struct cmd_option list[] = {
    {.help = "WHICH PROCESSES"},
    EXPAND_PROCESS_ROW("trace this process, or all processes of this name"),
    EXPAND_FILE_ROW("trace every process that runs or maps FILE, now or later"),
    {'c', "command", "COMMAND", CMD_STRING(struct run_options, command),
     "start COMMAND and trace it from its first instruction"},
    {'w', "wait", NULL, CMD_FLAG(struct run_options, waits),
     "wait for a process of this name to start"},
    {0, "follow", NULL, CMD_FLAG(struct run_options, follows),
     "when the process exits, wait for the next of its name"},
    EXPAND_FAMILY_ROWS,
    {.help = "SCRIPTS"},
    EXPAND_SCRIPT_ROWS,
    {.help = "INSTEAD OF A SCRIPT"},
    {'t', "trace", "PATTERN", CMD_LIST(struct run_options, req.trace.patterns),
     "print every event of the matching probes; for functions: uprobe:NAME, uretprobe:FILE:NAME"},
    {0, "deep", "N", CMD_NUMBER(struct run_options, req.trace.deep, 0, 9),
     "with -t: follow pointers to structs, N levels deep"},
    {0, "stack", NULL, CMD_FLAG(struct run_options, req.trace.has_stack),
     "with -t: print the user stack of each event"},
    {0, "count", "[=KEY,...]", CMD_CALL(set_count),
     "with -t: count events by KEY: probe (the default), comm, pid, tid or an argument"},
    {0, "latency", "START DONE", CMD_CALL(set_latency),
     "measure the time from probe START to probe DONE: histogram and percentiles"},
    {0, "key", "KEY", CMD_STRING(struct run_options, req.trace.key),
     "with --latency: argument that pairs START with DONE [tid]"},
    {0, "by", "KEY,...", CMD_STRING(struct run_options, req.trace.by),
     "with --latency: a histogram for each value of these arguments of DONE"},
    {0, "calls", "PATTERN", CMD_LIST(struct run_options, req.trace.calls),
     "print calls of the matching functions as a tree with times; NAME@FILE.c: those of a source"},
    {0, "args", NULL, CMD_FLAG(struct run_options, req.trace.how.has_args),
     "with --calls: print arguments and results"},
    {0, "max-functions", "N", CMD_NUMBER(struct run_options, req.trace.how.max_functions, 1, 10000),
     "with --calls: trace up to N functions of a PATTERN [200; from 0.23 on 2000]"},
    {0, "filter", "CONDITION", CMD_STRING(struct run_options, req.trace.filter),
     "with -t, --latency, --calls: only events that match, such as 'args.len > 4096'"},
    {.help = "OUTPUT"},
    EXPAND_OUT_ROW("write the data to FILE once all probes are attached"),
    {'f', "format", "text|json|" CONVERT_VALUES, CMD_CALL(parse_format),
     "text lines, JSON lines (the default with -o FILE.json), a timeline, spans or flame-graph "
     "stacks"},
    {'s', "sort", NULL, CMD_FLAG(struct run_options, output.sorts),
     "sort by time; begin each line with time, PID and probe"},
    {0, "time", "wall|mono|since|none", CMD_CALL(parse_time),
     "begin each line with the time of day, since boot, since the first line, or with none"},
    {0, "keep", "TIME[,SIZE]", CMD_CALL(parse_keep),
     "print nothing before SIGUSR1 or the end: then the last TIME, in at most SIZE [64M]"},
    {0, "trigger", "PATTERN", CMD_STRING(struct run_options, trigger),
     "with --keep: print what is kept when a matching probe prints"},
    {'n', "no-run", NULL, CMD_FLAG(struct run_options, no_run), "print the program and stop"},
    {0, "echo", NULL, CMD_FLAG(struct run_options, echo), "print the program, then run it"},
    {'q', "quiet", NULL, CMD_FLAG(struct run_options, run.quiet),
     "report only errors, lost events and skipped probes"},
    EXPAND_VERBOSE_ROW("report the files chosen and the commands run"),
    {.help = "START AND END"},
    {'T', "duration", "TIME", CMD_CALL(parse_duration),
     "stop after TIME (10, 500ms, 10m, 2h), as ^C does"},
    {'N', "events", "N", CMD_CALL(parse_events), "stop after N lines of events"},
    {0, "strict", NULL, CMD_FLAG(struct run_options, run.loss_fails),
     "exit with 3 if events were lost, a map was full or probes were skipped"},
    {0, "ready-file", "FILE", CMD_STRING(struct run_options, run.ready_file),
     "write a line to FILE once all probes are attached"},
    {0, "ready-fd", "N", CMD_CALL(parse_ready_fd), "write that line to open file descriptor N"},
    {0, "bpftrace", "PATH", CMD_STRING(struct run_options, bpftrace), "bpftrace to run"},
    {0, "unsafe", NULL, CMD_FLAG(struct run_options, req.given.is_unsafe),
     "allow system(), signal(), override() and write_user()"},
    {.help = "COST"},
    {0, "max-cost", "PERCENT%|none", CMD_CALL(parse_max_cost),
     "stop if the trace takes more of a processor for 3 s [25% if it prints each event]"},
    {0, "max-rate", "N", CMD_CALL(parse_max_rate),
     "stop if the probes fire more than N times a second for 3 s; 50k is 50000"},
    {0, "cost", NULL, CMD_FLAG(struct run_options, run.is_estimate),
     "trace for 2 s (or -T), and print only what each probe costs"},
    {.help = "LISTS AND PAGES"},
    {'l', "list", NULL, CMD_FLAG(struct run_options, lists),
     "list the probes; with -v also sites, source lines, operands and semaphores"},
    EXPAND_JSON_ROW("with -l: everything, as one JSON array"),
    {0, "facts", "[=DIR]", CMD_STRING(struct run_options, facts),
     "print what bpftrace is and may do, and can attach to in a PID, as JSON; of the /proc in DIR"},
    {'L', "scripts", NULL, CMD_CALL(print_scripts), "list the scripts"},
    {0, "version", NULL, CMD_CALL(print_version), "print the version"},
    {0},
};

static void drop_source(struct expand_request *req, size_t i)
{
	memmove(&req->sources.v[i], &req->sources.v[i + 1],
		(--req->sources.n - i) * sizeof(*req->sources.v));
}

/**
 * Without a target the first word may be the name of a running program: before a script, with -e or
 * -t, or when there is no script of that name. The path of a program is as with -x. What is another
 * file, or is spelled like one, is a script.
 */
static int resolve_name(struct run_options *o)
{
	struct expand_request *req = &o->req;
	size_t i = 0;
	while (i < req->sources.n && req->sources.v[i].is_text)
		i++;
	if (o->waits && req->pids.n)
		return cmd_usage_error("-w waits for a program name, not a PID");
	if (i == req->sources.n || o->command || req->exe || req->pids.n)
		return -1;
	const char *word = req->sources.v[i].text;
	if (!o->waits && strchr(word, '/') && img_is_elf(word)) {
		drop_source(req, i);
		return expand_set_file(req, word);
	}
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
	bool is_script = stock_find(req->arena, word);
	if ((is_alone && is_script) ||
	    (!expand_add_processes(req, word) && (is_alone || is_script)))
		return -1;
	if (!req->pids.n)
		return expand_unknown_word(req, word);
	drop_source(req, i);
	return -1;
}

/** What does not go together: the first that is true. */
struct rule {
	bool is_broken;
	const char *why;
};

static int check_rules(const struct rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].is_broken)
			return cmd_usage_error("%s", rules[i].why);
	return -1;
}

static int check_trace(const struct run_options *o)
{
	const struct trace_request *t = &o->req.trace;
	bool is_list = trace_is_list(t), sums = t->start || t->counts;
	bool is_empty = t->filter && !t->filter[strspn(t->filter, " \t\n")];
	const struct rule rules[] = {
	    {is_empty, "--filter: the condition is empty"},
	    {t->start && (t->patterns.n || t->counts),
	     "--latency cannot be combined with -t or --count"},
	    {t->counts && !t->patterns.n, "--count needs -t: in a script, use count()"},
	    {t->calls.n && (t->patterns.n || t->start || t->counts),
	     "--calls cannot be combined with -t, --count or --latency"},
	    {t->calls.n && (o->output.sorts || o->run.keep_ms),
	     "--calls does not support -s and --keep: the tree is in order of time anyway"},
	    {(t->how.has_args || t->how.max_functions) && !t->calls.n,
	     "--args and --max-functions need --calls"},
	    {t->filter && !trace_is_wanted(t),
	     "--filter needs -t, --latency or --calls: in a script, write /CONDITION/"},
	    {t->key && !t->start, "--key needs --latency: --count takes its own keys"},
	    {(t->deep || t->has_stack) && t->counts, "--deep and --stack exclude --count"},
	    {t->by && !t->start, "--by needs --latency: --count takes its own keys"},
	    {t->by && !*t->by, "--by: give a KEY"},
	    {t->deep && !is_list, "--deep needs -t: in a script, use print(*p)"},
	    {t->has_stack && !is_list, "--stack needs -t: in a script, print ustack"},
	    {o->run.n_events && sums,
	     "-N counts lines, and --count and --latency print none: use -T"},
	    {o->converts && strcmp(o->format, "folded") != 0 && sums,
	     "-f " CONVERT_OF_EVENTS " need events: --count and --latency only count them"},
	    {t->counts && !*t->counts, "--count=: give a KEY, or drop the ="},
	};
	return check_rules(rules, sizeof(rules) / sizeof(rules[0]));
}

/** The value of an environment variable; NULL: it is not set, or empty. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

/** -o itself, not the variable for it. */
static bool has_out(const struct run_options *o)
{
	return o->req.out && o->req.out != variable("BPF_OUTFILE");
}

static int check_target(const struct run_options *o)
{
	const struct expand_request *req = &o->req;
	bool has_target = req->pids.n || o->awaited;
	bool is_taken =
	    o->run.ready_fd == STDERR_FILENO || (o->run.ready_fd == STDOUT_FILENO && !req->out);
	const struct rule rules[] = {
	    {o->run.keep_ms && o->run.n_events, "--keep does not support -N"},
	    {o->trigger && !o->run.keep_ms, "--trigger needs --keep"},
	    {o->run.is_estimate &&
		 (has_out(o) || o->format || o->run.keep_ms || o->run.n_events || o->follows),
	     "--cost does not support -o, -f, --keep, -N and --follow"},
	    {is_taken, "--ready-fd: that descriptor carries data or messages: use another"},
	    {o->no_time && (o->output.sorts || trace_is_wanted(&req->trace)),
	     "--time none is for scripts without -s: -s and -t print the time"},
	    {req->raw && (o->output.sorts || o->has_time || o->run.n_events || o->converts),
	     "-s, --time, -N and -f " CONVERT_NAMES " need a template: a finished program "
	     "prints no times and no probes"},
	    {o->command && (req->pids.n || req->exe),
	     "-c starts the process: it cannot be used with a PID or -x"},
	    {req->exe && req->pids.n, "give -p or -x, not both"},
	    {o->waits && !has_target, "-w: give the name of a program to wait for"},
	    {o->follows && !has_target,
	     "--follow needs a PID or name: -x FILE traces later processes anyway"},
	    {req->cgroup_name && (req->exe || req->raw || req->given.has_family || o->command ||
				  o->waits || o->follows),
	     "--cgroup needs a template, and excludes -x, -c, -w, --follow and --children"},
	    {req->given.has_family && req->exe,
	     "--children needs a process: -x traces all processes anyway"},
	    {req->given.has_family && req->raw,
	     "--children needs a template: a finished program is not filtered"},
	};
	return check_rules(rules, sizeof(rules) / sizeof(rules[0]));
}

static int check_list(const struct run_options *o)
{
	const struct expand_request *req = &o->req;
	bool has_output =
	    has_out(o) || o->format || o->output.sorts || o->has_time || o->no_time || o->no_run;
	bool has_end = o->run.duration || o->run.n_events || o->run.ready_file ||
		       o->run.ready_fd >= 0 || o->run.loss_fails;
	bool has_script = req->sources.n || req->defines.n || req->dirs.n || req->given.conf ||
			  req->findings.n || req->strict || req->forced;
	const struct trace_request *t = &req->trace;
	bool has_trace = trace_is_wanted(t) || t->counts || t->filter || t->key || t->by ||
			 t->deep || t->has_stack || t->how.has_args || t->how.max_functions;
	bool has_family =
	    o->command || o->waits || o->follows || req->given.has_family || req->cgroup_name;
	if (has_output || has_end || has_script || has_trace || has_family)
		return cmd_usage_error("-l takes only a process or file, patterns, -v, --json and "
				       "--bpftrace");
	return -1;
}

static int without_script(const struct run_options *o)
{
	const struct expand_request *req = &o->req;
	const char *what = req->cgroup_name ? req->cgroup_name
			   : req->exe	    ? req->exe
			   : o->command	    ? "the command"
					    : NULL;
	for (size_t i = 0; i < req->pids.n; i++)
		what = arena_printf(req->arena, "%s %d", i ? what : "process", req->pids.v[i]);
	return what ? cmd_usage_error("give a script to run on %s", what)
		    : cmd_usage_error("give a process and a script");
}

static int check(const struct run_options *o)
{
	const struct expand_request *req = &o->req;
	bool is_trace = trace_is_wanted(&req->trace);
	int status = check_trace(o);
	if (status >= 0)
		return status;
	if (is_trace && req->sources.n)
		return cmd_usage_error("%s replaces the script: drop '%s'",
				       req->trace.calls.n ? "--calls" : "-t",
				       req->sources.v[0].text);
	if (!is_trace && !req->sources.n)
		return without_script(o);
	if (o->follows && o->converts)
		return cmd_usage_error("--follow makes several traces, but -f %s handles one",
				       o->format);
	return check_target(o);
}

static const struct cmd_options how_to_read = {
    .usage = "Usage: bpftrace.sh [OPTION]... PID|NAME SCRIPT.bt... [-- ARG...]\n"
	     "       bpftrace.sh [OPTION]... -x FILE SCRIPT.bt...   every process of a program\n"
	     "       bpftrace.sh [OPTION]... -c COMMAND SCRIPT.bt...\n"
	     "       bpftrace.sh [OPTION]... SCRIPT.bt...           scripts for the whole host\n"
	     "       bpftrace.sh [OPTION]... -t PATTERN PID|NAME    every event of probes\n"
	     "       bpftrace.sh [OPTION]... --latency START DONE PID|NAME\n"
	     "       bpftrace.sh -l PID|NAME|FILE [PATTERN]...      list probes\n"
	     "       bpftrace.sh -L                                 list the scripts\n"
	     "       bpftrace.sh -h SCRIPT                          describe a script\n",
    .list = list,
    .notes = "\nEXAMPLES\n"
	     "  bpftrace.sh `pidof nvmf_tgt` nvmf.bt         states and events by name\n"
	     "  bpftrace.sh -o trace.txt `pidof app` app.bt  data to a file\n"
	     "  bpftrace.sh -n `pidof app` app.bt            print the program and stop\n"
	     "  bpftrace.sh -e 'usdt:__EXE__:query__start { print(str(arg0)); }' PID\n"
	     "  bpftrace.sh -x /usr/bin/php8.2 php.bt        every process, now or later\n"
	     "  bpftrace.sh -c './app --fast' app.bt         trace from the first instruction\n"
	     "  bpftrace.sh -t 'nvmf_*' `pidof nvmf_tgt`     each event with its arguments\n"
	     "  bpftrace.sh -l `pidof app` 'nvmf_*'          its probes and their arguments\n"
	     "\n"
	     "SCRIPT is a path or the name of one of btgen's own scripts, with or without .bt\n"
	     "and with - and _ alike; ./SCRIPT is the file in the current directory. ^C ends\n"
	     "the trace and prints its maps.\n"
	     "ENVIRONMENT: BPF_OUTFILE=FILE is -o FILE, ECHO_PROGRAM=1 is --echo;\n"
	     "with USE_CMDLINE_BPF_PROGRAM=1, SCRIPT is the text of a finished program.\n"
	     "EXIT STATUS: bpftrace's own; 1 wrong input, 2 wrong usage, 3 events lost with\n"
	     "--strict, 126/127 bpftrace cannot be run / is missing.\n",
    .daily = "eosnTNqvwf",
    .operand = add_word,
    .page = print_page,
};

int run_options_read(int argc, char **argv, struct run_options *o)
{
	struct expand_request *req = &o->req;
	req->out = variable("BPF_OUTFILE");
	req->raw = variable("USE_CMDLINE_BPF_PROGRAM");
	o->echo = variable("ECHO_PROGRAM");
	int status = cmd_read_options(&how_to_read, req->arena, argc, argv, o);
	if (status >= 0)
		return status;
	req->given.args = argv + optind; // after --
	if (o->lists)
		return check_list(o);
	if (o->facts && (o->words.n || req->exe || req->pids.n > 1))
		return cmd_usage_error("--facts takes one PID at most");
	if (o->facts)
		return -1;
	if (req->json)
		return cmd_usage_error("--json needs -l: for a trace as JSON use -f json");
	for (size_t i = 0; i < o->words.n; i++)
		vec_push(req->arena, &req->sources,
			 (struct expand_source){o->words.v[i], req->raw, NULL});
	bool is_json_file = req->out && str_has_suffix(str_from(req->out), STR(".json"));
	req->json = o->converts || (o->format ? strcmp(o->format, "json") == 0 : is_json_file);
	if (o->run.is_estimate && !o->run.duration)
		o->run.duration = ESTIMATE_MS;
	// What lasts is from one record to the next; a tree is in order anyway.
	o->output.sorts |= o->converts && !req->trace.calls.n;
	if (!req->raw)
		status = resolve_name(o);
	status = status < 0 ? check(o) : status;
	return status;
}

bool run_options_expand(struct arena *a, struct diag *d, struct run_options *o, struct expansion *x)
{
	bool has_head = o->req.json || o->output.sorts || o->has_time || o->run.keep_ms ||
			trace_is_list(&o->req.trace) || o->req.trace.calls.n;
	o->shapes = (struct shapes){0};
	shapes_init(&o->shapes, a, has_head);
	o->shapes.has_limit = o->run.n_events > 0;
	o->req.trace.is_live = o->req.trace.start && !has_head && !o->no_run &&
			       !o->run.is_estimate && !has_out(o) && output_is_terminal(NULL);
	shapes_add_key(&o->shapes);
	o->shapes.can_gate = o->can_gate;
	o->req.given.is_bare = o->no_run;
	o->req.given.drops_time =
	    (o->req.json && !o->no_run) || o->output.sorts || o->has_time || o->no_time;
	if (!o->no_run && !o->req.raw) // elsewhere nothing would decode them
		o->req.given.shapes = &o->shapes;
	return expand_run(a, d, &o->req, x) && expand_check_reach(d, &o->req, x, DIAG_ERROR);
}
