#include "run/bpftrace.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "dialect/dialect.h"

#ifndef BTGEN_BPFTRACE
#define BTGEN_BPFTRACE "" // what configure --with-bpftrace was given
#endif

/** Where shells look for commands when PATH is not set at all. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *search_path(struct arena *a, const char *name)
{
	const char *path_variable = getenv("PATH");
	struct str dirs = str_from(path_variable ? path_variable : DEFAULT_PATH);
	while (dirs.n) {
		struct str dir = str_take_until(&dirs, ':');
		const char *path = arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
		// Empty and relative entries mean the current directory: not as root.
		if (str_has_prefix(dir, STR("/")) && is_program(path))
			return path;
	}
	return NULL;
}

// Running bpftrace for its version takes most of the time until it is started: the version is remembered
// until the next boot, as long as it is the same file.

#define MEMORY "btgen-bpftrace"

/** The directory of MEMORY, in which only we can write, or -1. */
static int open_memory(void)
{
	const char *dirs[] = {getenv("XDG_RUNTIME_DIR"), "/run"};
	struct stat st;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		int dir = dirs[i] && dirs[i][0] == '/'
			      ? open(dirs[i], O_PATH | O_DIRECTORY | O_CLOEXEC)
			      : -1;
		if (dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() &&
		    !(st.st_mode & 022))
			return dir;
		if (dir >= 0)
			close(dir);
	}
	return -1;
}

/**
 * Which file @path is, as a line: no upgrade leaves all of it as it was. Its first page has the build
 * ID, for images whose files have fixed times. NULL: it is no ELF file, and runs another (a script, a
 * link to snap), or it was changed in this moment, when the times of two changes can be equal.
 */
static const char *identity(struct arena *a, const char *path)
{
	enum { SETTLED = 2 };
	unsigned char page[4096] = {0};
	uint64_t size, hash = 0xcbf29ce484222325; // FNV-1a
	const char *why;
	struct stat st;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return NULL;
	bool good = fstat(fd, &st) == 0 && pread(fd, page, sizeof(page), 0) > 4 &&
		    memcmp(page, "\177ELF", 4) == 0 && time(NULL) - st.st_ctim.tv_sec > SETTLED;
	close(fd);
	for (size_t i = 0; i < sizeof(page); i++)
		hash = (hash ^ page[i]) * 0x100000001b3;
	return !good ? NULL
		     : arena_printf(a, "%ju %ju %jd %jd.%ld %jd.%ld %" PRIx64, (uintmax_t)st.st_dev,
				    (uintmax_t)st.st_ino, (intmax_t)st.st_size,
				    (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
				    (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, hash);
}

/** The remembered version of the file @who; empty: not known. */
static struct str recall(struct arena *a, const char *who)
{
	char text[512];
	struct stat st;
	int dir = open_memory();
	int fd = openat(dir, MEMORY, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return STR("");
	bool is_ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		       !(st.st_mode & 022);
	ssize_t n = is_ours ? read(fd, text, sizeof(text)) : 0;
	close(fd);
	struct str rest = {text, n > 0 ? (size_t)n : 0};
	return str_eqz(str_take_line(&rest), who) ? str_copy(a, str_take_line(&rest)) : STR("");
}

/** The version in @line is in the file: one that only starts another bpftrace does not have it. */
static bool has_version(const char *path, struct str line)
{
	uint64_t size;
	const char *why;
	int fd = file_open(NULL, path, &size, &why);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return false;
	str_take(&line, STR("bpftrace "));
	bool good = line.n && memmem(p, size, line.p, line.n);
	munmap(p, size);
	return good;
}

static void remember(struct arena *a, const char *path, const char *who, struct str line)
{
	const char *now = identity(a, path);
	if (!now || strcmp(now, who) != 0 || !has_version(path, line))
		return;
	const char *text = arena_printf(a, "%s\n" STR_FMT "\n", who, STR_ARG(line));
	const char *temp = arena_printf(a, MEMORY ".%d", getpid());
	int dir = open_memory();
	int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		bool good = file_write_all(fd, str_from(text));
		close(fd);
		if (!good || renameat(dir, temp, dir, MEMORY) != 0)
			unlinkat(dir, temp, 0);
	}
	if (dir >= 0)
		close(dir);
}

/** The first line that `PATH --version` prints; empty: none. */
static struct str ask(struct arena *a, const char *path)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0)
		return STR("");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	pid_t pid;
	char *argv[] = {(char *)path, (char *)"--version", NULL};
	int err = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);

	char text[256];
	size_t n = 0;
	ssize_t got = 0;
	while (
	    !err && n < sizeof(text) &&
	    ((got = read(out[0], text + n, sizeof(text) - n)) > 0 || (got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	close(out[0]);
	if (err)
		return STR("");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	struct str line = {text, n};
	return str_copy(a, str_trim(str_slice(line, 0, str_find(line, '\n'))));
}

/** The same, or what it printed before. */
static struct str ask_version(struct arena *a, const char *path, bool may_recall)
{
	const char *who = identity(a, path);
	struct str line = who && may_recall ? recall(a, who) : STR("");
	unsigned version;
	if (line.n && dialect_parse(line, &version))
		return line;
	line = ask(a, path);
	if (who && dialect_parse(line, &version))
		remember(a, path, who, line);
	return line;
}

int bpftrace_find(struct arena *a, struct diag *d, const char *wanted, bool may_recall,
		  struct bpftrace *ret)
{
	*ret = (struct bpftrace){0};
	if (!wanted || !*wanted)
		wanted = getenv("BTGEN_BPFTRACE");
	if (!wanted || !*wanted)
		wanted = BTGEN_BPFTRACE;
	if (*wanted && !strchr(wanted, '/')) {
		const char *found = search_path(a, wanted);
		wanted = found ? found : wanted;
	}
	ret->path = *wanted ? wanted : search_path(a, "bpftrace");

	if (!ret->path || access(ret->path, F_OK) != 0) {
		diag_error(d, NULL,
			   "bpftrace not found%s%s: install it with your package manager, "
			   "or give its path with --bpftrace PATH",
			   ret->path ? " at " : "", ret->path ? ret->path : "");
		return RUN_NOT_FOUND;
	}
	if (!is_program(ret->path)) {
		diag_error(d, NULL, "%s is not an executable file", ret->path);
		return RUN_NOT_RUNNABLE;
	}
	struct str line = ask_version(a, ret->path, may_recall);
	if (dialect_parse(line, &ret->version))
		return 0;
	diag_error(d, NULL, "%s --version reports no bpftrace version: \"" STR_FMT "\"", ret->path,
		   STR_ARG(line));
	return RUN_NOT_RUNNABLE;
}

void bpftrace_note_newer(struct diag *d, unsigned version)
{
	if (version > DIALECT_NEWEST && !d->quiet)
		diag_note(d, NULL,
			  "bpftrace " DIALECT_FMT
			  " is newer than any that btgen knows: treated as 0.%u",
			  DIALECT_ARG(version), DIALECT_NEWEST);
}
