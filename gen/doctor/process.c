// What bpftrace can attach to in one process, probe by probe, and what is known of its files.
#include "doctor/facts.h"

#include "dialect/dialect.h"
#include "elf/debugfile.h"
#include "probe/attachable.h"

struct examination {
	struct arena *arena;
	struct json *out;
	struct diag *diag;
	const struct proc *proc;
	unsigned version; /**< of bpftrace; 0: there is none */
};

static void add_place(const struct examination *x)
{
	const struct proc *p = x->proc;
	struct str ours = proc_namespace(x->arena, p->procfs, 0, "mnt");
	struct str its = proc_namespace(x->arena, p->procfs, p->pid, "mnt");
	json_bytes(x->out, "path", p->files.v[0].path);
	json_printf(x->out, "own_pid", "%d", p->ns_pid);
	json_bool(x->out, "has_own_mounts", ours.n && its.n && !str_eq(ours, its));
}

/** Where its debug information is. */
static void add_debuginfo(const struct examination *x, struct img *img)
{
	struct img *found;
	struct img_section btf;
	img->offline = true;
	json_open(x->out, "debuginfo", '{');
	bool has = img_debugfile(img, &found);
	json_bytes(x->out, "path", has ? found->display_path : STR(""));
	json_bool(x->out, "is_own", has && found == img);
	json_bool(x->out, "has_btf", img_find_header(img, ".BTF", &btf));
	json_close(x->out, '}');
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

/** How many there are, and those that cannot be attached to. */
static void add_probes(const struct examination *x, struct img *img, const struct proc_file *f,
		       const struct sdt_list *probes)
{
	size_t n_moved = 0;
	json_printf(x->out, "probes", "%zu", probes->n_probes);
	json_open(x->out, "unattachable", '[');
	list_each(const struct sdt_probe, p, probes->probes, probes->n_probes) {
		struct str why =
		    x->version ? attachable_why_not(x->arena, img, p, x->version) : STR("");
		n_moved += is_moved(x, f, p);
		if (!why.n)
			continue;
		json_open(x->out, NULL, '{');
		json_bytes(x->out, "name",
			   str_printf(x->arena, STR_FMT ":" STR_FMT, STR_ARG(p->provider),
				      STR_ARG(p->name)));
		json_bytes(x->out, "why", why);
		json_bool(x->out, "is_for_older",
			  dialect_has_libbpf_usdt(x->version) && attachable_has_name(p, 23));
		json_close(x->out, '}');
	}
	json_close(x->out, ']');
	json_printf(x->out, "moved", "%zu", n_moved);
}

static void add_file(struct examination *x, const struct proc_file *f)
{
	static const char *const runtimes[] = {"libc",	    "libm",   "rtld", "libpthread",
					       "libstdcxx", "libgcc", NULL};
	bool is_exe = f == x->proc->files.v;
	struct sdt_list probes;
	struct img *img = f->open_path.n ? proc_open_image(x->arena, x->diag, x->proc, f) : NULL;
	if (f->open_path.n && !img)
		return;
	bool is_read = img && sdt_read(img, &probes) && (is_exe || probes.n_probes);
	json_open_line(x->out, "");
	json_bytes(x->out, "path", f->path);
	json_bool(x->out, "is_open", img != NULL);
	if (is_exe && img && !img->is64)
		json_str(x->out, "is_32bit", STR(IMG_WHY_NOT_32BIT));
	if (is_read) {
		json_bytes(x->out, "shown", img->display_path);
		json_bool(x->out, "is_replaced", proc_has_successor(x->proc, f));
		add_probes(x, img, f, &probes);
		// Most processes have mapped these, whose probes have the same names everywhere.
		if (!probes.n_probes || !str_is_any(probes.probes[0].provider, runtimes))
			add_debuginfo(x, img);
	}
	json_close(x->out, '}');
	img_close(img);
}

/** What was wrong with the process or its files; of a hostile file not all. */
static void add_messages(struct json *j, const struct diag_log *log)
{
	json_open(j, "messages", '[');
	for (size_t i = 0; i < log->messages.n && i < 2 * DIAG_MAX_ERRORS; i++) {
		const struct diag_message *m = &log->messages.v[i];
		if (m->level == DIAG_NOTE)
			continue;
		json_open(j, NULL, '{');
		json_bool(j, "is_error", m->level == DIAG_ERROR);
		json_bytes(j, "file", m->at.file);
		json_bytes(j, "text", m->text);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void facts_add_process(struct arena *a, struct json *j, const char *procfs, int pid,
		       unsigned version)
{
	struct diag_log log = {.arena = a};
	struct diag diag = {.log = &log};
	struct proc *p;
	json_open(j, "process", '{');
	json_printf(j, "pid", "%d", pid);
	if (proc_open(a, &diag, procfs, pid, &p)) {
		struct examination x = {a, j, &diag, p, version};
		add_place(&x);
		json_open(j, "files", '[');
		vec_each(const struct proc_file, f, &p->files)
			add_file(&x, f);
		json_close(j, ']');
		proc_close(p);
	}
	add_messages(j, &log);
	json_close(j, '}');
}
