#include "bind/images.h"

#include <stdlib.h>
#include <string.h>

void images_of_proc(struct arena *a, struct diag *d, struct proc *proc, struct images *ret)
{
	*ret = (struct images){.arena = a, .diag = d, .proc = proc};
	for (size_t i = 0; i < proc->files.n; i++) {
		const struct proc_file *f = &proc->files.v[i];
		vec_push(a, &ret->files,
			 (struct image){.mapped = f, .path = f->path, .open_path = f->open_path});
	}
}

bool images_of_file(struct arena *a, struct diag *d, const char *path, struct images *ret)
{
	*ret = (struct images){.arena = a, .diag = d};
	char *real = realpath(path, NULL);
	struct str full = str_from(arena_strdup(a, real ? real : path));
	free(real);
	vec_push(a, &ret->files, (struct image){.path = full, .open_path = full});
	return image_open(ret, &ret->files.v[0]) != NULL;
}

void images_close(struct images *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		img_close(s->files.v[i].img);
		s->files.v[i].img = NULL;
	}
}

struct img *image_open_mapped(struct arena *a, struct diag *d, const struct proc *proc,
			      const struct proc_file *f)
{
	struct img *img;
	if (!img_open(a, d, str_dup(a, f->open_path), str_copy(a, f->path), &img))
		return NULL;
	// Debug files of a process that lives in another file system are looked for there.
	if (!f->host_path.n)
		img_set_root(img,
			     str_printf(a, STR_FMT "/%d/root", STR_ARG(proc->procfs), proc->pid),
			     f->path);
	return img;
}

struct img *image_open(struct images *s, struct image *im)
{
	if (im->tried)
		return im->img;
	im->tried = true;
	if (!im->open_path.n) {
		diag_warning(s->diag, NULL, STR_FMT ": mapped by the process, but cannot be opened",
			     STR_ARG(im->path));
		return NULL;
	}
	if (im->mapped)
		im->img = image_open_mapped(s->arena, s->diag, s->proc, im->mapped);
	else if (!img_open(s->arena, s->diag, str_dup(s->arena, im->open_path), im->path, &im->img))
		im->img = NULL;
	if (im->img)
		im->img->signatures = s->signatures;
	return im->img;
}

const struct sdt_list *image_probes(struct images *s, struct image *im)
{
	if (!im->have_probes && image_open(s, im))
		sdt_read(im->img, &im->probes);
	im->have_probes = true;
	return &im->probes;
}
