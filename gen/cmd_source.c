#include "cmd_source.h"

#include <string.h>

void cmd_source_init(struct cmd_source *s)
{
	*s = (struct cmd_source){0};
	arena_init(&s->arena);
	diag_init(&s->diag, stderr);
	lookup_init(&s->lookup, &s->arena, &s->diag);
}

bool cmd_source_is_empty(const struct cmd_source *s)
{
	return !s->files.n && !s->pids.n && !s->btf;
}

static bool add_image(struct cmd_source *s, const char *path, struct str shown, struct img **ret)
{
	if (!img_open(&s->arena, &s->diag, path, shown, ret))
		return false;
	lookup_add_image(&s->lookup, *ret);
	return true;
}

/** The executable must be readable; a library that is not costs only its own types. */
static bool add_process(struct cmd_source *s, int pid)
{
	if (!proc_open(&s->arena, &s->diag, "/proc", pid, &s->proc))
		return false;
	struct str root = str_from(arena_printf(&s->arena, "/proc/%d/root", pid));
	for (size_t i = 0; i < s->proc->files.n; i++) {
		const struct proc_file *f = &s->proc->files.v[i];
		struct img *img;
		if (!f->open_path.n) {
			if (i == 0)
				return diag_error(&s->diag, NULL,
						  "the executable of process %d, " STR_FMT
						  ", cannot be reached",
						  pid, STR_ARG(f->path));
			continue;
		}
		if (!add_image(s, str_dup(&s->arena, f->open_path), f->path, &img))
			return false;
		if (f->root_path.n && !f->host_path.n)
			img_set_root(img, root, f->path);
	}
	return true;
}

static bool add_btf(struct cmd_source *s, const char *name)
{
	static const char folder[] = "/sys/kernel/btf";
	if (strchr(name, '/'))
		return kbtf_open(&s->arena, &s->diag, name, &s->kernel);
	const char *vmlinux = arena_printf(&s->arena, "%s/vmlinux", folder);
	if (strcmp(name, "vmlinux") == 0)
		return kbtf_open(&s->arena, &s->diag, vmlinux, &s->kernel);
	struct str word = str_from(name);
	if (str_contains(word, STR(".")))
		return kbtf_open(&s->arena, &s->diag, name, &s->kernel); // a file in this folder
	const char *module = arena_printf(&s->arena, "%s/%s", folder, name);
	return kbtf_open(&s->arena, &s->diag, vmlinux, &s->kernel) &&
	       kbtf_open_split(s->kernel, module, &s->module);
}

bool cmd_source_open(struct cmd_source *s)
{
	struct img *img;
	for (size_t i = 0; i < s->files.n; i++)
		if (!add_image(s, s->files.v[i], str_from(s->files.v[i]), &img))
			return false;
	for (size_t i = 0; i < s->pids.n; i++)
		if (!add_process(s, s->pids.v[i]))
			return false;
	if (!s->btf)
		return true;
	if (!add_btf(s, s->btf))
		return false;
	lookup_add_btf(&s->lookup, s->module ? s->module : s->kernel);
	return true;
}

void cmd_source_fini(struct cmd_source *s)
{
	kbtf_close(s->module);
	kbtf_close(s->kernel);
	for (size_t i = s->lookup.images.n; i-- > 0;)
		img_close(s->lookup.images.v[i]);
	if (s->proc)
		proc_close(s->proc);
	arena_fini(&s->arena);
}
