#include "base/outfile.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include "base/file.h"
#include "base/progress.h"

static bool report_errno(struct diag *d, const char *path)
{
	return diag_error(d, diag_at({.file = str_from(path)}), "cannot be written: %s",
			  strerror(errno));
}

/** What is refused by a rule has a reason in o->why, anything else one in errno. */
static bool report(struct diag *d, enum diag_level level, const struct outfile *o)
{
	if (o->no_dir)
		return diag_report(d, level, NULL, NULL, "%s: no such directory: %s", o->option,
				   o->no_dir);
	if (o->why)
		return diag_report(d, level, NULL, NULL, "%s: %s is %s", o->option, o->path,
				   o->why);
	return diag_report(d, level, NULL, NULL, "%s: cannot write %s: %s", o->option, o->path,
			   strerror(errno));
}

static bool refuse(struct outfile *o, const char *why)
{
	o->why = why;
	return false;
}

// --- where a path leads ---

static bool step_into(struct outfile *o, int dir)
{
	if (dir < 0)
		return false;
	close(o->dir);
	o->dir = dir;
	return true;
}

static char *read_link(struct arena *a, int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));
	if (n == sizeof(target))
		errno = ENAMETOOLONG;
	return n > 0 && n < (ssize_t)sizeof(target) ? arena_strndup(a, target, (size_t)n) : NULL;
}

static bool is_proc(int dir)
{
	struct statfs fs;
	return fstatfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/** May the link @name in o->dir be followed? Not as root, if somebody else can have put it there. */
static bool check_link(struct arena *a, struct outfile *o, const char *name, bool is_last)
{
	enum { PROC_ROOT_INODE = 1 }; // its links, as /proc/self, are the kernel's
	struct stat dir;
	if (geteuid() != 0)
		return true;
	if (fstat(o->dir, &dir) != 0)
		return false;
	if (dir.st_ino == PROC_ROOT_INODE && is_proc(o->dir))
		return true;
	const char *why = file_why_foreign_stat(a, &o->st, "it");
	why = why ? why : file_why_foreign_stat(a, &dir, "its directory");
	if (!why)
		return true;
	return refuse(o, is_last ? arena_printf(a, "a symbolic link, not followed as root: %s", why)
				 : arena_printf(a,
						"below the symbolic link %s, not followed as "
						"root: %s",
						name, why));
}

/** Finds o->dir, o->name and o->st, following links as open(2) does. */
static bool look_up(struct arena *a, struct outfile *o)
{
	enum { MAX_LINKS = 40 }; // path_resolution(7)
	const char *rest = o->path;
	struct stat dir;
	errno = ENOENT;
	if (!*rest)
		return false;
	o->dir = open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (unsigned n_links = 0; o->dir >= 0;) {
		rest += strspn(rest, "/");
		size_t n = strcspn(rest, "/");
		const char *name = n ? arena_strndup(a, rest, n) : ".";
		rest += n;
		bool is_last = !*rest, is_link;
		if (fstatat(o->dir, name, &o->st, AT_SYMLINK_NOFOLLOW) != 0) {
			o->st.st_mode = 0;
			if (!is_last && !n_links && errno == ENOENT)
				o->no_dir = arena_strndup(a, o->path, (size_t)(rest - o->path));
			if (!is_last || errno != ENOENT)
				return false;
		}
		is_link = S_ISLNK(o->st.st_mode);
		if (is_link && (!check_link(a, o, name, is_last) || ++n_links > MAX_LINKS)) {
			errno = ELOOP;
			return false;
		}
		if (is_link && !is_proc(o->dir)) {
			const char *target = read_link(a, o->dir, name);
			if (!target)
				return false;
			rest = arena_printf(a, "%s%s", target, rest);
			if (*rest == '/' &&
			    !step_into(o, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)))
				return false;
			continue;
		}
		if (is_last) {
			o->name = name;
			o->is_descriptor = is_link;
			if (is_link)
				return fstatat(o->dir, name, &o->st, 0) == 0;
			if (geteuid() == 0 && fstat(o->dir, &dir) == 0)
				o->foreign = file_why_foreign_stat(a, &dir, "the directory");
			return true;
		}
		// Only the kernel can follow a link of /proc.
		int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (is_link ? 0 : O_NOFOLLOW);
		if (!step_into(o, openat(o->dir, name, flags)))
			return false;
	}
	return false;
}

// --- which files are written ---

/** False, with errno, when only now it turns out that something cannot be written. */
static bool close_file(struct outfile *o)
{
	int fd = o->fd;
	o->fd = -1;
	return fd <= STDERR_FILENO || close(fd) == 0;
}

bool outfile_close(struct outfile *o)
{
	bool good = close_file(o);
	int err = errno;
	if (o->dir >= 0)
		close(o->dir);
	o->dir = -1;
	errno = err;
	return good;
}

/** The first bytes of the file, if it can be read and is still the one that was looked at. */
static struct str start_of(const struct outfile *o, char *buf, size_t n)
{
	struct stat st;
	int fd = openat(o->dir, o->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t got = -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == o->st.st_dev &&
	    st.st_ino == o->st.st_ino)
		got = read(fd, buf, n);
	if (fd >= 0)
		close(fd);
	return (struct str){buf, got > 0 ? (size_t)got : 0};
}

/** A script is replaced only by one of its kind, as what `btgen bundle` writes: their first two lines are the same. */
static bool check_contents(struct outfile *o, struct str text)
{
	char buf[64];
	struct str start = start_of(o, buf, sizeof(buf)), rest = text;
	str_take_line(&rest);
	str_take_line(&rest);
	struct str kind = {text.p, text.n - rest.n};
	if (str_has_prefix(start, STR("\177ELF")))
		return refuse(o, "a program or library: not overwritten");
	if (str_has_prefix(start, STR("#!")) && !(kind.n && str_has_prefix(start, kind)))
		return refuse(o, "a script: not overwritten");
	return true;
}

/** May the file that o->st is of be written? @text: what it is to have; may be empty. */
static bool check_file(struct arena *a, struct outfile *o, struct str text)
{
	const struct stat *st = &o->st;
	if (S_ISDIR(st->st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (S_ISBLK(st->st_mode))
		return refuse(o, "a block device: not written to");
	if (!st->st_mode || o->is_descriptor)
		return true;
	if (S_ISSOCK(st->st_mode))
		return refuse(o, "a socket: not written to");
	if (o->foreign && !file_is_trusted(st->st_uid))
		return refuse(o, arena_printf(a, "a file of uid %u, not overwritten as root: %s",
					      (unsigned)st->st_uid, o->foreign));
	if (!S_ISREG(st->st_mode))
		return true;
	if (o->foreign && st->st_nlink > 1)
		return refuse(
		    o, arena_printf(a, "a file with %lu hard links, not overwritten as root: %s",
				    (unsigned long)st->st_nlink, o->foreign));
	return check_contents(o, text);
}

static bool find_file(struct arena *a, const char *option, const char *path, struct str text,
		      struct outfile *ret)
{
	*ret = (struct outfile){.option = option, .path = path, .fd = -1, .dir = -1};
	return look_up(a, ret) && check_file(a, ret, text);
}

/** The descriptor of ours that o->name, a number in /proc/self/fd, is of: a file's place and a socket are shared so. */
static int dup_descriptor(const struct outfile *o)
{
	uint64_t n;
	struct stat st;
	if (!o->is_descriptor || !str_to_u64(str_from(o->name), &n) || n > INT_MAX ||
	    fstat((int)n, &st) != 0 || st.st_dev != o->st.st_dev || st.st_ino != o->st.st_ino ||
	    (fcntl((int)n, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return -1;
	return fcntl((int)n, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/** Opens what find_file() has found, and looks again at what was opened. @flags: O_NONBLOCK or 0, of a FIFO or device. */
static bool open_found(struct arena *a, struct outfile *o, int flags)
{
	o->fd = dup_descriptor(o);
	if (o->fd >= 0)
		return true;
	// A regular file may be a FIFO by now, which would wait for a reader.
	flags = S_ISREG(o->st.st_mode) ? O_NONBLOCK : flags;
	o->fd = openat(o->dir, o->name,
		       O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | flags |
			   (o->is_descriptor ? 0 : O_NOFOLLOW));
	if (o->fd < 0 && errno == ENXIO && S_ISFIFO(o->st.st_mode))
		return refuse(o, "a FIFO that nobody reads");
	return o->fd >= 0 && fstat(o->fd, &o->st) == 0 && check_file(a, o, STR(""));
}

static bool is_regular(const struct outfile *o)
{
	return S_ISREG(o->st.st_mode) && !o->is_descriptor;
}

// --- new files ---

/** The private file of this process: one at a time. */
static volatile int pending_dir;
static const char *volatile pending;

static void on_signal(int sig)
{
	if (pending)
		unlinkat(pending_dir, pending, 0);
	raise(sig); // SA_RESETHAND: this ends us
}

/** A process that is killed while writing leaves no file; signals that are ignored or handled stay so. */
static void set_pending(int dir, const char *temp)
{
	static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	struct sigaction old, new = {.sa_handler = temp ? on_signal : SIG_DFL,
				     .sa_flags = temp ? (int)SA_RESETHAND : 0};
	pending_dir = dir;
	pending = temp;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &old) == 0 &&
		    old.sa_handler == (temp ? SIG_DFL : on_signal))
			sigaction(ends[i], &new, NULL);
}

/** Makes the file @name, which nobody has made before, in o->dir. */
static bool make(struct outfile *o, const char *name, mode_t mode)
{
	o->fd = openat(o->dir, name,
		       O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return o->fd >= 0;
}

/** A private file in the directory of o->name. */
static bool make_temp(struct arena *a, struct outfile *o)
{
	for (int tries = 0; tries < 100; tries++) {
		uint32_t n = (uint32_t)getpid();
		if (getrandom(&n, sizeof(n), GRND_NONBLOCK) < 0)
			n += (uint32_t)tries;
		o->temp = arena_printf(a, "%s.%08x", o->name, n);
		if (make(o, o->temp, 0600)) {
			set_pending(o->dir, o->temp);
			return true;
		}
		if (errno != EEXIST)
			break;
	}
	o->temp = NULL;
	return false;
}

/** The private file becomes the file: what had its name is not touched. False with errno, and it is gone. */
static bool put_in_place(struct outfile *o)
{
	bool good = renameat(o->dir, o->temp, o->dir, o->name) == 0;
	int err = errno;
	if (!good)
		unlinkat(o->dir, o->temp, 0);
	errno = err;
	return good;
}

// --- all at once ---

static bool begin(struct arena *a, struct diag *d, const char *option, const char *path,
		  struct str text, struct outfile *ret)
{
	progress_clear();
	if (!path || strcmp(path, "-") == 0) {
		*ret = (struct outfile){.path = "standard output", .fd = STDOUT_FILENO, .dir = -1};
		return true;
	}
	mode_t mask = umask(0);
	umask(mask);
	bool good = find_file(a, option, path, text, ret);
	bool is_new = good && !ret->st.st_mode;
	ret->mode = is_new ? 0666 & ~mask : ret->st.st_mode & 0777;
	good = good && (is_new || is_regular(ret) ? make_temp(a, ret) : open_found(a, ret, 0));
	if (!good) {
		report(d, DIAG_ERROR, ret);
		outfile_close(ret);
	}
	return good;
}

bool outfile_write(struct arena *a, struct diag *d, const char *option, const char *path,
		   struct str text)
{
	struct outfile o;
	if (!begin(a, d, option, path, text, &o))
		return false;
	bool good = file_write_all(o.fd, text) || report_errno(d, o.path);
	bool is_right = !good || !o.temp || fchmod(o.fd, o.mode) == 0;
	is_right = close_file(&o) && is_right;
	if (o.temp && !(good && is_right))
		unlinkat(o.dir, o.temp, 0);
	else if (o.temp)
		is_right = put_in_place(&o);
	if (good && !is_right)
		report_errno(d, o.path);
	set_pending(AT_FDCWD, NULL);
	outfile_close(&o);
	return good && is_right;
}

// --- in its place ---

/** False in a directory in which nothing can be made. */
static bool may_create(const struct outfile *o)
{
	return faccessat(o->dir, ".", W_OK | X_OK, 0) == 0;
}

bool outfile_open(struct arena *a, struct diag *d, const char *option, const char *path,
		  struct outfile *ret)
{
	bool good = find_file(a, option, path, STR(""), ret) &&
		    (ret->st.st_mode ? open_found(a, ret, 0) : may_create(ret));
	return good || report(d, DIAG_ERROR, ret);
}

/** Of a regular file: what only an owner may give goes with its old contents. */
static bool empty_in_place(struct outfile *o)
{
	if (o->st.st_mode & (S_ISUID | S_ISGID) && fchmod(o->fd, o->st.st_mode & 0777) != 0 &&
	    errno != EPERM) // the kernel takes them when another user than root writes
		return false;
	return ftruncate(o->fd, 0) == 0;
}

/** As root among others: one who makes and removes hard links could have it take any file for one with a single name. */
static bool replace_file(struct arena *a, struct outfile *o)
{
	close_file(o);
	bool good = make_temp(a, o) && fchmod(o->fd, o->st.st_mode & 0777) == 0 && put_in_place(o);
	set_pending(AT_FDCWD, NULL);
	return good;
}

static bool empty(struct arena *a, struct outfile *o, int flags)
{
	if (o->fd < 0 && !o->st.st_mode) {
		if (make(o, o->name, 0666))
			return fstat(o->fd, &o->st) == 0;
		if (errno != EEXIST || fstatat(o->dir, o->name, &o->st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !check_file(a, o, STR("")))
			return false;
	}
	if (o->fd < 0 && !open_found(a, o, flags))
		return false;
	if (!is_regular(o))
		return true;
	bool good = o->foreign ? replace_file(a, o) : empty_in_place(o);
	return good && fstat(o->fd, &o->st) == 0;
}

bool outfile_empty(struct arena *a, struct diag *d, struct outfile *o)
{
	return empty(a, o, 0) || report(d, DIAG_ERROR, o);
}

static bool resume(struct outfile *o, const struct stat *ours)
{
	if (o->fd >= 0 && !(o->foreign && is_regular(o)))
		return true;
	close_file(o);
	o->fd = openat(o->dir, o->name,
		       O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (o->fd < 0)
		return errno == ENOENT && make(o, o->name, 0666);
	if (fstat(o->fd, &o->st) != 0)
		return false;
	return !o->foreign || (o->st.st_dev == ours->st_dev && o->st.st_ino == ours->st_ino) ||
	       refuse(o, "another file by now: not overwritten as root");
}

bool outfile_resume(struct diag *d, struct outfile *o, const struct stat *ours)
{
	return resume(o, ours) || report(d, DIAG_ERROR, o);
}

bool outfile_may_write(struct arena *a, struct diag *d, const char *option, const char *path)
{
	struct outfile o;
	bool good = find_file(a, option, path, STR(""), &o) &&
		    (o.st.st_mode ? faccessat(o.dir, o.name, W_OK, 0) == 0 : may_create(&o));
	if (!good)
		report(d, DIAG_ERROR, &o);
	outfile_close(&o);
	return good;
}

void outfile_notify(struct diag *d, const char *option, const char *path, struct str text)
{
	struct arena a = {0};
	struct outfile o;
	if (!find_file(&a, option, path, STR(""), &o) || !empty(&a, &o, O_NONBLOCK) ||
	    !file_write_all(o.fd, text))
		report(d, DIAG_WARNING, &o);
	outfile_close(&o);
	arena_fini(&a);
}

bool outfile_is_same(const char *path, const char *other)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
