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
	struct img *img;
	if (!img_open(s->arena, s->diag, str_dup(s->arena, im->open_path), im->path, &img))
		return NULL;
	im->img = img;
	img->signatures = s->signatures;
	// Debug files of a process that lives in another file system are looked for there.
	const struct proc_file *f = im->mapped;
	if (f && s->proc && !f->host_path.n) {
		struct str root = str_from(arena_printf(s->arena, STR_FMT "/%d/root",
							STR_ARG(s->proc->procfs), s->proc->pid));
		img_set_root(img, root, f->path);
	}
	return im->img;
}

const struct sdt_list *image_probes(struct images *s, struct image *im)
{
	if (!im->have_probes && image_open(s, im))
		sdt_read(im->img, &im->probes);
	im->have_probes = true;
	return &im->probes;
}
