#include "process/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include "base/file.h"

#define PF_KTHREAD 0x00200000 // include/linux/sched.h; part of /proc/PID/stat field 9

/** /proc/PID/stat (proc_pid_stat(5)). */
struct stat_line {
	char state;
	int parent;
	unsigned flags;
	uint64_t start_time;
	uint64_t start_code; // 0: not known
};

static char *path_of(struct arena *a, const char *procfs, int pid, const char *name)
{
	return arena_printf(a, "%s/%d/%s", procfs, pid, name);
}

static char *proc_path(const struct proc *p, const char *name)
{
	return path_of(p->arena, p->procfs, p->pid, name);
}

int proc_open_file(const char *procfs, int pid, const char *name)
{
	struct arena a = {0};
	int fd = open(path_of(&a, procfs, pid, name), O_RDONLY | O_CLOEXEC);
	int err = errno;
	arena_fini(&a);
	errno = err;
	return fd;
}

/** All that can be read of @fd, which is closed; false with errno set. */
static bool read_all(struct arena *a, int fd, struct str *ret)
{
	*ret = STR("");
	if (fd < 0)
		return false;
	struct strbuf b = {0};
	bool good = file_read_rest(fd, SIZE_MAX, &b);
	int err = errno;
	close(fd);
	if (good)
		*ret = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	errno = err;
	return good;
}

bool proc_read(struct arena *a, const char *procfs, int pid, const char *name, struct str *ret)
{
	return read_all(a, proc_open_file(procfs, pid, name), ret);
}

struct str proc_text(struct arena *a, const char *procfs, const char *name)
{
	struct str text;
	read_all(a, open(arena_printf(a, "%s/%s", procfs, name), O_RDONLY | O_CLOEXEC), &text);
	return str_trim(text);
}

/** The link's text, not resolved; false with errno set. */
static bool read_link(struct arena *a, const char *path, struct str *ret)
{
	char text[16384];
	ssize_t n = readlink(path, text, sizeof(text));
	if (n < 0)
		return false;
	*ret = str_copy(a, (struct str){text, (size_t)n});
	return true;
}

struct str proc_namespace(struct arena *a, const char *procfs, int pid, const char *kind)
{
	struct str name;
	const char *who = pid ? arena_printf(a, "%d", pid) : "self";
	return read_link(a, arena_printf(a, "%s/%s/ns/%s", procfs, who, kind), &name) ? name
										      : STR("");
}

struct str proc_exe(struct arena *a, const char *procfs, int pid)
{
	struct str path;
	return read_link(a, path_of(a, procfs, pid, "exe"), &path) ? path : STR("");
}

struct str proc_own_exe(struct arena *a)
{
	struct str path;
	return read_link(a, PROCFS "/self/exe", &path) ? path : STR("");
}

const char *proc_find_beside(struct arena *a, const char *const *names, size_t n)
{
	struct str top = proc_own_exe(a); // without links
	if (!top.n)
		return NULL; // no /proc: the current directory is not ours
	for (unsigned up = 0; up < 2 && top.n; up++)
		do
			top.n--;
		while (top.n && top.p[top.n] != '/');
	for (size_t i = 0; i < n; i++) {
		const char *path = arena_printf(a, STR_FMT "/%s", STR_ARG(top), names[i]);
		if (access(path, R_OK | X_OK) == 0)
			return path;
	}
	return NULL;
}

/** Fields are counted from the last ')': the name before it may contain anything. */
static bool parse_stat(struct str text, struct stat_line *ret)
{
	const char *name_end = text.n ? memrchr(text.p, ')', text.n) : NULL;
	return name_end &&
	       sscanf(name_end + 1,
		      " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		      "%*s %*s %" SCNu64 " %*s %*s %*s %" SCNu64,
		      &ret->state, &ret->parent, &ret->flags, &ret->start_time,
		      &ret->start_code) >= 4;
}

static bool read_stat(struct arena *a, const char *procfs, int pid, struct stat_line *ret)
{
	struct str text;
	*ret = (struct stat_line){0};
	return proc_read(a, procfs, pid, "stat", &text) && parse_stat(text, ret);
}

uint64_t proc_start_time(const char *procfs, int pid)
{
	struct arena a = {0};
	struct stat_line st;
	if (!read_stat(&a, procfs, pid, &st))
		st.start_time = 0;
	arena_fini(&a);
	return st.start_time;
}

uint64_t proc_start_code(const struct proc *p)
{
	struct stat_line st;
	return read_stat(p->arena, p->procfs, p->pid, &st) ? st.start_code : 0;
}

int proc_watch(const char *procfs, const struct proc_id *id)
{
	int fd = (int)syscall(SYS_pidfd_open, id->pid, 0);
	if (fd < 0 || proc_start_time(procfs, id->pid) == id->start_time)
		return fd;
	close(fd); // the number is another's
	errno = ESRCH;
	return -1;
}

bool proc_exists(const char *procfs, int pid)
{
	return proc_start_time(procfs, pid) != 0;
}

struct str proc_status_value(struct str status, struct str key)
{
	while (status.n) {
		struct str line = str_take_line(&status);
		if (str_take(&line, key))
			return str_trim(line);
	}
	return STR("");
}

/** "NSpid:\t42\t1": one for each PID namespace that it is in, ours first. */
static int ns_pid_of(struct str status, int pid)
{
	uint64_t last;
	struct str text = str_last(proc_status_value(status, STR("NSpid:")), '\t');
	return str_to_u64(text, &last) && last < INT32_MAX ? (int)last : pid;
}

int proc_ns_pid(struct arena *a, const char *procfs, int pid)
{
	struct str status;
	proc_read(a, procfs, pid, "status", &status);
	return ns_pid_of(status, pid);
}

uid_t proc_uid(struct arena *a, const char *procfs, int pid, enum proc_uid which)
{
	struct str status;
	uint64_t uid;
	proc_read(a, procfs, pid, "status", &status);
	struct str uids = proc_status_value(status, STR("Uid:")); // with tabs between them
	for (int i = 0; i < (int)which; i++)
		uids = str_from_offset(uids, str_find(uids, '\t') + 1);
	return str_to_u64(str_slice(uids, 0, str_find(uids, '\t')), &uid) ? (uid_t)uid : (uid_t)-1;
}

static bool is_same_file(const char *path, const struct proc_file *f)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == f->dev &&
	       st.st_ino == f->ino;
}

/**
 * The ways to reach file @f. @handle is a link of /proc that leads to the mapped file itself (exe
 * or map_files/A-B). Only root may follow map_files; for others the inode number of the map must
 * do.
 */
static void find_paths(const struct proc *p, struct proc_file *f, const char *handle, ino_t map_ino)
{
	struct stat st;
	struct str plain = f->path;
	f->mapped_as = f->path;
	if (str_has_suffix(plain, STR(" (deleted)")))
		plain.n -= strlen(" (deleted)");
	const char *host = str_dup(p->arena, plain);
	const char *rooted = arena_printf(p->arena, STR_FMT "%s", STR_ARG(p->root), host);

	bool have_handle = stat(handle, &st) == 0 && S_ISREG(st.st_mode);
	if (!have_handle) {
		if (stat(rooted, &st) != 0 && stat(host, &st) != 0)
			return;
		if (!map_ino || st.st_ino != map_ino)
			return;
	}
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->have_id = true;
	if (is_same_file(host, f))
		f->host_path = str_from(host);
	if (is_same_file(rooted, f))
		f->root_path = str_from(rooted);
	f->is_deleted = !f->host_path.n && !f->root_path.n;
	f->path = plain;
	if (have_handle)
		f->open_path = str_from(arena_strdup(p->arena, handle));
	else
		f->open_path = f->root_path.n ? f->root_path : f->host_path;
}

/** A line of /proc/PID/maps (proc_pid_maps(5)): "start-end perms offset dev inode   path". */
struct map_line {
	struct proc_mapping mapping; // its path is empty for memory of no file
	ino_t ino;
	bool is_executable; // mapped so that all see what is written, too
};

static bool parse_map(struct arena *a, struct str line, struct map_line *ret)
{
	struct proc_mapping *m = &ret->mapping;
	uint64_t inode;
	char perms[5];
	int path_at = 0;
	char *z = str_dup(a, line);
	*ret = (struct map_line){0};
	if (sscanf(z, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m->start,
		   &m->end, perms, &m->offset, &inode, &path_at) < 5)
		return false;
	// Memory on reserved large pages (MAP_HUGETLB) has a name like that of a file.
	struct str path = path_at ? str_from(z + path_at) : STR("");
	if (str_has_prefix(path, STR("/")) && !str_has_prefix(path, STR("/anon_hugepage")))
		m->path = path;
	ret->ino = (ino_t)inode;
	ret->is_executable = perms[2] == 'x';
	m->is_code = ret->is_executable && perms[3] == 'p';
	m->is_data = perms[1] == 'w' && perms[3] == 'p';
	m->is_constant = perms[0] == 'r' && perms[1] != 'w' && perms[3] == 'p';
	return true;
}

static void add_mapping(struct proc *p, struct proc_file f)
{
	vec_each(struct proc_file, known, &p->files) {
		bool have_ids = known->have_id && f.have_id;
		if (have_ids ? known->dev != f.dev || known->ino != f.ino
			     : !str_eq(known->mapped_as, f.mapped_as))
			continue;
		if (!known->start) { // the executable, which was listed by its link
			known->start = f.start;
			known->end = f.end;
			known->offset = f.offset;
		}
		known->has_moved_code |= f.has_moved_code;
		known->is_twice |= f.offset == known->offset && f.start != known->start;
		return;
	}
	vec_push(p->arena, &p->files, f);
}

/** @f was found at its mapping @m. */
static void add_file(struct proc *p, struct proc_file f, const struct map_line *m)
{
	f.path = m->mapping.path;
	const char *handle = proc_path(p, arena_printf(p->arena, "map_files/%" PRIx64 "-%" PRIx64,
						       m->mapping.start, m->mapping.end));
	// The kernel writes a newline in a path as \012, and escapes nothing else: ask the link.
	struct str target;
	if (str_contains(f.path, STR("\\012")) && read_link(p->arena, handle, &target))
		f.path = target;
	find_paths(p, &f, handle, m->ino);
	add_mapping(p, f);
}

/**
 * Programs that put their code on large pages copy it to memory of no file, and that to where the
 * code was: executable memory between two mappings of a file, without a gap before it, is the
 * file's code. A library of which all was moved has no other.
 */
struct moved_code {
	struct map_line file; // the last mapping of a file
	uint64_t mapped_to;   // the end of what is mapped from there on without a gap
	uint64_t start, end;  // executable memory of no file in there; 0: none
};

static void find_moved_code(struct proc *p, struct moved_code *c, const struct map_line *line)
{
	const struct proc_mapping *m = &line->mapping, *of = &c->file.mapping;
	if (c->start && m->path.n && str_eq(m->path, of->path))
		add_file(p,
			 (struct proc_file){.start = c->start,
					    .end = c->end,
					    .offset = of->offset + (c->start - of->start),
					    .has_moved_code = true},
			 &c->file);
	if (m->path.n) {
		*c = (struct moved_code){.file = *line, .mapped_to = m->end};
	} else if (m->start == c->mapped_to) {
		c->mapped_to = m->end;
		if (line->is_executable && !c->start) {
			c->start = m->start;
			c->end = m->end;
		}
	}
}

static bool read_maps(struct proc *p)
{
	struct str maps;
	struct moved_code moved = {0};
	if (!proc_read(p->arena, p->procfs, p->pid, "maps", &maps))
		return diag_error(p->diag, NULL, "cannot read the memory map of process %d: %s",
				  p->pid, strerror(errno));
	while (maps.n) {
		struct str text = str_take_line(&maps);
		struct map_line line;
		if (!parse_map(p->arena, text, &line))
			continue;
		const struct proc_mapping *m = &line.mapping;
		find_moved_code(p, &moved, &line);
		if (m->path.n && (line.is_executable || m->is_data || m->is_constant))
			vec_push(p->arena, &p->mappings, *m);
		if (m->path.n && line.is_executable)
			add_file(p,
				 (struct proc_file){
				     .start = m->start, .end = m->end, .offset = m->offset},
				 &line);
	}
	return true;
}

static bool read_exe(struct proc *p, const struct stat_line *st)
{
	struct proc_file exe = {0};
	const char *handle = proc_path(p, "exe");
	if (!read_link(p->arena, handle, &exe.path)) {
		if (st->flags & PF_KTHREAD)
			return diag_error(p->diag, NULL,
					  "process %d (" STR_FMT ") is a kernel thread: it has no "
					  "executable to probe",
					  p->pid, STR_ARG(p->comm));
		const char *why =
		    geteuid() != 0
			? "run as root, or with CAP_SYS_PTRACE"
			: "even root needs CAP_SYS_PTRACE for it, and a sandbox may forbid it";
		if (errno == EACCES || errno == EPERM)
			return diag_error(p->diag, NULL,
					  "no permission to inspect process %d (" STR_FMT "): %s",
					  p->pid, STR_ARG(p->comm), why);
		return diag_error(p->diag, NULL, "process %d has exited", p->pid);
	}
	find_paths(p, &exe, handle, 0);
	vec_push(p->arena, &p->files, exe);
	return true;
}

/** A process that waits to be reaped, or is already gone. */
static bool has_ended(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/**
 * In a PID namespace of our own the /proc of another one may still be mounted: its numbers are those of
 * other processes, or of none, for bpftrace and for all system calls that take one.
 */
static bool check_own_numbers(const struct proc *p)
{
	struct str self;
	uint64_t pid;
	if (strcmp(p->procfs, PROCFS) != 0)
		return true;
	if (read_link(p->arena, PROCFS "/self", &self) && str_to_u64(self, &pid) &&
	    pid == (uint64_t)getpid())
		return true;
	return diag_error(p->diag, NULL,
			  "/proc belongs to a different PID namespace than this shell: mount -t "
			  "proc proc /proc (or unshare --mount-proc)");
}

static bool look_up(struct proc *p)
{
	struct stat_line st;
	struct str status;
	if (!check_own_numbers(p))
		return false;
	if (!read_stat(p->arena, p->procfs, p->pid, &st) ||
	    !proc_read(p->arena, p->procfs, p->pid, "status", &status))
		return diag_error(p->diag, NULL, "no process has PID %d", p->pid);
	p->start_time = st.start_time;
	if (proc_read(p->arena, p->procfs, p->pid, "comm", &p->comm) &&
	    str_has_suffix(p->comm, STR("\n")))
		p->comm.n--;

	uint64_t tgid;
	if (str_to_u64(proc_status_value(status, STR("Tgid:")), &tgid) && tgid != (uint64_t)p->pid)
		return diag_error(p->diag, NULL, "%d is a thread of process %d: give that PID",
				  p->pid, (int)tgid);
	p->ns_pid = ns_pid_of(status, p->pid);
	if (has_ended(st.state))
		return diag_error(
		    p->diag, NULL,
		    "process %d (" STR_FMT
		    ") is a zombie: it has exited, and its parent has not waited for it",
		    p->pid, STR_ARG(p->comm));
	if (strcmp(p->procfs, PROCFS) == 0)
		p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (!read_exe(p, &st) || !read_maps(p))
		return false;
	return proc_is_same(p) ||
	       diag_error(p->diag, NULL, "process %d exited while it was being inspected", p->pid);
}

bool proc_open(struct arena *a, struct diag *d, const char *procfs, int pid, struct proc **ret)
{
	struct proc *p = arena_new(a, struct proc);
	*p = (struct proc){.arena = a, .diag = d, .procfs = procfs, .pid = pid, .pidfd = -1};
	p->root = str_from(proc_path(p, "root"));
	*ret = p;
	if (look_up(p))
		return true;
	proc_close(p);
	return false;
}

void proc_close(struct proc *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

struct str proc_name(const struct proc *p)
{
	return str_base(p->files.v[0].path);
}

/** By its pidfd; false if there is none. */
static bool has_exited(const struct proc *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
	return p->pidfd >= 0 && poll(&fd, 1, 0) > 0;
}

bool proc_is_same(const struct proc *p)
{
	struct stat_line st;
	return !has_exited(p) && read_stat(p->arena, p->procfs, p->pid, &st) &&
	       st.start_time == p->start_time && !has_ended(st.state);
}

bool proc_is_replaced(const struct proc *p)
{
	struct stat_line st;
	bool is_over = has_exited(p); // before its state is read: it may end in between
	// In the same clock tick only the pidfd distinguishes them.
	return read_stat(p->arena, p->procfs, p->pid, &st) &&
	       (st.start_time != p->start_time || (is_over && !has_ended(st.state)));
}

bool proc_runs_same_file(const struct proc *p)
{
	const struct proc_file *exe = &p->files.v[0];
	struct stat st;
	return !exe->have_id || stat(proc_path(p, "exe"), &st) != 0 ||
	       (st.st_dev == exe->dev && st.st_ino == exe->ino);
}

// --- what it has mapped

bool proc_has_mapped(const struct proc *p, const struct proc_file *f, uint64_t offset, bool is_data)
{
	bool is_known = f->has_moved_code; // else its name is spelled in another way there
	vec_each(const struct proc_mapping, m, &p->mappings) {
		if (!str_eq(m->path, f->mapped_as))
			continue;
		is_known = true;
		if ((is_data ? m->is_data : m->is_code) && offset >= m->offset &&
		    offset - m->offset < m->end - m->start)
			return true;
	}
	return !is_known;
}

bool proc_has_successor(const struct proc *p, const struct proc_file *f)
{
	struct stat st;
	const char *path =
	    arena_printf(p->arena, STR_FMT STR_FMT, STR_ARG(p->root), STR_ARG(f->path));
	return f->is_deleted && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// --- processes that run the same program

int *proc_list(struct arena *a, const char *procfs, size_t *n)
{
	VEC(int) pids = {0};
	DIR *dir = opendir(procfs);
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (atoi(e->d_name) > 0)
			vec_push(a, &pids, atoi(e->d_name));
	if (dir)
		closedir(dir);
	*n = pids.n;
	return pids.v;
}

int proc_parent(struct arena *a, const char *procfs, int pid)
{
	struct stat_line st;
	return read_stat(a, procfs, pid, &st) ? st.parent : -1;
}

bool proc_same_exe(const char *procfs, int pid, int other)
{
	struct arena a = {0};
	struct stat one, two;
	bool same = stat(path_of(&a, procfs, pid, "exe"), &one) == 0 &&
		    stat(path_of(&a, procfs, other, "exe"), &two) == 0 &&
		    one.st_dev == two.st_dev && one.st_ino == two.st_ino;
	arena_fini(&a);
	return same;
}

bool proc_exe_stat(const char *procfs, int pid, struct stat *ret)
{
	struct arena a = {0};
	bool good = stat(path_of(&a, procfs, pid, "exe"), ret) == 0;
	arena_fini(&a);
	return good;
}

/** Is it @removed, the end of a path without a directory, or a whole path? */
static bool is_removed(struct str path, struct str removed)
{
	return str_has_prefix(removed, STR("/")) ? str_eq(path, removed)
						 : str_has_suffix(path, removed);
}

/** Its code, which a tracer that reads it has not. Inodes of overlayfs are others in maps: a name that was removed counts, too. */
static bool may_have_mapped(struct arena *a, const char *procfs, int pid, ino_t ino,
			    struct str removed)
{
	struct str maps;
	struct map_line line;
	proc_read(a, procfs, pid, "maps", &maps);
	while (maps.n)
		if (parse_map(a, str_take_line(&maps), &line) && line.mapping.is_code &&
		    (line.ino == ino || is_removed(line.mapping.path, removed)))
			return true;
	return false;
}

bool proc_file_is_used(const char *procfs, const struct stat *st, struct str path)
{
	struct arena a = {0};
	struct str removed = str_printf(&a, STR_FMT " (deleted)", STR_ARG(str_base(path)));
	bool is_used = false;
	size_t n;
	const int *pids = proc_list(&a, procfs, &n);
	for (size_t i = 0; i < n && !is_used; i++) {
		struct arena of_one = {0};
		struct stat exe;
		is_used = (proc_exe_stat(procfs, pids[i], &exe) && exe.st_dev == st->st_dev &&
			   exe.st_ino == st->st_ino) ||
			  may_have_mapped(&of_one, procfs, pids[i], st->st_ino, removed);
		arena_fini(&of_one);
	}
	arena_fini(&a);
	return is_used;
}

int *proc_list_replaced(struct arena *a, const char *procfs, struct str path, size_t *n)
{
	struct str removed = str_printf(a, STR_FMT " (deleted)", STR_ARG(path));
	struct stat root, of_one;
	VEC(int) found = {0};
	size_t n_all;
	const int *pids = stat("/", &root) == 0 ? proc_list(a, procfs, &n_all) : NULL;
	for (size_t i = 0; pids && i < n_all; i++) {
		struct arena own = {0};
		struct str maps;
		if (proc_read(&own, procfs, pids[i], "maps", &maps) &&
		    str_contains(maps, removed) && // rarely
		    may_have_mapped(&own, procfs, pids[i], (ino_t)-1, removed) &&
		    stat(path_of(&own, procfs, pids[i], "root"), &of_one) == 0 &&
		    of_one.st_dev == root.st_dev && of_one.st_ino == root.st_ino)
			vec_push(a, &found, pids[i]);
		arena_fini(&own);
	}
	*n = found.n;
	return found.v;
}

unsigned proc_count_children(const struct proc *p)
{
	struct arena a = {0};
	unsigned count = 0;
	size_t n;
	const int *pids = proc_list(&a, p->procfs, &n);
	for (size_t i = 0; i < n; i++)
		count += proc_parent(&a, p->procfs, pids[i]) == p->pid &&
			 proc_same_exe(p->procfs, p->pid, pids[i]);
	arena_fini(&a);
	return count;
}

size_t proc_parents_first(const char *procfs, int *pids, size_t n)
{
	struct arena a = {0};
	size_t n_parents = 0;
	for (size_t i = 0; i < n; i++) {
		int parent = proc_parent(&a, procfs, pids[i]);
		bool is_child = false;
		for (size_t k = 0; k < n && !is_child; k++)
			is_child = pids[k] == parent && proc_same_exe(procfs, pids[k], pids[i]);
		if (is_child)
			continue;
		int swapped = pids[n_parents];
		pids[n_parents++] = pids[i];
		pids[i] = swapped;
	}
	arena_fini(&a);
	return n_parents;
}

size_t proc_same_exe_first(const char *procfs, int *pids, size_t n)
{
	size_t n_same = n ? 1 : 0;
	for (size_t i = 1; i < n; i++) {
		if (!proc_same_exe(procfs, pids[0], pids[i]))
			continue;
		int swapped = pids[n_same];
		pids[n_same++] = pids[i];
		pids[i] = swapped;
	}
	return n_same;
}

/** Of what the kernel calls an executable. */
static struct str name_of_exe(struct str exe)
{
	if (str_has_suffix(exe, STR(" (deleted)")))
		exe.n -= strlen(" (deleted)");
	return str_base(exe);
}

struct str proc_exe_name(struct arena *a, const char *procfs, int pid)
{
	return name_of_exe(proc_exe(a, procfs, pid));
}

enum name_place { NAME_NOWHERE, NAME_IN_COMM, NAME_OF_FILE };

static enum name_place find_name(struct arena *a, const char *procfs, int pid, struct str name)
{
	struct str exe = {0}, comm;
	if (!read_link(a, path_of(a, procfs, pid, "exe"), &exe) && errno != EACCES)
		return NAME_NOWHERE; // gone, or of the kernel
	if (exe.n && str_eq(name_of_exe(exe), name))
		return NAME_OF_FILE;
	bool has_comm = proc_read(a, procfs, pid, "comm", &comm) &&
			str_has_suffix(comm, STR("\n")) &&
			str_eq(str_slice(comm, 0, comm.n - 1), name);
	return has_comm ? NAME_IN_COMM : NAME_NOWHERE;
}

int *proc_find_named(struct arena *a, const char *procfs, const char *name, size_t *n)
{
	size_t n_all = 0;
	int *pids = *name ? proc_list(a, procfs, &n_all) : NULL; // a thread's name may be empty
	enum name_place best = NAME_IN_COMM;
	*n = 0;
	for (size_t i = 0; i < n_all; i++) {
		enum name_place place = pids[i] != getpid()
					    ? find_name(a, procfs, pids[i], str_from(name))
					    : NAME_NOWHERE;
		if (place > best) { // what only calls itself so is not meant
			best = place;
			*n = 0;
		}
		if (place == best)
			pids[(*n)++] = pids[i];
	}
	return pids;
}

struct str proc_nearest(struct arena *a, const char *procfs, const char *name, int *pid)
{
	size_t n;
	int *pids = proc_list(a, procfs, &n);
	struct str near = STR("");
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < n; i++) {
		struct str exe = proc_exe_name(a, procfs, pids[i]);
		if (!str_is_nearer(str_from(name), exe, &best))
			continue;
		near = exe;
		*pid = pids[i];
	}
	return near;
}

struct img *proc_open_image(struct arena *a, struct diag *d, const struct proc *p,
			    const struct proc_file *f)
{
	struct img *img;
	const char *path = str_dup(a, f->open_path);
	if (f != p->files.v) {
		// What a just-in-time compiler writes its code into has no probes.
		if (!img_is_elf(path))
			return NULL;
		struct diag *mild = arena_new(a, struct diag);
		*mild = (struct diag){.warns = d};
		d = mild;
	}
	if (!img_open(a, d, path, str_copy(a, f->path), &img))
		return NULL;
	if (!f->host_path.n)
		img_set_root(img, p->root, f->path);
	return img;
}
