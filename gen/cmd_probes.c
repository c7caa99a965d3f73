/** btgen probes - lists the USDT probes of files and processes. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/vec.h"
#include "cmd.h"
#include "image/sdt.h"
#include "image/sdtarg.h"
#include "target/proc.h"

/** A file that was looked at. */
struct listed {
	struct str path; /**< for people */
	unsigned machine;
	bool is_deleted;
	struct sdt_list probes;
};

struct pattern {
	struct str text;
	bool matched;
};

struct listing {
	struct arena arena;
	struct diag diag;
	bool verbose, json;
	size_t n_processes;
	VEC(struct pattern) patterns;
	VEC(struct listed) files;
	struct strbuf out;
};

static void usage(FILE *out)
{
	fputs("Usage: btgen probes (-x FILE | -p PID)... [OPTION]... [PATTERN]...\n"
	      "List USDT probes: where each site is, and where its arguments are.\n\n"
	      "  btgen probes -x /lib/x86_64-linux-gnu/libc.so.6    the probes of a file\n"
	      "  btgen probes -p 4242                               of all files a process has "
	      "mapped\n"
	      "  btgen probes -p 4242 'libc:mutex_*' setjmp         only some of them\n\n"
	      "A PATTERN is NAME or PROVIDER:NAME and can contain * and ?.\n\n"
	      "  -x FILE    an ELF file: program, library, separate debug file; can be repeated\n"
	      "  -p PID     a process; can be repeated\n"
	      "  -v         say in words what the arguments are, and file offsets\n"
	      "  --json     one JSON array, for programs\n"
	      "  -h, --help this text\n\n"
	      "Exit status: 0, 1 when a file could not be read whole or a PATTERN matches nothing, "
	      "2 usage.\n",
	      out);
}

/** Reads the probes of one file; what is wrong has been said. */
static void add_file(struct listing *l, const char *path, struct str shown,
		     const struct proc_file *mapped)
{
	struct img *img;
	struct listed f = {.path = shown, .is_deleted = mapped && mapped->is_deleted};
	if (!img_open(&l->arena, &l->diag, path, shown, &img))
		return;
	f.machine = img->machine;
	if (sdt_read(img, &f.probes))
		vec_push(&l->arena, &l->files, f);
	img_close(img);
}

static void add_process(struct listing *l, int pid)
{
	struct proc *p;
	if (!proc_open(&l->arena, &l->diag, "/proc", pid, &p))
		return;
	l->n_processes++;
	for (size_t i = 0; i < p->files.n; i++) {
		const struct proc_file *f = &p->files.v[i];
		struct diag_place at = {.file = f->path};
		const char *path = str_dup(&l->arena, f->open_path);
		if (!f->open_path.n)
			diag_warning(&l->diag, &at, "this file of process %d cannot be opened",
				     pid);
		else if (img_is_elf(path))
			add_file(l, path, f->path, f);
	}
	if (!proc_is_same(p))
		diag_error(&l->diag, NULL, "process %d has ended meanwhile", pid);
	proc_close(p);
}

static bool matches(struct listing *l, const struct sdt_probe *p)
{
	bool any = l->patterns.n == 0;
	strbuf_clear(&l->out);
	strbuf_adds(&l->out, p->provider);
	strbuf_addc(&l->out, ':');
	strbuf_adds(&l->out, p->name);
	for (size_t i = 0; i < l->patterns.n; i++) {
		struct pattern *pattern = &l->patterns.v[i];
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

/** An error for each pattern that matched nothing. @all: the lists as they were before filter(). */
static void complain(struct listing *l, const struct sdt_list *all)
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
			sdt_find_nearest(&all[k], provider, name, &best, &near);
		if (near)
			diag_error(&l->diag, NULL,
				   "no probe matches '" STR_FMT "', did you mean '" STR_FMT
				   ":" STR_FMT "'?",
				   STR_ARG(text), STR_ARG(near->provider), STR_ARG(near->name));
		else
			diag_error(&l->diag, NULL, "no probe matches '" STR_FMT "'", STR_ARG(text));
	}
}

/** Two spaces or more after a text of @n columns, so that the next one starts at column @width + 2. */
static void pad(struct strbuf *b, size_t n, size_t width)
{
	for (strbuf_addz(b, "  "); n < width; n++)
		strbuf_addc(b, ' ');
}

static size_t hex_width(uint64_t v)
{
	size_t n = 3;
	while (v >>= 4)
		n++;
	return n;
}

/** The operands of all sites of a probe, printable, for columns. */
struct columns {
	struct str cell[SDTARG_MAX + 1];
	struct sdtarg *args;
	size_t n;
};

static struct columns site_columns(struct arena *a, unsigned machine, const struct sdt_site *s)
{
	struct columns c;
	sdtarg_parse(a, machine, s->args, &c.args, &c.n);
	for (size_t i = 0; i < c.n; i++)
		c.cell[i] = str_printable(a, c.args[i].text);
	return c;
}

#define MAX_PAD 24 // a longer operand moves what follows it

static void print_site(struct strbuf *b, const struct sdt_site *s, const struct columns *c,
		       const size_t *widths, size_t addr_width, bool verbose)
{
	strbuf_addf(b, "    0x%" PRIx64, s->pc);
	size_t end = hex_width(s->pc), column = addr_width; // where the text ends, and should end
	if (verbose && s->off)
		strbuf_addf(b, "  file offset 0x%" PRIx64, s->off);
	for (size_t i = 0; i < c->n && !verbose; i++) {
		pad(b, end, column);
		strbuf_adds(b, c->cell[i]);
		end = c->cell[i].n;
		column = widths[i];
	}
	if (s->semaphore) {
		pad(b, end, verbose ? end : column);
		strbuf_addf(b, "semaphore 0x%" PRIx64, s->semaphore);
	}
	const char *doubt = sdt_doubt_text(s->doubt);
	if (doubt)
		strbuf_addf(b, "  (%s)", doubt);
	strbuf_addc(b, '\n');
	for (size_t i = 0; i < c->n && verbose; i++) {
		strbuf_addf(b, "        arg%-2zu  ", i);
		strbuf_adds(b, c->cell[i]);
		pad(b, c->cell[i].n, MAX_PAD);
		sdtarg_describe(b, &c->args[i]);
		strbuf_addc(b, '\n');
	}
}

static void print_count(struct strbuf *b, size_t n, const char *what)
{
	if (n)
		strbuf_addf(b, "%zu %s%s", n, what, n == 1 ? "" : "s");
	else
		strbuf_addf(b, "no %ss", what);
}

#define MAX_NAME 48

/** Columns that "provider:name" takes. */
static size_t name_width(struct arena *a, const struct sdt_probe *p)
{
	return str_printable(a, p->provider).n + 1 + str_printable(a, p->name).n;
}

static void print_probe(struct strbuf *b, const struct listed *f, const struct sdt_probe *p,
			size_t width, bool verbose)
{
	struct arena scratch;
	arena_init(&scratch);
	size_t widths[SDTARG_MAX + 1] = {0}, addr_width = 0, most = 0, fewest = SIZE_MAX;
	struct columns *rows = arena_array(&scratch, struct columns, p->n_sites);
	for (size_t i = 0; i < p->n_sites; i++) {
		rows[i] = site_columns(&scratch, f->machine, &p->sites[i]);
		size_t n = hex_width(p->sites[i].pc);
		addr_width = n > addr_width ? n : addr_width;
		most = rows[i].n > most ? rows[i].n : most;
		fewest = rows[i].n < fewest ? rows[i].n : fewest;
		for (size_t k = 0; k < rows[i].n; k++) {
			n = rows[i].cell[k].n < MAX_PAD ? rows[i].cell[k].n : MAX_PAD;
			widths[k] = n > widths[k] ? n : widths[k];
		}
	}
	strbuf_add_printable(b, p->provider);
	strbuf_addc(b, ':');
	strbuf_add_printable(b, p->name);
	pad(b, name_width(&scratch, p), width);
	print_count(b, p->n_sites, "site");
	strbuf_addz(b, ", ");
	if (fewest < most)
		strbuf_addf(b, "%zu to ", fewest);
	print_count(b, most, "argument");
	strbuf_addc(b, '\n');
	for (size_t i = 0; i < p->n_sites; i++)
		print_site(b, &p->sites[i], &rows[i], widths, addr_width, verbose);
	arena_fini(&scratch);
}

static void flush(struct strbuf *b)
{
	if (b->n)
		fwrite(b->p, 1, b->n, stdout);
	strbuf_clear(b);
}

static void print_text(struct listing *l)
{
	struct strbuf *b = &l->out;
	bool headers = l->verbose || l->n_processes || l->files.n > 1, first = true;
	for (size_t i = 0; i < l->files.n; i++) {
		const struct listed *f = &l->files.v[i];
		if (!f->probes.n_probes)
			continue;
		if (headers) {
			strbuf_addz(b, first ? "" : "\n");
			strbuf_add_printable(b, f->path);
			strbuf_addz(b, f->is_deleted ? " (deleted): " : ": ");
			print_count(b, f->probes.n_probes, "probe");
			strbuf_addc(b, '\n');
		}
		first = false;
		size_t width = 0;
		for (size_t k = 0; k < f->probes.n_probes; k++) {
			size_t n = name_width(&l->arena, &f->probes.probes[k]);
			width = n > width && n <= MAX_NAME ? n : width;
		}
		for (size_t k = 0; k < f->probes.n_probes; k++) {
			print_probe(b, f, &f->probes.probes[k], width, l->verbose);
			flush(b);
		}
	}
}

static void json_address(struct strbuf *b, const char *key, uint64_t v, bool known)
{
	if (known)
		strbuf_addf(b, "\"%s\": \"0x%" PRIx64 "\"", key, v);
	else
		strbuf_addf(b, "\"%s\": null", key);
}

static void json_site(struct strbuf *b, unsigned machine, const struct sdt_site *s)
{
	struct arena scratch;
	struct sdtarg *args;
	size_t n;
	arena_init(&scratch);
	sdtarg_parse(&scratch, machine, s->args, &args, &n);
	strbuf_addc(b, '{');
	json_address(b, "address", s->pc, true);
	strbuf_addz(b, ", ");
	json_address(b, "offset", s->off, s->off != 0);
	strbuf_addz(b, ", ");
	json_address(b, "semaphore", s->semaphore, s->semaphore != 0);
	strbuf_addz(b, ", \"doubt\": ");
	const char *doubt = sdt_doubt_text(s->doubt);
	if (doubt)
		strbuf_add_json(b, str_from(doubt));
	else
		strbuf_addz(b, "null");
	strbuf_addz(b, ", \"args\": [");
	for (size_t i = 0; i < n; i++) {
		strbuf_addz(b, i ? ", {\"size\": " : "{\"size\": ");
		if (args[i].size)
			strbuf_addf(b, "%u", args[i].size);
		else
			strbuf_addz(b, "null");
		strbuf_addf(b, ", \"signed\": %s, \"float\": %s, \"place\": ",
			    args[i].is_signed ? "true" : "false",
			    args[i].is_float ? "true" : "false");
		strbuf_add_json(b, args[i].place);
		strbuf_addc(b, '}');
	}
	strbuf_addz(b, "]}");
	arena_fini(&scratch);
}

/** The probe's own semaphore is that of its first site that has one; sites can differ. */
static uint64_t probe_semaphore(const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].semaphore)
			return p->sites[i].semaphore;
	return 0;
}

static void print_json(struct listing *l)
{
	struct strbuf *b = &l->out;
	const char *between = "[\n";
	for (size_t i = 0; i < l->files.n; i++) {
		const struct listed *f = &l->files.v[i];
		for (size_t k = 0; k < f->probes.n_probes; k++) {
			const struct sdt_probe *p = &f->probes.probes[k];
			strbuf_addf(b, "%s{\"file\": ", between);
			between = ",\n";
			strbuf_add_json(b, f->path);
			strbuf_addz(b, ", \"provider\": ");
			strbuf_add_json(b, p->provider);
			strbuf_addz(b, ", \"name\": ");
			strbuf_add_json(b, p->name);
			strbuf_addz(b, ", ");
			json_address(b, "semaphore", probe_semaphore(p), probe_semaphore(p) != 0);
			strbuf_addz(b, ", \"sites\": [");
			for (size_t s = 0; s < p->n_sites; s++) {
				strbuf_addz(b, s ? ", " : "");
				json_site(b, f->machine, &p->sites[s]);
			}
			strbuf_addz(b, "]}");
			flush(b);
		}
	}
	fputs(between[0] == '[' ? "[]\n" : "\n]\n", stdout);
}

static void list(struct listing *l)
{
	struct sdt_list *all = arena_array(&l->arena, struct sdt_list, l->files.n + 1);
	for (size_t i = 0; i < l->files.n; i++) {
		// A copy: filter() moves probes.
		all[i] = l->files.v[i].probes;
		all[i].probes =
		    arena_array(&l->arena, struct sdt_probe, l->files.v[i].probes.n_probes + 1);
		for (size_t k = 0; k < all[i].n_probes; k++)
			all[i].probes[k] = l->files.v[i].probes.probes[k];
	}
	size_t n = filter(l);
	complain(l, all);
	if (l->json)
		print_json(l);
	else
		print_text(l);
	if (!n && !l->patterns.n && !l->diag.n_errors)
		fputs(l->n_processes ? "btgen: no file of the process has USDT probes\n"
				     : "btgen: no USDT probes in there\n",
		      stderr);
	if (fflush(stdout) != 0 || ferror(stdout))
		diag_error(&l->diag, NULL, "cannot write the list");
}

int cmd_probes(int argc, char **argv)
{
	static const struct option options[] = {
	    {"help", no_argument, NULL, 'h'}, {"json", no_argument, NULL, 'j'}, {0}};
	struct listing l = {0};
	VEC(struct str) sources = {0}; // "x/bin/ls" and "p4242", in the order given
	arena_init(&l.arena);
	diag_init(&l.diag, stderr);
	strbuf_init(&l.out);
	int status = -1, opt, pid;
	opterr = 0;
	while (status < 0 && (opt = getopt_long(argc, argv, ":p:x:vh", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			if (!cmd_parse_pid(optarg, &pid))
				status = cmd_usage_error(argv[0], "-p: '%s' is not a process id",
							 optarg);
			// fall through
		case 'x':
			vec_push(&l.arena, &sources,
				 str_from(arena_printf(&l.arena, "%c%s", opt, optarg)));
			break;
		case 'v':
			l.verbose = true;
			break;
		case 'j':
			l.json = true;
			break;
		case 'h':
			usage(stdout);
			status = CMD_OK;
			break;
		default:
			status = cmd_bad_option(argv[0], argv, opt);
		}
	}
	if (status < 0 && !sources.n)
		status = cmd_usage_error(argv[0], "say which file (-x FILE) or process (-p PID)");
	if (status < 0) {
		for (int i = optind; i < argc; i++)
			vec_push(&l.arena, &l.patterns,
				 (struct pattern){.text = str_from(argv[i])});
		for (size_t i = 0; i < sources.n; i++) {
			const char *text = sources.v[i].p + 1;
			if (sources.v[i].p[0] == 'x')
				add_file(&l, text, str_from(text), NULL);
			else if (cmd_parse_pid(text, &pid))
				add_process(&l, pid);
		}
		list(&l);
		status = l.diag.n_errors ? CMD_INPUT : CMD_OK;
	}
	strbuf_fini(&l.out);
	arena_fini(&l.arena);
	return status;
}
