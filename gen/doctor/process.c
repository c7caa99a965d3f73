#include "doctor/machine.h"

#include "elf/debugfile.h"
#include "elf/debugpackage.h"
#include "dialect/dialect.h"
#include "probe/attachable.h"
#include "process/proc.h"
#include "usdt/sdt.h"

struct examination {
	struct findings *out;
	struct diag *diag;
	const struct proc *proc;
	unsigned version; /**< of bpftrace; 0: there is none */
	size_t n_probes;
};

static void examine_place(const struct examination *x)
{
	const struct proc *p = x->proc;
	struct arena *a = x->out->arena;
	struct str ours = proc_namespace(a, p->procfs, 0, "mnt");
	struct str its = proc_namespace(a, p->procfs, p->pid, "mnt");
	finding_add(x->out, FINDING_OK, "process", NULL, "process %d runs " STR_FMT, p->pid,
		    STR_ARG(p->files.v[0].path));
	if (p->ns_pid != p->pid)
		finding_add(x->out, FINDING_OK, "container", NULL,
			    "it is process %d of a container, and process %d to bpftrace.sh",
			    p->ns_pid, p->pid);
	else if (ours.n && its.n && !str_eq(ours, its))
		finding_add(x->out, FINDING_OK, "container", NULL,
			    "it has its own mount namespace; its files are read there");
}

/** Probes that have the same names everywhere, of libraries that most processes have mapped. */
static bool is_runtime(const struct sdt_list *probes)
{
	static const char *const providers[] = {"libc",	     "libm",   "rtld", "libpthread",
						"libstdcxx", "libgcc", NULL};
	return probes->n_probes && str_is_any(probes->probes[0].provider, providers);
}

static void examine_debuginfo(const struct examination *x, struct img *img,
			      const struct proc_file *f)
{
	struct img *found;
	struct arena *a = x->out->arena;
	img->offline = true;
	bool has = img_debugfile(img, &found);
	struct str package = has ? STR("") : debugpackage_install(a, "", f->host_path);
	if (!has)
		finding_add(
		    x->out, FINDING_WARNING, "debuginfo",
		    package.n ? str_dup(a, package)
			      : "build it with -g, or install its debug package",
		    STR_FMT
		    " has no debug information: names of enums and layouts of structs are unknown",
		    STR_ARG(img->display_path));
	else if (found != img)
		finding_add(x->out, FINDING_OK, "debuginfo", NULL,
			    STR_FMT " has its debug information in " STR_FMT,
			    STR_ARG(img->display_path), STR_ARG(found->display_path));
	else
		finding_add(x->out, FINDING_OK, "debuginfo", NULL, STR_FMT " has debug information",
			    STR_ARG(img->display_path));
}

/** The kernel puts probes into mapped files: where the process runs a copy of the code, none fires. */
static bool is_moved(const struct examination *x, const struct proc_file *f,
		     const struct sdt_probe *p)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].off && !proc_has_mapped(x->proc, f, p->sites[i].off, false))
			return true;
	return false;
}

/** @p, one of @n_such in this file, cannot be attached to. */
static void report_unattachable(const struct examination *x, const struct img *img,
				const struct sdt_probe *p, struct str why, size_t n_such)
{
	const char *remedy = dialect_has_libbpf_usdt(x->version) && attachable_has_name(p, 23)
				 ? "use bpftrace 0.23"
				 : NULL;
	const char *others = arena_printf(x->out->arena, "%zu USDT probes of " STR_FMT ", such as ",
					  n_such, STR_ARG(img->display_path));
	finding_add(x->out, FINDING_WARNING, "probe", remedy,
		    "bpftrace " DIALECT_FMT " cannot attach to %s" STR_FMT ":" STR_FMT
		    ", because " STR_FMT,
		    DIALECT_ARG(x->version), n_such > 1 ? others : "", STR_ARG(p->provider),
		    STR_ARG(p->name), STR_ARG(why));
}

static void examine_probes(const struct examination *x, struct img *img, const struct proc_file *f,
			   const struct sdt_list *probes)
{
	enum { MOST = 3 }; // that are told of one by one
	unsigned most = dialect_max_usdt(x->version);
	size_t n_good = 0, n_moved = 0;
	struct str *why = arena_array(x->out->arena, struct str, probes->n_probes);
	for (size_t i = 0; i < probes->n_probes && x->version; i++) {
		why[i] = attachable_why_not(x->out->arena, img, &probes->probes[i], x->version);
		n_good += !why[i].n;
	}
	size_t n_bad = probes->n_probes - n_good;
	for (size_t i = 0; i < probes->n_probes; i++) {
		if (!why[i].n)
			continue;
		report_unattachable(x, img, &probes->probes[i], why[i], n_bad > MOST ? n_bad : 1);
		if (n_bad > MOST)
			break;
	}
	if (x->version)
		finding_add(x->out, FINDING_OK, "probes", NULL,
			    "bpftrace " DIALECT_FMT
			    " can attach to %zu of %zu USDT probes of " STR_FMT "%s",
			    DIALECT_ARG(x->version), n_good, probes->n_probes,
			    STR_ARG(img->display_path),
			    n_good > most ? arena_printf(x->out->arena, ", %u at once", most) : "");
	else
		finding_add(x->out, FINDING_OK, "probes", NULL, STR_FMT " has %zu USDT probes",
			    STR_ARG(img->display_path), probes->n_probes);
	for (size_t i = 0; i < probes->n_probes; i++)
		n_moved += is_moved(x, f, &probes->probes[i]);
	if (n_moved)
		finding_add(x->out, FINDING_WARNING, "moved",
			    "look for a program option that keeps its code off large pages",
			    "%zu USDT probes of " STR_FMT
			    " have sites that cannot fire, because the process "
			    "has moved their code out of the file",
			    n_moved, STR_ARG(img->display_path));
}

static void examine_file(struct examination *x, const struct proc_file *f)
{
	bool is_exe = f == x->proc->files.v;
	struct img *img = proc_open_image(x->out->arena, x->diag, x->proc, f);
	struct sdt_list probes;
	if (!img)
		return;
	if (is_exe && !img->is64)
		finding_add(x->out, FINDING_ERROR, "class", "build it for 64 bits",
			    STR_FMT " is a 32-bit program, which is not supported: %s",
			    STR_ARG(img->display_path), IMG_WHY_NOT_32BIT);
	if (sdt_read(img, &probes) && (is_exe || probes.n_probes)) {
		x->n_probes += probes.n_probes;
		if (proc_has_successor(x->proc, f))
			finding_add(x->out, FINDING_WARNING, "replaced",
				    "restart the process to trace the new one",
				    STR_FMT " was replaced after the process had started",
				    STR_ARG(f->path));
		if (probes.n_probes)
			examine_probes(x, img, f, &probes);
		if (!is_runtime(&probes))
			examine_debuginfo(x, img, f);
	}
	img_close(img);
}

static void examine_files(struct examination *x)
{
	vec_each(const struct proc_file, f, &x->proc->files) {
		if (!f->open_path.n)
			finding_add(x->out, FINDING_WARNING, "file", NULL,
				    STR_FMT " of the process cannot be opened", STR_ARG(f->path));
		else
			examine_file(x, f);
	}
	if (!x->n_probes)
		finding_add(x->out, FINDING_WARNING, "probes",
			    "trace its functions, as in uprobe:__EXE__:main",
			    "no file of the process has USDT probes");
}

/** What was wrong with the process or its files, as findings; of a hostile file not all. */
static void add_messages(struct findings *f, const struct diag_log *log)
{
	for (size_t i = 0; i < log->messages.n && i < 2 * DIAG_MAX_ERRORS; i++) {
		const struct diag_message *m = &log->messages.v[i];
		if (m->level != DIAG_NOTE)
			finding_add(f, m->level == DIAG_ERROR ? FINDING_ERROR : FINDING_WARNING,
				    "file", NULL, STR_FMT "%s" STR_FMT, STR_ARG(m->at.file),
				    m->at.file.n ? ": " : "", STR_ARG(m->text));
	}
}

void process_examine(struct findings *f, const char *procfs, int pid, unsigned version)
{
	struct diag_log log = {.arena = f->arena};
	struct diag diag = {.log = &log};
	struct proc *p;
	if (proc_open(f->arena, &diag, procfs, pid, &p)) {
		struct examination x = {.out = f, .diag = &diag, .proc = p, .version = version};
		examine_place(&x);
		examine_files(&x);
		proc_close(p);
	}
	add_messages(f, &log);
}
