#include "process/mapped.h"

struct img *mapped_open(struct arena *a, struct diag *d, const struct proc *proc,
			const struct proc_file *f)
{
	struct img *img;
	if (!img_open(a, d, str_dup(a, f->open_path), str_copy(a, f->path), &img))
		return NULL;
	if (!f->host_path.n)
		img_set_root(img, proc->root, f->path);
	return img;
}
