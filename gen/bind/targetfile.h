/**
 * targetfile - the ELF files that names in a template can refer to.
 *
 * Either the files that a process has mapped (the executable first), or one file that the user
 * named; and those that attach points of the script name by their paths. A file is opened when it is
 * first asked for, and its probes are read once.
 */
#pragma once

#include "probe/binary.h"
#include "usdt/skipped.h"
#include "process/proc.h"

struct targetfile {
	const struct proc_file *mapped; /**< of the process; NULL for a file known by its path */
	struct str path;		/**< for messages */
	struct str open_path;
	struct binary bin; /**< not open until targetfile_open() */
	struct sdt_list probes;
	bool is_named;	/**< by the script: the process has not mapped it, yet */
	bool is_no_elf; /**< nor has it probes: found when it was to be opened */
	bool tried, have_probes;
};

struct probesigs;

struct targetfiles {
	struct arena *arena;
	struct diag *diag;
	struct proc *proc;	      /**< NULL when there is no process */
	struct probesigs *signatures; /**< for files that say nothing themselves, or NULL */
	VEC(struct targetfile) list;
	struct skipped skipped; /**< what a script or -t asks for and does not get */
	unsigned n_missing;	/**< errors about probes or functions that none of them has */
	bool skips_noted;	/**< targetfiles_note_skips() has been called */
};

/** The files of @proc. */
void targetfiles_of_proc(struct arena *a, struct diag *d, struct proc *proc,
			 struct targetfiles *ret);
/** The file @path alone; false, with an error, when it is no ELF file. */
bool targetfiles_of_file(struct arena *a, struct diag *d, const char *path,
			 struct targetfiles *ret);
/** Adds the file @path, which the process may load later; nothing where it is no ELF file. */
void targetfiles_add_named(struct targetfiles *s, struct str path);
void targetfiles_close(struct targetfiles *s);
/** A note that names the mapped files which were asked for a name and are no ELF files; once. */
void targetfiles_note_skips(struct targetfiles *s);

/** The file opened, or NULL when it cannot be read (reported once, as a warning for a library). */
struct img *targetfile_open(struct targetfiles *s, struct targetfile *tf);
/** The first file after @before (NULL: of all) that has a function called @name, at *@addr; NULL: none. */
struct targetfile *targetfile_with(struct targetfiles *s, struct str name,
				   struct targetfile *before, uint64_t *addr);
/** Its probes; empty when there are none or they cannot be read. */
const struct sdt_list *targetfile_probes(struct targetfiles *s, struct targetfile *tf);
