#include "cmd/cmd_source.h"

int cmd_source_set_pid(void *source, const char *value)
{
	struct cmd_source *s = source;
	int pid;
	if (!cmd_parse_pid(value, &pid))
		return cmd_usage_error("-p: '%s' is not a process ID", value);
	vec_push(s->arena, &s->pids, pid);
	return -1;
}

static void add_image(struct cmd_source *s, struct img *img)
{
	struct binary b;
	binary_init(&b, img);
	vec_push(s->arena, &s->binaries, b);
}

/** The executable must be readable; a library that is not costs only its own types. */
static bool add_process(struct cmd_source *s, int pid)
{
	if (!proc_open(s->arena, s->diag, PROCFS, pid, &s->proc))
		return false;
	vec_each(const struct proc_file, f, &s->proc->files) {
		if (!f->open_path.n && f == s->proc->files.v)
			return diag_error(s->diag, NULL,
					  "the executable of process %d, " STR_FMT
					  ", cannot be reached",
					  pid, STR_ARG(f->path));
		if (!f->open_path.n)
			continue;
		struct img *img = proc_open_image(s->arena, s->diag, s->proc, f);
		if (img)
			add_image(s, img);
		else if (f == s->proc->files.v)
			return false;
	}
	return true;
}

static bool add_btf(struct cmd_source *s, const char *name)
{
	static const char directory[] = "/sys/kernel/btf";
	if (strpbrk(name, "/.")) // a file
		return kbtf_open(s->arena, s->diag, name, &s->kernel);
	const char *vmlinux = arena_printf(s->arena, "%s/vmlinux", directory);
	if (strcmp(name, "vmlinux") == 0)
		return kbtf_open(s->arena, s->diag, vmlinux, &s->kernel);
	const char *module = arena_printf(s->arena, "%s/%s", directory, name);
	return kbtf_open(s->arena, s->diag, vmlinux, &s->kernel) &&
	       kbtf_open_split(s->kernel, module, &s->module);
}

bool cmd_source_open(struct cmd_source *s)
{
	struct img *img;
	for (size_t i = 0; i < s->files.n; i++) {
		const char *path = s->files.v[i];
		if (!img_open(s->arena, s->diag, path, str_from(path), &img))
			return false;
		add_image(s, img);
	}
	for (size_t i = 0; i < s->pids.n; i++)
		if (!add_process(s, s->pids.v[i]))
			return false;
	if (s->binaries.n)
		lookup_add(&s->lookup, &s->images.source);
	vec_each(struct binary, b, &s->binaries)
		binary_add_sources(b, &s->images, &s->lookup);
	if (!s->btf)
		return true;
	if (!add_btf(s, s->btf))
		return false;
	lookup_add(&s->lookup, kbtf_source(s->module ? s->module : s->kernel));
	return true;
}

void cmd_source_close(struct cmd_source *s)
{
	kbtf_close(s->module);
	kbtf_close(s->kernel);
	vec_each(struct binary, b, &s->binaries)
		binary_close(b);
	if (s->proc)
		proc_close(s->proc);
}

int cmd_source_read(struct cmd_source *s, const struct cmd_options *o, const char *what, int argc,
		    char **argv)
{
	lookup_init(&s->lookup, s->arena, s->diag);
	dwtypes_init(&s->images, s->arena, s->diag);
	int status = cmd_read_options(o, s->arena, argc, argv, s);
	if (status < 0 && !s->files.n && !s->pids.n && !s->btf)
		return cmd_usage_error("give a source of %s: -p PID, -x FILE or --btf FILE", what);
	if (status < 0 && s->pids.n > 1)
		return cmd_usage_error("-p: one process at a time");
	return status;
}
