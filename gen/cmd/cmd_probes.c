/** btgen probes - lists the USDT probes of files and processes. */

#include "base/file.h"
#include "base/progress.h"
#include "cmd/builds.h"
#include "elf/debugfile.h"
#include "dialect/dialect.h"
#include "listing/probes_print.h"
#include "probe/attachable.h"
#include "probe/codeplace.h"

struct pattern {
	struct str text;
	bool matched;
};

/** Where probes are looked for: a file, or a PID or name. */
struct source {
	bool is_process;
	const char *text;
};

/** Processes of a name that run one program, and its files. */
struct named {
	int *pids;
	size_t n;
	size_t first, end; /**< those of listing.files */
};

struct target {
	struct targetfiles files;
	struct proc *proc; /**< NULL: a file */
};

struct listing {
	struct arena *arena;
	struct diag *diag;
	bool verbose, json;
	bool has_kinds;	      /**< of the short list: usdt: is in front of each probe */
	const char *bpftrace; /**< --bpftrace, or NULL */
	unsigned version;     /**< of the bpftrace that would attach; 0: not known */
	bool has_no_version;  /**< that was asked for, and there is none */
	struct probesigs *signatures;
	VEC(struct source) sources; /**< in the order given; those that could be opened: */
	VEC(int) pids;
	word_list paths;
	VEC(struct pattern) patterns;
	word_list functions; /**< patterns of these */
	bool may_have_lines; /**< a pattern may be a source file, or lines of one */
	VEC(struct source_lines) lines;
	VEC(struct probes_file) files;
	VEC(struct named) named;
	VEC(struct target) targets;
	struct strbuf out;
};

/** All that is known is asked for; else what can be had at once. */
static bool is_whole(const struct listing *l)
{
	return l->verbose || l->json;
}

/** Reads the probes of one file, and reports errors. */
static void add_file(struct listing *l, struct img *img, const struct proc *p,
		     const struct proc_file *mapped)
{
	struct probes_file f = {.path = img->display_path,
				.machine = img->machine,
				.is_deleted = mapped && mapped->is_deleted,
				.has_moved_code = mapped && mapped->has_moved_code};
	if (p && img_load_bias(img, mapped->start, mapped->offset, &f.bias)) {
		f.is_mapped = true;
		f.pid = p->pid;
	}
	if (!img->is64 && (!mapped || mapped == p->files.v))
		diag_note(l->diag, NULL, STR_FMT " is a 32-bit program, which is not supported: %s",
			  STR_ARG(img->display_path), IMG_WHY_NOT_32BIT);
	// Only files with probes stay open: a process has hundreds of others.
	bool good = sdt_read(img, &f.probes);
	if (good && (f.probes.n_probes || l->may_have_lines)) {
		binary_init(&f.bin, img);
		f.bin.cheap_only = !is_whole(l);
	}
	if (good)
		vec_push(l->arena, &l->files, f);
	if (!f.bin.img)
		img_close(img);
}

static void add_process(struct listing *l, int pid)
{
	struct proc *p;
	struct img *img;
	if (!proc_open(l->arena, l->diag, PROCFS, pid, &p))
		return;
	vec_push(l->arena, &l->pids, pid);
	vec_each(const struct proc_file, f, &p->files) {
		if (!f->open_path.n)
			diag_warning(l->diag, diag_at({.file = f->path}),
				     "this file of process %d cannot be opened", pid);
		else if ((img = proc_open_image(l->arena, l->diag, p, f)))
			add_file(l, img, p, f);
	}
	if (!proc_is_same(p))
		diag_error(l->diag, NULL, "process %d has exited", pid);
	proc_close(p);
}

/** Several that run one program have the same probes: they are listed once. */
static void add_named(struct listing *l, const char *name)
{
	size_t n;
	int *pids = proc_find_named(l->arena, PROCFS, name, &n);
	if (!n)
		diag_error(l->diag, NULL,
			   "no process runs a program named '%s': start it, or give the path of "
			   "a file",
			   name);
	proc_parents_first(PROCFS, pids, n);
	bool has_hidden = false;
	for (size_t i = 0; i < n;) {
		struct named one = {.pids = pids + i, .first = l->files.n};
		one.n = proc_same_exe_first(PROCFS, one.pids, n - i);
		bool is_hidden = !proc_exe(l->arena, PROCFS, *one.pids).n;
		if (!is_hidden || !has_hidden) // another user's: one error for all of them
			add_process(l, *one.pids);
		has_hidden |= is_hidden;
		one.end = l->files.n;
		vec_push(l->arena, &l->named, one);
		i += one.n;
	}
}

/** What begins like a PID is none, and no program that runs is called so. */
static bool is_bad_pid(struct arena *a, const char *word)
{
	int pid;
	size_t n = 0;
	if (*word < '0' || *word > '9' || cmd_parse_pid(word, &pid))
		return false;
	proc_find_named(a, PROCFS, word, &n);
	return n == 0;
}

static bool matches(struct listing *l, const struct sdt_probe *p)
{
	bool any = false;
	if (!l->patterns.n)
		return true;
	strbuf_clear(&l->out);
	strbuf_adds(&l->out, p->provider);
	strbuf_addc(&l->out, ':');
	strbuf_adds(&l->out, p->name);
	vec_each(struct pattern, pattern, &l->patterns) {
		if (!str_eq(pattern->text, p->name) && !str_glob(pattern->text, p->name) &&
		    !str_glob(pattern->text, strbuf_str(&l->out)))
			continue;
		pattern->matched = true;
		any = true;
	}
	strbuf_clear(&l->out);
	return any;
}

/** Keeps the probes that a pattern matches; returns how many there are. */
static size_t filter(struct listing *l)
{
	size_t n_left = 0;
	for (size_t i = 0; i < l->files.n; i++) {
		struct sdt_list *list = &l->files.v[i].probes;
		size_t n = 0;
		for (size_t k = 0; k < list->n_probes; k++)
			if (matches(l, &list->probes[k]))
				list->probes[n++] = list->probes[k];
		list->n_probes = n;
		n_left += n;
	}
	return n_left;
}

static bool has_probes(const struct listing *l, const struct named *one)
{
	for (size_t i = one->first; i < one->end; i++)
		if (l->files.v[i].probes.n_probes)
			return true;
	return false;
}

/** The files of the sources that could be opened, with those that have no probes. */
static void open_targets(struct listing *l)
{
	if (l->targets.n)
		return;
	for (size_t i = 0; i < l->paths.n; i++) {
		struct target t = {0};
		if (targetfiles_of_file(l->arena, l->diag, l->paths.v[i], &t.files))
			vec_push(l->arena, &l->targets, t);
	}
	for (size_t i = 0; i < l->pids.n; i++) {
		struct target t = {0};
		if (!proc_open(l->arena, l->diag, PROCFS, l->pids.v[i], &t.proc))
			continue;
		targetfiles_of_proc(l->arena, l->diag, t.proc, &t.files);
		vec_push(l->arena, &l->targets, t);
	}
}

static void close_targets(struct listing *l)
{
	vec_each(struct target, t, &l->targets) {
		targetfiles_close(&t->files);
		if (t->proc)
			proc_close(t->proc);
	}
}

static bool is_function(struct listing *l, struct str name)
{
	struct codeplaces places;
	open_targets(l);
	vec_each(struct target, t, &l->targets)
		vec_each(struct targetfile, tf, &t->files.list)
			if (targetfile_open(&t->files, tf) &&
			    codeplace_function(l->arena, &tf->bin, name, &places))
				return true;
	return false;
}

/** An error for each pattern that matches nothing, as find_sources() has found out. */
static void complain(struct listing *l)
{
	for (size_t i = 0; i < l->patterns.n; i++) {
		struct str text = l->patterns.v[i].text;
		if (l->patterns.v[i].matched)
			continue;
		size_t colon = str_find(text, ':');
		struct str provider = colon < text.n ? str_slice(text, 0, colon) : STR("");
		struct str name = colon < text.n ? str_from_offset(text, colon + 1) : text;
		const struct sdt_probe *near = NULL;
		unsigned best = UINT_MAX;
		for (size_t k = 0; k < l->files.n; k++)
			sdt_find_nearest(&l->files.v[k].probes, provider, name, &best, &near);
		if (near)
			diag_error(l->diag, NULL,
				   "no probe matches '" STR_FMT "', did you mean '" STR_FMT
				   ":" STR_FMT "'?",
				   STR_ARG(text), STR_ARG(near->provider), STR_ARG(near->name));
		else
			diag_error(l->diag, NULL, "no probe matches '" STR_FMT "'", STR_ARG(text));
		if (!near && is_function(l, text))
			diag_note(l->diag, NULL, "it is a function: use 'uprobe:" STR_FMT "'",
				  STR_ARG(text));
	}
}

/** The counter that tracers raise, as it is in the process at this moment. */
static void read_counter(const struct probes_file *f, const struct sdt_probe *p, int mem,
			 struct probes_extra *x)
{
	uint16_t value;
	uint64_t semaphore = sdt_semaphore(p);
	if (!semaphore || mem < 0 || !file_read_at(mem, &value, sizeof(value), semaphore + f->bias))
		return;
	x->has_counter = true;
	x->counter = value;
}

/**
 * Can the bpftrace at hand attach to @p? To ask it for its version takes as long as a list of
 * thousands: a short list asks when there is a probe that not every version can attach to.
 */
static void find_attachable(struct listing *l, const struct probes_file *f,
			    const struct sdt_probe *p, struct probes_extra *x)
{
	if (!is_whole(l) && !l->bpftrace && attachable_by_all(p, &x->args))
		return;
	struct bpftrace bt;
	struct diag silent = {0};
	if (!l->version && !l->has_no_version &&
	    bpftrace_find(l->arena, l->bpftrace ? l->diag : &silent, l->bpftrace, true, &bt) == 0)
		l->version = bt.version;
	l->has_no_version = !l->version;
	x->bpftrace = l->version;
	if (l->version)
		x->why_not = attachable_why_not(l->arena, f->bin.img, p, l->version);
}

static void find_extra(struct listing *l, struct probes_file *f)
{
	int mem = f->is_mapped ? proc_open_file(PROCFS, f->pid, "mem") : -1;
	f->extra = arena_array(l->arena, struct probes_extra, f->probes.n_probes + 1);
	for (size_t i = 0; i < f->probes.n_probes; i++) {
		const struct sdt_probe *p = &f->probes.probes[i];
		struct probes_extra *x = &f->extra[i];
		probeargs_read(&f->bin, l->signatures, p, &x->args);
		read_counter(f, p, mem, x);
		find_attachable(l, f, p, x);
	}
	if (mem >= 0)
		close(mem);
}

/**
 * A short list reads no separate debug file, which can have hundreds of megabytes. That of @img, if it is
 * here (no server is asked), or NULL.
 */
static struct img *unread_file(struct img *img)
{
	struct img *file;
	img->offline = true;
	// Without a build-id all of it would have to be read to know that it is the right one.
	return !img_has_dwarf(img) && img->build_id.n && img_debugfile(img, &file) ? file : NULL;
}

/** One probe after the other: a library can have hundreds, and nothing of them is kept. */
static void print_short(struct listing *l)
{
	bool first = true;
	struct img *unread = NULL;
	struct arena scratch = {0};
	vec_each(struct probes_file, f, &l->files) {
		if (!f->probes.n_probes)
			continue;
		if (l->pids.n || l->files.n > 1)
			probes_add_file(&l->out, f, first);
		bool all_known = true;
		first = false;
		f->bin.arena = &scratch;
		list_each(const struct sdt_probe, p, f->probes.probes, f->probes.n_probes) {
			struct probes_extra x = {0};
			probeargs_read(&f->bin, l->signatures, p, &x.args);
			find_attachable(l, f, p, &x);
			if (l->has_kinds)
				strbuf_addz(&l->out, "usdt:");
			probes_print_line(stdout, &l->out, &scratch, p, &x);
			for (size_t i = 0; i < x.args.n_args; i++)
				all_known &= x.args.args[i].type != NULL;
			arena_reset(&scratch);
		}
		if (!all_known && !unread)
			unread = unread_file(f->bin.img);
	}
	arena_fini(&scratch);
	progress_clear();
	if (l->out.n) // fwrite(NULL, 1, 0, f) is undefined in C11
		fwrite(l->out.p, 1, l->out.n, stdout);
	fflush(stdout);
	if (unread)
		diag_note(l->diag, NULL, "-v also reads debug files, such as " STR_FMT,
			  STR_ARG(unread->display_path));
}

/** They attach without an error, and never fire. */
static void warn_of_moved_code(struct listing *l)
{
	for (size_t i = 0; i < l->files.n; i++)
		if (l->files.v[i].has_moved_code && l->files.v[i].probes.n_probes)
			diag_warning(
			    l->diag, NULL,
			    "process %d has moved code out of " STR_FMT
			    " to anonymous memory (large pages?): probes there cannot fire",
			    l->files.v[i].pid, STR_ARG(l->files.v[i].path));
}

static void list_lines(struct listing *l)
{
	vec_each(const struct source_lines, lines, &l->lines) {
		bool found = false;
		for (size_t k = 0; k < l->files.n && !found; k++)
			found =
			    lines_print(l->arena, l->diag, &l->files.v[k].bin, lines, l->verbose);
		if (!found && l->files.n)
			diag_error(l->diag, NULL, "no file has debug information (-g) of " STR_FMT,
				   STR_ARG(lines->file));
	}
}

static void list_probes(struct listing *l)
{
	if (l->files.n || !l->diag->n_errors)
		complain(l);
	size_t n = filter(l);
	// Of several programs of a name, those without the probes are not traced either.
	bool is_any = vec_any(const struct named, one, &l->named, has_probes(l, one));
	vec_each(const struct named, one, &l->named)
		if (is_any && !has_probes(l, one))
			builds_report_left(l->diag, l->arena, one->pids, one->n, "not listed",
					   "has none of the probes");
	warn_of_moved_code(l);
	for (size_t i = 0; i < l->files.n && is_whole(l); i++)
		if (l->files.v[i].probes.n_probes)
			find_extra(l, &l->files.v[i]);
	if (l->json)
		probes_print_json(stdout, l->files.v, l->files.n);
	else if (l->verbose)
		probes_print_verbose(stdout, l->files.v, l->files.n);
	else
		print_short(l);
	if (!n && !l->patterns.n && !l->diag->n_errors)
		fprintf(stderr,
			l->pids.n ? "btgen: no file of process %s has USDT probes%s\n"
				  : "btgen: %s has no USDT probes%s\n",
			l->sources.v[0].text, l->has_kinds ? "; functions are uprobe:NAME" : "");
}

static void print_functions(struct listing *l, const struct skeleton *sk, bool *is_first)
{
	const struct skeleton_probe *p = sk->probes.v, *end = p + sk->probes.n;
	while (p < end) {
		const struct skeleton_probe *next = p;
		while (next < end && next->file == p->file)
			next++;
		if (l->pids.n || l->targets.n > 1)
			probes_add_heading(&l->out, p->file->path, "function", (size_t)(next - p),
					   *is_first);
		*is_first = false;
		for (; p < next; p++) {
			strbuf_add_printable(&l->out, p->declaration);
			strbuf_addc(&l->out, '\n');
		}
	}
	if (l->out.n)
		fwrite(l->out.p, 1, l->out.n, stdout);
	strbuf_clear(&l->out);
}

static void list_functions(struct listing *l)
{
	bool is_first = true;
	open_targets(l);
	vec_each(struct target, t, &l->targets) {
		struct skeleton sk = {.arena = l->arena,
				      .diag = l->diag,
				      .files = &t->files,
				      .version = l->version ? l->version : DIALECT_DEFAULT,
				      .is_list = true};
		skeleton_collect(&sk, l->functions.v, l->functions.n);
		print_functions(l, &sk, &is_first);
	}
}

static bool is_source_name(struct str pattern)
{
	return str_has(pattern, ".") && !str_has(pattern, ":*?");
}

/** Such a pattern that no probe matches is a source file, all of whose lines are listed. */
static void find_sources(struct listing *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->files.n; i++)
		for (size_t k = 0; k < l->files.v[i].probes.n_probes; k++)
			matches(l, &l->files.v[i].probes.probes[k]);
	for (size_t i = 0; i < l->patterns.n; i++) {
		struct str text = l->patterns.v[i].text;
		if (l->patterns.v[i].matched || !is_source_name(text))
			l->patterns.v[n++] = l->patterns.v[i];
		else
			vec_push(l->arena, &l->lines,
				 (struct source_lines){text, text, 1, UINT_MAX});
	}
	l->patterns.n = n;
}

static void list(struct listing *l)
{
	bool is_text = l->lines.n || l->functions.n;
	if (is_text && l->json)
		diag_error(l->diag, NULL, "--json lists probes, not functions or source lines");
	else
		list_lines(l);
	if (l->functions.n && !l->json)
		list_functions(l);
	if (!is_text || l->patterns.n)
		list_probes(l);
	close_targets(l);
	for (size_t i = 0; i < l->files.n; i++)
		binary_close(&l->files.v[i].bin);
	if (fflush(stdout) != 0 || ferror(stdout))
		diag_error(l->diag, NULL, "cannot write the list");
}

static int add_process_source(void *ctx, const char *value)
{
	struct listing *l = ctx;
	if (is_bad_pid(l->arena, value))
		return cmd_usage_error("-p: '%s' is not a process ID", value);
	vec_push(l->arena, &l->sources, (struct source){true, value});
	return -1;
}

static int add_file_source(void *ctx, const char *value)
{
	struct listing *l = ctx;
	vec_push(l->arena, &l->sources, (struct source){false, value});
	return -1;
}

static const struct cmd_option options_list[] = {
    {'x', "exe", "FILE", CMD_CALL(add_file_source),
     "ELF file: program, library or separate debug file; may be repeated"},
    {'p', "pid", "PID|NAME", CMD_CALL(add_process_source),
     "process, by PID or name; may be repeated"},
    {'v', "verbose", NULL, CMD_FLAG(struct listing, verbose),
     "print everything: sites, source lines, operands, semaphores"},
    {0, "json", NULL, CMD_FLAG(struct listing, json), "print everything as one JSON array"},
    {0, "for", "VERSION", CMD_VERSION(struct listing, version),
     "report whether this version of bpftrace can attach [the installed one]"},
    {0, "bpftrace", "PATH", CMD_STRING(struct listing, bpftrace),
     "report whether this bpftrace can attach"},
    {0},
};

static void add_source(struct listing *l, const struct source *s)
{
	int pid;
	struct img *img;
	if (!s->is_process && img_open(l->arena, l->diag, s->text, str_from(s->text), &img)) {
		vec_push(l->arena, &l->paths, s->text);
		add_file(l, img, NULL, NULL);
	}
	if (!s->is_process)
		return;
	if (cmd_parse_pid(s->text, &pid))
		add_process(l, pid);
	else
		add_named(l, s->text);
}

static const struct cmd_options options = {
    .usage = "Usage: btgen probes (-x FILE | -p PID|NAME)... [OPTION]... [PATTERN]...\n"
	     "List USDT probes as declarations; -v adds their sites and operands.\n"
	     "\n"
	     "  btgen probes -x /lib/libfoo.so.6             the probes of a file\n"
	     "  btgen probes -p 4242                         of all files a process has mapped\n"
	     "  btgen probes -p 4242 'libc:mutex_*' setjmp   only some of them\n"
	     "\n"
	     "A PATTERN is NAME or PROVIDER:NAME and can contain * and ?. uprobe:NAME lists\n"
	     "functions with their parameters, FILE.c, FILE.c:LINE or FILE.c:LINE-LINE source\n"
	     "lines that can be probed.\n"
	     "\n",
    .list = options_list,
    .notes = "\nExit status: 0, 1 if a file could not be read completely or a PATTERN matches\n"
	     "nothing, 2 usage.\n",
};

static void add_pattern(struct listing *l, const char *word)
{
	struct str text = skeleton_usdt_pattern(str_from(word));
	struct str kind = str_slice(text, 0, str_find(text, ':'));
	struct source_lines lines = {.text = text};
	if (kind.n < text.n && provider_is_function(vocabulary_provider(kind)))
		vec_push(l->arena, &l->functions, word);
	else if (codeplace_parse_lines(text, &lines.file, &lines.first, &lines.last))
		vec_push(l->arena, &l->lines, lines);
	else
		vec_push(l->arena, &l->patterns, (struct pattern){.text = text});
	l->may_have_lines |= l->lines.n || is_source_name(text);
}

/** What @patterns mean in the sources; returns the exit status. */
static int list_all(struct listing *l, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_pattern(l, patterns[i]);
	l->signatures = expand_signatures(l->arena, l->diag);
	for (size_t i = 0; i < l->sources.n; i++)
		add_source(l, &l->sources.v[i]);
	find_sources(l);
	list(l);
	strbuf_fini(&l->out);
	return l->diag->n_errors ? CMD_INPUT : CMD_OK;
}

int cmd_probes(struct arena *a, struct diag *d, int argc, char **argv)
{
	struct listing l = {.arena = a, .diag = d};
	int status = cmd_read_options(&options, a, argc, argv, &l);
	if (status >= 0)
		return status;
	if (!l.sources.n)
		return cmd_usage_error("give a file (-x FILE) or a process (-p PID)");
	if (l.version && l.bpftrace)
		return cmd_usage_error("give --for or --bpftrace, not both");
	return list_all(&l, (const char *const *)argv + optind, (size_t)(argc - optind));
}

int probes_list(struct arena *a, struct diag *d, const struct probes_request *r)
{
	struct listing l = {.arena = a,
			    .diag = d,
			    .verbose = r->verbose,
			    .json = r->json,
			    .has_kinds = true,
			    .bpftrace = r->bpftrace};
	int status = -1;
	for (size_t i = 0; i < r->files.n; i++)
		add_file_source(&l, r->files.v[i]);
	for (size_t i = 0; i < r->processes.n && status < 0; i++)
		status = add_process_source(&l, r->processes.v[i]);
	return status < 0 ? list_all(&l, r->patterns.v, r->patterns.n) : status;
}
