#include "bind/targetfile.h"

#include "elf/imgsym.h"

void targetfiles_of_proc(struct arena *a, struct diag *d, struct proc *proc,
			 struct targetfiles *ret)
{
	*ret = (struct targetfiles){.arena = a, .diag = d, .proc = proc};
	vec_each(const struct proc_file, f, &proc->files)
		vec_push(
		    a, &ret->list,
		    (struct targetfile){.mapped = f, .path = f->path, .open_path = f->open_path});
}

bool targetfiles_of_file(struct arena *a, struct diag *d, const char *path, struct targetfiles *ret)
{
	*ret = (struct targetfiles){.arena = a, .diag = d};
	char *real = realpath(path, NULL);
	struct str full = str_from(arena_strdup(a, real ? real : path));
	free(real);
	vec_push(a, &ret->list, (struct targetfile){.path = full, .open_path = full});
	return targetfile_open(ret, &ret->list.v[0]) != NULL;
}

void targetfiles_add_named(struct targetfiles *s, struct str path)
{
	struct diag *silent = arena_new(s->arena, struct diag); // bpftrace will complain of it
	path = str_copy(s->arena, path);			// which outlives the script
	struct targetfile tf = {.path = path, .open_path = path, .is_named = true, .tried = true};
	struct img *img;
	if (!img_open(s->arena, silent, str_dup(s->arena, path), path, &img))
		return;
	img->diag = s->diag;
	binary_init(&tf.bin, img);
	vec_push(s->arena, &s->list, tf);
}

void targetfiles_close(struct targetfiles *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		binary_close(&s->list.v[i].bin);
}

void targetfiles_note_skips(struct targetfiles *s)
{
	enum { SHOWN = 3 };
	struct map seen = {0};
	struct str names = STR("");
	size_t n = 0;
	vec_each(const struct targetfile, tf, &s->list) {
		if (!tf->is_no_elf || !map_add(s->arena, &seen, tf->mapped->mapped_as))
			continue;
		if (n++ < SHOWN)
			names = str_printf(s->arena, STR_FMT "%s" STR_FMT, STR_ARG(names),
					   n > 1 ? ", " : "", STR_ARG(tf->mapped->mapped_as));
	}
	if (!n || s->skips_noted)
		return;
	s->skips_noted = true;
	diag_note(s->diag, NULL, "not searched: " STR_FMT "%s (mapped by the process, but not ELF)",
		  STR_ARG(names),
		  n > SHOWN ? arena_printf(s->arena, " and %zu more", n - SHOWN) : "");
}

struct img *targetfile_open(struct targetfiles *s, struct targetfile *tf)
{
	if (tf->tried)
		return tf->bin.img;
	tf->tried = true;
	if (!tf->open_path.n) {
		diag_warning(s->diag, NULL, STR_FMT ": mapped by the process, but cannot be opened",
			     STR_ARG(tf->path));
		return NULL;
	}
	struct img *img = NULL;
	if (tf->mapped)
		img = proc_open_image(s->arena, s->diag, s->proc, tf->mapped);
	else
		img_open(s->arena, s->diag, str_dup(s->arena, tf->open_path), tf->path, &img);
	if (img)
		binary_init(&tf->bin, img);
	else
		tf->is_no_elf = tf->mapped && !img_is_elf(str_dup(s->arena, tf->open_path));
	return img;
}

struct targetfile *targetfile_with(struct targetfiles *s, struct str name,
				   struct targetfile *before, uint64_t *addr)
{
	struct targetfile *tf = before ? before + 1 : s->list.v;
	for (; tf < s->list.v + s->list.n; tf++)
		if (targetfile_open(s, tf) && img_find_function(tf->bin.img, name, addr))
			return tf;
	return NULL;
}

const struct sdt_list *targetfile_probes(struct targetfiles *s, struct targetfile *tf)
{
	if (!tf->have_probes && targetfile_open(s, tf))
		sdt_read(tf->bin.img, &tf->probes);
	tf->have_probes = true;
	return &tf->probes;
}
