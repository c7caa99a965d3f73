#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

static bool write_all(int fd, struct str text)
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

static bool say(struct diag *d, const char *path)
{
	int err = errno;
	struct diag_place at = {.file = str_from(path)};
	return diag_error(d, &at, "cannot be written: %s", strerror(err));
}

/** The file that links from @path lead to, so that the link stays and the file is replaced. */
static const char *follow(struct arena *a, const char *path)
{
	char *real = realpath(path, NULL);
	if (!real)
		return path;
	const char *copy = arena_strdup(a, real);
	free(real);
	return copy;
}

/** @was: whose owner the file keeps, and whose bits that only an owner may give; or NULL. */
static bool replace(struct arena *a, struct diag *d, const char *path, struct str text, mode_t mode,
		    const struct stat *was)
{
	path = follow(a, path);
	char *temp = arena_printf(a, "%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return say(d, path);
	if (was && fchown(fd, was->st_uid, was->st_gid) == 0)
		mode = was->st_mode & 07777;
	bool good = write_all(fd, text) && fchmod(fd, mode) == 0;
	good = close(fd) == 0 && good;
	good = good && rename(temp, path) == 0;
	if (good)
		return true;
	say(d, path);
	unlink(temp);
	return false;
}

bool outfile_replace(struct arena *a, struct diag *d, const char *path, struct str contents)
{
	struct stat st;
	return stat(path, &st) == 0 ? replace(a, d, path, contents, st.st_mode & 0777, &st)
				    : say(d, path);
}

bool outfile_check(struct diag *d, const char *path)
{
	struct stat st;
	char start[4];
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode)
		     ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
		     : -1;
	if (fd < 0)
		return true;
	bool is_elf = read(fd, start, sizeof(start)) == sizeof(start) &&
		      memcmp(start, "\177ELF", sizeof(start)) == 0;
	close(fd);
	struct diag_place at = {.file = str_from(path)};
	return !is_elf || diag_error(d, &at, "is a program or library: not overwritten");
}

bool outfile_is_same(const char *path, const char *other)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool outfile_write(struct arena *a, struct diag *d, const char *path, struct str text)
{
	if (!path || strcmp(path, "-") == 0)
		return write_all(STDOUT_FILENO, text) || say(d, "standard output");
	if (!outfile_check(d, path))
		return false;

	struct stat st;
	if (stat(path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return replace(a, d, path, text, st.st_mode & 0777, NULL);
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return say(d, path);
		bool good = write_all(fd, text);
		return (close(fd) == 0 && good) || say(d, path);
	}
	if (errno != ENOENT)
		return say(d, path);
	mode_t mask = umask(0);
	umask(mask);
	return replace(a, d, path, text, 0666 & ~mask, NULL);
}
