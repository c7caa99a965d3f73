/**
 * proc - the process to be traced: its executable, the ELF files it has mapped, and its identity.
 *
 * A PID is only a number: it can be given to another process while we work. proc_open() pins the process
 * with a pidfd and its start time, and proc_is_same() checks later whether it is still the same one.
 *
 * Everything is read below a `/proc` that the caller names, so that tests can bring their own.
 * Paths in it are bytes from a stranger. Files are compared by device and inode with what is really
 * mapped: a name that now leads to another file (an upgrade, another mount namespace) is never
 * opened in its place.
 *
 *	struct proc *p;
 *	if (proc_open(&arena, &diag, PROCFS, pid, &p))
 *		for (size_t i = 0; i < p->files.n; i++) use(p->files.v[i].open_path);
 *	proc_close(p);
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "elf/img.h"

/** The kernel's. Whatever is read of it is read here. */
#define PROCFS "/proc"

/** The PID namespace that the kernel boots in, PROC_PID_INIT_INO of include/linux/proc_ns.h. */
#define PROC_FIRST_PID_NAMESPACE "pid:[4026531836]"

/** A piece of a file in its memory; of what is mapped so that all see what is written, none. */
struct proc_mapping {
	struct str path; /**< as the kernel has it, with a " (deleted)" */
	uint64_t start, end, offset;
	bool is_code;	  /**< executable */
	bool is_data;	  /**< writable */
	bool is_constant; /**< readable, not writable */
};

struct proc_file {
	struct str mapped_as; /**< the path of its struct proc_mapping */
	struct str path;      /**< as the kernel names it, without " (deleted)"; raw bytes */
	struct str open_path; /**< a path by which we reach this very file; empty: not reachable */
	struct str host_path; /**< in our own namespace; empty: another file or none */
	struct str root_path; /**< below /proc/PID/root; empty: another file or none */
	uint64_t start, end;  /**< its first executable mapping */
	uint64_t offset;      /**< file offset of that mapping */
	dev_t dev;	      /**< of the mapped file, when known (have_id) */
	ino_t ino;
	bool have_id;
	bool has_moved_code; /**< some code is memory of no file: no probe fires there */
	bool is_twice;	     /**< its code is at two addresses, as dlmopen() maps it */
	bool is_deleted;     /**< removed or replaced on disk: no name leads to it */
};

/** A process by its number, which may be another's later, and when it was started. */
struct proc_id {
	int pid;
	uint64_t start_time; /**< proc_start_time() */
};

struct proc {
	struct arena *arena;
	struct diag *diag;
	const char *procfs; /**< "/proc" */
	struct str root;    /**< how we reach its root directory */
	int pid;
	int ns_pid;	     /**< its PID in its own PID namespace */
	int pidfd;	     /**< -1 where the kernel has none, or under a test's /proc */
	uint64_t start_time; /**< clock ticks after boot, /proc/PID/stat field 22 */
	struct str comm;
	VEC(struct proc_file) files; /**< the executable first, then libraries by address */
	VEC(struct proc_mapping) mappings;
};

/**
 * Looks @pid up below @procfs. Refused with an error: no such process, a thread's id, a kernel
 * thread, a zombie, no permission; all of them where the kernel's /proc is that of another PID
 * namespace.
 */
bool proc_open(struct arena *a, struct diag *d, const char *procfs, int pid, struct proc **ret);
void proc_close(struct proc *p);
/**
 * Is the byte at @offset of @f where the kernel can put a probe (executable), or raise its
 * semaphore (@is_data: writable)? When the process was opened; true where that is not known.
 */
bool proc_has_mapped(const struct proc *p, const struct proc_file *f, uint64_t offset,
		     bool is_data);
/** Another file has @f's path now, where the process sees it. */
bool proc_has_successor(const struct proc *p, const struct proc_file *f);
/**
 * What the process runs, for messages: the executable's name. A program may call its main thread,
 * and so comm, anything.
 */
struct str proc_name(const struct proc *p);
/** False when the process has ended (a zombie has) or its PID belongs to another one. No message. */
bool proc_is_same(const struct proc *p);
/** Its PID is another process's now. No message. */
bool proc_is_replaced(const struct proc *p);
/** False when the process has called exec() since: its probes are no longer those that were looked up. */
bool proc_runs_same_file(const struct proc *p);

/** Opens a file or directory of process @pid for reading; -1 with errno set. */
int proc_open_file(const char *procfs, int pid, const char *name);
/** A whole file of it, in @a; false with errno set, and empty, when it cannot be read. */
bool proc_read(struct arena *a, const char *procfs, int pid, const char *name, struct str *ret);

/** A file that is of no process, or of this one, trimmed: "sys/kernel/osrelease", "self/status". Empty when it cannot be read. */
struct str proc_text(struct arena *a, const char *procfs, const char *name);
/** The value of @key, such as "Tgid:", in the text of a `status` file; empty: no such line. */
struct str proc_status_value(struct str status, struct str key);
/**
 * The namespace of @kind ("mnt", "pid") that @pid is in, 0: this process; equal names are one
 * namespace. In @a; empty when it may not be known.
 */
struct str proc_namespace(struct arena *a, const char *procfs, int pid, const char *kind);

/** Its PID in its own PID namespace; @pid where that is not known. */
int proc_ns_pid(struct arena *a, const char *procfs, int pid);
/** Whose it is, its real uid, and of its files: as the line "Uid:" of its status has them. */
enum proc_uid { PROC_UID_REAL = 0, PROC_UID_FILES = 3 };
/** (uid_t)-1 when it is gone. */
uid_t proc_uid(struct arena *a, const char *procfs, int pid, enum proc_uid which);
/** The PID of its parent; -1 when it is gone. */
int proc_parent(struct arena *a, const char *procfs, int pid);
/** All PIDs, in @a; their number in *@n. */
int *proc_list(struct arena *a, const char *procfs, size_t *n);
/** Is there a process @pid? */
bool proc_exists(const char *procfs, int pid);
/** When it was started, in clock ticks after boot; 0: it is gone. */
uint64_t proc_start_time(const char *procfs, int pid);
/** Where the code of its executable begins, the kernel's mm->start_code; 0: not known. */
uint64_t proc_start_code(const struct proc *p);
/**
 * A descriptor that becomes readable when the process ends; -1: with errno ESRCH it has ended, else there
 * is none.
 */
int proc_watch(const char *procfs, const struct proc_id *id);
/** What the kernel calls the executable of process @pid, in @a; empty when it cannot be read. */
struct str proc_exe(struct arena *a, const char *procfs, int pid);
/** The path of this process's own executable, in @a; empty when it cannot be read. */
struct str proc_own_exe(struct arena *a);
/** The first of the directories @names, each given from the one above that of this executable: "bpf", "share/btgen/bpf"; or NULL. */
const char *proc_find_beside(struct arena *a, const char *const *names, size_t n);

/** Do both processes run the same executable file? False when one of them is gone or may not be looked at. */
bool proc_same_exe(const char *procfs, int pid, int other);
/** Moves those of @pids to the front that run the same file as the first, and returns how many they are. */
size_t proc_same_exe_first(const char *procfs, int *pids, size_t n);
/** The name of its executable, without its directory, in @a; empty when it cannot be read. */
struct str proc_exe_name(struct arena *a, const char *procfs, int pid);
/** The executable file of process @pid; false when it is gone or may not be looked at. */
bool proc_exe_stat(const char *procfs, int pid, struct stat *ret);
/**
 * May a process run or have mapped the file @st, whose path is @path? Also one that has a file of this name that was
 * removed, or an inode of this number.
 */
bool proc_file_is_used(const char *procfs, const struct stat *st, struct str path);
/** The processes, @n, in this root directory that run or have mapped a file that was removed or replaced at @path. */
int *proc_list_replaced(struct arena *a, const char *procfs, struct str path, size_t *n);
/** How many children of the process run the same executable file. */
unsigned proc_count_children(const struct proc *p);
/**
 * Moves those of @pids to the front that are no children of another of them which runs the same
 * file, and returns how many they are: 1 when all but one are the children of that one.
 */
size_t proc_parents_first(const char *procfs, int *pids, size_t n);
/** The program with the name nearest to @name that runs, as *@pid; empty: none is near. */
struct str proc_nearest(struct arena *a, const char *procfs, const char *name, int *pid);
/**
 * The processes whose executable has this name or, if there are none, whose main thread has it (which is called after
 * the link that was run, or as the program likes), in @a; their number in *@n. This process is none of them.
 */
int *proc_find_named(struct arena *a, const char *procfs, const char *name, size_t *n);
/**
 * Opens @f of @p, for the caller to close; NULL when it cannot be read: with an error for the executable, a
 * warning for another ELF file. What begins as no ELF file does (shared memory, a memfd, PE) is NULL without a
 * message. Debug files of a process that lives in another file system are looked for there.
 */
struct img *proc_open_image(struct arena *a, struct diag *d, const struct proc *p,
			    const struct proc_file *f);
