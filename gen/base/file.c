#include "base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

bool file_is_trusted(uint64_t id)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	uint64_t caller;
	return id == 0 || id == getuid() || id == geteuid() ||
	       (sudo && str_to_u64(str_from(sudo), &caller) && id == caller);
}

const char *file_why_foreign_stat(struct arena *a, const struct stat *st, const char *what)
{
	if (!file_is_trusted(st->st_uid))
		return arena_printf(a, "uid %u owns %s", (unsigned)st->st_uid, what);
	if (S_ISLNK(st->st_mode))
		return NULL; // its mode has no meaning
	if (st->st_mode & S_IWOTH)
		return arena_printf(a, "everyone can write to %s", what);
	// A group of that number is the private one of a user.
	if (st->st_mode & S_IWGRP && !file_is_trusted(st->st_gid))
		return arena_printf(a, "gid %u can write to %s", (unsigned)st->st_gid, what);
	return NULL;
}

static const char *why_foreign(struct arena *a, const char *path, const char *what)
{
	struct stat st;
	return stat(path, &st) == 0 ? file_why_foreign_stat(a, &st, what) : NULL;
}

const char *file_why_foreign(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str dir = slash ? (struct str){path, (size_t)(slash - path) + 1} : STR(".");
	const char *why = why_foreign(a, path, "it");
	return why ? why : why_foreign(a, str_dup(a, dir), "the directory");
}

static int open_path(const char *root, const char *path, uint64_t flags)
{
	if (!root)
		return open(path, (int)flags);
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	int err = errno;
	close(dir);
	errno = err;
	return fd;
}

/** Opens @path if it is a regular file. */
static int open_regular(const char *root, const char *path, uint64_t flags, uint64_t *size,
			const char **why)
{
	int fd = open_path(root, path, flags | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0) {
		*why = errno == ENOENT ? "no such file" : strerror(errno);
	} else if (S_ISREG(st.st_mode)) {
		*size = (uint64_t)st.st_size;
		return fd;
	} else {
		*why = S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file";
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	}
	int err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return -1;
}

int file_open(const char *root, const char *path, uint64_t *size, const char **why)
{
	// To open a device can have an effect of its own (a watchdog, a tape): it is looked at before.
	int fd = open_regular(root, path, O_PATH, size, why);
	if (fd < 0)
		return -1;
	close(fd);
	// O_NONBLOCK, should it be a FIFO by now: without a writer it would wait for ever.
	return open_regular(root, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, size, why);
}

struct str file_start(const char *path, char *buf, size_t n)
{
	uint64_t size;
	const char *why;
	int fd = file_open(NULL, path, &size, &why);
	if (fd < 0)
		return (struct str){0};
	ssize_t got = read(fd, buf, n);
	close(fd);
	return (struct str){buf, got > 0 ? (size_t)got : 0};
}

bool file_read_rest(int fd, size_t most, struct strbuf *ret)
{
	char chunk[32768];
	ssize_t n = 1;
	while (ret->n <= most && (n > 0 || (n < 0 && errno == EINTR))) {
		n = read(fd, chunk, sizeof(chunk));
		strbuf_add(ret, chunk, n > 0 ? (size_t)n : 0);
	}
	return n >= 0;
}

void file_path_of(int fd, char ret[FILE_PATH_OF])
{
	snprintf(ret, FILE_PATH_OF, "/proc/self/fd/%d", fd);
}

bool file_write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text = str_from_offset(text, (size_t)n);
	}
	return true;
}

bool file_read_at(int fd, void *buf, size_t n, uint64_t off)
{
	char *p = buf;
	while (n) {
		// One pread moves at most 0x7ffff000 bytes.
		size_t step = n < 1u << 30 ? n : 1u << 30;
		ssize_t got = off <= INT64_MAX ? pread(fd, p, step, (off_t)off) : 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void file_close_all_but(int *kept, size_t n)
{
	unsigned next = 0;
	qsort(kept, n, sizeof(*kept), compare_numbers);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)kept[i] > next)
			close_range(next, (unsigned)kept[i] - 1, 0);
		next = (unsigned)kept[i] + 1;
	}
	close_range(next, ~0u, 0);
}
