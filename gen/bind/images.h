/**
 * images - the ELF files that names in a template can refer to.
 *
 * Either the files that a process has mapped (the executable first), or one file that the user named.
 * A file is opened when it is first asked for, and its probes are read once.
 */
#ifndef BIND_IMAGES_H
#define BIND_IMAGES_H

#include "elf/img.h"
#include "probe/sdt.h"
#include "target/proc.h"

struct image {
	const struct proc_file
	    *mapped;	 /**< of images' process; NULL for a file named by its path */
	struct str path; /**< for messages */
	struct str open_path;
	struct img *img; /**< NULL until image_open() */
	struct sdt_list probes;
	bool tried, have_probes;
};

struct probesigs;

struct images {
	struct arena *arena;
	struct diag *diag;
	struct proc *proc;		    /**< NULL when there is no process */
	const struct probesigs *signatures; /**< for files that say nothing themselves, or NULL */
	VEC(struct image) files;
};

/** The files of @proc. */
void images_of_proc(struct arena *a, struct diag *d, struct proc *proc, struct images *ret);
/** The file @path alone; false, with an error, when it is no ELF file. */
bool images_of_file(struct arena *a, struct diag *d, const char *path, struct images *ret);
void images_close(struct images *s);

/** The ELF image, or NULL when it cannot be read (said once, as a warning for a library). */
struct img *image_open(struct images *s, struct image *im);
/** Opens a file of @proc by itself, for the caller to close; NULL with an error when it cannot be read. */
struct img *image_open_mapped(struct arena *a, struct diag *d, const struct proc *proc,
			      const struct proc_file *f);
/** Its probes; empty when there are none or they cannot be read. */
const struct sdt_list *image_probes(struct images *s, struct image *im);

#endif
